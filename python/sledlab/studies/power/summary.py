"""A power study in sentences: the same on the terminal, in notebooks and on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.model_names import model_label, source_name
from sledlab.show.ranking import LEVEL, Ranking, is_level
from sledlab.show.wording import (
    change,
    energy,
    figure,
    hours,
    join_names,
    milliseconds,
    percent,
    saving,
    seconds,
)
from sledlab.studies.power.energy import can_be_built
from sledlab.studies.power.options import IMMEDIATE, OWN
from sledlab.study.axes import depends_on_seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.power.energy import Policy, Strategy
    from sledlab.studies.power.tables import PowerStudy


LEVEL_NOTE = f"Level: within {LEVEL * 100:g} %."
"""Meaning of level for one seed."""


def title(study: PowerStudy) -> str:
    """Title: the requests, and the devices that they ran on."""
    return f"{source_name(study.config)} on {' and '.join(study.devices)}"


def answer(study: PowerStudy) -> str:
    """The answer, in a few sentences for each device."""
    return " ".join(verdict(study, device) for device in study.devices)


def verdict(study: PowerStudy, device: str) -> str:
    """The answer for one device: whether to park at once, the best policy, the battery."""
    sentences = [
        _overload(study, device),
        _parking_sentence(study, device),
        best(study, device),
        _life(study, device),
    ]
    return " ".join(filter(None, sentences))


def _overload(study: PowerStudy, device: str) -> str:
    """A warning where the device was overloaded, and under which policies."""
    rows = study.device_rows("policies", device)
    overloaded = [model_label(row.policy) for row in rows if row.run.saturated]
    if not overloaded:
        return ""
    policies_text = "any policy" if len(overloaded) == len(rows) else join_names(overloaded)
    return (
        f"{device} could not keep up with this workload under {policies_text}: its response times depend "
        "on the length of the run. Reduce the load, for example with --speedup 0.1."
    )


def _parking_sentence(study: PowerStudy, device: str) -> str:
    """A sentence: parking at once compared with the device's own timeout."""
    own_run, immediate_run = study.find_run(device, OWN), study.find_run(device, IMMEDIATE)
    change_text, timeout = change(immediate_run.energy_j / own_run.energy_j - 1), study.own_timeout(device)
    immediate_ms, own_ms = (milliseconds(run.mean_ms, run.half_ms) for run in (immediate_run, own_run))
    immediate_energy, own_energy = (energy(run.energy_j, run.half_j) for run in (immediate_run, own_run))
    immediate_s, own_s = (figure(run.elapsed_s) for run in (immediate_run, own_run))
    if immediate_s == own_s:
        beginning = f"Over {own_s} s of work, {device} uses {immediate_energy}"
    else:  # requests that wait for start-ups are completed later
        beginning, own_energy = (
            f"{device} uses {immediate_energy} in {immediate_s} s",
            f"{own_energy} in {own_s} s",
        )
    if change_text == "the same" and immediate_ms == own_ms:
        return (
            f"{beginning} and answers in {immediate_ms} on average whether it parks as soon as its queue is "
            f"empty or first idles for {timeout}, its own timeout: it makes no difference."
        )
    return (
        f"{beginning} when it parks as soon as its queue is empty and {own_energy} when it first idles "
        f"for {timeout}, its own timeout: {change_text} energy for a mean response of {immediate_ms} "
        f"instead of {own_ms}."
    )


def break_even(study: PowerStudy, device: str) -> str:
    """A sentence: the break-even time, the share of longer idle periods, and the consequence for policies."""
    row = study.device_rows("break_even", device)[0]
    if device in study.axes["hybrids"]:
        return "The devices of a hybrid have different break-even times: study each of them alone."
    if row.break_even_ms is None:
        return "The device was never idle, or gains nothing from parking, so parking never pays."
    text = (
        f"A start-up takes {seconds(row.time_per_startup_ms)} and "
        f"{energy(row.energy_per_startup_uj * 1e-6)}; parked, {device} draws "
        f"{figure(row.inactive_mw)} mW instead of {figure(row.idle_mw)} mW. So parking "
        f"pays for an idle period longer than {seconds(row.break_even_ms)}, the break-even time."
    )
    if row.longer_share is None:
        return text
    facts = (
        f"{text} Of its {row.idle_periods:,.0f} idle periods {percent(row.longer_share)} are longer; "
        f"these make up {percent(row.longer_time_share)} of all idle time; the longest lasts "
        f"{seconds(row.longest_idle_ms)}."
    )
    if row.longer_time_share > 0.95:
        return f"{facts} So nearly all of it is worth a start-up, and parking at once is hard to beat."
    if row.longer_time_share < 0.05:
        return f"{facts} So hardly any of it is worth a start-up: parking at once wastes energy."
    return (
        f"{facts} Only an oracle knows which idle periods will be long; a fixed or adaptive timeout can help."
    )


def best(study: PowerStudy, device: str) -> str:
    """Sentences: the policies of least energy and those level with it, and the next one with its distance."""
    ranking = study.buildable_policies(device)
    if len(ranking) < 2:
        return ""
    rows, least_j, level = ranking.rows, ranking.values[0], _level_policies(ranking)
    if len(level) == len(rows):
        return f"All policies take the same energy, {energy(least_j, rows[0].run.half_j)}: they are level."
    names = join_names([model_label(row.policy) for row in level])
    fastest = Ranking.of(level, lambda row: row.run.mean_ms).first
    energy_text, response_text = (
        energy(least_j, rows[0].run.half_j),
        milliseconds(fastest.run.mean_ms, fastest.run.half_ms),
    )
    text = f"Least energy: {names}, {energy_text} at {response_text}."
    if len(level) > 1:
        text = (
            f"Least energy: {names}, which are level at {energy_text}{_fastest_clause(level, response_text)}."
        )
    next_row = rows[len(level)]
    if next_row.run.saturated:
        return f"{text} All others are overloaded."
    excess = next_row.run.energy_j / least_j - 1
    excess_text = f"{percent(excess)} more" if excess < 1 else f"{figure(excess + 1, 2)} times as much"
    response = milliseconds(next_row.run.mean_ms, next_row.run.half_ms)
    return f"{text} Next: {model_label(next_row.policy)}, {excess_text} at {response}."


def _fastest_clause(rows: Sequence[Policy], response_text: str) -> str:
    """Return a clause: the policies that answer fastest, all that are level."""
    fastest = Ranking.of(rows, lambda row: row.run.mean_ms).first
    names = [model_label(row.policy) for row in rows if row.run.is_level(fastest.run)]
    if len(names) == len(rows):
        return f", and level in their mean response, {response_text}"
    verb = "answers" if len(names) == 1 else "answer"
    return f"; of these {join_names(names)} {verb} fastest, in {response_text}"


def _level_policies(ranking: Ranking[Policy]) -> list[Policy]:
    """Return the policies of least energy: the first, and those level with it seed by seed.

    Overloaded policies are level only with another overloaded one.
    """
    least_j = ranking.values[0]
    return [
        row
        for row in ranking.rows[: ranking.steady or None]
        if is_level(
            row.above_best_j / least_j,
            None if row.above_best_ci95_j is None else row.above_best_ci95_j / least_j,
        )
    ]


def noise(study: PowerStudy) -> str:
    """A sentence: how far differences between policies can be trusted."""
    count = len(study.axes["seed"])
    if not depends_on_seed(study.config):
        return (
            "Every policy had the same trace once, and nothing in the runs is random, so the differences are "
            f"exact for this trace; a single trace does not show whether they apply to others. {LEVEL_NOTE}"
        )
    if count == 1:
        return f"One seed: small differences may be chance; --seed 1..5 shows which are not. {LEVEL_NOTE}"
    insignificant = [
        f"{model_label(row.policy)} ({row.device})"
        for device in study.devices
        for row in _level_policies(study.buildable_policies(device))[1:]
    ]
    text = f"Differences are means over {count} seeds, each policy against the best with the same requests. "
    if not insignificant:
        return f"{text}All are larger than their 95 % intervals."
    return f"{text}Not significantly different from the best at 95 % confidence: {join_names(insignificant)}."


def _life(study: PowerStudy, device: str) -> str:
    """A sentence: the life of a battery under the best policies and under the worst, ties included."""
    rows = [row for row in study.device_rows("battery", device) if can_be_built(row.policy)]
    if not rows:
        return ""
    ranking = Ranking.of(rows, lambda row: row.power_w, lambda row: row.saturated)
    longest, shortest = ranking.first, ranking.rows[max(ranking.steady, 1) - 1]
    beginning = f"A battery of {study.axes['battery_wh']:g} Wh lasts {hours(longest.battery_life_h)}"
    if is_level(1 - shortest.battery_life_h / longest.battery_life_h):
        return f"{beginning} under every policy{' that keeps up' if ranking.steady < len(rows) else ''}."
    steady_rows = ranking.rows[: max(ranking.steady, 1)]
    best_names, worst_names = (
        join_names(
            [model_label(row.policy) for row in steady_rows if is_level(1 - row.power_w / end.power_w)]
        )
        for end in (longest, shortest)
    )
    return f"{beginning} under {best_names}, {hours(shortest.battery_life_h)} under {worst_names}."


def states(study: PowerStudy, device: str) -> str:
    """A sentence: the shares of states in the energy."""
    shares = study.find_run(device, OWN).state_values("share")
    largest_state = max(shares, key=lambda state: shares[state])
    return (
        f"With its own timeout of {study.own_timeout(device)}, {device} spends most energy in the state "
        f"{study.state_names(device)[largest_state]}, {percent(shares[largest_state])}. Serving requests "
        f"(seek and access) takes {percent(shares['seek'] + shares['access'])}."
    )


def startup(study: PowerStudy, device: str) -> str:
    """A sentence: the response time that a slower start-up costs."""
    fit, run = study.fit(device), study.find_run(device, IMMEDIATE)
    if fit is None:
        return ""
    fit_text = "" if fit["r2"] is None else f" (straight line, R² = {fit['r2']:.4f})"
    return (
        f"Every ms of start-up adds {figure(fit['slope'])} ms to the mean response{fit_text}. "
        f"{percent(min(run.startups / run.requests, 1))} of the requests find the device parked and "
        "wait for it; those that come meanwhile wait behind them."
    )


def loads(study: PowerStudy, device: str) -> str:
    """A sentence: energy and response of parking at once, against the own timeout, and the load's effect."""
    runs = {(row.load, row.policy): row.run for row in study.device_rows("loads", device)}
    speedups = study.axes["load"]
    parts = [
        f"{change(runs[load, IMMEDIATE].energy_j / runs[load, OWN].energy_j - 1)} energy at ×{load:g}"
        for load in dict.fromkeys((speedups[0], speedups[-1]))
    ]
    added_ms = runs[speedups[0], IMMEDIATE].mean_ms - runs[speedups[0], OWN].mean_ms
    text = (
        f"Parking at once takes {join_names(parts)}, against the device's own timeout; at ×{speedups[0]:g} "
        f"the mean response {'grows' if added_ms >= 0 else 'falls'} by {milliseconds(abs(added_ms))}."
    )
    overloaded = [f"×{load:g}" for load in speedups if runs[load, OWN].saturated]
    if not overloaded:
        return text
    return f"{text} At {join_names(overloaded)} the queue keeps growing, so the device is hardly ever idle."


def strategies(study: PowerStudy, device: str) -> str:
    """A sentence: savings of each strategy at the lightest load, and strategies that had no effect."""
    rows, lightest = study.device_rows("strategies", device), min(study.axes["load"])
    others = [row for row in rows if row.load == lightest and row.strategy != "base"]
    parts = [f"{row.strategy} {saving(row.energy_saved)}" for row in others]
    sentences = [f"Energy at ×{lightest:g}: {', '.join(parts)}."] if parts else []
    if any(row.strategy == "subsector" for row in rows) and not any(row.run.dark_tip_time_s for row in rows):
        sentences.append(
            "Subsector access saves nothing here because every request is for entire blocks. With --set "
            "replay.last_block=random, each request uses a random part of its last block."
        )
    merging = [row for row in rows if row.strategy == "merging"]
    if merging:
        sentences.append(
            _merging_note(max(merging, key=lambda row: row.run.merged_requests / row.run.requests))
        )
    return " ".join(filter(None, sentences))


def _merging_note(row: Strategy) -> str:
    """A remark on merging where hardly any requests were merged; `row` is the load with most of them."""
    merged, requests = row.run.merged_requests, row.run.requests
    if merged == 0:
        return "Nothing was merged: no reads of successive blocks ever waited together."
    if merged >= 0.01 * requests:
        return ""
    return (
        f"At most {merged:,.0f} of {requests:,.0f} requests were merged. Where merging changes the response "
        "all the same, the likely reason is that it keeps requests in order that overlap."
    )

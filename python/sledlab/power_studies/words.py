"""A power study in words and rows: the same sentences on the terminal, in notebooks and in the report."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sledlab import wording
from sledlab.catalogue import everything
from sledlab.power_studies.plan import IMMEDIATE, OWN
from sledlab.power_studies.tables import can_be_built
from sledlab.wording import energy, figure, joined, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.power_studies.outcome import PowerStudy
    from sledlab.power_studies.tables import Row

SAME = 0.005
"""Energies closer than this share of each other count as the same."""


def policy_name(word: str) -> str:
    """A policy as people write it: its parameters behind its name.

    Example:
        >>> policy_name("share:eta=2:alpha=0.1")
        'share eta=2 alpha=0.1'
    """
    return word.replace(":", " ")


def title(study: PowerStudy) -> str:
    """What ran on what."""
    return f"{wording.source_name(study.config)} on {' and '.join(study.devices)}"


def seconds(value_ms: float) -> str:
    """A time that may be long, with the unit that reads best.

    Example:
        >>> [seconds(x) for x in (0.61, 40.0, 7000.0)]
        ['0.610 ms', '40 ms', '7 s']
    """
    if value_ms >= 1000:
        return f"{value_ms / 1000:,.3g} s"
    return f"{value_ms:g} ms" if value_ms == int(value_ms) else milliseconds(value_ms)


def hours(value: float) -> str:
    """A time on battery.

    Example:
        >>> [hours(x) for x in (0.5, 82.04, 1200.0)]
        ['30 minutes', '82 hours', '50 days']
        >>> hours(6.37)
        '6.4 hours'
    """
    if value < 2:
        return f"{value * 60:.0f} minutes"
    if value < 10:
        return f"{value:.1f} hours"
    return f"{value:.0f} hours" if value < 240 else f"{value / 24:,.0f} days"


def change(share: float) -> str:
    """More or less, in words.

    Example:
        >>> [change(x) for x in (0.25, -0.5, 0.0, 1.5)]
        ['25 % more', '50 % less', 'the same', '2.5 times the']
    """
    if share >= 1:
        return f"{figure(share + 1, 2)} times the"
    if abs(share) < 5e-4:
        return "the same"
    return f"{percent(abs(share))} {'more' if share > 0 else 'less'}"


def answer(study: PowerStudy) -> str:
    """What the study says, for each device in a few sentences."""
    return " ".join(verdict(study, device) for device in study.devices)


def verdict(study: PowerStudy, device: str) -> str:
    """What the study says of one device: whether to park at once, the best policy, the battery."""
    said = [_overload(study, device), _parking(study, device), best(study, device), _life(study, device)]
    return " ".join(text for text in said if text)


def _overload(study: PowerStudy, device: str) -> str:
    """A warning where the device could not keep up, and under which policies."""
    rows = study.of_device("policies", device)
    late = [policy_name(row["policy"]) for row in rows if row["saturated"]]
    if not late:
        return ""
    under = "any policy" if len(late) == len(rows) else joined(late)
    return (
        f"{device} could not keep up with this workload under {under}: such response times say how long "
        "the run was. Slow the workload down, with --set replay.speedup=0.1 for instance."
    )


def _parking(study: PowerStudy, device: str) -> str:
    """Parking at once against the device's own timeout."""
    own, at_once = (study.under(device, word) for word in (OWN, IMMEDIATE))
    timeout = seconds(study.study["own_timeout_ms"][device])
    less = at_once["energy_j"] / own["energy_j"] - 1
    return (
        f"Over {figure(own['elapsed_s'])} s of work, {device} uses {energy(at_once['energy_j'])} when it "
        f"parks as soon as its queue is empty and {energy(own['energy_j'])} when it first idles for "
        f"{timeout}, its own timeout: {change(less)} energy for a mean response of "
        f"{milliseconds(at_once['mean_ms'])} instead of {milliseconds(own['mean_ms'])}."
    )


def break_even(study: PowerStudy, device: str) -> str:
    """When parking pays, and what that means for the policies."""
    row = study.of_device("break_even", device)[0]
    if row["break_even_ms"] is None:
        return "The device never rested, or gains nothing from parking, so parking never pays."
    text = (
        f"A start-up takes {seconds(row['startup_ms'])} and {energy(row['startup_uj'] * 1e-6)}; parked, "
        f"{device} draws {figure(row['inactive_mw'])} mW instead of {figure(row['idle_mw'])} mW. So parking "
        f"pays for a rest longer than {seconds(row['break_even_ms'])}, the break-even time."
    )
    return text if row["longer_share"] is None else f"{text} {_rests(row)}"


def _rests(row: Row) -> str:
    """How the rests lie around the break-even time."""
    share, weight = row["longer_share"], row["longer_time_share"]
    facts = (
        f"Of its {row['rests']:,.0f} rests {percent(share)} are longer, and they hold {percent(weight)} of "
        f"all resting time; the longest lasts {seconds(row['longest_rest_ms'])}."
    )
    if weight > 0.95:
        return f"{facts} So nearly all of it is worth a start-up, and parking at once is hard to beat."
    if weight < 0.05:
        return f"{facts} So hardly any of it is worth a start-up: parking at once wastes energy."
    return f"{facts} Which rests will be long, only an oracle knows: a timeout, or one that learns, can help."


def best(study: PowerStudy, device: str) -> str:
    """Which policy takes least, by how much, and whether that is more than noise."""
    rows = [row for row in study.of_device("policies", device) if _real(row)]
    if len(rows) < 2:
        return ""
    ordered = sorted(rows, key=lambda row: float(row["energy_j"]))
    first = ordered[0]
    level = [row for row in ordered if row["energy_j"] <= first["energy_j"] * (1 + SAME)]
    if len(level) == len(ordered):
        return f"All policies take the same energy within {percent(SAME)}."
    names = joined([policy_name(row["policy"]) for row in level])
    if len(level) > 1:
        quick = min(level, key=lambda row: float(row["mean_ms"]))
        text = (
            f"Least energy: {names}, within {percent(SAME)} of each other at {energy(first['energy_j'])}; of "
            f"these {policy_name(quick['policy'])} answers fastest, in {milliseconds(quick['mean_ms'])}."
        )
    else:
        text = f"Least energy: {names}, {energy(first['energy_j'])} at {milliseconds(first['mean_ms'])}."
    rest = ordered[len(level)]
    more = rest["energy_j"] / first["energy_j"] - 1
    name = policy_name(rest["policy"])
    more_than = f"{percent(more)} more" if more < 1 else f"{figure(more + 1, 2)} times as much"
    return f"{text} Next: {name}, {more_than} at {milliseconds(rest['mean_ms'])}."


def _real(row: Row) -> bool:
    return can_be_built(str(row["policy"]))


def noise(study: PowerStudy) -> str:
    """How far differences between policies can be trusted."""
    count = len(study.study["seeds"])
    if "workload" not in study.config:
        return (
            "Every policy had the same trace once. Nothing in that is random, so the differences are exact "
            "for this trace; how far they hold for others, one trace cannot say."
        )
    if count == 1:
        return "One seed: small differences may be chance. Give --seeds 5 to see which are not."
    unsure = [
        f"{policy_name(row['policy'])} ({row['device']})"
        for row in study.rows["policies"]
        if _real(row) and row["above_best_j"] != 0 and abs(row["above_best_j"]) <= row["above_best_ci95_j"]
    ]
    text = f"Differences are means over {count} seeds, each policy against the best with the same requests. "
    if not unsure:
        return f"{text}All are larger than their 95 % intervals."
    return f"{text}Not told apart from the best at 95 % confidence: {joined(unsure)}."


def _life(study: PowerStudy, device: str) -> str:
    """How long a battery lasts."""
    rows = [row for row in study.of_device("battery", device) if _real(row)]
    if not rows:
        return ""
    longest, shortest = (choose(rows, key=lambda row: float(row["hours"])) for choose in (max, min))
    charge = f"{study.study['battery_wh']:g} Wh"
    if longest["hours"] < shortest["hours"] * (1 + SAME):
        return f"A battery of {charge} lasts {hours(longest['hours'])} under every policy."
    return (
        f"A battery of {charge} lasts {hours(longest['hours'])} under {policy_name(longest['policy'])} and "
        f"{hours(shortest['hours'])} under {policy_name(shortest['policy'])}."
    )


def states(study: PowerStudy, device: str) -> str:
    """Where the energy goes, in a sentence."""
    rows = {row["state"]: row for row in study.of_device("states", device) if row["policy"] == OWN}
    most = max(rows.values(), key=lambda row: float(row["energy_share"]))
    name = study.state_names(device)[most["state"]]
    service = rows["seek"]["energy_share"] + rows["access"]["energy_share"]
    timeout = seconds(study.study["own_timeout_ms"][device])
    return (
        f"With its own timeout of {timeout}, {device} spends most energy in the state {name}, "
        f"{percent(most['energy_share'])}. Serving requests (seek and access) takes {percent(service)}."
    )


def timeouts(study: PowerStudy, device: str) -> str:
    """Which timeout is best, in a sentence."""
    rows = study.of_device("timeouts", device)
    least, most = (choose(rows, key=lambda row: float(row["energy_j"])) for choose in (min, max))
    if most["energy_j"] < least["energy_j"] * (1 + SAME):
        return f"All these timeouts take the same energy within {percent(SAME)}." if len(rows) > 1 else ""
    text = (
        f"{_timeout(least).capitalize()} takes the least energy, {energy(least['energy_j'])}; "
        f"{_timeout(most)} the most, {energy(most['energy_j'])}."
    )
    if all(before["energy_j"] <= after["energy_j"] for before, after in pairwise(rows)):
        return f"{text} The longer the timeout, the more energy, up to the longest rest."
    if least not in (rows[0], rows[-1]):
        return f"{text} Shorter and longer timeouts both take more than the best."
    return text


def _timeout(row: Row) -> str:
    return (
        f"a timeout of {seconds(row['timeout_ms'])}" if row["timeout_ms"] else "parking at once (timeout 0)"
    )


def startup(study: PowerStudy, device: str) -> str:
    """What a slower start-up costs, in a sentence."""
    fit = next((fit for fit in study.fits if fit["device"] == device), None)
    if fit is None:
        return ""
    row = study.under(device, IMMEDIATE)
    straight = "" if fit["r2"] is None else f" (straight line, R² = {fit['r2']:.4f})"
    return (
        f"Every ms of start-up adds {figure(fit['slope'])} ms to the mean response{straight}. "
        f"{percent(min(row['startups'] / row['requests'], 1))} of the requests find the device parked and "
        "wait for it; those that come meanwhile wait behind them."
    )


def loads(study: PowerStudy, device: str) -> str:
    """How the load changes it, in a sentence."""
    rows = {(row["load"], row["policy"]): row for row in study.of_device("loads", device)}
    swept = list(dict.fromkeys(load for load, _ in rows))
    parts = []
    for load in dict.fromkeys((swept[0], swept[-1])):
        own, at_once = rows[load, OWN], rows[load, IMMEDIATE]
        parts.append(f"{change(at_once['energy_j'] / own['energy_j'] - 1)} energy at ×{load:g}")
    added = rows[swept[0], IMMEDIATE]["mean_ms"] - rows[swept[0], OWN]["mean_ms"]
    text = (
        f"Parking at once takes {joined(parts)}, against the device's own timeout; at ×{swept[0]:g} the mean "
        f"response grows by {milliseconds(added)}."
    )
    late = [load for load in swept if rows[load, OWN]["saturated"]]
    if late:
        text += f" From ×{late[0]:g} on the queue keeps growing, so the device hardly rests."
    return text


def percent_signed(share: float) -> str:
    """A share that may be negative.

    Example:
        >>> [percent_signed(x) for x in (0.42, -0.2, 1e-6, 0.0)]
        ['42 %', '−20 %', '≈ 0 %', '0 %']
    """
    if 0 < abs(share) < 5e-4:
        return "≈ 0 %"
    return f"−{percent(-share)}" if share < 0 else percent(share)


def _merged(row: Row) -> str:
    """What to think of merging where hardly anything was merged; `row` is where most was."""
    if row["merged_requests"] == 0:
        return "Nothing was merged: no reads of successive blocks ever waited together."
    if row["merged_requests"] >= 0.01 * row["requests"]:
        return ""
    return (
        f"At most {row['merged_requests']:,.0f} of {row['requests']:,.0f} requests were merged. Where "
        "merging changes the response all the same, the likely reason is that it keeps requests in order "
        "that overlap."
    )


def _last_block() -> str:
    """How to suppose that requests want parts of blocks, where the simulator can."""
    known = (spec["name"] for spec in everything()["replay"]["parameters"])
    if "last_block" not in known:
        return ""
    return " With --set replay.last_block=random, a random part of each last block is wanted."


def strategies(study: PowerStudy, device: str) -> str:
    """What each strategy saves at the lightest load, and what none could show."""
    rows = study.of_device("strategies", device)
    light = min(row["load"] for row in rows)
    mine = [row for row in rows if row["load"] == light and row["strategy"] != "base"]
    parts = [f"{row['strategy']} {percent_signed(row['energy_saved'])}" for row in mine]
    said = [f"Saved at ×{light:g}: {', '.join(parts)}."] if parts else []
    known = {row["strategy"] for row in rows}
    if "subsector" in known and not any(row["dark_tip_time_s"] for row in rows):
        said.append(
            "Subsector access saves nothing here because every request wants whole blocks." + _last_block()
        )
    merging = [row for row in rows if row["strategy"] == "merging"]
    if merging:
        said.append(_merged(max(merging, key=lambda row: float(row["merged_requests"] / row["requests"]))))
    return " ".join(text for text in said if text)


def facts(study: PowerStudy) -> Sequence[tuple[str, str]]:
    """What was swept, as pairs of a name and a text."""
    said = study.study
    return [
        ("policies", ", ".join(policy_name(word) for word in said["policies"])),
        ("pace", f"{said['pace']:g} times its own"),
        ("scheduler", str(said["scheduler"]).upper()),
        ("seeds", ", ".join(map(str, said["seeds"]))),
        ("battery", f"{said['battery_wh']:g} Wh"),
    ]

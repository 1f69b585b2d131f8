"""Devices side by side in words, tables and a page."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from sledlab.show.document import (
    Collapsible,
    Document,
    Drawing,
    Facts,
    Grid,
    Heading,
    SideBySideParts,
    Source,
    Text,
)
from sledlab.show.facts import common_facts
from sledlab.show.flash import avoided_by_all
from sledlab.show.model_names import label
from sledlab.show.money import price_assumptions
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import LEVEL, compare_times
from sledlab.show.wording import figure, join_names, list_names, milliseconds, percent
from sledlab.studies.races import parts as race_parts
from sledlab.studies.races.parts import HEAD, cells, full_table, has_seeds, note
from sledlab.studies.side_by_side import costs_summary, figures
from sledlab.studies.side_by_side.costs_summary import costs_sentence, goal_sentences, max_load_sentences
from sledlab.studies.side_by_side.tables import Standing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledlab.show.document import Part
    from sledlab.studies.races.race import Curve, Group
    from sledlab.studies.side_by_side.tables import SideBySide

MAX_NAMES = 3
"""Most names in a list."""

MIN_FACTOR = 1.5
"""Smallest ratio of two means that a sentence gives as a factor, not as a percentage."""


def title(result: SideBySide) -> str:
    """Title: the devices, and the requests that they served."""
    kind = result.groups[0].varied[0][0] if result.groups[0].varied else "trace"
    is_long = len(result.sources) > MAX_NAMES
    return f"{len(result.sources)} {kind}s" if is_long else join_names(result.sources)


def devices_title(result: SideBySide) -> str:
    """The devices."""
    return (
        " against ".join(result.devices)
        if len(result.devices) <= MAX_NAMES + 1
        else f"{len(result.devices)} devices"
    )


def source(group: Group) -> str:
    """The trace or workload of a group."""
    return str(group.varied[0][1]) if group.varied else ""


def answer(result: SideBySide) -> str:
    """The answer for each trace: the cheapest device within the goal, or else the fastest and its lead."""
    sentences = [sentence for group in result.groups for sentence in verdict(result, group)]
    return " ".join([*sentences, *_score(result)])


def verdict(result: SideBySide, group: Group) -> list[str]:
    """The answer for one trace: for the goal, or at the lightest load and the heaviest that most bear."""
    limits = list(max_load_sentences(result, group, source(group)))
    if len(group.speedups) > 1 and not limits:
        limits = list(race_parts.limits(group, MAX_NAMES + 1))
    if result.goal is not None:
        return [*goal_sentences(result, group, source(group)), *limits]
    loads = dict.fromkeys((group.speedups[0], group.ranking_speedup))
    sentences = [sentence for speedup in loads for sentence in _load_sentences(group, speedup)]
    return [*sentences, *costs_sentence(group), *limits]


def _load_sentences(group: Group, speedup: float) -> Iterator[str]:
    """Sentences: the faster device at a load, its lead, overloaded devices, and the energy of a request."""
    source_text = f"{source(group)} at {speedup:g} times its speed" if speedup != 1 else source(group)
    standing = Standing.from_group(group, speedup)
    rates = {curve: curve.run(speedup).throughput_iops for curve in group.curves}
    if not standing.steady:
        first, *others = standing.overloaded
        clauses = [_completion_text(rates[first] / rates[curve], curve) for curve in others]
        share = f"{figure(rates[first])} of {figure(group.rate(speedup))}"
        completion_text = f"{first.label} completed {share} requests per second"
        text = ", ".join([completion_text, *_as_one_text(clauses)])
        yield f"No device keeps up with {source_text}: {text}."
        return
    level, slower, overloaded = (
        standing.steady[: standing.level_count],
        standing.steady[standing.level_count :],
        standing.overloaded,
    )
    fastest_run, is_single = level[0].run(speedup), len(level) == 1
    names = list_names([curve.label for curve in level], MAX_NAMES + 1)
    mean_text = milliseconds(fastest_run.mean_ms, fastest_run.half_ms)
    phrases = [f"{names} {'answers' if is_single else 'answer'} {source_text} in {mean_text} on average"]
    tie_bound = "by the intervals over the seeds" if has_seeds([group]) else f"within {LEVEL * 100:g} %"
    phrases += [] if is_single else [f"level {tie_bound}"]
    phrases += _as_one_text([_speed_text(fastest_run.mean_ms, curve, speedup) for curve in slower])
    text = ", ".join(phrases)
    if overloaded:
        completion_rate = rates[level[0]]
        clauses = [
            f"{_completion_text(completion_rate / rates[curve], curve)} ({figure(rates[curve])})"
            for curve in overloaded
        ]
        relation = "which is overloaded: its" if len(overloaded) == 1 else "which are overloaded: their"
        text += f"; {'it completes' if is_single else 'they complete'} {figure(completion_rate)} "
        text += "requests per second, "
        text += f"{list_names(clauses, MAX_NAMES)}, {relation} response times depend on the length of the run"
    yield f"{text}."
    yield from race_parts.reads_and_writes(group, speedup, MAX_NAMES + 1)
    if len(group.curves) > 1:
        energies = sorted(
            (curve.find_row(speedup).total_energy_per_request_mj, curve.label) for curve in group.curves
        )
        texts = [f"{figure(mj)} mJ on {name}" for mj, name in energies]
        yield f"A request takes {list_names(texts, MAX_NAMES + 1)}."


def _as_one_text(texts: list[str]) -> list[str]:
    return [list_names(texts, MAX_NAMES)] if texts else []


def _speed_text(mean_ms: float, curve: Curve, speedup: float) -> str:
    """How much faster than a device, in words."""
    run = curve.run(speedup)
    other_text = f"{curve.label} ({milliseconds(run.mean_ms, run.half_ms)})"
    return f"{compare_times(mean_ms, run.mean_ms, MIN_FACTOR)} {other_text}"


def _completion_text(factor: float, curve: Curve) -> str:
    """How much more than a device completes, in words."""
    if factor >= 1.5:
        return f"{figure(factor, 2)} times as many as {curve.label}"
    return (
        f"{percent(factor - 1)} more than {curve.label}" if factor > 1.0005 else f"as many as {curve.label}"
    )


def _score(result: SideBySide) -> Iterator[str]:
    """A sentence: how often each device wins, over traces and loads."""
    standings = [Standing.from_group(group, speedup) for group in result.groups for speedup in group.speedups]
    if len(result.groups) == 1:
        return
    wins = Counter(standing.winner.label for standing in standings if standing.winner)
    ties = sum(standing.level_count > 1 for standing in standings)
    overloaded_count = sum(not standing.steady for standing in standings)
    sentences = [f"{name} is the fastest in {count}" for name, count in wins.most_common()]
    sentences += [f"{ties} {'is a tie' if ties == 1 else 'are ties'}"] if ties else []
    sentences += [f"in {overloaded_count} none keeps up"] if overloaded_count else []
    yield f"Of {len(standings)} races, {join_names(sentences)}."


def _table(group: Group) -> Grid:
    """A row per device, and per load where there are several."""
    if len(group.speedups) > 1:
        return full_table(group)
    rows = []
    for curve in group.curves:
        row = curve.rows[0]
        rows.append((curve.label + (" *" if row.run.saturated else ""), *cells(row)))
    return Grid(("device", *HEAD), rows)


def brief(result: SideBySide) -> Sequence[Part]:
    """The title, a table for each trace or workload, and the answer."""
    parts: list[Part] = [Heading(title(result), 1, devices_title(result))]
    for group in result.groups:
        parts += [Heading(source(group))] if len(result.groups) > 1 else []
        parts += [full_table(group), Text(note([group]), "quiet")] if len(group.speedups) > 1 else []
        parts.append(costs_summary.table(result, group))
    return [*parts, Text(costs_summary.note(result), "quiet"), Text(answer(result)), *warnings(result)]


def warnings(result: SideBySide) -> Iterator[Text]:
    """Warnings about unequal conditions: start-ups, new flash, and requests past the end of an array."""
    rows = [
        (curve.label, row.run.startup_time_s)
        for group in result.groups
        for curve in group.curves
        for row in curve.rows
    ]
    if startups := {name: time for name, time in rows if time >= 1}:
        startup_texts = join_names(
            [f"{name} started up for {figure(time)} s" for name, time in startups.items()]
        )
        yield Text(
            f"{startup_texts}; requests waited meanwhile. --set system.start=ready --power never avoids "
            "start-ups.",
            "warning",
        )
    counts_by_device = {
        name: [row.run.counts for row in result.rows["curves"] if row.who.name == name]
        for name in result.devices
    }
    if clauses := [text for each in counts_by_device.items() if (text := avoided_by_all(*each))]:
        remedy = "To begin there, write a device as nvme-tlc:precondition=random"
        yield Text(f"{'; '.join(clauses)}. {remedy}.", "warning")
    for group in result.groups:
        counts = {curve.label: curve.rows[0].requests for curve in group.curves}
        if len(set(counts.values())) > 1:
            counts_text = join_names([f"{count:,} on {name}" for name, count in counts.items()])
            yield Text(
                f"Not all devices answered the same requests of {source(group)}: {counts_text}.", "warning"
            )


def page(result: SideBySide) -> Document:
    """The page: the faster device for each trace, distributions of response times, and energy."""
    parts: list[Part] = [Text(answer(result), "answer"), *warnings(result)]
    drawings = [
        Drawing(
            partial(figures.percentiles, result), figures.PERCENTILES, "Response times", figures.PERCENTILES
        ),
        Drawing(partial(figures.energy, result), figures.ENERGY, "Energy of a request", figures.ENERGY),
    ]
    if any(row.cost.month_usd is not None for row in result.rows["curves"]):
        drawings.insert(1, Drawing(partial(figures.cost, result), figures.COST, "Cost", figures.COST))
    parts += [Heading("Side by side"), SideBySideParts(drawings)]
    for group in result.groups:
        parts += [Heading(source(group), has_gap=len(result.groups) > 1)]
        parts += [Text(" ".join(verdict(result, group)))] if len(result.groups) > 1 else []
        parts += [costs_summary.table(result, group), Text(costs_summary.note(result), "quiet")]
        parts += [_table(group), Text(note([group]), "quiet")]
        if len(group.speedups) > 1:
            parts += [Heading("Results by load"), *race_parts.figures(group)]
            parts += [*race_parts.winners(group), *race_parts.throughput(result, group)]
    facts = [("devices", join_names(result.devices)), ("requests", join_names(result.sources))]
    facts.append(("scheduler", label(result.config.get("scheduler", {}).get("kind", "fcfs"))))
    facts.append(("prices", price_assumptions({"node": {}, "network": {}, **result.config["prices"]})))
    shared_facts = [
        fact for fact in common_facts(result.config) if fact[0] in ("replay", "warm-up", "version")
    ]
    return Document(
        kind="comparison of devices",
        title=f"{title(result)}: {devices_title(result)}",
        parts=[
            *parts,
            Heading("Configuration"),
            Facts([*facts, *shared_facts]),
            Collapsible("Complete study file", [Source(result.toml)]),
        ],
        footer="All times are simulated. The same study and version give the same numbers.",
    )


PRESENTATION = DocumentPresentation(
    answer=answer, brief=brief, whole=page, figure=figures.draw, sketch=race_parts.sketch
)

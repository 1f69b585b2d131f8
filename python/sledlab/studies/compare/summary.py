"""A comparison in words, tables and a page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sledlab.show import flash
from sledlab.show.document import Collapsible, Document, Drawing, Facts, Grid, Heading, Source, Text
from sledlab.show.facts import common_facts
from sledlab.show.model_names import device_name, label, source_name
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.ranking import LEVEL, is_level
from sledlab.show.wording import figure, interval, join_names, mark_overloaded, milliseconds, percent
from sledlab.studies.compare import grid_table, sweep_summary
from sledlab.studies.compare.sweep import sweeps, sweeps_by_case
from sledlab.studies.races import parts as race_parts
from sledlab.studies.races.parts import (
    INTERVAL_NOTE,
    SCV_NOTE,
    full_table,
    has_seeds,
    heading,
    limits,
    names,
    note,
    overload_note,
    slow_plugin,
    throughput_sentence,
)
from sledlab.study import column_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.studies.compare.tables import Comparison
    from sledlab.studies.races.race import Curve, Group
    from sledlab.study.statistics import SeedMeans

MATRIX_NOTE = f"best first; * the queue kept growing; {SCV_NOTE}"

MAX_DETAILED = 4
"""Most schedulers of which all results are printed."""


def title(comparison: Comparison) -> str:
    """Title: the requests, and the device that they ran on."""
    varied: dict[str, dict[str, None]] = {}
    for group in comparison.groups:
        for key, value in group.varied:
            varied.setdefault(key, {})[str(value)] = None
    sources = varied.get("workload.kind") or varied.get("trace.file") or [source_name(comparison.config)]
    devices = varied.get("device.preset") or [device_name(comparison.config)]
    return f"{' and '.join(sources)} on {' and '.join(devices)}"


def competitors_text(comparison: Comparison) -> str:
    """The schedulers that compete."""
    names = [label(word) for word in comparison.schedulers]
    return " against ".join(names) if len(names) <= MAX_DETAILED else f"{len(names)} schedulers"


def load_text(comparison: Comparison, speedup: float) -> str:
    """A load in words that begin a sentence."""
    if speedup == 1:
        return "At the original rate" if "workload" in comparison.config else "As recorded"
    return f"At {speedup:g} times the original rate"


def answer(comparison: Comparison) -> str:
    """Return the answer: the best values of a sweep, or the best schedulers."""
    if len(comparison.groups) == 1:
        return verdict(comparison, comparison.groups[0])
    if all_sweeps := sweeps(comparison):
        return sweep_summary.answer(all_sweeps, partial(load_text, comparison))
    return " ".join(f"{heading(group)}: {verdict(comparison, group)}" for group in comparison.groups)


def verdict(comparison: Comparison, group: Group) -> str:
    """The answer of one group: at the lightest load, at the load of the ranking, and how far each kept up."""
    light, heavy = group.speedups[0], group.ranking_speedup
    if not group.steady(heavy):
        overload = "No scheduler kept up with any of these loads: the queues kept growing."
        return f"{overload} {throughput_sentence(group, heavy)}"
    if race_parts.curves(group, "mean_ms").is_coincident and len(group.curves) > 2:
        light_ms, heavy_ms = (_mean(group.ranking[0].run(each)) for each in (light, heavy))
        schedulers = f"all {len(group.curves)} schedulers"
        text = f"{load_text(comparison, light)}, {schedulers} answer in {light_ms} on average"
        heavier = load_text(comparison, heavy)
        heavier_text = "" if light == heavy else f", {heavier[0].lower()}{heavier[1:]} in {heavy_ms}"
        return f"{text}{heavier_text}: they are within 1 % of each other at each of the loads."
    sentences = dict.fromkeys(
        (_fastest_sentence(comparison, group, light), _fastest_sentence(comparison, group, heavy))
    )
    remarks = [*race_parts.reads_and_writes(group, heavy, MAX_DETAILED), *_fairness(group, heavy)]
    return " ".join([*sentences, *remarks, *limits(group, MAX_DETAILED)])


def _fastest_sentence(comparison: Comparison, group: Group, speedup: float) -> str:
    """Sentences: the fastest scheduler at a load, compared with the baseline."""
    load_clause, best = load_text(comparison, speedup), group.best(speedup)
    steady = group.steady(speedup) or list(group.curves)
    fastest_run = best[0].run(speedup)
    if len(best) == len(steady) > 1:
        subject = "both" if len(best) == 2 else f"all {len(best)} schedulers"
        condition = "" if len(steady) == len(group.curves) else " that keep up"
        means = list(dict.fromkeys(_mean(curve.run(speedup)) for curve in (best[0], best[-1])))
        if len(means) > 1:
            return f"{load_clause}, {subject}{condition} are level, {' to '.join(means)} on average."
        return f"{load_clause}, {subject}{condition} answer in the same time, {means[0]} on average."
    is_single = len(best) == 1
    subject = f"{names(best)} {'answers' if is_single else 'answer'} in {_mean(fastest_run)} on average"
    if len(group.curves) == 1:
        return f"{load_clause}, {subject}."
    baseline = group.baseline if group.baseline not in best else group.ranking[-1]
    if baseline in best:
        verdict_text = f"{'is' if is_single else 'are'} the fastest with {_mean(fastest_run)} on average"
        return f"{load_clause}, {names(best)} {verdict_text}."
    baseline_run = baseline.run(speedup)
    if baseline_run.saturated:
        return f"{load_clause}, {subject}; {baseline.label} is overloaded."
    saved_share = percent(1 - fastest_run.mean_ms / baseline_run.mean_ms)
    baseline_text = f"{baseline.label} takes {_mean(baseline_run)}: {saved_share} less"
    return f"{load_clause}, {subject} where {baseline_text}."


def _mean(run: SeedMeans) -> str:
    """Return the mean response time of a run, with its interval over several seeds."""
    return milliseconds(run.mean_ms, run.half_ms)


def _fairness(group: Group, speedup: float) -> Iterator[str]:
    """A sentence about the fairest scheduler at a load, where the fastest is less fair."""
    fastest, fairest = group.best(speedup)[0], group.best(speedup, "scv")[0]
    fastest_run, fairest_run = fastest.run(speedup), fairest.run(speedup)
    if fastest in group.best(speedup, "scv"):
        return
    slowest_text = ""
    if fairest_run.max_ms < fastest_run.max_ms:
        fair_max, fast_max = milliseconds(fairest_run.max_ms), milliseconds(fastest_run.max_ms)
        slowest_text = f", and the slowest request takes {fair_max} instead of {fast_max}"
    yield (
        f"{fairest.label} is the fairest there: the variance of its response times over their squared mean "
        f"(SCV) is {figure(fairest_run.scv)} against {figure(fastest_run.scv)} of "
        f"{fastest.label}{slowest_text}."
    )


RANKING_COLUMNS = (
    "scheduler",
    "mean",
    "× best",
    "99 %",
    "SCV",
    "keeps up to",
    "in queue",
    "positioning",
    "why",
)
"""Columns of the ranking; times in ms, `keeps up to` in requests/s."""


def ranking(group: Group) -> Grid:
    """A row per scheduler, best first, at the load of the ranking."""
    best = group.best(group.ranking_speedup)[0].run(group.ranking_speedup).mean_ms
    rows = []
    for curve in group.ranking:
        run = curve.run(group.ranking_speedup)
        steady_cells = (
            interval(run.mean_ms, run.mean_ci95_ms),
            f"{run.mean_ms / best:.2f}",
            figure(run.p99_ms),
            figure(run.scv),
        )
        sustained_cell = (
            f"{group.rate(curve.highest_steady_speedup):,.0f}"
            if curve.highest_steady_speedup is not None
            else "–"
        )
        cells = ("overloaded", "–", "–", "–") if run.saturated else steady_cells
        queue_cell = "–" if run.saturated else figure(run.queue_time_ms)
        rows.append(
            (
                curve.label,
                *cells,
                sustained_cell,
                queue_cell,
                figure(run.positioning_ms),
                explain_rank(group, curve),
            )
        )
    return Grid(RANKING_COLUMNS, rows, "words")


def explain_rank(group: Group, curve: Curve) -> str:
    """The reason for a scheduler's place at the load of the ranking, from measured parts of service."""
    run, baseline_run, name = (
        curve.run(group.ranking_speedup),
        group.baseline.run(group.ranking_speedup),
        group.baseline.label,
    )
    positioning = f"positioning takes {milliseconds(run.positioning_ms)}"
    # Requests served together, if the baseline serves fewer together.
    serves_more = run.served_at_once >= baseline_run.served_at_once + LEVEL
    together_clauses = [f"{run.served_at_once:.2f} requests are served at a time"] if serves_more else []
    if run.saturated:
        done, offered = figure(run.throughput_iops, 4), figure(run.arrival_rate_iops, 4)
        overload_clause = f"cannot keep up: completes {done} of {offered} requests a second"
        return ", ".join([overload_clause, f"{positioning} each", *together_clauses])
    if curve is group.baseline:
        return f"reference of the others: {positioning}"
    change = run.positioning_ms / baseline_run.positioning_ms - 1 if baseline_run.positioning_ms else 0.0
    difference_text = f"{percent(abs(change))} {'less' if change < 0 else 'more'} than"
    clauses = [
        f"positioning takes {'as long as' if is_level(change) else difference_text} under {name}",
        *together_clauses,
    ]
    if baseline_run.saturated:
        clauses.append(f"so that {figure(run.queue_mean)} requests wait on average")
    elif is_level((run.queue_time_ms - baseline_run.queue_time_ms) / baseline_run.mean_ms):
        clauses.append("the wait is the same")
    else:
        waits = milliseconds(run.queue_time_ms), milliseconds(baseline_run.queue_time_ms)
        clauses.append(f"the wait {waits[0]} instead of {waits[1]}")
    return ", ".join(clauses)


def _matrix(group: Group) -> Grid:
    """Mean response of many schedulers, best first, at every load."""
    head = [
        "mean (ms) at",
        *(f"×{speedup:g}" for speedup in group.speedups),
        f"SCV at ×{group.ranking_speedup:g}",
    ]
    rows = []
    for curve in group.ranking:
        means = [
            mark_overloaded(interval(row.run.mean_ms, row.run.half_ms), saturated=row.run.saturated)
            for row in curve.rows
        ]
        rows.append((curve.label, *means, figure(curve.run(group.ranking_speedup).scv)))
    return Grid(head, rows)


def brief(comparison: Comparison) -> Sequence[Part]:
    """Return the title, a table for each case or combination of varied values, and the answer."""
    parts: list[Part] = [Heading(title(comparison), 1, competitors_text(comparison))]
    cases = sweeps_by_case(comparison) if len(comparison.groups) > 1 else []
    if cases:
        parts += [part for sweeps_of_case in cases for part in grid_table.parts(sweeps_of_case)]
    else:
        parts += _group_tables(comparison)
    return [*parts, *overload_note(comparison), Text(answer(comparison)), *warnings(comparison)]


def warnings(comparison: Comparison) -> Iterator[Text]:
    """Yield warnings: plug-ins that take most of the time, and flash without garbage collection."""
    yield from slow_plugin(comparison)
    if text := flash.avoided_by_all("", [row.run.counts for row in comparison.rows["curves"]]):
        yield Text(f"{text}; {flash.remedy(comparison.config)}.", "warning")


def _group_tables(comparison: Comparison) -> Iterator[Part]:
    """Yield a table of the schedulers for each combination of varied values, and a note."""
    is_detailed = len(comparison.schedulers) <= MAX_DETAILED
    for group in comparison.groups:
        if group.varied:
            yield Heading(heading(group))
        yield full_table(group) if is_detailed else _matrix(group)
    matrix_note = f"{MATRIX_NOTE}; {INTERVAL_NOTE}" if has_seeds(comparison.groups) else MATRIX_NOTE
    yield Text(note(comparison.groups) if is_detailed else matrix_note, "quiet")


def costs(comparison: Comparison) -> Grid | None:
    """Wall-clock cost of a decision of each scheduler over all loads, cheapest first."""
    ranked_rows = []
    for scheduler in comparison.schedulers:
        rows = [row for row in comparison.costs["decision_cost"] if row.who.name == scheduler]
        decisions = sorted((row.decision_ns, row.queue_mean) for row in rows if row.decision_ns is not None)
        if decisions:
            selected = (decisions[0], decisions[len(decisions) // 2], decisions[-1])
            cells = [f"{figure(ns)} ({figure(waiting)})" for ns, waiting in selected]
            ranked_rows.append((selected[1][0], (label(scheduler), *cells)))
    head = ("scheduler", "least", "median", "most")
    return Grid(head, [row for _, row in sorted(ranked_rows)]) if ranked_rows else None


def _ranking_caption(group: Group) -> str:
    """Caption: the load of the ranking."""
    condition = "the highest load at which more than half of them keep up"
    if len(group.speedups) == 1:
        condition = "the only load"
    rate = f"{group.rate(group.ranking_speedup):,.0f} requests per second"
    return (
        f"Ranked by mean response at {rate} (×{group.ranking_speedup:g}), {condition}. Times in ms; keeps up "
        "to: requests per second at the highest load before the first overload; in queue: from arrival to "
        "start."
    )


COSTS_NOTE = (
    "Wall-clock time that the scheduler took to choose a request, on this machine, in ns; the mean "
    "number of waiting requests in brackets. Not part of the simulated results."
)


def _group_parts(comparison: Comparison, group: Group) -> Iterator[Part]:
    """Yield all parts of the page about one combination of varied values."""
    if group.varied:
        yield Heading(heading(group), has_gap=True)
    yield Text(verdict(comparison, group), "answer")
    yield Heading("Results by load")
    yield from race_parts.figures(group)
    yield from (Heading("Ranking"), ranking(group), Text(_ranking_caption(group), "quiet"))
    yield from race_parts.spread_parts(group)
    if len(group.speedups) > 1:
        yield from race_parts.winners(group)
        yield from race_parts.throughput(comparison, group)
    yield Collapsible("Table of all results", [full_table(group), Text(note([group]), "quiet")])
    yield from race_parts.single_figures(group)


def _sweep_chart(comparison: Comparison) -> Iterator[Part]:
    """Yield the mean response time across the values: lines over one key, or a heat map over two."""
    values: dict[str, list[Any]] = {}
    for group in comparison.groups:
        for key, value in group.varied:
            values.setdefault(key, []).append(value)
    numeric = [key for key, each in values.items() if all(isinstance(value, (int, float)) for value in each)]
    if not numeric and not comparison.is_grid:
        return
    keys = comparison.varied_keys if comparison.is_grid else numeric[:1]
    title = f"Mean response time over {join_names(keys)}"
    yield Heading(title)
    yield Drawing(
        lambda: column_figure.plot_columns(comparison, "mean_ms", keys, None), title, width="narrow"
    )


def page(comparison: Comparison) -> Document:
    """The page: the fastest and the fairest scheduler at each load, and why."""
    parts: list[Part] = [part for group in comparison.groups for part in _group_parts(comparison, group)]
    if all_sweeps := sweeps(comparison):
        chapters = [
            Collapsible(heading(group), list(_group_parts(comparison, group))) for group in comparison.groups
        ]
        parts = [
            Text(answer(comparison), "answer"),
            *(part for each in sweeps_by_case(comparison) for part in grid_table.parts(each)),
            *sweep_summary.parts(
                all_sweeps, partial(load_text, comparison), is_generated="workload" in comparison.config
            ),
            *_sweep_chart(comparison),
            Heading("Each combination of values"),
            *chapters,
        ]
    if cost_table := costs(comparison):
        parts += [Heading("Wall-clock time of a decision"), cost_table, Text(COSTS_NOTE, "quiet")]
    parts += [*overload_note(comparison), *warnings(comparison)]
    study_file = Collapsible("Complete study file", [Source(comparison.toml)])
    return Document(
        kind="comparison",
        title=title(comparison),
        heading=f"{title(comparison)}: {competitors_text(comparison)}",
        parts=[*parts, Heading("Configuration"), Facts(common_facts(comparison.config)), study_file],
        footer="All times are simulated. The same comparison and version give the same numbers.",
    )


def draw(comparison: Comparison, measure: str, *, varied: Any = None) -> Figure:
    """Draw a measure against the load, or the effects of a sweep."""
    if measure == "effects" and (all_sweeps := sweeps(comparison)):
        return sweep_summary.draw(all_sweeps, partial(load_text, comparison))
    return race_parts.draw(comparison, measure, varied=varied)


PRESENTATION = DocumentPresentation(
    answer=answer, brief=brief, whole=page, figure=draw, sketch=race_parts.sketch
)

"""Races of any competitors in tables, sentences and figures."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from sledlab._native import is_plugin
from sledlab.show import load_curves, spread, text_plot
from sledlab.show.curves import Curves, Line, LoadDot
from sledlab.show.document import Drawing, Grid, Heading, SideBySideParts, Text
from sledlab.show.model_names import label, settings_text
from sledlab.show.ranking import LEVEL, Ranking, is_level
from sledlab.show.wording import figure, interval, list_names, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.studies.races.race import Curve, Group, Race
    from sledlab.studies.races.rows import Level, Mean

HEAD = ("mean", "median", "99 %", "max", "SCV", "IOPS", "busy", "queue", "mJ each")
"""Columns of a row of results; times in ms."""

WIDE_COLUMNS = ("median", "max", "IOPS")
"""Columns of a row of results that terminals of 80 characters have no room for."""

INTERVAL_NOTE = "±: half the 95 % confidence interval over the seeds"
"""Note on means with intervals."""

SCV_NOTE = "SCV: variance of response times over their squared mean, low is fair"
"""Note on the fairness of competitors."""


def note(groups: Sequence[Group]) -> str:
    """Return a note for readers of tables of results."""
    text = f"times in ms; {SCV_NOTE}; queue: mean requests waiting; * the queue kept growing"
    return f"{text}; {INTERVAL_NOTE}" if has_seeds(groups) else text


def has_seeds(groups: Sequence[Group]) -> bool:
    """Whether the rows of groups are means over several seeds."""
    return groups[0].curves[0].rows[0].run.seeds > 1


STOPPED_NOTE = (
    "Overloaded runs end at their last arrival; --overload drain also serves the requests queued then."
)
"""Note about runs whose queue kept growing."""

MIN_PLUGIN_SHARE = 0.5
"""Least share of the wall-clock time of a study for which a plug-in is named."""

LONG_S = 10.0
"""Least wall-clock time of all runs for which a plug-in is named, in seconds."""

DRAWN_COLUMNS = {
    "mean_ms": "Mean response time",
    "scv": "Fairness: SCV of response times",
    "p99_ms": "99 % answered within",
    "total_energy_per_request_mj": "Energy per request",
}
"""Measures that are drawn on pages, and their headings."""


def heading(group: Group) -> str:
    """Return the heading of a group: the keys that vary and their values."""
    return settings_text(group.varied)


def names(curves: Sequence[Curve], maximum: int = 3) -> str:
    """Several competitors as a list in a sentence."""
    return list_names([curve.label for curve in curves], maximum)


def cells(row: Mean) -> tuple[str, ...]:
    """The cells of a row of results."""
    run = row.run
    values = (run.p50_ms, run.p99_ms, run.max_ms, run.scv, run.throughput_iops)
    energy = figure(row.total_energy_per_request_mj)
    return (
        interval(run.mean_ms, run.half_ms),
        *map(figure, values),
        percent(run.utilization),
        figure(run.queue_mean),
        energy,
    )


def full_table(group: Group) -> Grid:
    """One row per load and competitor, in the order given; a star marks a growing queue."""
    rows = []
    for speedup in group.speedups:
        for curve in group.curves:
            mark = " *" if curve.run(speedup).saturated else ""
            rows.append((f"{speedup:g}", curve.label + mark, *cells(curve.find_row(speedup))))
    return Grid(
        ("speed-up", group.competitor_kind, *HEAD),
        rows,
        "numbers left",
        has_groups=True,
        group_size=len(group.curves),
        wide_columns=WIDE_COLUMNS,
    )


def overload_note(race: Race) -> list[Text]:
    """Return a note about overloaded runs that ended at their last arrival, if there are any."""
    is_overloaded = any(row.run.saturated for row in race.rows["curves"])
    return [Text(STOPPED_NOTE, "quiet")] if is_overloaded and race.axes.get("overload") == "stop" else []


def slow_plugin(race: Race) -> list[Text]:
    """Return a note about the plug-in whose runs took most of the wall-clock time of a race, if one did."""
    rows = race.costs["decision_cost"]
    total_s = math.fsum(row.wall_s or 0.0 for row in rows)
    seeds = len(race.rows["runs"]) / len(race.rows["curves"])
    requests = {row.who.keys: row.requests / seeds for row in race.rows["curves"]}
    for name in sorted({row.who.name for row in rows if is_plugin(row.who.name)}):
        plugin_rows = [row for row in rows if row.who.name == name and row.wall_s and row.decision_ns]
        share = math.fsum(row.wall_s or 0.0 for row in plugin_rows) / total_s if total_s >= LONG_S else 0.0
        if share > MIN_PLUGIN_SHARE:
            worst = max(plugin_rows, key=lambda row: row.wall_s or 0.0)
            # Single calls are timed: a decision takes no longer than its share of the run.
            request_ns = (worst.wall_s or 0.0) / requests[worst.who.keys] * 1e9
            decision_text = milliseconds(min(worst.decision_ns or request_ns, request_ns) / 1e6)
            text = f"{label(name)} takes {decision_text} of wall-clock time for a decision"
            queue_text = f"with {figure(worst.queue_mean)} requests queued on average"
            return [Text(f"{text} {queue_text}: its runs took {percent(share)} of this study.", "warning")]
    return []


def limits(group: Group, max_named: int) -> Iterator[str]:
    """Yield the highest load that each sustained, unless all sustained all loads; the best of many."""
    if all(len(group.steady(speedup)) == len(group.curves) for speedup in group.speedups):
        return
    curves_by_limit: dict[float | None, list[Curve]] = {}
    for curve in group.curves:
        curves_by_limit.setdefault(curve.highest_steady_speedup, []).append(curve)
    if len(group.curves) <= max_named:
        texts = [
            f"{names(curves)} {'keeps' if len(curves) == 1 else 'keep'} up {_limit(group, limit)}"
            for limit, curves in curves_by_limit.items()
        ]
        yield f"{', '.join(texts)}."
        return
    furthest = max(curves_by_limit, key=lambda limit: limit or 0.0)
    best = [curve for curve in group.ranking if curve in curves_by_limit[furthest]]
    yield f"{len(best)} of {len(group.curves)} keep up {_limit(group, furthest)}: {names(best, 6)}."


def _limit(group: Group, speedup: float | None) -> str:
    """The loads up to a speed-up, of those tried, as the end of a clause."""
    if speedup is None:
        return "with none of the loads"
    lightest, heaviest = group.speedups[0], group.speedups[-1]
    if lightest < speedup == heaviest:
        return "at all loads"
    rate = "the original rate" if speedup == 1 else f"{speedup:g} times the original rate"
    return f"at {rate}" if speedup == lightest else f"at up to {rate}"


def throughput_sentence(group: Group, speedup: float) -> str:
    """A sentence: the competitor that completed the most, at a load where all are overloaded."""
    ranking = Ranking.of(group.curves, lambda curve: -curve.run(speedup).throughput_iops)
    done = figure(-ranking.values[0])
    return f"{ranking.first.label} completed the most, {done} requests per second."


def reads_and_writes(group: Group, speedup: float, max_named: int) -> Iterator[str]:
    """Yield sentences about reads and about writes if their ranking differs from that of all requests.

    Of more than `max_named` competitors, only another winner counts as another ranking.
    """
    best = set(group.best(speedup))
    orders = {op: group.fastest(speedup, op) for op in OPS}
    if not all(len(order) > 1 for order in orders.values()):
        return
    leaders = {op: _leaders(order, speedup, op) for op, order in orders.items()}
    is_many = len(group.curves) > max_named
    differs = any(
        not best & leaders_of_op if is_many else not leaders_of_op <= best
        for leaders_of_op in leaders.values()
    )
    if not differs and leaders["read"] & leaders["write"]:
        return
    run = orders["read"][0].run(speedup)
    share = percent(run.reads / (run.reads + run.writes))
    for op, order in orders.items():
        time_texts = [f"{curve.label} {milliseconds(_mean_ms(curve, speedup, op))}" for curve in order]
        share_text = f" ({share} of the requests)" if op == "read" else ""
        level_text = ", level" if not is_many and len(leaders[op]) == len(order) else ""
        yield f"{op.capitalize()}s{share_text}: {list_names(time_texts, max_named)}{level_text}."


OPS = ("read", "write")
"""Operations with response times of their own."""


def _mean_ms(curve: Curve, speedup: float, op: str) -> float:
    """Return the mean response time of reads or of writes, in ms."""
    return float(getattr(curve.run(speedup), f"{op}_mean_ms"))


def _leaders(order: Sequence[Curve], speedup: float, op: str) -> set[Curve]:
    """Return the fastest competitor and those level with it."""
    fastest_ms = _mean_ms(order[0], speedup, op)
    return {curve for curve in order if is_level(1 - fastest_ms / _mean_ms(curve, speedup, op))}


WINNERS = ("speed-up", "requests/s", "fastest (mean, ms)", "fastest 99 % (ms)", "fairest (SCV)", "overloaded")


def winners(group: Group) -> Sequence[Part]:
    """The winners, a row per load."""
    rows = []
    for speedup in group.speedups:
        overloaded_curves = [curve for curve in group.curves if curve.run(speedup).saturated]
        best_cells, overloaded_cell = ["–"] * 3, f"all. {throughput_sentence(group, speedup)}"
        if len(overloaded_curves) < len(group.curves):
            overloaded_cell = names(overloaded_curves, 4) if overloaded_curves else "none"
            best_cells = [_best(group, speedup, measure) for measure in ("mean_ms", "p99_ms", "scv")]
        rows.append((f"{speedup:g}", f"{group.rate(speedup):,.0f}", *best_cells, overloaded_cell))
    means = ", means if the 95 % interval of their difference over the seeds includes zero"
    text = (
        f"Level with the best: values within {LEVEL * 100:g} % of it{means if has_seeds([group]) else ''}. "
        f"Overloaded {group.competitor_kind}s do not count unless all are. {SCV_NOTE}."
    )
    return Heading("Best at each load"), Grid(WINNERS, rows, "words wins"), Text(text, "quiet")


def _best(group: Group, speedup: float, measure: str) -> str:
    best = group.best(speedup, measure)
    return f"{names(best, 4)} ({figure(best[0].find_row(speedup).value(measure))})"


def throughput(race: Race, group: Group) -> Sequence[Part]:
    """For every competitor the loads at which it reaches levels of mean response, if any is reached."""
    level_rows = [row for row in race.rows["throughput"] if row.varied == dict(group.varied)]
    levels_ms = sorted({row.level_ms for row in level_rows if row.arrival_rate_iops is not None})
    cells_by_level = {(*row.competitor.values(), row.level_ms): _crossing_cell(row) for row in level_rows}
    rows = [
        (curve.label, *(cells_by_level[curve.name, level] for level in levels_ms)) for curve in group.ranking
    ]
    head = (*level_rows[0].competitor, *(f"{level:g} ms" for level in levels_ms))
    text = (
        "Requests per second at which the mean response reaches each level, read off the curve through the "
        "loads that were measured (logarithm of the response over the load). ~: the load above was "
        "overloaded, so the value is rough."
    )
    return (
        (Heading("Load at equal response time"), Grid(head, rows), Text(text, "quiet")) if levels_ms else ()
    )


def _crossing_cell(row: Level) -> str:
    """A load in a cell, marked where it was interpolated to an overloaded point."""
    if row.arrival_rate_iops is None:
        return {"below": "< lightest", "above": "> heaviest"}[row.reached]
    prefix = "~" if row.reached == "in overload" else ""
    half = row.arrival_rate_ci95_iops
    return f"{prefix}{row.arrival_rate_iops:,.0f}" + (f" ± {figure(half, 2)}" if half is not None else "")


def figures(group: Group) -> Sequence[Part]:
    """A figure of every drawn measure against the load."""
    drawings = [
        Drawing(
            partial(load_curves.draw, measure_curves := curves(group, measure)),
            name,
            name,
            panels=partial(load_curves.panels, measure_curves),
        )
        for measure, name in DRAWN_COLUMNS.items()
    ]
    return SideBySideParts(drawings), Text(_legend(group), "quiet")


def spread_parts(group: Group) -> Sequence[Part]:
    """The spread of response times at the load of the ranking, of competitors not overloaded there."""
    steady = [curve for curve in group.ranking if not curve.run(group.ranking_speedup).saturated]
    if len(steady) < 2:
        return ()
    values = {
        curve.label: [
            float(getattr(curve.run(group.ranking_speedup), column)) for column in spread.QUANTILES.values()
        ]
        for curve in steady
    }
    panel = spread.panel(values, [curve.label for curve in group.highlighted_curves])
    gray_note = (
        ""
        if all(series.is_picked for series in panel.series)
        else f" Gray lines: the other {group.competitor_kind}s."
    )
    rate = f"{group.rate(group.ranking_speedup):,.0f} requests per second"
    caption = f"At {rate} (×{group.ranking_speedup:g}).{gray_note}"
    heading = "Distribution of response times"
    return Heading(heading), Drawing(
        partial(spread.draw, panel), heading, caption=caption, width="narrow", panels=lambda: [panel]
    )


def single_figures(group: Group) -> Iterator[Part]:
    """A figure for each competitor, before all others in gray, where there are too many for one figure."""
    if len(group.curves) > len(group.highlighted_curves) and len(group.speedups) > 1:
        for measure, name in list(DRAWN_COLUMNS.items())[:2]:
            if curves(group, measure).is_coincident:
                continue
            title = f"{name}, one by one"
            yield Heading(title)
            yield Drawing(partial(load_curves.draw_small_multiples, curves(group, measure)), title)


def _legend(group: Group) -> str:
    """A sentence that explains lines and marks of the figures."""
    runs = [row.run for curve in group.curves for row in curve.rows]
    texts = []
    if any(run.saturated for run in runs):
        texts.append(
            "Hollow points: overloaded. The queue kept growing, so their response times depend on the "
            f"length of the run; they are drawn in a strip above the plot, in one row for each "
            f"{group.competitor_kind}."
        )
    if any(run.seeds > 1 for run in runs):
        texts.append("Bands: 95 % confidence intervals over the seeds.")
    are_coincident = [curves(group, measure).is_coincident for measure in DRAWN_COLUMNS]
    if any(are_coincident) and len(group.speedups) > 1:
        texts.append(
            f"One line stands for all {group.competitor_kind}s where they are within 1 % of each other."
        )
    if len(group.curves) > len(group.highlighted_curves) and not all(are_coincident):
        texts.append(f"Gray lines: the other {group.competitor_kind}s, shown one by one below.")
    return " ".join(texts)


def draw(race: Race, measure: str = "mean_ms", *, varied: Any = None) -> Figure:
    """A measure against the load; a bar per competitor where there is a single load."""
    return load_curves.draw(curves(race.group(varied), measure))


def curves(group: Group, measure: str) -> Curves:
    """A measure of a group as curves."""
    lines = {curve: Line(curve.label, [_dot(row, measure) for row in curve.rows]) for curve in group.curves}
    loads = {speedup: group.rate(speedup) for speedup in group.speedups}
    ranked, highlighted = (
        [lines[curve] for curve in selected] for selected in (group.ranking, group.highlighted_curves)
    )
    return Curves(measure, list(lines.values()), ranked, highlighted, loads)


def sketch(race: Race, width: int) -> list[str]:
    """Return the mean response time over the load in characters, for the first group."""
    first_curves = curves(race.groups[0], "mean_ms")
    lines = {
        line.label: [(dot.rate, None if dot.is_overloaded else dot.value) for dot in line.dots]
        for line in first_curves.highlighted
    }
    return text_plot.curves(lines, "mean response time (ms)", width)


def _dot(row: Mean, measure: str) -> LoadDot:
    half = {"mean_ms": row.run.mean_ci95_ms, "scv": row.run.scv_ci95}.get(measure)
    return LoadDot(row.run.arrival_rate_iops, row.value(measure), half, row.run.seeds, row.run.saturated)

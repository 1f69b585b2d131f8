"""A comparison in words and rows."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from sledlab import terminal, wording
from sledlab.comparison.ranking import LEVEL, label, wins
from sledlab.wording import figure, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from sledlab.comparison.outcome import Comparison
    from sledlab.comparison.ranking import Curve, Group, Row

HEAD = (
    "speed-up",
    "scheduler",
    "mean",
    "median",
    "99 %",
    "slowest",
    "SCV",
    "requests/s",
    "busy",
    "queue",
    "mJ each",
)
"""Columns of the table of curves; times in ms."""

NOTE = "times in ms; queue: mean requests waiting; * the queue kept growing"
"""What a reader of that table should know."""


MATRIX_NOTE = "best first; * the queue kept growing"

FEW = 4
"""Most schedulers of which everything is printed."""


def title(comparison: Comparison) -> str:
    """What ran on what."""
    source, device = wording.source_name(comparison.config), wording.device_name(comparison.config)
    named = {"workload.kind": source, "trace.file": source, "device.preset": device}.get(
        comparison.vary or ""
    )
    if named:
        values = [str(group.varied[1]) for group in comparison.groups if group.varied]
        source, device = (" and ".join(values) if name == named else name for name in (source, device))
    return f"{source} on {device}"


def contest(comparison: Comparison) -> str:
    """The schedulers that compete."""
    names = [label(word) for word in comparison.schedulers]
    return " against ".join(names) if len(names) <= 4 else f"{len(names)} schedulers"


def heading(group: Group) -> str:
    """What varies, and its value here."""
    return f"{group.varied[0]} = {group.varied[1]}" if group.varied else ""


def rows(group: Group) -> list[tuple[str, ...]]:
    """One row per load and scheduler, in the order given; a star marks a growing queue."""
    return [_row(curve.at(speedup)) for speedup in group.speedups for curve in group.curves]


def _row(row: Row) -> tuple[str, ...]:
    return (
        f"{row['speedup']:g}",
        label(row["scheduler"]) + (" *" if row["saturated"] else ""),
        *(figure(row[name]) for name in ("mean_ms", "p50_ms", "p99_ms", "max_ms", "scv", "throughput_iops")),
        percent(row["utilization"]),
        figure(row["queue_mean"]),
        figure(row["energy_per_request_mj"]),
    )


def load(comparison: Comparison, speedup: float) -> str:
    """A load in words that begin a sentence."""
    generated = "workload" in comparison.config
    if speedup == 1:
        return "At its own rate" if generated else "As recorded"
    return f"At {speedup:g} times {'its own rate' if generated else 'the recorded speed'}"


def answer(comparison: Comparison) -> str:
    """What the comparison says, in a sentence or two; for each value of what varies."""
    if len(comparison.groups) == 1:
        return verdict(comparison, comparison.groups[0])
    return " ".join(f"{heading(group)}: {verdict(comparison, group)}" for group in comparison.groups)


def verdict(comparison: Comparison, group: Group) -> str:
    """What one group says: at the lightest load, at the load of the ranking, and how far each kept up."""
    light, heavy = group.speedups[0], group.heavy
    if not group.steady(heavy):
        return f"No scheduler kept up with any of these loads: the queues kept growing.{_most(group, heavy)}"
    says = dict.fromkeys((_contest(comparison, group, light), _contest(comparison, group, heavy)))
    return " ".join([*says, *_fairness(group, heavy), *_limits(group)])


def _most(group: Group, speedup: float) -> str:
    best = max(group.curves, key=lambda curve: float(curve.at(speedup)["throughput_iops"]))
    return f" {best.label} completed most, {figure(best.at(speedup)['throughput_iops'])} requests per second."


def _contest(comparison: Comparison, group: Group, speedup: float) -> str:
    """Who is fastest at a load, and against whom."""
    begin = load(comparison, speedup)
    steady, best = group.steady(speedup) or list(group.curves), group.best(speedup)
    fast = best[0].at(speedup)["mean_ms"]
    if len(group.curves) == 1:
        return f"{begin}, {best[0].label} answers in {milliseconds(fast)} on average."
    if len(best) == len(steady) > 1:
        who = "both" if len(best) == 2 else f"all {len(best)} schedulers"
        rest = "" if len(steady) == len(group.curves) else " that keep up"
        return f"{begin}, {who}{rest} answer in the same time, {milliseconds(fast)} on average."
    yardstick = group.yardstick if group.yardstick not in best else group.ranked[-1]
    if yardstick in best:
        return f"{begin}, {_names(best)} is the fastest with {milliseconds(fast)} on average."
    slow = yardstick.at(speedup)
    who = f"{_names(best)} {_answers(best)} in {milliseconds(fast)} on average"
    if slow["saturated"]:
        return f"{begin}, {who}; {yardstick.label} is overloaded."
    return (
        f"{begin}, {who} where {yardstick.label} takes {milliseconds(slow['mean_ms'])}: "
        f"{percent(1 - fast / slow['mean_ms'])} less."
    )


def _answers(curves: Sequence[Curve]) -> str:
    return "answers" if len(curves) == 1 else "answer"


def _names(curves: Sequence[Curve], most: int = 3) -> str:
    """Several schedulers as a list in a sentence."""
    names = [curve.label for curve in curves]
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _fairness(group: Group, speedup: float) -> Iterable[str]:
    """Who pays for the speed of the fastest."""
    fastest, fairest = group.best(speedup)[0], group.best(speedup, "scv")[0]
    if fastest is fairest or fastest in group.best(speedup, "scv"):
        return
    fast, fair = fastest.at(speedup), fairest.at(speedup)
    if fast["scv"] > (1 + LEVEL) * fair["scv"]:
        fair_max, fast_max = milliseconds(fair["max_ms"]), milliseconds(fast["max_ms"])
        less = fair["max_ms"] < fast["max_ms"]
        slowest = f", and the slowest request takes {fair_max} instead of {fast_max}" if less else ""
        yield (
            f"{fairest.label} is the fairest there: its squared coefficient of variation is "
            f"{figure(fair['scv'])} against {figure(fast['scv'])} of {fastest.label}{slowest}."
        )


def _limit(speedup: float | None) -> str:
    if speedup is None:
        return "with none of the loads"
    return "at the original rate only" if speedup == 1 else f"to {speedup:g} times"


def _limits(group: Group) -> Iterable[str]:
    """Up to which load they kept up, where not all did throughout."""
    if all(len(group.steady(speedup)) == len(group.curves) for speedup in group.speedups):
        return
    if len(group.curves) <= 4:
        together: dict[float | None, list[Curve]] = {}
        for curve in group.curves:
            together.setdefault(curve.kept_up, []).append(curve)
        texts = [
            f"{_names(curves)} {'keeps' if len(curves) == 1 else 'keep'} up " + _limit(limit)
            for limit, curves in together.items()
        ]
        yield f"{', '.join(texts)}."
        return
    furthest = max(curve.kept_up or 0.0 for curve in group.curves)
    best = [curve for curve in group.ranked if (curve.kept_up or 0.0) == furthest]
    yield f"{len(best)} of {len(group.curves)} keep up {_limit(furthest or None)}: {_names(best, 6)}."


RANKING = ("scheduler", "mean", "× best", "99 %", "SCV", "keeps up to", "in queue", "positioning", "why")
"""Columns of the ranking; times in ms, `keeps up to` in requests/s."""


def ranking(group: Group) -> list[tuple[str, ...]]:
    """One row per scheduler, best first, at the load of the ranking."""
    best = group.best(group.heavy)[0].at(group.heavy)["mean_ms"]
    found: list[tuple[str, ...]] = []
    for curve in group.ranked:
        row = curve.at(group.heavy)
        steady = not row["saturated"]
        ci95 = f" ± {figure(row['mean_ci95_ms'], 2)}" if steady and row["mean_ci95_ms"] is not None else ""
        found.append(
            (
                curve.label,
                f"{figure(row['mean_ms'])}{ci95}" if steady else "overloaded",
                f"{row['mean_ms'] / best:.2f}" if steady else "–",
                figure(row["p99_ms"]) if steady else "–",
                figure(row["scv"]) if steady else "–",
                f"{group.rate(curve.kept_up):,.0f}" if curve.kept_up is not None else "–",
                figure(row["queue_time_ms"]) if steady else "–",
                figure(row["positioning_ms"]),
                why(group, curve),
            )
        )
    return found


def why(group: Group, curve: Curve) -> str:
    """What makes a scheduler as good as it is at the load of the ranking, out of measured parts."""
    row, other = curve.at(group.heavy), group.yardstick.at(group.heavy)
    if row["saturated"]:
        done, offered = figure(row["throughput_iops"], 4), figure(row["arrival_rate"], 4)
        clauses = [
            f"cannot keep up: completes {done} of {offered} requests a second",
            f"positioning takes {milliseconds(row['positioning_ms'])} each",
            "" if curve is group.yardstick else _together(row, other),
        ]
        return ", ".join(clause for clause in clauses if clause)
    if curve is group.yardstick:
        return f"what the others are measured by: positioning takes {milliseconds(row['positioning_ms'])}"
    name = group.yardstick.label
    clauses = [
        _change("positioning", row["positioning_ms"], other["positioning_ms"], name),
        _together(row, other),
        _queue(row, other),
        *_variation(group, curve, row, other),
    ]
    return ", ".join(clause for clause in clauses if clause)


def _change(what: str, value: float, than: float, name: str) -> str:
    """A part against that of the yardstick."""
    change = value / than - 1 if than else 0.0
    if abs(change) < LEVEL:
        return f"{what} takes as long as under {name}"
    return f"{what} takes {percent(abs(change))} {'less' if change < 0 else 'more'} than under {name}"


def _together(row: Row, other: Row) -> str:
    """Whether requests are served together, where the yardstick does not do so as well."""
    if row["served_at_once"] < other["served_at_once"] + LEVEL:
        return ""
    return f"{row['served_at_once']:.2f} requests are served at a time"


def _queue(row: Row, other: Row) -> str:
    if other["saturated"]:
        return f"so that {figure(row['queue_mean'])} requests wait on average"
    if abs(row["queue_time_ms"] - other["queue_time_ms"]) < LEVEL * other["mean_ms"]:
        return "the wait is the same"
    return f"the wait {milliseconds(row['queue_time_ms'])} instead of {milliseconds(other['queue_time_ms'])}"


def _variation(group: Group, curve: Curve, row: Row, other: Row) -> Iterable[str]:
    """How fair it is, where that stands out."""
    steady = group.steady(group.heavy)
    if len(steady) > 2 and curve is group.best(group.heavy, "scv")[0]:
        yield f"the fairest of all: SCV {figure(row['scv'])}"
    elif len(steady) > 2 and curve is max(steady, key=lambda each: float(each.at(group.heavy)["scv"])):
        yield f"but the least fair: SCV {figure(row['scv'])}"
    elif not other["saturated"] and row["scv"] > 1.25 * other["scv"]:
        yield f"but less fair: SCV {figure(row['scv'])} against {figure(other['scv'])}"
    elif not other["saturated"] and row["scv"] < 0.8 * other["scv"]:
        yield f"and fairer: SCV {figure(row['scv'])} against {figure(other['scv'])}"


def winners(group: Group) -> list[tuple[str, ...]]:
    """Who wins where: a row per load."""
    found = []
    for win in wins(group):
        speedup, late = win["speedup"], win["overloaded"]
        if len(late) == len(group.curves):
            cells, overloaded = ["–"] * 3, f"all.{_most(group, speedup)}"
        else:
            overloaded = _names(late, 4) if late else "none"
            cells = [
                f"{_names(win[measure], 4)} ({figure(win[measure][0].at(speedup)[measure])})"
                for measure in ("mean_ms", "p99_ms", "scv")
            ]
        found.append((f"{speedup:g}", f"{win['rate']:,.0f}", *cells, overloaded))
    return found


def throughput(comparison: Comparison, group: Group) -> tuple[list[float], list[tuple[str, ...]]]:
    """Levels of mean response, and for every scheduler the load at which it reaches each."""
    from sledlab.comparison.statistics import throughput as crossings

    found = [
        row
        for row in crossings(comparison.rows, comparison.vary)
        if not group.varied or row[group.varied[0]] == group.varied[1]
    ]
    levels = sorted({row["level_ms"] for row in found if row["arrival_rate"] is not None})
    table = {(row["scheduler"], row["level_ms"]): row for row in found}
    return levels, [
        (curve.label, *(_crossing(table[curve.scheduler, level]) for level in levels))
        for curve in group.ranked
    ]


def _crossing(row: Row) -> str:
    """A load, with a mark where it rests on an overloaded point."""
    if row["arrival_rate"] is None:
        return {"below": "< lightest", "above": "> heaviest"}[row["reached"]]
    about = "~" if row["reached"] == "in overload" else ""
    ci95 = row["arrival_rate_ci95"]
    return f"{about}{row['arrival_rate']:,.0f}" + (f" ± {figure(ci95, 2)}" if ci95 is not None else "")


def as_text(comparison: Comparison) -> str:
    """The title, the table and the answer, as plain text."""
    return terminal.as_text(lambda show: write(comparison, show))


def write(comparison: Comparison, show: Any) -> None:
    """Hands the title, a table for each value of what varies, and the answer to `show`."""
    show(f"[bold]{title(comparison)}[/bold]  {contest(comparison)}")
    for group in comparison.groups:
        if group.varied:
            show(f"[bold]{heading(group)}[/bold]")
        show(_table(group) if len(group.curves) <= FEW else _matrix(group))
    show(f"[dim]{NOTE if len(comparison.schedulers) <= FEW else MATRIX_NOTE}[/dim]")
    show(answer(comparison))


def _table(group: Group) -> Table:
    """Everything about few schedulers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in HEAD:
        table.add_column(name, justify="left" if name == "scheduler" else "right", no_wrap=True)
    last = group.curves[-1]
    for row, curve in zip(rows(group), list(group.curves) * len(group.speedups), strict=True):
        table.add_row(*row, end_section=curve is last)
    return table


def _matrix(group: Group) -> Table:
    """Mean response of many schedulers, best first, at every load."""
    from rich import box
    from rich.table import Table

    table = Table("mean (ms) at", box=box.SIMPLE_HEAD, pad_edge=False)
    for speedup in group.speedups:
        table.add_column(f"×{speedup:g}", justify="right", no_wrap=True)
    table.add_column(f"SCV at ×{group.heavy:g}", justify="right")
    for curve in group.ranked:
        means = [f"{figure(row['mean_ms'])}{' *' if row['saturated'] else ''}" for row in curve.rows]
        table.add_row(curve.label, *means, figure(curve.at(group.heavy)["scv"]))
    return table


def as_html(comparison: Comparison) -> str:
    """The answer and the table for notebooks."""
    parts = [f"<h4>{html.escape(title(comparison))}: {html.escape(contest(comparison))}</h4>"]
    parts.append(f"<p>{html.escape(answer(comparison))}</p>")
    for group in comparison.groups:
        head = "".join(f"<th>{name}</th>" for name in HEAD)
        lines = []
        for row in rows(group):
            cells = "".join(f'<td style="text-align:right">{html.escape(value)}</td>' for value in row)
            lines.append(f"<tr>{cells}</tr>")
        above = f"<h5>{html.escape(heading(group))}</h5>" if group.varied else ""
        parts.append(f"{above}<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>")
    parts.append(f"<p>{html.escape(NOTE)}</p>")
    return "".join(parts)


WINNERS = ("speed-up", "requests/s", "fastest (mean, ms)", "fastest 99 % (ms)", "fairest (SCV)", "overloaded")
"""Columns of the table that says who wins where."""

COSTS = ("scheduler", "least", "median", "most")
"""Columns of the table of decision costs."""


def level_head(levels: Sequence[float]) -> list[str]:
    """Columns of the table of loads at equal response time."""
    return ["scheduler", *(f"{level:g} ms" for level in levels)]


def legend(comparison: Comparison, group: Group) -> str:
    """How to read the figures."""
    texts = []
    if any(row["saturated"] for curve in group.curves for row in curve.rows):
        texts.append(
            "Hollow points: overloaded. The queue kept growing, so their response times depend on the "
            "length of the run; they stand in a strip above the plot, one row for each scheduler."
        )
    if any(row["seeds"] > 1 for curve in group.curves for row in curve.rows):
        texts.append("Bands: 95 % confidence intervals over the seeds.")
    if len(group.curves) > len(group.highlighted):
        texts.append("Grey lines: the other schedulers, shown one by one below.")
    return " ".join(texts)


def ranked_at(comparison: Comparison, group: Group) -> str:
    """Which load the ranking is for."""
    which = "the highest load at which more than half of them keep up"
    if len(group.speedups) == 1:
        which = "the only load"
    rate = f"{group.rate(group.heavy):,.0f} requests per second"
    return f"Ranked by mean response at {rate} (×{group.heavy:g}), {which}."


def costs(comparison: Comparison) -> list[tuple[str, ...]]:
    """What decisions cost each scheduler over all loads, cheapest first."""
    found = []
    for scheduler in comparison.schedulers:
        mine = [
            (row["decision_ns"], row["queue_mean"])
            for row in comparison.costs
            if row["scheduler"] == scheduler and row["decision_ns"] is not None
        ]
        if mine:
            mine.sort()
            found.append(
                (mine[len(mine) // 2][0], label(scheduler), [mine[0], mine[len(mine) // 2], mine[-1]])
            )
    return [
        (name, *(f"{figure(ns)} ({figure(waiting)})" for ns, waiting in shown))
        for _, name, shown in sorted(found, key=lambda each: each[:2])
    ]

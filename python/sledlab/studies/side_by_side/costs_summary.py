"""Energy and cost of devices side by side, in tables and sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledlab.show.document import Grid, grid
from sledlab.show.money import money
from sledlab.show.ranking import LEVEL
from sledlab.show.wording import figure, interval, list_names, mark_overloaded, milliseconds, percent
from sledlab.studies.side_by_side.recommendation import break_even, rank, value_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sledlab.studies.costs.goal import ResponseGoal
    from sledlab.studies.races.race import Group
    from sledlab.studies.side_by_side.recommendation import EqualCostPrice
    from sledlab.studies.side_by_side.rows import DeviceMean, MaxLoad
    from sledlab.studies.side_by_side.tables import SideBySide

    Cells = Mapping[str, Callable[[DeviceMean], str]]

MAX_NAMES = 4
"""Most names in a list."""


def costs_speedup(group: Group) -> float:
    """Return the load at which goals and costs are compared: the recorded one, or else the lowest."""
    return 1.0 if 1.0 in group.speedups else group.speedups[0]


def ranked_rows(result: SideBySide, group: Group) -> list[DeviceMean]:
    """Return the devices at the load of goals and costs, the recommended one first."""
    rows: Any = [curve.find_row(costs_speedup(group)) for curve in group.curves]
    return rank(rows, result.goal)


def table(result: SideBySide, group: Group) -> Grid:
    """Response, energy and cost of every device, at one load."""
    rows = ranked_rows(result, group)
    limits = {
        **{curve.name: _speedup_text(curve.highest_steady_speedup) for curve in group.curves},
        **{name: _max_load_text(row) for name, row in result.max_loads(group).items()},
    }
    cells: dict[str, Callable[[DeviceMean], str]] = {
        "device": lambda row: mark_overloaded(row.who.label, saturated=row.run.saturated)
    }
    goal = result.goal
    if goal is not None:
        cells["goal"] = lambda row: "yes" if row.meets else "no"
    cells["mean"] = lambda row: interval(row.run.mean_ms, row.run.half_ms)
    if goal is not None and goal.measure not in ("mean", "p99"):
        cells[goal.measure] = lambda row: figure(value_ms(row.run, goal))
    cells["99 %"] = lambda row: figure(row.run.p99_ms)
    if has_limits(result, group):
        cells["keeps up to"] = lambda row: limits[row.who.name]
    cells |= {
        "J": lambda row: interval(row.run.energy_j, row.run.half_j),
        "W": lambda row: figure(row.cost.power_w),
        "$": lambda row: money(row.cost.devices_usd),
        "$/month": lambda row: money(row.cost.month_usd),
    }
    if any(row.cost.lifetime_years is not None for row in rows):
        cells["life"] = lambda row: _years_text(row.cost.lifetime_years)
    if has_writes_to_flash(rows):
        cells["WA"] = lambda row: _count_text(row, "flash_write_amplification", figure)
        cells["GC"] = lambda row: _count_text(row, "flash_collection_share", percent)
    return grid(rows, cells)


def has_limits(result: SideBySide, group: Group) -> bool:
    """Return whether the highest load that each device sustains is known, of the loads tried or by search."""
    return len(group.speedups) > 1 or bool(result.max_loads(group))


def has_writes_to_flash(rows: Iterable[DeviceMean]) -> bool:
    """Return whether a device wrote to flash."""
    return any(row.run.counts.get("flash_written_pages") for row in rows)


def _count_text(row: DeviceMean, name: str, text: Callable[[float], str]) -> str:
    """Return a count of flash as text; a dash for a device that did not write to flash."""
    return text(row.run.counts[name]) if has_writes_to_flash([row]) else "–"


def _speedup_text(speedup: float | None) -> str:
    return "–" if speedup is None else f"×{speedup:g}"


def _max_load_text(row: MaxLoad) -> str:
    """The speed-up up to which a device keeps up, with a sign where the search ended without a limit."""
    if row.speedup is None:
        return f"<{_speedup_text(row.overloaded_speedup)}"
    sign = ">" if row.overloaded_speedup is None else ""
    return f"{sign}×{figure(row.speedup)}"


def max_load_sentences(result: SideBySide, group: Group, source: str) -> Iterator[str]:
    """A sentence: the highest load that each device sustains, the highest first."""
    rows = sorted(result.max_loads(group).items(), key=lambda item: -(item[1].speedup or 0.0))
    if not rows:
        return
    texts = [
        f"{'more than ' if row.overloaded_speedup is None else ''}{figure(row.speedup)} times on {name} "
        f"({figure(row.arrival_rate_iops)} requests/s)"
        for name, row in rows
        if row.speedup is not None
    ]
    texts += [f"none of the loads tried on {name}" for name, row in rows if row.speedup is None]
    yield f"The highest load sustained, against the rate of {source}: {list_names(texts, MAX_NAMES)}."


def _years_text(years: float | None) -> str:
    return "–" if years is None else f"{figure(years, 2)} y"


def note(result: SideBySide) -> str:
    """A note on the columns of energy and cost."""
    prices = result.config["prices"]
    text = (
        f"times in ms; J, W: energy and mean power of the devices over the run, without memory of caches; "
        f"$/month: the devices over {prices['years']:g} years and power at {money(prices['kwh'], 2)} a kWh; "
        "* the queue kept growing"
    )
    if any(has_limits(result, group) for group in result.groups):
        text += "; keeps up to: the highest speed-up without overload"
    if any(row.cost.lifetime_years is not None for row in result.rows["curves"]):
        text += "; life: years until flash is worn, at this load"
    if has_writes_to_flash(result.rows["curves"]):
        text += "; WA: write amplification; GC: share of the time of dies for garbage collection"
    rows = [row for group in result.groups for row in ranked_rows(result, group)]
    wholes = {
        row.who.label: row.cost.whole_usd
        for row in rows
        if row.cost.whole_usd is not None and row.cost.whole_usd != row.cost.devices_usd
    }
    if not wholes:
        return text
    whole_text = list_names([f"{money(usd)} for {name}" for name, usd in wholes.items()], MAX_NAMES)
    return f"{text}. $ counts the part of a front device that is used; with whole ones {whole_text}"


def goal_sentences(result: SideBySide, group: Group, source: str) -> Iterator[str]:
    """Sentences: the cheapest device that meets the goal, and what would change that."""
    goal, rows = result.goal, ranked_rows(result, group)
    assert goal is not None
    speedup = costs_speedup(group)
    source_text = source if speedup == 1 else f"{source} at {speedup:g} times its speed"
    goal_text = f"{goal.measure} of {source_text} within {milliseconds(goal.limit_ms)}"
    meeting = [row for row in rows if row.meets]
    if not meeting:
        nearest = rows[0]
        state = "overloaded" if nearest.run.saturated else milliseconds(value_ms(nearest.run, goal))
        cost_text = _cost_text(nearest, state)
        yield f"No device keeps {goal_text}. The nearest is {nearest.who.label}: {cost_text}."
        return
    first = meeting[0]
    quality = "cheapest" if all(row.cost.month_usd is not None for row in rows) else "most frugal"
    subject = "is the only device" if len(meeting) == 1 else f"is the {quality} of {len(meeting)} devices"
    yield (
        f"{first.who.label} {subject} that {'keeps' if len(meeting) == 1 else 'keep'} {goal_text}: "
        f"{_cost_text(first, milliseconds(value_ms(first.run, goal)))}."
    )
    if changes := list(_changes(result, rows, goal)):
        yield f"{'; '.join(changes)}."
    yield from _wear_sentences(result, rows)


def _wear_sentences(result: SideBySide, rows: Sequence[DeviceMean]) -> Iterator[str]:
    """A sentence: devices within the goal whose flash is worn before their price is written off."""
    years = result.config["prices"]["years"]
    lives = {row.who.label: row.cost.lifetime_years for row in rows if row.meets}
    short = [f"{name} after {figure(life, 2)} years" for name, life in lives.items() if life and life < years]
    if short:
        yield (
            f"Flash is worn before its price is written off, over {years:g} years, on "
            f"{list_names(short, MAX_NAMES)}; a larger part of it lasts longer."
        )


def _cost_text(row: DeviceMean, response: str) -> str:
    usd = row.cost.month_usd
    return f"{response}, {figure(row.cost.power_w)} W" + (
        f", {money(usd)} a month" if usd is not None else ""
    )


def _changes(result: SideBySide, rows: Sequence[DeviceMean], goal: ResponseGoal) -> Iterator[str]:
    """Clauses: the price, and the goal, with which another device would be the cheapest."""
    first, *others = rows
    if first.cost.month_usd is None:
        return
    years = result.config["prices"]["years"]
    change = break_even(first, [row for row in others if row.meets], result.parts, years)
    if change is not None:
        yield _price_clause(change)
    highest_usd = first.cost.month_usd * (1 - LEVEL)
    cheaper = [
        row for row in others if not row.meets and not row.run.saturated and _month_usd(row) < highest_usd
    ]
    if cheaper:
        row = cheaper[0]
        limit = milliseconds(value_ms(row.run, goal))
        yield f"{row.who.label} would do for {limit} as the goal, at {money(row.cost.month_usd)} a month"


def _month_usd(row: DeviceMean) -> float:
    """The cost of a month; infinite where a part has no price."""
    return math.inf if row.cost.month_usd is None else row.cost.month_usd


def _price_clause(change: EqualCostPrice) -> str:
    """A clause: the price of a part beyond which another device is the cheapest."""
    unit = " a GB" if change.by_capacity else ""
    relation = "less than" if change.limit < change.price else "more than"
    return (
        f"{change.device} is cheaper where {change.part} costs {relation} {money(change.limit)}{unit} "
        f"(assumed: {money(change.price)})"
    )


def costs_sentence(group: Group) -> Iterator[str]:
    """A sentence: the cost of a month on each device that has a price."""
    rows: Any = [curve.find_row(costs_speedup(group)) for curve in group.curves]
    usd_by_name = sorted(
        (row.cost.month_usd, row.who.label) for row in rows if row.cost.month_usd is not None
    )
    if usd_by_name:
        texts = [f"{money(usd)} on {name}" for usd, name in usd_by_name]
        yield f"A month costs {list_names(texts, MAX_NAMES)}."

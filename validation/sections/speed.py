"""The speed of sledlab: results that `make bench` has written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import log
from pathlib import Path
from statistics import linear_regression

from sledlab_papers.markdown import table

from ..results import PROJECT, from_plain
from .section import ValidationSection

RESULTS = PROJECT / "validation" / "benches" / "results.json"
DECISIONS = PROJECT / "validation" / "benches" / "decisions.json"
FIRST_USE = PROJECT / "validation" / "benches" / "first_use.json"

DECISION_TARGETS_US = {"sptf": 2, "gsptf": 2, "zsptf": 2, "asptf": 5}
"""Target times in us of a decision, at any length of the queue."""


@dataclass(frozen=True)
class BenchmarkFigure:
    """A figure of the benchmark, and its target."""

    what: str
    value: float
    unit: str
    target: str = ""


@dataclass(frozen=True)
class Decision:
    """Time of a choice and of the arrival that replaces the chosen request, by index and exhaustively."""

    scheduler: str
    queue: int
    ns: float | None
    """Time in ns; `None` if the scheduler refuses a queue of that length."""
    search_ns: float | None = None


@dataclass(frozen=True)
class Speed:
    """All figures, and the machines that they were measured on."""

    machine: str
    rows: tuple[BenchmarkFigure, ...]
    decisions: tuple[Decision, ...]
    decisions_machine: str
    """The machine on which decisions were measured."""
    first_use: tuple[BenchmarkFigure, ...]
    first_use_machine: str
    """The machine on which getting started was measured."""


def decisions(file: Path = DECISIONS) -> tuple[Decision, ...]:
    """Return the cost of decisions, ordered by queue length."""
    all_decisions = from_plain(tuple[Decision, ...], json.loads(file.read_text(encoding="utf-8"))["rows"])
    return tuple(sorted(all_decisions, key=lambda decision: decision.queue))


def _measure() -> Speed:
    benchmark = json.loads(RESULTS.read_text(encoding="utf-8"))
    decisions_machine = json.loads(DECISIONS.read_text(encoding="utf-8"))["machine"]
    first_use = json.loads(FIRST_USE.read_text(encoding="utf-8"))
    return Speed(
        benchmark["machine"],
        from_plain(tuple[BenchmarkFigure, ...], benchmark["rows"]),
        decisions(),
        decisions_machine,
        from_plain(tuple[BenchmarkFigure, ...], first_use["rows"]),
        first_use["machine"],
    )


def _template_values(speed: Speed) -> dict[str, object]:
    lengths = sorted({decision.queue for decision in speed.decisions})
    decisions_by_scheduler: dict[str, list[Decision]] = {}
    for decision in speed.decisions:
        decisions_by_scheduler.setdefault(decision.scheduler, []).append(decision)
    costs = [
        [f"`{name}`", *map(_decision, rows), _growth(rows), _decision_target(name, rows)]
        for name, rows in decisions_by_scheduler.items()
    ]
    head = ["scheduler", *(f"{length:,}" for length in lengths), "exponent", "target"]
    return {
        "machine": f" on {speed.machine}",
        "measured": _measurement_table(speed.rows),
        "first_use_machine": f" on {speed.first_use_machine}",
        "first_use": _measurement_table(speed.first_use),
        "decisions": table(head, costs),
        "decided_on": f" on {speed.decisions_machine}",
    }


def _measurement_table(rows: tuple[BenchmarkFigure, ...]) -> str:
    return table(["what", "measured", "target"], [[row.what, _value(row), target_text(row)] for row in rows])


def _decision(decision: Decision) -> str:
    if decision.ns is None:
        return "–"
    return _us(decision.ns) + (f" ({_us(decision.search_ns)})" if decision.search_ns else "")


def _growth(rows: list[Decision]) -> str:
    """Return the exponent of the power of the queue length that is fitted to the times."""
    points = [(log(decision.queue), log(decision.ns)) for decision in rows if decision.ns is not None]
    if len(points) < 2:
        return "–"
    slope = linear_regression(*zip(*points, strict=True)).slope
    return f"{round(slope, 2) + 0:.2f}"  # no negative zero


def _us(ns: float) -> str:
    us = ns / 1e3
    return f"{us:.2f}" if us < 10 else f"{us:,.0f}"


def _decision_target(name: str, rows: list[Decision]) -> str:
    target = DECISION_TARGETS_US.get(name)
    if target is None:
        return ""
    missed_lengths = [f"{row.queue:,}" for row in rows if row.ns is None or row.ns > target * 1e3]
    return f"{target}, not met at {', '.join(missed_lengths)}" if missed_lengths else str(target)


def _value(row: BenchmarkFigure) -> str:
    is_whole = isinstance(row.value, int) or abs(row.value) >= 1e4
    return f"{row.value:{',.0f' if is_whole else ',.4g'}} {row.unit}".strip()


def target_text(row: BenchmarkFigure) -> str:
    """Return the target, and whether it is missed: rates should be high, times and sizes low."""
    if not row.target:
        return ""
    is_missed = (row.value - float(row.target)) * (1 if row.unit.endswith("/s") else -1) < 0
    return f"{row.target}, not met" if is_missed else row.target


SECTION = ValidationSection(
    "speed", Speed, _measure, _template_values, benchmarks=(RESULTS, DECISIONS, FIRST_USE)
)

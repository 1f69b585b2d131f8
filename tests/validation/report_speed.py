"""How fast sledlab is: what `make bench` has left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .markdown import table

BENCHES = Path(__file__).parents[2] / "benches"
RESULTS = BENCHES / "results.json"
DECISIONS = BENCHES / "decisions.json"

DECISION_TARGETS_US = {"sptf": 2, "gsptf": 2, "zsptf": 2, "asptf": 5}
"""What a decision may take at any length of the queue."""


def section() -> str:
    """The section, empty where no results are found."""
    if not RESULTS.is_file():
        return ""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))
    rows = [[str(row.get("what", "")), _value(row), _target(row)] for row in found.get("rows", [])]
    machine = f" on {found['machine']}" if found.get("machine") else ""
    return f"""\
## Speed

Measured by `make bench`{machine}; simulated results do not depend on it.
A replay is of one million requests of 8 blocks, uniform over a G2, at 70 % utilisation, timed from opening
the source to the summary.

{table(["what", "measured", "target"], rows)}

{_decisions()}"""


def _decisions() -> str:
    """What a decision costs every scheduler, by the length of the queue."""
    if not DECISIONS.is_file():
        return ""
    found = json.loads(DECISIONS.read_text(encoding="utf-8"))
    lengths = sorted({row["queue"] for row in found})
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(found, key=lambda row: row["queue"]):
        by_name.setdefault(row["scheduler"], []).append(row)
    rows = [
        [f"`{name}`", *map(_decision, rows), _decision_target(name, rows)] for name, rows in by_name.items()
    ]
    return f"""\
### What a decision costs

Microseconds for a choice and the arrival that replaces what was chosen, on a G2 with uniform requests of one
block, by the length of the queue; in brackets the same by looking at every request (MT-04). A dash: refused,
as the scheduler is for small queues. Published: 1.8 us per queued request, on a processor of 2004.

{table(["scheduler", *(f"{length:,}" for length in lengths), "target"], rows)}"""


def _decision(row: dict[str, Any]) -> str:
    if row["ns"] is None:
        return "–"
    scan = f" ({_us(row['scan_ns'])})" if row.get("scan_ns") else ""
    return _us(row["ns"]) + scan


def _us(ns: float) -> str:
    us = ns / 1e3
    return f"{us:.2f}" if us < 10 else f"{us:,.0f}"


def _decision_target(name: str, rows: list[dict[str, Any]]) -> str:
    target = DECISION_TARGETS_US.get(name)
    if target is None:
        return ""
    missed = [f"{row['queue']:,}" for row in rows if row["ns"] > target * 1e3]
    return f"{target}, not met at {', '.join(missed)}" if missed else str(target)


def _value(row: dict[str, Any]) -> str:
    value = row.get("value", "")
    text = f"{value:,.4g}" if isinstance(value, float) and abs(value) < 1e4 else _whole(value)
    return f"{text} {row.get('unit', '')}".strip()


def _whole(value: Any) -> str:
    return f"{value:,.0f}" if isinstance(value, (int, float)) else str(value)


def _target(row: dict[str, Any]) -> str:
    """The target, and whether it is missed: rates want to be high, times and sizes low."""
    target = row.get("target")
    if not target:
        return ""
    missed = (row["value"] - float(target)) * (1 if row["unit"].endswith("/s") else -1) < 0
    return f"{target}, not met" if missed else str(target)

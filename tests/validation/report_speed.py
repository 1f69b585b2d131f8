"""How fast sledlab is: what `make bench` has left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .markdown import table

RESULTS = Path(__file__).parents[2] / "benches" / "results.json"


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

{table(["what", "measured", "target"], rows)}"""


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

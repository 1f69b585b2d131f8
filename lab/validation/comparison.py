"""Speed compared with an earlier commit, measured in turn on one machine by `make compare-builds`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sledlab_papers.markdown import table

from ..results import PROJECT
from .section import ValidationSection
from .speed import BenchmarkFigure, target_text

BUILDS = PROJECT / "benches" / "builds.json"
WAITS = PROJECT / "benches" / "waits.json"


@dataclass(frozen=True)
class SpeedComparison:
    """The contents of the benchmark files: rates of replays, and times of commands."""

    builds: dict[str, Any]
    waits: dict[str, Any]


def load() -> SpeedComparison:
    """Return the contents of the benchmark files."""
    return SpeedComparison(*(json.loads(file.read_text(encoding="utf-8")) for file in (BUILDS, WAITS)))


def _template_values(comparison: SpeedComparison) -> dict[str, object]:
    builds, waits = comparison.builds, comparison.waits
    rates = [
        [
            row["what"],
            f"{row['base_rate']:.2f}",
            f"{row['here_rate']:.2f}",
            f"{1 / row['value']:.2f}",
            target_text(BenchmarkFigure(row["what"], row["here_rate"], "million requests/s", row["target"])),
        ]
        for row in builds["rows"]
    ]
    times = [
        [
            row["what"],
            f"{row['base']:.2f} {row['unit']}",
            f"{row['value']:.2f} {row['unit']}",
            f"{row['base'] / row['value']:.2f}",
            target_text(BenchmarkFigure(row["what"], row["value"], row["unit"], row["target"])),
        ]
        for row in waits["rows"]
    ]
    head = ["before", "now", "speed-up", "target"]
    return {
        "base": builds["base"][:8],
        "machine": builds["machine"],
        "runs": builds["runs"],
        "rates": table(["replay", *head], rates),
        "rates_load": _load(builds),
        "times": table(["command", *head], times),
        "times_load": _load(waits),
    }


def _load(results: dict[str, Any]) -> str:
    load = results["load_average"]
    return f"{load['before']:.1f} before, {load['after']:.1f} after"


SECTION = ValidationSection("comparison", SpeedComparison, load, _template_values, benchmarks=(BUILDS, WAITS))

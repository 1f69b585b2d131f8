"""Writing the results of benchmarks in Python: their rows, and the machine that they were measured on."""

import json
import os
import platform
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parent
RUNS = PLACE.parent / "bench-out"
"""Folder for the raw results of single runs, which git ignores."""


def machine() -> str:
    """The processor and the number of its cores, in the words that the benchmarks in Rust use."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return f"{next(models, platform.machine())}, {os.cpu_count()} logical cores"


def keep(name: str, rows: list[dict[str, Any]]) -> None:
    """Prints rows of `what`, `value`, `unit`, possibly `target`, and writes them to `benches/NAME.json`."""
    print(machine())
    for row in rows:
        target = f"(target {row['target']})" if row.get("target") else ""
        print(f"{row['what']:<78} {row['value']:>9.2f} {row['unit']} {target}".rstrip())
    write(name, {"machine": machine(), "rows": rows})


def write(name: str, options: dict[str, Any]) -> None:
    """Writes a benchmark's results to `benches/NAME.json`."""
    (PLACE / f"{name}.json").write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")


def write_runs(name: str, runs: dict[str, Any]) -> None:
    """Write the raw results of single runs to `bench-out/NAME.json`."""
    RUNS.mkdir(exist_ok=True)
    (RUNS / f"{name}.json").write_text(json.dumps(runs, indent=2) + "\n", encoding="utf-8")

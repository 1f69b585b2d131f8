"""Growth of the time of a study with its number of runs.

Adds its rows to ``growth.json``, which the Rust benchmark writes first. Each study is a separate
process.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
from typing import Any

from result_files import FOLDER, machine, write

NAME = "growth"
SERIES = "studies"

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000)
"""Numbers of runs of a comparison of two schedulers."""

REPEATS = 3
MEASURED_ONCE = 3_000
"""Studies with this many runs or more are measured once."""

COMPARISON = """
import sys, time
import sledlab as sl
runs = int(sys.argv[1])
begun = time.perf_counter()
if runs:
    options = {"scheduler": ["fcfs", "sptf"], "speedup": [1], "seed": range(1, runs // 2 + 1), "limit": 200}
    sl.compare(sl.workload("uniform"), "mems-g2", **options)
print(time.perf_counter() - begun)
"""
"""A comparison of runs with 200 requests each; prints its wall-clock time in seconds."""


def comparison_s(runs: int) -> tuple[float, float]:
    """Return wall-clock time and processor time of a process that compares `runs` runs, in seconds.

    The processor time includes the start of the process.
    """
    usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", COMPARISON, str(runs)]
    completed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(
        completed.stdout
    ), usage_after.ru_utime + usage_after.ru_stime - usage_before.ru_utime - usage_before.ru_stime


def median_s(runs: int, repeats: int) -> tuple[float, float]:
    """Return the medians of wall-clock time and processor time of comparisons, in seconds."""
    wall_s, processor_s = zip(*(comparison_s(runs) for _ in range(repeats)), strict=True)
    return statistics.median(wall_s), statistics.median(processor_s)


def rows() -> list[dict[str, Any]]:
    """Measure, print and return the points of both curves."""
    _, start_s = median_s(0, REPEATS)
    points = []
    for size in SIZES:
        repeats = REPEATS if size < MEASURED_ONCE else 1
        wall_s, processor_s = median_s(size, repeats)
        print(
            f"{size:>6,} runs {wall_s:>9.3f} s, {processor_s - start_s:>9.3f} s of processor time", flush=True
        )
        for curve, value in (("wall-clock time", wall_s), ("processor time", processor_s - start_s)):
            point = {"series": SERIES, "curve": curve, "size": size, "value": value}
            points.append({**point, "unit": "s", "runs": repeats})
    return points


def main() -> None:
    """Measure, and add the rows to those of other series."""
    load_before = os.getloadavg()[0]
    new_rows = rows()
    file = FOLDER / f"{NAME}.json"
    saved_rows = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.is_file() else []
    load_averages = {"before": load_before, "after": os.getloadavg()[0]}
    other_rows = [row for row in saved_rows if row["series"] != SERIES]
    write(NAME, {"machine": machine(), "load_average": load_averages, "rows": other_rows + new_rows})


if __name__ == "__main__":
    main()

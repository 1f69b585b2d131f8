"""Time of miss-ratio curves: LRU at 40 sizes in one pass against LRU at one size, and a sample of ARC.

10 million uses of segments of 8 KB, some popular (Zipf) or all equally likely. Prints processor times, the
best of several runs, and writes ``miss_ratios.json``.
"""

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sledlab as sl
from result_files import write_rows
from sledlab.studies.miss_ratio.curves import SIZES, SMALLEST_SHARE
from sledlab.traces.hits import SegmentedTrace

RUNS = 3
REQUESTS = 10_000_000
SEGMENTS = 1_000_000


def seconds(function: Callable[[], object], runs: int = RUNS) -> float:
    """Return the processor time of a function in s, the best of several runs."""

    def measure_once() -> float:
        start_s = time.process_time()
        function()
        return time.process_time() - start_s

    return min(measure_once() for _ in range(runs))


def main() -> None:
    """Measure, print and write the results."""
    random, load = np.random.default_rng(1), os.getloadavg()[0]
    traces = {
        "popular": np.minimum(random.zipf(1.2, REQUESTS), SEGMENTS),
        "random": random.integers(0, SEGMENTS, REQUESTS),
    }
    rows: list[dict[str, Any]] = []
    for name, segments in traces.items():
        columns = {
            "time_us": np.arange(REQUESTS),
            "op": np.full(REQUESTS, "R"),
            "offset_bytes": segments * 8192,
        }
        trace = sl.trace({**columns, "length_bytes": np.full(REQUESTS, 4096)})
        uses = SegmentedTrace.read(trace, 8.0)
        rooms = [round(uses.segments * SMALLEST_SHARE ** (1 - step / (SIZES - 1))) for step in range(SIZES)]
        sizes = {
            "one size of 3 %": rooms[SIZES // 2 : SIZES // 2 + 1],
            "one size of all segments": rooms[-1:],
            "40 sizes": rooms,
        }
        for what, chosen in sizes.items():
            caches = [("lru", room) for room in chosen]
            value = seconds(lambda uses=uses, caches=caches: uses.hits(caches, []))  # type: ignore[misc]
            rows.append({"what": f"{name} segments, lru, {what}", "value": value, "unit": "s"})
        times = rows[-1]["value"] / rows[-2]["value"]
        what = f"{name} segments, lru, 40 sizes over one of all segments"
        rows.append({"what": what, "value": times, "unit": "times", "target": "3"})
    sampled_s = seconds(lambda: sl.miss_ratio_curves(trace, replacement=["lru", "arc"]), runs=1)
    what = "random segments, the trace read, lru and a sample of arc"
    rows.append({"what": what, "value": sampled_s, "unit": "s"})
    write_rows("miss_ratios", rows, load_average=round(load, 1))


if __name__ == "__main__":
    main()

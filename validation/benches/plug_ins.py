"""Speed of plug-ins in Python compared with Rust: a workload, a device, a replacement policy.

Prints requests per second of processor time, the best of several runs, and writes
``plug_ins.json``.
"""

import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sledlab as sl
from result_files import write_rows

MODULE = "plug_ins"
"""The name of this module in plug-in names."""
RUNS = 5
BATCH = 4096
REQUESTS = 200_000


class Uniform:
    """Poisson arrivals of one block at uniform addresses, like `uniform`; in batches or singly."""

    def __init__(self, singly: bool = False) -> None:
        self.singly = singly

    def requests(self, capacity_blocks: int, random: np.random.Generator) -> Iterator[tuple[Any, ...]]:
        """Yield requests indefinitely."""
        last_us = 0.0
        while True:
            times = last_us + np.cumsum(random.exponential(1000, BATCH))
            last_us = times[-1]
            lbns = random.integers(capacity_blocks, size=BATCH)
            ops = np.where(random.random(BATCH) < 0.5, "R", "W")
            if self.singly:
                yield from zip(times.tolist(), lbns.tolist(), [1] * BATCH, ops.tolist(), strict=True)
            else:
                yield times, lbns, 1, ops


class Memory:
    """A device with an access time and a bus, like `ram`."""

    capacity_blocks, active_mw, idle_mw = 8_000_000, 1000.0, 500.0

    def serve(self, state: int, lbn: int, blocks: int, is_write: bool) -> float:
        """Return the service time, equal for all addresses."""
        return 0.001 + blocks * 0.00385


class Lru:
    """The replacement policy LRU."""

    def __init__(self, capacity: int) -> None:
        self.keys: OrderedDict[int, None] = OrderedDict()

    def hit(self, key: int) -> None:
        """Move the key to the end of the order."""
        self.keys.move_to_end(key)

    def insert(self, key: int) -> None:
        """Add the key at the end of the order."""
        self.keys[key] = None

    def evict(self, incoming: int) -> int:
        """Return the key at the beginning of the order."""
        return self.keys.popitem(last=False)[0]


def rate(requests: int, function: Callable[[], Any]) -> float:
    """Return requests per second of processor time, the best of several runs."""

    def measure_once() -> float:
        start_s = time.process_time()
        function()
        return time.process_time() - start_s

    return requests / min(measure_once() for _ in range(RUNS))


def replay_function(workload: Any, device: Any) -> Callable[[], Any]:
    """Run a replay."""
    return lambda: sl.simulate(workload, device, limit=REQUESTS, requests=False)


def cache_function(policy: str) -> Callable[[], Any]:
    """Run a cache of 1,000 segments with skewed addresses; one request in ten misses."""
    segments = np.minimum(np.random.default_rng(1).zipf(1.2, REQUESTS), 100_000)
    columns = {"time_us": np.arange(REQUESTS), "op": np.full(REQUESTS, "R"), "offset_bytes": segments * 65536}
    trace = sl.trace({**columns, "length_bytes": np.full(REQUESTS, 512)})
    return lambda: sl.hit_ratios(trace, replacement=[policy], cache_mb=[65.6])


def main() -> None:
    """Measure, print and write the results."""
    sys.path.insert(0, str(Path(__file__).parent))
    uniform, ram = sl.workload("uniform", blocks=1), sl.device("ram")
    functions = {
        "workload `uniform` on `ram`": replay_function(uniform, ram),
        "workload in Python, in batches, on `ram`": replay_function(sl.workload(f"{MODULE}:Uniform"), ram),
        "workload in Python, one by one, on `ram`": replay_function(
            sl.workload(f"{MODULE}:Uniform", singly=True), ram
        ),
        "workload `uniform` on a device in Python": replay_function(uniform, sl.device(f"{MODULE}:Memory")),
        "cache under `lru`": cache_function("lru"),
        "cache under LRU in Python": cache_function(f"{MODULE}:Lru"),
    }
    rows = []
    for label, function in functions.items():
        value = rate(REQUESTS, function) / 1e6
        rows.append({"what": label, "value": value, "unit": "million requests/s"})
    write_rows("plug_ins", rows)


if __name__ == "__main__":
    main()

"""Time and memory of recorded jobs, and data-mining kernels compared with the fastest ones in Python.

Data is generated before the clock starts. Writes ``benches/jobs.json``.
"""

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from result_files import write_rows
from sledlab import _native

JOBS = {
    "sort, scale factor 1, 32 nodes": ("sort", 32, {"scale_factor": 1}, 30),
    "sort, scale factor 1, 1,024 nodes": ("sort", 1024, {"scale_factor": 1}, 60),
    "join, scale factor 1, 32 nodes": ("join", 32, {"scale_factor": 1}, None),
    "apriori-cd, 3.2 million transactions, 32 nodes": ("apriori-cd", 32, {}, 60),
    "apriori-hd, 3.2 million transactions, 32 nodes, 4 sections": ("apriori-hd", 32, {"sections": 4}, 60),
    "apriori-cd, 3.2 million transactions of 200 patterns, 32 nodes": (
        "apriori-cd",
        32,
        {"patterns": 200},
        None,
    ),
    "mafia, 4,281,782 records, 32 nodes": ("mafia", 32, {}, 60),
}

RUN_CODE = r"""
import json, re, sys, time
from pathlib import Path
import sledlab as sl
from sledlab.job.task import task
job, nodes, settings = json.loads(sys.argv[1])
chosen = task(job, nodes=nodes, memory_mb=62, seed=1, data="", measured=False, settings=settings)
chosen.data.prepare(nodes, 1, lambda what, share: None)
begun = time.perf_counter()
work = sl.record(job, nodes, again=True, work=sys.argv[2], **settings)
peak_kib = int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps([time.perf_counter() - begun, peak_kib * 1024]))
"""


def record_job(job: str, nodes: int, settings: dict[str, object]) -> tuple[float, float, float]:
    """Record a job in a separate process; return seconds, peak memory in GB, and record size in MB."""
    result = json.dumps([job, nodes, settings])
    times = []
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory) / f"{job}.work"
        for _ in range(2):  # the first run may extract columns from tables
            ran = subprocess.run(
                [sys.executable, "-c", RUN_CODE, result, work], check=True, stdout=subprocess.PIPE
            )
            times.append(json.loads(ran.stdout))
        size = work.stat().st_size
    return times[-1][0], times[-1][1] / 1e9, size / 1e6


PEAK_CODE = """
import resource, sys
import sledlab as sl
sl.record("sort", int(sys.argv[1]), scale_factor=1, memory_mb=1024, mpi=True, again=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak_of_a_rank(ranks: int) -> float:
    """Return the peak memory in GB of the largest rank of a sort under MPI."""
    ran = subprocess.run([sys.executable, "-c", PEAK_CODE, str(ranks)], check=True, stdout=subprocess.PIPE)
    return int(ran.stdout) / 1e9


def seconds(work: Callable[[], object]) -> float:
    """Return the median time of a function."""

    def measure_once() -> float:
        begun = time.perf_counter()
        work()
        return time.perf_counter() - begun

    return statistics.median(measure_once() for _ in range(5))


def itemsets(length: int, items_used: int) -> tuple[float, float]:
    """Return seconds of the hash tree on one thread, and of numpy on bitmaps, for the most frequent items."""
    quest = _native.Quest(seed=1, patterns=200)
    blocks = [quest.block(index, 4096) for index in range(25)]
    lengths = np.concatenate([np.frombuffer(block[0], np.uint32) for block in blocks])
    items = np.concatenate([np.frombuffer(block[1], np.uint32) for block in blocks])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    common = np.sort(np.argsort(np.bincount(items))[-items_used:]).astype(np.uint32)
    candidates = np.array(list(itertools.combinations(common.tolist(), length)), dtype=np.uint32)
    tree = _native.HashTree(candidates.ravel(), length)
    counted: list[np.ndarray] = []

    def rust() -> None:
        counted[:] = [np.frombuffer(tree.count(offsets, items, threads=1)[0], np.uint64)]

    def numpy() -> None:
        owner = np.repeat(np.arange(len(lengths)), lengths)
        table = np.zeros((int(items.max()) + 1, len(lengths)), dtype=bool)
        table[items, owner] = True
        bits = np.packbits(table, axis=1).view(np.uint64)
        found = np.empty(len(candidates), dtype=np.uint64)
        for start in range(0, len(candidates), 512):
            some = candidates[start : start + 512]
            both = bits[some[:, 0]]
            for place in range(1, length):
                both &= bits[some[:, place]]
            found[start : start + 512] = np.bitwise_count(both).sum(axis=1)
        assert np.array_equal(found, counted[0])

    return seconds(rust), seconds(numpy)


def units() -> tuple[float, float]:
    """Return seconds of the unit counter on one thread and of numpy on masks, for 300 units."""
    boxes = _native.Boxes(seed=1)
    records = np.concatenate([np.frombuffer(boxes.block(index, 4096), np.float32) for index in range(100)])
    dims, windows = 20, 1000
    bins = np.repeat(np.arange(10, dtype=np.uint16), windows // 10)
    grid = np.tile(bins, dims)
    random = np.random.default_rng(1)
    drawn = [
        [*sorted(random.choice(dims, 2, replace=False)), *random.integers(10, size=2)] for _ in range(400)
    ]
    some = [(a, x, b, y) for a, b, x, y in sorted({tuple(map(int, each)) for each in drawn})][:300]
    candidates = np.array(some, dtype=np.uint32)
    lows, highs = np.zeros(dims), np.full(dims, 100.0)
    counter = _native.UnitCounter(dims, windows, lows, highs, grid, candidates.ravel(), 2)
    counted: list[np.ndarray] = []

    def rust() -> None:
        counted[:] = [np.frombuffer(counter.count(records, threads=1)[0], np.uint64)]

    def numpy() -> None:
        rows = records.reshape(-1, dims)
        places = np.minimum((rows * np.float32(10)).astype(np.int32), windows - 1)
        binned = np.ascontiguousarray(bins[places].T)
        pairs = {pair for a, x, b, y in some for pair in ((a, x), (b, y))}
        masks = {(dim, place): np.packbits(binned[dim] == place) for dim, place in pairs}
        found = [int(np.bitwise_count(masks[a, x] & masks[b, y]).sum()) for a, x, b, y in some]
        assert np.allclose(found, counted[0], rtol=1e-3)

    return seconds(rust), seconds(numpy)


def rows() -> list[dict[str, object]]:
    """Return all results as rows."""
    found: list[dict[str, object]] = []
    for what, (job, nodes, settings, target) in JOBS.items():
        took, peak, size = record_job(job, nodes, settings)
        found += [
            {"what": what, "value": took, "unit": "s", "target": str(target or "")},
            {"what": f"{what}: peak memory", "value": peak, "unit": "GB", "target": "3"},
            {"what": f"{what}: record", "value": size, "unit": "MB", "target": "20"},
        ]
    for ranks in (1, 2, 4, 8):
        what = f"sort under MPI, scale factor 1, 1 GB of memory a node, {ranks} ranks: peak memory of a rank"
        found.append({"what": what, "value": peak_of_a_rank(ranks), "unit": "GB", "target": ""})
    kernels = {
        "all 9,453 pairs of 138 items in 102,400 transactions": itemsets(2, 138),
        "all 9,880 triples of 40 items in 102,400 transactions": itemsets(3, 40),
        "300 units of 2 dimensions in 409,600 records": units(),
    }
    for what, (rust, python) in kernels.items():
        found += [
            {"what": what, "value": rust, "unit": "s", "target": ""},
            {"what": f"{what}, numpy over ours", "value": python / rust, "unit": "times", "target": ""},
        ]
    return found


def main() -> None:
    """Measure, print and write the results."""
    write_rows("jobs", rows())


if __name__ == "__main__":
    main()

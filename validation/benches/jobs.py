"""Time and memory of recorded jobs, and data-mining kernels compared with the fastest ones in Python.

Data is generated before the clock starts. Writes ``jobs.json``.
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
    arguments_json = json.dumps([job, nodes, settings])
    seconds_and_bytes = []
    with tempfile.TemporaryDirectory() as directory:
        work_record = Path(directory) / f"{job}.work"
        for _ in range(2):  # the first run may extract columns from tables
            completed = subprocess.run(
                [sys.executable, "-c", RUN_CODE, arguments_json, work_record],
                check=True,
                stdout=subprocess.PIPE,
            )
            seconds_and_bytes.append(json.loads(completed.stdout))
        size_bytes = work_record.stat().st_size
    return seconds_and_bytes[-1][0], seconds_and_bytes[-1][1] / 1e9, size_bytes / 1e6


PEAK_CODE = """
import resource, sys
import sledlab as sl
sl.record("sort", int(sys.argv[1]), scale_factor=1, memory_mb=1024, mpi=True, again=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def peak_of_a_rank(ranks: int) -> float:
    """Return the peak memory in GB of the largest rank of a sort under MPI."""
    completed = subprocess.run(
        [sys.executable, "-c", PEAK_CODE, str(ranks)], check=True, stdout=subprocess.PIPE
    )
    return int(completed.stdout) / 1e9


def seconds(function: Callable[[], object]) -> float:
    """Return the median time of a function."""

    def measure_once() -> float:
        start_s = time.perf_counter()
        function()
        return time.perf_counter() - start_s

    return statistics.median(measure_once() for _ in range(5))


def itemset_times_s(length: int, items_used: int) -> tuple[float, float]:
    """Return seconds of the hash tree on one thread, and of numpy on bitmaps, for the most frequent items."""
    quest = _native.Quest(seed=1, patterns=200)
    blocks = [quest.block(index, 4096) for index in range(25)]
    lengths = np.concatenate([np.frombuffer(block[0], np.uint32) for block in blocks])
    items = np.concatenate([np.frombuffer(block[1], np.uint32) for block in blocks])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint64)
    frequent_items = np.sort(np.argsort(np.bincount(items))[-items_used:]).astype(np.uint32)
    candidates = np.array(list(itertools.combinations(frequent_items.tolist(), length)), dtype=np.uint32)
    tree = _native.HashTree(candidates.ravel(), length)
    rust_counts: list[np.ndarray] = []

    def rust() -> None:
        rust_counts[:] = [np.frombuffer(tree.count(offsets, items, threads=1)[0], np.uint64)]

    def numpy() -> None:
        transaction_numbers = np.repeat(np.arange(len(lengths)), lengths)
        membership = np.zeros((int(items.max()) + 1, len(lengths)), dtype=bool)
        membership[items, transaction_numbers] = True
        bitmaps = np.packbits(membership, axis=1).view(np.uint64)
        counts = np.empty(len(candidates), dtype=np.uint64)
        for start in range(0, len(candidates), 512):
            batch = candidates[start : start + 512]
            matches = bitmaps[batch[:, 0]]
            for i in range(1, length):
                matches &= bitmaps[batch[:, i]]
            counts[start : start + 512] = np.bitwise_count(matches).sum(axis=1)
        assert np.array_equal(counts, rust_counts[0])

    return seconds(rust), seconds(numpy)


def unit_times_s() -> tuple[float, float]:
    """Return seconds of the unit counter on one thread and of numpy on masks, for 300 units."""
    boxes = _native.Boxes(seed=1)
    records = np.concatenate([np.frombuffer(boxes.block(index, 4096), np.float32) for index in range(100)])
    dims, windows = 20, 1000
    bins = np.repeat(np.arange(10, dtype=np.uint16), windows // 10)
    grid = np.tile(bins, dims)
    random = np.random.default_rng(1)
    drawn_units = [
        [*sorted(random.choice(dims, 2, replace=False)), *random.integers(10, size=2)] for _ in range(400)
    ]
    units = [(a, x, b, y) for a, b, x, y in sorted({tuple(map(int, each)) for each in drawn_units})][:300]
    candidates = np.array(units, dtype=np.uint32)
    lows, highs = np.zeros(dims), np.full(dims, 100.0)
    counter = _native.UnitCounter(dims, windows, lows, highs, grid, candidates.ravel(), 2)
    rust_counts: list[np.ndarray] = []

    def rust() -> None:
        rust_counts[:] = [np.frombuffer(counter.count(records, threads=1)[0], np.uint64)]

    def numpy() -> None:
        rows = records.reshape(-1, dims)
        positions = np.minimum((rows * np.float32(10)).astype(np.int32), windows - 1)
        record_bins = np.ascontiguousarray(bins[positions].T)
        pairs = {pair for a, x, b, y in units for pair in ((a, x), (b, y))}
        masks = {(dim, bin_): np.packbits(record_bins[dim] == bin_) for dim, bin_ in pairs}
        counts = [int(np.bitwise_count(masks[a, x] & masks[b, y]).sum()) for a, x, b, y in units]
        assert np.allclose(counts, rust_counts[0], rtol=1e-3)

    return seconds(rust), seconds(numpy)


def rows() -> list[dict[str, object]]:
    """Return all results as rows."""
    result_rows: list[dict[str, object]] = []
    for label, (job, nodes, settings, target) in JOBS.items():
        job_s, peak_gb, size_mb = record_job(job, nodes, settings)
        result_rows += [
            {"what": label, "value": job_s, "unit": "s", "target": str(target or "")},
            {"what": f"{label}: peak memory", "value": peak_gb, "unit": "GB", "target": "3"},
            {"what": f"{label}: record", "value": size_mb, "unit": "MB", "target": "20"},
        ]
    for ranks in (1, 2, 4, 8):
        label = f"sort under MPI, scale factor 1, 1 GB of memory a node, {ranks} ranks: peak memory of a rank"
        result_rows.append({"what": label, "value": peak_of_a_rank(ranks), "unit": "GB", "target": ""})
    kernels = {
        "all 9,453 pairs of 138 items in 102,400 transactions": itemset_times_s(2, 138),
        "all 9,880 triples of 40 items in 102,400 transactions": itemset_times_s(3, 40),
        "300 units of 2 dimensions in 409,600 records": unit_times_s(),
    }
    for label, (rust_s, numpy_s) in kernels.items():
        result_rows += [
            {"what": label, "value": rust_s, "unit": "s", "target": ""},
            {"what": f"{label}, numpy over ours", "value": numpy_s / rust_s, "unit": "times", "target": ""},
        ]
    return result_rows


def main() -> None:
    """Measure, print and write the results."""
    write_rows("jobs", rows())


if __name__ == "__main__":
    main()

"""Overhead of a cluster: 2,000 short runs in local processes, and on a Dask cluster.

Both have two workers; the workers and scheduler of the cluster are started before the measurement. Writes
``machines.json``. Other load on the machine slows both down; their ratio stays the same.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sledlab as sl
from result_files import write_rows

SEEDS = 1000
"""Number of seeds; with two schedulers, half the number of runs."""

REQUESTS = 50
WORKERS = 2
ROUNDS = 3
"""Number of rounds; the fastest is reported."""

LIMIT, ALLOWED_S = 1.5, 3.0
"""The cluster may take `LIMIT` times as long as processes, and `ALLOWED_S` more."""


@contextmanager
def cluster(directory: Path) -> Iterator[str]:
    """Run a scheduler and workers on the loopback network; yield the path of the scheduler file."""
    file = directory / "scheduler.json"
    common_options = ("--no-dashboard", "--scheduler-file", str(file))
    python_command = [sys.executable, "-m"]
    commands = [
        [
            *python_command,
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            *common_options,
        ]
    ]
    worker = [
        *python_command,
        "distributed.cli.dask_worker",
        "--no-nanny",
        "--nthreads",
        "1",
        *common_options,
    ]
    commands += [[*worker, "--local-directory", str(directory)] for _ in range(WORKERS)]
    processes = []
    try:
        for command in commands:
            output_options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            processes.append(subprocess.Popen(command, **output_options))
            while not file.exists():
                time.sleep(0.05)
        yield str(file)
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def seconds(**worker_options: object) -> float:
    """Return the time of a study of all runs with these workers, without a page."""
    options = {"scheduler": ["fcfs", "sptf"], "speedup": [1], "seed": range(1, SEEDS + 1), "limit": REQUESTS}
    start_s = time.perf_counter()
    comparison = sl.compare(sl.workload("uniform", blocks=1), "mems-g2", **options, **worker_options)
    assert comparison.runs.height == 2 * SEEDS
    return time.perf_counter() - start_s


def main() -> None:
    """Measure, print and write the results."""
    times_by_backend: dict[str, list[float]] = {"loky": [], "Dask": []}
    with tempfile.TemporaryDirectory() as directory, cluster(Path(directory)) as file:
        for _ in range(ROUNDS):
            times_by_backend["loky"].append(seconds(parallel=WORKERS))
            times_by_backend["Dask"].append(seconds(cluster=file))
    loky_s, dask_s = min(times_by_backend["loky"]), min(times_by_backend["Dask"])
    rows = [
        {"what": f"{2 * SEEDS:,} runs of {REQUESTS} requests, {name}", "value": min(times), "unit": "s"}
        for name, times in times_by_backend.items()
    ]
    rows.append({"what": "Dask, times loky", "value": dask_s / loky_s, "unit": ""})
    write_rows("machines", rows)
    is_within_limit = dask_s <= LIMIT * loky_s + ALLOWED_S
    print(f"at most {LIMIT} x loky + {ALLOWED_S:g} s: {'kept' if is_within_limit else 'exceeded'}")


if __name__ == "__main__":
    main()

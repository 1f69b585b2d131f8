"""Cost of identifying a trace by its content: hashing a file of 1 GB, compared with replaying it.

Prints seconds of processor time and writes ``trace_hash.json``.
"""

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sledlab as sl
from result_files import write_rows
from sledlab.traces.contents import content

GIGABYTE = 10**9
REQUESTS = 2_000_000


def seconds(function: Callable[[], object]) -> float:
    """Return the processor time of a function, which other load on the machine does not change."""
    start_s = time.process_time()
    function()
    return time.process_time() - start_s


def main() -> None:
    """Measure, print and write the results."""
    with tempfile.TemporaryDirectory() as directory:
        small_file, large_file = Path(directory) / "small.csv", Path(directory) / "large"
        generate = [sys.executable, "-m", "sledlab", "trace", "generate", "uniform", str(small_file)]
        workload_options = ["--set", "workload.blocks=1", "--limit", str(REQUESTS)]
        subprocess.run([*generate, *workload_options], check=True, stderr=subprocess.DEVNULL)
        csv_bytes = small_file.read_bytes()
        with large_file.open("wb") as file:
            for _ in range(GIGABYTE // len(csv_bytes)):
                file.write(csv_bytes)
        size_gb = large_file.stat().st_size / GIGABYTE
        sha256_s = seconds(lambda: content(large_file))
        with large_file.open("rb") as file:
            blake2b_s = seconds(lambda: hashlib.file_digest(file, "blake2b"))
        replay_s = seconds(lambda: sl.simulate(sl.read_trace(small_file), "mems-g2", requests=False))
    seconds_per_gb = {
        "sha256 of a trace": sha256_s / size_gb,
        "blake2b": blake2b_s / size_gb,
        "replay of a CSV trace, FCFS on mems-g2": replay_s / len(csv_bytes) * GIGABYTE,
    }
    write_rows(
        "trace_hash",
        [{"what": label, "value": value, "unit": "s/GB"} for label, value in seconds_per_gb.items()],
    )


if __name__ == "__main__":
    main()

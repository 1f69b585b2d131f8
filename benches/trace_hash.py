"""Cost of identifying a trace by its content: hashing a file of 1 GB, compared with replaying it.

Prints seconds of processor time and writes ``benches/trace_hash.json``.
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


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a function, which other load on the machine does not change."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    """Measure, print and write the results."""
    with tempfile.TemporaryDirectory() as directory:
        small, large = Path(directory) / "small.csv", Path(directory) / "large"
        generate = [sys.executable, "-m", "sledlab", "trace", "generate", "uniform", str(small)]
        small_ones = ["--set", "workload.blocks=1", "--limit", str(REQUESTS)]
        subprocess.run([*generate, *small_ones], check=True, stderr=subprocess.DEVNULL)
        text = small.read_bytes()
        with large.open("wb") as file:
            for _ in range(GIGABYTE // len(text)):
                file.write(text)
        size_gb = large.stat().st_size / GIGABYTE
        sha256_s = seconds(lambda: content(large))
        with large.open("rb") as file:
            blake2b_s = seconds(lambda: hashlib.file_digest(file, "blake2b"))
        replay_s = seconds(lambda: sl.simulate(sl.read_trace(small), "mems-g2", requests=False))
    values = {
        "sha256 of a trace": sha256_s / size_gb,
        "blake2b": blake2b_s / size_gb,
        "replay of a CSV trace, FCFS on mems-g2": replay_s / len(text) * GIGABYTE,
    }
    write_rows(
        "trace_hash", [{"what": what, "value": value, "unit": "s/GB"} for what, value in values.items()]
    )


if __name__ == "__main__":
    main()

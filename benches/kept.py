"""The cost of identifying a trace by its contents: hashing a file of 1 GB, compared with replaying it.

Prints seconds of processor time; writes no file.
"""

import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import sledlab as sl
from sledlab.traces.contents import content

GIGABYTE = 10**9
REQUESTS = 2_000_000


def seconds(work: Callable[[], object]) -> float:
    """Processor time of some work, which other load on the machine does not change."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as directory:
        small, large = Path(directory) / "small.csv", Path(directory) / "large"
        generate = [sys.executable, "-m", "sledlab", "trace", "generate", "uniform", str(small)]
        subprocess.run([*generate, "--limit", str(REQUESTS)], check=True, stderr=subprocess.DEVNULL)
        text = small.read_bytes()
        with large.open("wb") as file:
            for _ in range(GIGABYTE // len(text)):
                file.write(text)
        size_gb = large.stat().st_size / GIGABYTE
        print(f"sha256 of a trace, s/GB: {seconds(lambda: content(large)) / size_gb:.2f}")
        with large.open("rb") as file:
            found = seconds(lambda: hashlib.file_digest(file, "blake2b"))
        print(f"blake2b, s/GB: {found / size_gb:.2f}")
        replay = seconds(lambda: sl.simulate(sl.read_trace(small), "mems-g2", requests=False))
        print(f"replay of a CSV trace, FCFS on mems-g2, s/GB: {replay / len(text) * GIGABYTE:.1f}")


if __name__ == "__main__":
    main()

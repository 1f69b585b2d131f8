"""First use: times of help, version, completion and short commands, and of the installation with a report.

Installs the wheel of `make wheel` with all its dependencies into a new environment, as users do. Prints
medians and writes ``first_use.json``, with the load average of the machine before and after. The
wheel has the script of interactive figures if `make web` ran before it was built.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from result_files import write_rows

PROJECT = Path(__file__).parents[2]
RUNS = 11
REPEATS = 7
COMPLETED_WORDS = (
    "simulate --sch",
    "simulate --device mems",
    "compare --sch",
    "hybrid --",
    "hybrid tune --",
    "power --",
    "smart --",
    "smart size --",
    "fleet --",
    "compare lee2009-f",
    "compare lee2009-figure-4 --",
)
REPORT = "simulate --device mems-g2 --trace sample:oltp-bank-a --scheduler sptf --speedup 3 --out run"

LARGE = "trace generate uniform large.csv --limit 1000000 --set workload.mean_interarrival_ms=1.5"
REPLAY = "simulate --device mems-g2 --trace large.csv"
COMPARE = (
    "compare --device mems-g2 --workload uniform --scheduler fcfs,sstf,look,sptf --speedup 0.5,1,1.5,2 "
    "--limit 1000"
)
PAGE = "--out page --replace"
COMMANDS = {
    "simulate: a file of a million requests": (REPLAY, ""),
    "simulate --out: the same, with page and tables": (f"{REPLAY} {PAGE}", "1"),
    "compare: 4 schedulers at 4 loads of 1,000 requests": (COMPARE, "0.4"),
    "compare --out: the same, with page and tables": (f"{COMPARE} {PAGE}", "1"),
}
"""What a user waits for besides the simulation: commands and their targets in seconds."""


def seconds(command: list[str], cwd: Path, **options: str) -> float:
    """Return the wall-clock time of a command, in seconds."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    }
    start_s = time.perf_counter()
    subprocess.run(
        command,
        cwd=cwd,
        check=True,
        env={**environment, **options},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start_s


def completion(sledlab: str, command_words: str, cwd: Path) -> float:
    """Return the time in which a shell completes the word at the cursor, in seconds."""
    options = {
        "COMP_WORDS": f"sledlab {command_words}",
        "COMP_CWORD": str(len(command_words.split())),
        "_SLEDLAB_COMPLETE": "bash_complete",
    }
    return seconds([sledlab], cwd, **options)


def main() -> None:
    """Measure, print and write the results."""
    wheel = max((PROJECT / "dist").glob("sledlab-*.whl"), default=None, key=lambda file: file.stat().st_mtime)
    if wheel is None:
        sys.exit("no wheel in dist/: run `make wheel` first")
    rows = []
    load_before = os.getloadavg()

    def row(label: str, value: float, target: str) -> None:
        rows.append({"what": label, "value": value, "unit": "s", "target": target})

    with tempfile.TemporaryDirectory() as parent:
        directory = Path(parent)
        environment = directory / "environment"
        sledlab = str(environment / "bin" / "sledlab")
        start_s = time.perf_counter()
        seconds([sys.executable, "-m", "venv", str(environment)], directory)
        seconds([str(environment / "bin" / "pip"), "install", "--no-cache-dir", str(wheel)], directory)
        seconds([sledlab, *REPORT.split()], directory)
        row("environment, pip install and a first report", time.perf_counter() - start_s, "60")
        assert (directory / "run" / "report.html").is_file()
        repeat_s = statistics.median(
            seconds([sledlab, *REPORT.split(), "--replace"], directory) for _ in range(3)
        )
        row("the same report once more", repeat_s, "5")
        version_s = statistics.median(seconds([sledlab, "--version"], directory) for _ in range(RUNS))
        row("sledlab --version", version_s, "0.1")
        help_s = statistics.median(seconds([sledlab, "--help"], directory) for _ in range(RUNS))
        row("sledlab --help", help_s, "0.1")
        for command_words in COMPLETED_WORDS:
            completion(sledlab, command_words, directory)
            median_s = statistics.median(completion(sledlab, command_words, directory) for _ in range(RUNS))
            row(f"completion of `sledlab {command_words}`", median_s, "0.15")
        seconds([sledlab, *LARGE.split()], directory)
        for label, (command, target) in COMMANDS.items():
            seconds([sledlab, *command.split()], directory)
            median_s = statistics.median(
                seconds([sledlab, *command.split()], directory) for _ in range(REPEATS)
            )
            row(label, median_s, target)
    write_rows("first_use", rows, load_average={"before": load_before[0], "after": os.getloadavg()[0]})


if __name__ == "__main__":
    main()

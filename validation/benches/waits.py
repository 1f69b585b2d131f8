"""What users wait for besides the simulation, with the package of another commit and with this one, in turn.

Measures commands, and decisions of a scheduler in Python that examines all queued requests. Prints medians
of wall-clock time and writes ``bench-out/waits.json``, with the load average before and after. The command
``make compare-builds BASE=COMMIT`` does all set-up.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from builds import BUILD_CACHE, PROJECT, RUNS, build_commit, commit_hash, worktree
from first_use import COMMANDS, LARGE, seconds
from result_files import machine, write_runs

QUEUED = 5489
"""Queued requests of the scheduler in Python."""

DECISIONS = 200

SCHEDULER = f'''
import statistics, time

class Nearest:
    """Serves the request with the shortest positioning time, and measures its decisions."""

    def __init__(self):
        self.queue, self.times = [], []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        begun = time.perf_counter()
        try:
            best = device.positioning_ns(self.queue).argmin()
        except TypeError:  # versions that take one request
            best = min(range(len(self.queue)), key=lambda at: device.positioning_ns(self.queue[at]))
        result = self.queue.pop(best)
        self.times.append(time.perf_counter() - begun)
        if len(self.times) == {DECISIONS}:
            with open("decision_s", "w") as file:
                file.write(str(statistics.median(self.times)))
        return result

    def __len__(self):
        return len(self.queue)
'''

DECIDE = (
    "simulate --device mems-g2 --workload uniform --scheduler nearest:Nearest "
    f"--replay closed:{QUEUED} --limit {QUEUED + DECISIONS}"
)


OLDER_OPTIONS = {"--scheduler": "--schedulers", "--speedup": "--speedups"}
"""Options of `compare` and their names in older commits."""


@contextmanager
def packages(base: str) -> Iterator[dict[str, Path]]:
    """Yield the folders of the Python packages of a commit and of this tree, both with release builds."""
    native = build_commit(base)
    with worktree(base) as tree:
        shutil.copy(native, tree / "python" / "sledlab" / "_native.abi3.so")
        yield {"base": tree / "python", "here": PROJECT / "python"}


def run_command(package: Path, command_words: str, directory: Path) -> float:
    """Return the wall-clock time of a command with a package, in seconds."""
    return seconds(
        [sys.executable, "-P", "-m", "sledlab", *command_words.split()], directory, PYTHONPATH=str(package)
    )


def accepted_words(package: Path, command_words: str, directory: Path) -> str:
    """Return the words of a command as a package accepts them."""
    try:
        run_command(package, command_words, directory)
    except subprocess.CalledProcessError:
        for name, older in OLDER_OPTIONS.items():
            command_words = command_words.replace(f"{name} ", f"{older} ")
    return command_words


def decide(package: Path, directory: Path) -> float:
    """Return the median time of a decision of the scheduler in Python, in ms."""
    run_command(package, DECIDE, directory)
    return float((directory / "decision_s").read_text()) * 1e3


def measurement_functions(directory: Path) -> dict[str, tuple[Callable[[Path], float], str, str]]:
    """Return functions that measure a package, each with its unit and target."""

    def command(command_words: str) -> Callable[[Path], float]:
        accepted_by = cache(lambda package: accepted_words(package, command_words, directory))
        return lambda package: run_command(package, accepted_by(package), directory)

    functions = {
        label: (command(command_words), "s", target) for label, (command_words, target) in COMMANDS.items()
    }
    label = f"decision of a scheduler in Python, {QUEUED:,} queued"
    functions[label] = (lambda package: decide(package, directory), "ms", "0.3")
    return functions


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description="Compare what users wait for.")
    parser.add_argument("--base", required=True, help="commit to compare with")
    base = commit_hash(parser.parse_args().base)
    BUILD_CACHE.mkdir(parents=True, exist_ok=True)
    load_before = os.getloadavg()[0]
    rows = []
    with packages(base) as folders, tempfile.TemporaryDirectory() as directory:
        work_directory = Path(directory)
        (work_directory / "nearest.py").write_text(SCHEDULER)
        run_command(folders["here"], LARGE, work_directory)
        for label, (measure, unit, target) in measurement_functions(work_directory).items():
            times: dict[str, list[float]] = {name: [] for name in folders}
            for name in list(folders) * RUNS:
                times[name].append(measure(folders[name]))
            value, base_value = (statistics.median(times[name]) for name in ("here", "base"))
            rows.append({"what": label, "value": value, "unit": unit, "target": target, "base": base_value})
            print(f"{label:<55} {base_value:>8.3f} {value:>8.3f} {unit}", flush=True)
    load_averages = {"before": load_before, "after": os.getloadavg()[0]}
    write_runs(
        "waits",
        {"machine": machine(), "base": base, "runs": RUNS, "load_average": load_averages, "rows": rows},
    )


if __name__ == "__main__":
    main()

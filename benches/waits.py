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

from builds import BUILD_CACHE, PROJECT, RUNS, build_commit, commit, worktree
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


def run_command(package: Path, words: str, place: Path) -> float:
    """Return the wall-clock time of a command with a package, in seconds."""
    return seconds([sys.executable, "-P", "-m", "sledlab", *words.split()], place, PYTHONPATH=str(package))


def accepted_words(package: Path, words: str, place: Path) -> str:
    """Return the words of a command as a package accepts them."""
    try:
        run_command(package, words, place)
    except subprocess.CalledProcessError:
        for name, older in OLDER_OPTIONS.items():
            words = words.replace(f"{name} ", f"{older} ")
    return words


def decide(package: Path, place: Path) -> float:
    """Return the median time of a decision of the scheduler in Python, in ms."""
    run_command(package, DECIDE, place)
    return float((place / "decision_s").read_text()) * 1e3


def measurements(place: Path) -> dict[str, tuple[Callable[[Path], float], str, str]]:
    """Return functions that measure a package, each with its unit and target."""

    def command(words: str) -> Callable[[Path], float]:
        accepted = cache(lambda package: accepted_words(package, words, place))
        return lambda package: run_command(package, accepted(package), place)

    result = {what: (command(words), "s", target) for what, (words, target) in COMMANDS.items()}
    what = f"decision of a scheduler in Python, {QUEUED:,} queued"
    result[what] = (lambda package: decide(package, place), "ms", "0.3")
    return result


def main() -> None:
    """Measure, print and write the results."""
    reader = argparse.ArgumentParser(description="Compare what users wait for.")
    reader.add_argument("--base", required=True, help="commit to compare with")
    base = commit(reader.parse_args().base)
    BUILD_CACHE.mkdir(parents=True, exist_ok=True)
    before = os.getloadavg()[0]
    rows = []
    with packages(base) as folders, tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        (place / "nearest.py").write_text(SCHEDULER)
        run_command(folders["here"], LARGE, place)
        for what, (measure, unit, target) in measurements(place).items():
            times: dict[str, list[float]] = {name: [] for name in folders}
            for name in list(folders) * RUNS:
                times[name].append(measure(folders[name]))
            value, old = (statistics.median(times[name]) for name in ("here", "base"))
            rows.append({"what": what, "value": value, "unit": unit, "target": target, "base": old})
            print(f"{what:<55} {old:>8.3f} {value:>8.3f} {unit}", flush=True)
    load = {"before": before, "after": os.getloadavg()[0]}
    write_runs(
        "waits", {"machine": machine(), "base": base, "runs": RUNS, "load_average": load, "rows": rows}
    )


if __name__ == "__main__":
    main()

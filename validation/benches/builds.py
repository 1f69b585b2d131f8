"""Performance regression: replays with the extension of another commit and with this one, in turn.

Builds the extension of BASE in a worktree under ``target/builds``, where it is cached, then replays with
the two extensions alternately, each in a separate process. Prints rates and ratios of medians of processor
time, writes them to ``bench-out/builds.json``, and exits with 1 if a ratio exceeds the limit. The command
``make compare-builds BASE=COMMIT`` does all set-up.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from result_files import machine, write_runs

PROJECT = Path(__file__).parents[2]
BUILD_CACHE = PROJECT / "target" / "builds"
RUNS = 7
LIMIT = 1.05
REQUESTS = 500_000

UNIFORM = "{{kind = 'uniform', requests = REQUESTS, blocks = 8, mean_interarrival_ms = {gap_ms}}}"
FAST, SLOW = UNIFORM.format(gap_ms=1.0), UNIFORM.format(gap_ms=10.0)
"""At 1 ms a G2 is busy for about 70 % of the time, at 10 ms a disk for about 80 %."""
NEWS = "{kind = 'cello', requests = REQUESTS, rate_per_s = 25.2}"
QUEUE = 64
"""Outstanding requests of closed loops that compare schedulers."""

G2, DISK = "device = {preset = 'mems-g2'}", "device = {preset = 'atlas-10k'}"
HYBRID = "device = {preset = 'atlas-10k-50mb'}\npower = {kind = 'never'}"


@dataclass(frozen=True)
class Workload:
    """A workload.

    Attributes:
        requests: The table `workload`, with `REQUESTS` for the number of requests.
        settings: The other tables of the experiment.
        target: Target rate in millions of requests per second; empty for none.
    """

    requests: str
    settings: str
    target: str = ""


def _closed(scheduler: str, device: str, target: str = "") -> Workload:
    settings = f"scheduler = {{kind = '{scheduler}'}}\nreplay = {{mode = 'closed:{QUEUE}'}}"
    return Workload(FAST, f"{device}\n{settings}", target)


TARGETS = {
    "fcfs": "",
    **dict.fromkeys(("sptf", "gsptf", "zsptf"), "2.5"),
    **dict.fromkeys(("asptf", "wstf", "p-sptf", "pa-sptf", "p-alpha"), "1.2"),
}
"""Targets of schedulers on a sled."""

WORKLOADS = {
    "open, FCFS, mems-g2": Workload(FAST, G2),
    "open, SPTF, mems-g2": Workload(FAST, f"{G2}\nscheduler = {{kind = 'sptf'}}"),
    "closed, 8 outstanding, mems-g2": Workload(FAST, f"{G2}\nreplay = {{mode = 'closed:8'}}"),
    "open, FCFS, atlas-10k": Workload(SLOW, DISK),
    "open, FCFS, atlas-10k behind a cache": Workload(
        SLOW, f"{DISK}\ncache = {{kind = 'write-back', capacity_blocks = 65536}}"
    ),
    "open, FCFS, ssd-tlc": Workload(UNIFORM.format(gap_ms=0.2), "device = {preset = 'ssd-tlc'}"),
    "open, FCFS, stripe of 4 mems-g2": Workload(
        UNIFORM.format(gap_ms=0.5), f"{G2}\nsystem = {{kind = 'stripe', devices = 4}}"
    ),
    **{
        f"closed, {QUEUE} outstanding, {name}, mems-g2": _closed(name, G2, target)
        for name, target in TARGETS.items()
    },
    f"closed, {QUEUE} outstanding, fcfs, atlas-10k": _closed("fcfs", DISK),
    f"closed, {QUEUE} outstanding, sptf, atlas-10k": _closed("sptf", DISK, "1.5"),
    "caching disk, cello": Workload(NEWS, f"{HYBRID}\nhybrid = {{kind = 'caching-disk'}}", "1"),
    "write buffer, cello": Workload(NEWS, f"{HYBRID}\nhybrid = {{kind = 'write-buffer'}}", "1.2"),
    "write-back cache, cello": Workload(NEWS, f"{HYBRID}\ncache = {{kind = 'write-back'}}", "2"),
}

RUN_CODE = """
import importlib.machinery, importlib.util, sys, time
loader = importlib.machinery.ExtensionFileLoader("_native", sys.argv[1])
native = importlib.util.module_from_spec(importlib.util.spec_from_loader("_native", loader))
loader.exec_module(native)
experiment = native.Experiment(sys.argv[2])
times = []
while sum(times) < 0.5:
    begun = time.process_time()
    experiment.run()
    times.append(time.process_time() - begun)
print(min(times))
"""
"""Python code that prints the shortest run within half a second, without the Python package."""


def experiment_text(name: str, requests: int = REQUESTS) -> str:
    """Return the text of an experiment file with a workload."""
    workload = WORKLOADS[name]
    return f"workload = {workload.requests.replace('REQUESTS', str(requests))}\n{workload.settings}\n"


def command_output(command: list[str], **options: Any) -> str:
    """Return the output of a command."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def commit_hash(revision: str) -> str:
    """Return the hash of the commit that a name refers to."""
    return command_output(["git", "-C", str(PROJECT), "rev-parse", "--verify", f"{revision}^{{commit}}"])


def build(source: Path, target: Path) -> Path:
    """Build the extension of a tree."""
    command = ["cargo", "build", "--release", "--locked", "-p", "sledlab-python"]
    command_output(command, cwd=source, env=os.environ | {"CARGO_TARGET_DIR": str(target)})
    return next(path for path in (target / "release").glob("*_native.*") if path.suffix in (".so", ".dylib"))


@contextmanager
def worktree(base: str) -> Iterator[Path]:
    """Check a commit out into a folder, which is deleted afterwards."""
    tree = BUILD_CACHE / f"{base}.tree"
    git = ["git", "-C", str(PROJECT), "worktree"]
    command_output([*git, "add", "--force", "--detach", str(tree), base])
    try:
        yield tree
    finally:
        command_output([*git, "remove", "--force", str(tree)])


def build_commit(base: str) -> Path:
    """Return the extension of a commit; build it unless it is cached."""
    extension = BUILD_CACHE / f"{base}.so"
    if not extension.exists():
        with worktree(base) as tree:
            shutil.copy(build(tree, BUILD_CACHE / "target"), extension)
    return extension


def build_checkout() -> Path:
    """Return a copy of the extension of this tree, so that no other build changes it meanwhile."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    return Path(shutil.copy(build(PROJECT, target), BUILD_CACHE / "here.so"))


def seconds(extension: Path, name: str) -> float:
    """Return the processor time of a run, in seconds."""
    return float(command_output([sys.executable, "-c", RUN_CODE, str(extension), experiment_text(name)]))


def measure_timings(measure: Callable[[str, str], float]) -> dict[str, dict[str, list[float]]]:
    """Return the times of all workloads, by build; builds alternate, and so does the first build."""
    times_by_workload: dict[str, dict[str, list[float]]] = {
        name: {"base": [], "here": []} for name in WORKLOADS
    }
    for turn in range(RUNS):
        for name, times in times_by_workload.items():
            for build_name in ("base", "here") if turn % 2 == 0 else ("here", "base"):
                times[build_name].append(measure(build_name, name))
    return times_by_workload


def result_rows(times_by_workload: dict[str, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Return a row for each workload: the ratio of this build's time to the base's, and both rates.

    The ratio is the median over measurements made one after the other: the speed of a machine may change by
    half within minutes.
    """
    rows = []
    for name, times in times_by_workload.items():
        base_s, here_s = (statistics.median(times[build_name]) for build_name in ("base", "here"))
        ratios = [
            here_run_s / base_run_s
            for base_run_s, here_run_s in zip(times["base"], times["here"], strict=True)
        ]
        ratio = {"value": statistics.median(ratios), "unit": "times what it took"}
        rates = {"base_rate": REQUESTS / base_s * 1e-6, "here_rate": REQUESTS / here_s * 1e-6}
        rows.append({"what": name, **ratio, **rates, "target": WORKLOADS[name].target})
    return rows


def slower_workloads(rows: list[dict[str, Any]], limit: float) -> list[str]:
    """Return the workloads whose time is more than `limit` times that of the base."""
    return [row["what"] for row in rows if row["value"] > limit]


def main(arguments: list[str] | None = None) -> int:
    """Build both extensions, measure, and write the results; exit code 1 if a ratio exceeds the limit."""
    parser = argparse.ArgumentParser(description="Compare the speed of two builds of the extension.")
    parser.add_argument("--base", required=True, help="commit to compare with")
    parser.add_argument("--limit", type=float, default=LIMIT, help=f"largest ratio that passes ({LIMIT})")
    options = parser.parse_args(arguments)
    base = commit_hash(options.base)
    BUILD_CACHE.mkdir(parents=True, exist_ok=True)
    extensions = {"base": build_commit(base), "here": build_checkout()}
    load_before = os.getloadavg()[0]
    rows = result_rows(measure_timings(lambda build_name, name: seconds(extensions[build_name], name)))
    for row in rows:
        print(f"{row['what']:<44} {row['base_rate']:>7.2f} {row['here_rate']:>7.2f} M/s {row['value']:>7.3f}")
    description = {
        "machine": machine(),
        "base": base,
        "limit": options.limit,
        "runs": RUNS,
        "requests": REQUESTS,
    }
    load_averages = {"before": load_before, "after": os.getloadavg()[0]}
    write_runs("builds", {**description, "load_average": load_averages, "rows": rows})
    slower = slower_workloads(rows, options.limit)
    if slower:
        print(f"slower than {options.limit:g} times {base[:10]}: {', '.join(slower)}")
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main())

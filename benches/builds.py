"""Performance regression: replays with the extension of another commit and with this one, in turn.

Builds the extension of BASE in a worktree under ``target/builds``, where it is cached, then replays with
the two extensions alternately, each in a separate process. Prints ratios of medians of processor time,
writes them to ``benches/builds.json``, and exits with 1 if a ratio exceeds the limit. The command ``make
compare-builds BASE=COMMIT`` does all set-up.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from result_files import machine, write

PROJECT = Path(__file__).parents[1]
BUILD_CACHE = PROJECT / "target" / "builds"
RUNS = 7
LIMIT = 1.05
REQUESTS = 1_000_000

LOAD = "[workload]\nkind = 'uniform'\nrequests = {requests}\nblocks = 8\nmean_interarrival_ms = {gap_ms}\n"
"""At 1 ms a G2 is busy for about 70 % of the time, at 10 ms a disk for about 80 %."""
G2, DISK = "device = {preset = 'mems-g2'}", "device = {preset = 'atlas-10k'}"
WORKLOADS = {
    "open, FCFS, mems-g2": (1.0, G2),
    "open, SPTF, mems-g2": (1.0, f"{G2}\nscheduler = {{kind = 'sptf'}}"),
    "closed, 8 outstanding, mems-g2": (1.0, f"{G2}\nreplay = {{mode = 'closed:8'}}"),
    "open, FCFS, atlas-10k": (10.0, DISK),
    "open, FCFS, atlas-10k behind a cache": (
        10.0,
        f"{DISK}\ncache = {{kind = 'write-back', capacity_blocks = 65536}}",
    ),
    "open, FCFS, stripe of 4 mems-g2": (0.5, f"{G2}\nsystem = {{kind = 'stripe', devices = 4}}"),
}
"""Workloads: mean time between arrivals in ms, and other settings."""

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
    gap_ms, rest = WORKLOADS[name]
    return f"{rest}\n" + LOAD.format(requests=requests, gap_ms=gap_ms)


def command_output(command: list[str], **more: Any) -> str:
    """Return the output of a command."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout.strip()


def commit(revision: str) -> str:
    """Return the hash of the commit that a name refers to."""
    return command_output(["git", "-C", str(PROJECT), "rev-parse", "--verify", f"{revision}^{{commit}}"])


def build(source: Path, target: Path) -> Path:
    """Build the extension of a tree."""
    command = ["cargo", "build", "--release", "--locked", "-p", "sledlab-python"]
    command_output(command, cwd=source, env=os.environ | {"CARGO_TARGET_DIR": str(target)})
    return next(path for path in (target / "release").glob("*_native.*") if path.suffix in (".so", ".dylib"))


def build_commit(base: str) -> Path:
    """Return the extension of a commit; build it unless it is cached."""
    kept = BUILD_CACHE / f"{base}.so"
    if not kept.exists():
        tree = BUILD_CACHE / f"{base}.tree"
        git = ["git", "-C", str(PROJECT), "worktree"]
        command_output([*git, "add", "--force", "--detach", str(tree), base])
        try:
            shutil.copy(build(tree, BUILD_CACHE / "target"), kept)
        finally:
            command_output([*git, "remove", "--force", str(tree)])
    return kept


def build_checkout() -> Path:
    """Return a copy of the extension of this tree, so that no other build changes it meanwhile."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    return Path(shutil.copy(build(PROJECT, target), BUILD_CACHE / "here.so"))


def seconds(extension: Path, name: str) -> float:
    """Return the processor time of a run, in seconds."""
    return float(command_output([sys.executable, "-c", RUN_CODE, str(extension), experiment_text(name)]))


def timings(measure: Callable[[str, str], float]) -> dict[str, dict[str, list[float]]]:
    """Return the times of all workloads, by build; builds alternate, and so does the first build."""
    found: dict[str, dict[str, list[float]]] = {name: {"base": [], "here": []} for name in WORKLOADS}
    for turn in range(RUNS):
        for name, times in found.items():
            for build_of in ("base", "here") if turn % 2 == 0 else ("here", "base"):
                times[build_of].append(measure(build_of, name))
    return found


def result_rows(found: dict[str, dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Return a row for each workload: medians, and the ratio of this build to the base."""
    rows = []
    for name, times in found.items():
        base, here = (statistics.median(times[build_of]) for build_of in ("base", "here"))
        ratio = {"value": here / base, "unit": "times what it took"}
        rows.append({"what": name, **ratio, "base_s": base, "here_s": here})
    return rows


def slower_workloads(rows: list[dict[str, Any]], limit: float) -> list[str]:
    """Return the workloads whose time is more than `limit` times that of the base."""
    return [row["what"] for row in rows if row["value"] > limit]


def main(arguments: list[str] | None = None) -> int:
    """Build both extensions, measure, and write the results; exit code 1 if a ratio exceeds the limit."""
    reader = argparse.ArgumentParser(description="Compare the speed of two builds of the extension.")
    reader.add_argument("--base", required=True, help="commit to compare with")
    reader.add_argument("--limit", type=float, default=LIMIT, help=f"largest ratio that passes ({LIMIT})")
    options = reader.parse_args(arguments)
    base = commit(options.base)
    BUILD_CACHE.mkdir(parents=True, exist_ok=True)
    extensions = {"base": build_commit(base), "here": build_checkout()}
    rows = result_rows(timings(lambda build_of, name: seconds(extensions[build_of], name)))
    for row in rows:
        print(f"{row['what']:<40} {row['base_s']:>8.3f} s {row['here_s']:>8.3f} s {row['value']:>7.3f}")
    about = {"machine": machine(), "base": base, "limit": options.limit, "runs": RUNS, "requests": REQUESTS}
    write("builds", {**about, "rows": rows})
    slower = slower_workloads(rows, options.limit)
    if slower:
        print(f"slower than {options.limit:g} times {base[:10]}: {', '.join(slower)}")
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main())

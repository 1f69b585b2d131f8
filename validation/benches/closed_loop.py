"""Compare a million live completions with the replay of their recording, on systems of every kind.

Every system serves fio, qemu-io and nbdcopy at three time scales: a quarter of the runs with a server that is
stopped repeatedly, a quarter with programs that use all processors. A simulation of the recording in `--out`
must write the same bytes. Two servers run at a time.

Writes ``closed_loop.json``, and the output of every run to ``bench-out/closed_loop.json``; fails if
anything differs. About 20 minutes; with `--least 300 --seconds 0 --systems "disk;RAID 5" --dry` a short one
that writes nothing. `--completions 1000000` has fio alone complete that many requests on 12 systems, at time
scales at which each run takes about the same time, and writes nothing. Needs fio, qemu-utils and libnbd-bin.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass
from itertools import product, repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import sledlab as sl
from clients import CLIENTS, MAX_REQUESTS, hogs, repeated_stops
from result_files import machine, write, write_runs
from sledlab.display import DisplayedResult

EXAMPLES = Path(__file__).parents[2] / "examples"
SCALES = ("0.5", "1", "10")
DISTURBANCES = ("", "stopped", "", "hogged")
"""The disturbance of each of four runs."""

WORKERS = 2
MIN_REQUESTS = 550
"""Minimum requests of a run, so that four clients have 2,000 for each system and time scale."""

MIN_COMPLETIONS = {"runs": 2000, "all": 1_000_000}
SECONDS = 3.0
"""Approximate length of a run in s, if it has more than `MIN_REQUESTS` requests."""

LIMIT_S = 600

SLED = {"device": "mems-g2"}
SPTF = {**SLED, "scheduler": "sptf"}
RAID5 = sl.system("raid5", devices=5)
SYSTEMS: dict[str, tuple[float, dict[str, Any]]] = {
    "sled, SPTF": (2400, SPTF),
    "sled, many at once": (2400, {"device": "mems-g3", "scheduler": "p-sptf"}),
    "sled, scheduler in Python": (1500, {**SLED, "scheduler": "sstf:Sstf"}),
    "sled that parks": (2000, {**SLED, "power": sl.power("fixed", timeout_ms=2)}),
    "disk": (350, {"device": "atlas-10k", "scheduler": "sptf"}),
    "disk that spins down": (200, {"device": "mobile-disk", "scheduler": "c-scan", "power": "adaptive"}),
    "memory": (18_000, {"device": "ram"}),
    "flash": (12_000, {"device": "ssd-tlc"}),
    "merging": (2000, {**SLED, "merge": "chains", "scheduler": "c-scan"}),
    "concatenation": (3000, {**SLED, "system": sl.system("concatenation", devices=2)}),
    "stripe": (8500, {**SPTF, "system": sl.system("stripe", devices=8)}),
    "mirror": (2500, {**SPTF, "system": sl.system("mirror", devices=2)}),
    "RAID 5": (2000, {**SLED, "system": RAID5}),
    "RAID 5, rebuilt": (1500, {**SLED, "system": sl.system("raid5", devices=5, failed=1, rebuild_mb_s=5)}),
    "cache": (2000, {**SLED, "cache": sl.cache("write-back", read_ahead_blocks=32)}),
    "cache, volatile": (2000, {**SLED, "cache": sl.cache("write-back", volatile=True)}),
    "hybrid, caching disk": (450, {"device": "atlas-10k", "hybrid": "caching-disk"}),
    "hybrid, write buffer": (450, {"device": "atlas-10k", "hybrid": "write-buffer"}),
    "hybrid, mirror": (450, {"device": "atlas-10k", "hybrid": "mirror"}),
}
"""Systems: approximate requests/s, and settings."""

GUARANTEED_SYSTEMS = (
    "sled, SPTF",
    "sled, many at once",
    "sled, scheduler in Python",
    "sled that parks",
    "disk",
    "disk that spins down",
    "memory",
    "flash",
    "stripe",
    "RAID 5",
    "cache, volatile",
    "hybrid, caching disk",
)
"""The systems of `--completions`: one or two of each kind."""

GUARANTEE_RUN_S = 10.0
"""Approximate length of a run of `--completions`; replies are late where the machine is slower."""


@dataclass(frozen=True)
class Case:
    """A planned run: a server and its client."""

    system: str
    scale: str
    client: str
    disturbance: str


@dataclass(frozen=True)
class Run:
    """The results of a run: completed requests, and how many of them the replay completes at another time.

    `same_bytes` compares the summary and the per-request table with those of a simulation.
    """

    system: str
    scale: str
    client: str
    disturbance: str
    completions: int
    differing_completions: int
    same_results: bool
    same_bytes: bool
    stalls: int

    @property
    def is_closed(self) -> bool:
        """Whether server, replay and simulation agree completely."""
        return self.differing_completions == 0 and self.same_results and self.same_bytes


def prepare() -> None:
    """Make the scheduler in Python importable, and disable reports, which take longer than most runs."""
    os.chdir(EXAMPLES)
    sys.path.insert(0, str(EXAMPLES))
    DisplayedResult.report = lambda _self, path: Path(path)  # type: ignore[method-assign]


def measure_case(case: Case, min_requests: int, seconds: float) -> Run:
    """Serve a client, and replay its requests."""
    rate, options = SYSTEMS[case.system]
    requests = min(
        max(min_requests, int(seconds * rate / float(case.scale))), MAX_REQUESTS.get(case.client, 1 << 62)
    )
    with tempfile.TemporaryDirectory(prefix="sledlab-loop-") as parent:
        directory = Path(parent)
        served_out, simulated_out = directory / "out", directory / "again"
        script = CLIENTS[case.client](directory, requests)
        with ExitStack() as stack:
            server = stack.enter_context(sl.serve(**options, time_scale=float(case.scale), out=served_out))
            if case.disturbance == "stopped":
                stack.enter_context(repeated_stops())
            environment = {**os.environ, **server.environment}
            subprocess.run(["sh", "-c", script], env=environment, check=True, timeout=LIMIT_S)
        sl.simulate(experiment=served_out / "experiment.toml", allow_plugins=True, out=simulated_out)
        has_same_bytes = all(
            (served_out / name).read_bytes() == (simulated_out / name).read_bytes()
            for name in ("summary.json", "requests.parquet")
        )
    emulation = server.emulation
    assert emulation is not None
    closed_loop = emulation.closed_loop
    assert closed_loop is not None
    return Run(
        **asdict(case),
        completions=closed_loop.operations,
        differing_completions=closed_loop.different,
        same_results=closed_loop.same_results,
        same_bytes=has_same_bytes,
        stalls=emulation.stalls["count"],
    )


def cases(systems: Iterable[str]) -> list[Case]:
    """Return all runs; every system runs with every disturbance at every time scale."""
    indexed_choices = product(enumerate(systems), enumerate(SCALES), enumerate(CLIENTS))
    return [
        Case(system, scale, client, DISTURBANCES[(i + j + k) % len(DISTURBANCES)])
        for (i, system), (j, scale), (k, client) in indexed_choices
    ]


def run_guaranteed(completions: int) -> list[Run]:
    """Execute a run of fio for each system of `GUARANTEED_SYSTEMS`."""
    requests = math.ceil(completions / len(GUARANTEED_SYSTEMS))
    scales = {name: min(SYSTEMS[name][0] * GUARANTEE_RUN_S / requests, 1.0) for name in GUARANTEED_SYSTEMS}
    client = next(iter(CLIENTS))
    return run_cases([Case(name, f"{scales[name]:.3g}", client, "") for name in scales], requests, 0)


def run_cases(cases: list[Case], min_requests: int, seconds: float) -> list[Run]:
    """Execute all runs, slow ones first, those with busy processors last."""
    cases = sorted(cases, key=lambda case: -float(case.scale))
    runs: list[Run] = []
    with ProcessPoolExecutor(WORKERS, get_context("spawn"), prepare) as pool:
        for with_hogs in (False, True):
            selected_cases = [case for case in cases if (case.disturbance == "hogged") == with_hogs]
            with hogs() if with_hogs else nullcontext():
                for run in pool.map(measure_case, selected_cases, repeat(min_requests), repeat(seconds)):
                    labels = (run.system, run.client, f"scale {run.scale}", run.disturbance)
                    outcome = f"{run.completions:>9,} {'closed' if run.is_closed else 'OPEN'}"
                    print(*(f"{word:<25}" for word in labels), outcome, flush=True)
                    runs.append(run)
    return runs


def table(runs: list[Run]) -> list[dict[str, Any]]:
    """Return the completions of every system at every time scale, and in total."""
    systems = list(dict.fromkeys(name for name in SYSTEMS if any(run.system == name for run in runs)))

    def row(name: str, row_runs: list[Run]) -> dict[str, Any]:
        runs_by_scale = {
            f"scale {scale}": [run for run in row_runs if run.scale == scale] for scale in SCALES
        }
        disturbed_completions = {
            f"of these {disturbance}": sum(
                run.completions for run in row_runs if run.disturbance == disturbance
            )
            for disturbance in ("stopped", "hogged")
        }
        return {
            "system": name,
            **{
                name: sum(run.completions for run in scale_runs) for name, scale_runs in runs_by_scale.items()
            },
            **disturbed_completions,
            "runs": len(row_runs),
            "differing": sum(run.differing_completions for run in row_runs),
            "runs whose files differ": sum(not (run.same_bytes and run.same_results) for run in row_runs),
        }

    rows = [row(name, [run for run in runs if run.system == name]) for name in systems]
    return [*rows, row("all", runs)]


def undersized_cases(runs: list[Run]) -> list[str]:
    """Return the systems and time scales with too few completions."""
    counts: dict[str, int] = {}
    for run in runs:
        name = f"{run.system} at scale {run.scale}"
        counts[name] = counts.get(name, 0) + run.completions
    undersized_names = [name for name, count in counts.items() if count < MIN_COMPLETIONS["runs"]]
    return undersized_names + (["all"] if sum(counts.values()) < MIN_COMPLETIONS["all"] else [])


def main() -> int:
    """Execute all runs, print, and write the results unless it is a dry run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--least", type=int, default=MIN_REQUESTS, help="requests of a run")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a run, where it has more")
    parser.add_argument("--systems", help="some of them, by words in their names, with ; between")
    parser.add_argument("--clients", help="some of them, likewise")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    parser.add_argument("--completions", type=int, help="by fio on 12 systems; keep nothing")
    arguments = parser.parse_args()
    if arguments.completions is not None:
        runs = run_guaranteed(arguments.completions)
        completions = sum(run.completions for run in runs)
        print(f"{completions:,} completions on {len(runs)} systems")
        return int(completions < arguments.completions or not all(run.is_closed for run in runs))

    def is_selected(name: str, name_parts: str | None) -> bool:
        return name_parts is None or any(word in name for word in name_parts.split(";"))

    selected_cases = cases(name for name in SYSTEMS if is_selected(name, arguments.systems))
    selected_cases = [case for case in selected_cases if is_selected(case.client, arguments.clients)]
    load_before = os.getloadavg()
    runs = run_cases(selected_cases, arguments.least, arguments.seconds)
    rows = table(runs)
    print(json.dumps(rows[-1], indent=2))
    open_runs = [run for run in runs if not run.is_closed]
    for run in open_runs:
        print("differs:", run)
    if arguments.dry:
        return bool(open_runs)
    write("closed_loop", {"machine": machine(), "load before": load_before, "rows": rows})
    write_runs("closed_loop", {"machine": machine(), "runs": [asdict(run) for run in runs]})
    undersized_names = undersized_cases(runs)
    if undersized_names:
        print("too few completions:", *undersized_names, sep="\n  ")
    return bool(open_runs or undersized_names)


if __name__ == "__main__":
    sys.exit(main())

"""The guarantees of `sledlab serve`: timing, equality with the simulation, and durability.

Each guarantee is measured in five runs, and is met if every run meets it. Writes ``guarantees.json``,
from which the table of docs/emulation.md is generated, with the load average during each run. About an hour.
`--only` measures some groups again and retains the others: `timing`, `loop`, `kills`, `failures` (of power).

Needs root, a C compiler, fio, nbdfuse, ext4 and PostgreSQL. Timing that a machine cannot measure, for example
without `/dev/fuse`, is listed as such.
"""

import argparse
import datetime
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import closed_loop
import kills
import losses
import numpy as np
import timing
from guarantee import GROUPS, Guarantee, Outcome, save
from result_files import machine
from timing_errors import share_within

RUNS = 5
COMPLETIONS = 1_000_000
"""Completions of each closed loop."""

KILLS = 50
FAILURES = 100
"""Kills and power failures in all runs together."""


def measure_runs(
    group: str, names: Iterable[tuple[str, str]], runs: int, measure: Callable[[], list[Outcome]]
) -> list[Guarantee]:
    """Measure guarantees, each with its name and requirement, that one measurement covers."""
    results: list[list[Outcome]] = []
    loads: list[float] = []
    for _ in range(runs):
        results.append(measure())
        loads.append(os.getloadavg()[0])
        print(group, *(outcome.text for outcome in results[-1]), f"load {loads[-1]:.1f}", flush=True)
    return [
        Guarantee(
            group,
            name,
            requirement,
            [each[i].text for each in results],
            loads,
            [each[i].is_met for each in results],
        )
        for i, (name, requirement) in enumerate(names)
    ]


def measure_timing(options: argparse.Namespace) -> Iterator[Guarantee]:
    """Measure the accuracy of response times at a separate client, and of those of a control."""
    with timing.compiled_programs() as programs:
        for system in timing.TIMED_SYSTEMS:
            reads = {depth: max(count * options.percent // 100, 1) for depth, count in system.reads.items()}
            control = partial(timing.measure_control, programs, system.control_us, reads[1])
            name = f"control of {system.name}, Unix socket, queue depth 1"
            tolerances = tuple(system.required[1])
            yield from _measure_shares(name, timing.CONTROL, {}, tolerances, control, options.runs)
            for path, path_name in timing.PATHS.items():
                for depth in timing.DEPTHS[path]:
                    required_shares = system.required.get(depth, {})
                    measure = partial(
                        timing.measure_errors, programs, system.options, path, depth, reads[depth]
                    )
                    name = f"{system.name}, {path_name}, queue depth {depth}"
                    tolerances = tuple(required_shares) or (2,)
                    yield from _measure_shares(name, path, required_shares, tolerances, measure, options.runs)


def _measure_shares(
    name: str,
    path: str,
    required_shares: dict[int, float],
    tolerances: Sequence[int],
    measure: Callable[[], np.ndarray],
    runs: int,
) -> list[Guarantee]:
    """Measure the share of replies within each tolerance in percent, and compare it with the required one."""
    names = [
        (
            f"{name}: replies within {tolerance} %",
            f"{required_shares[tolerance]:g} %" if tolerance in required_shares else "",
        )
        for tolerance in tolerances
    ]
    if missing_programs := timing.missing_programs(path):
        return [Guarantee("timing", *each, [], [], [], missing_programs) for each in names]

    def measure_run() -> list[Outcome]:
        errors = measure()
        shares = {tolerance: share_within(errors, tolerance) for tolerance in tolerances}
        return [
            Outcome(f"{share:.1f} %", share >= required_shares.get(tolerance, 0))
            for tolerance, share in shares.items()
        ]

    return measure_runs("timing", names, runs, measure_run)


def measure_loop(options: argparse.Namespace) -> Iterator[Guarantee]:
    """Compare completions of 12 systems with the simulation."""

    def measure() -> list[Outcome]:
        runs = closed_loop.run_guaranteed(options.completions)
        completions = sum(run.completions for run in runs)
        is_closed = all(run.is_closed for run in runs)
        differing = sum(run.differing_completions for run in runs)
        is_complete = completions >= options.completions
        return [Outcome(f"{completions:,} completions, {differing} differ", is_closed and is_complete)]

    systems = len(closed_loop.GUARANTEED_SYSTEMS)
    name = f"Completions of {systems} systems, and files of results, equal to the simulation's"
    yield from measure_runs("loop", [(name, f"{options.completions:,}, none differs")], options.runs, measure)


def measure_kills(options: argparse.Namespace) -> Iterator[Guarantee]:
    """Kill servers under a journal, SQLite and PostgreSQL."""
    for name, kill in (
        ("a client's journal", _kill_function(kills.kill_under_fio)),
        ("SQLite", _kill_function(kills.kill_under_sqlite, "WAL", "FULL")),
        ("SQLite, synchronous=OFF", _kill_function(kills.kill_under_sqlite, "WAL", "OFF")),
        ("PostgreSQL", _kill_function(kills.kill_under_pgbench)),
    ):
        yield from _durability("kills", f"SIGKILLs under {name}", kill, options.kills, options.runs)


def measure_failures(options: argparse.Namespace) -> Iterator[Guarantee]:
    """Fail the power of devices under a journal, SQLite and PostgreSQL."""
    for name, fail in (
        ("a client's journal", losses.fail_under_journal),
        ("SQLite", partial(losses.fail_under_sqlite, journal="WAL", synchronous="FULL")),
        ("SQLite, synchronous=OFF", partial(losses.fail_under_sqlite, journal="WAL", synchronous="OFF")),
        ("PostgreSQL", losses.fail_under_postgres),
    ):
        yield from _durability(
            "failures", f"power failures under {name}", fail, options.failures, options.runs
        )


def _kill_function(load: Callable[..., dict[str, kills.KillCounts]], *pragmas: str) -> Callable[[int], Any]:
    """Return a function that kills a server some times under a load, in a new directory."""

    def measure(number: int) -> kills.KillCounts:
        with TemporaryDirectory(prefix="sledlab-kills-") as directory:
            total = kills.KillCounts()
            for counts in load(Path(directory), number, *pragmas).values():
                total.acknowledged_writes += counts.acknowledged_writes
                total.lost_writes += counts.lost_writes
                total.kills = counts.kills
        return total

    return measure


def _durability(
    group: str, name: str, fail: Callable[[int], kills.KillCounts], total: int, runs: int
) -> list[Guarantee]:
    """Measure the failures of all runs; without flushes, as a control, each run must lose a commit."""
    failures_per_run = max(total // runs, 1)
    is_control = name.endswith("OFF")

    def measure() -> list[Outcome]:
        counts = fail(failures_per_run)
        text = f"{counts.lost_writes:,} of {counts.acknowledged_writes:,} lost"
        is_met = (counts.lost_writes > 0) if is_control else (counts.lost_writes == 0)
        return [Outcome(text, is_met and counts.kills == failures_per_run and counts.acknowledged_writes > 0)]

    requirement = "something is lost (control)" if is_control else "nothing acknowledged is lost"
    return measure_runs(group, [(f"{failures_per_run * runs} {name}", requirement)], runs, measure)


MEASUREMENTS = {
    "timing": measure_timing,
    "loop": measure_loop,
    "kills": measure_kills,
    "failures": measure_failures,
}
"""Functions that measure the groups, in the order of `GROUPS`."""


def main() -> int:
    """Measure, print and write the results; return 1 if anything differs or is lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=GROUPS, action="append", help="a group")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each measurement [5]")
    parser.add_argument("--completions", type=int, default=COMPLETIONS, help="of each closed loop")
    parser.add_argument("--kills", type=int, default=KILLS, help="in all runs together")
    parser.add_argument("--failures", type=int, default=FAILURES, help="of power, in all runs together")
    parser.add_argument("--percent", type=int, default=100, help="of the reads that measure timing")
    parser.add_argument("--dry", action="store_true", help="write nothing")
    options = parser.parse_args()
    day = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
    guarantees: list[Guarantee] = []
    for group in options.only or GROUPS:
        for each in MEASUREMENTS[group](options):
            guarantees.append(replace(each, machine=machine(), date=day))
            if not options.dry:
                save(guarantees)
    for each in guarantees:
        print(*each.row().values(), sep=" | ")
    return int(not all(is_met for each in guarantees if each.group != "timing" for is_met in each.met))


if __name__ == "__main__":
    sys.exit(main())

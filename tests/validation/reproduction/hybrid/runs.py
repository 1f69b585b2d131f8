"""The experiments on hybrids, run and read back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from ..experiments import PROJECT, Row, compare
from ..points import Points, read_points

TPCD, TPCC, CELLO, HPLAJW = WORKLOADS = ("tpcd", "tpcc", "cello", "hplajw")

TITLES = {TPCD: "TPCD", TPCC: "TPCC", CELLO: "cello", HPLAJW: "hplajw"}
"""Workloads as the paper writes them."""

CHOSEN: dict[str, tuple[str, ...]] = {
    TPCD: ("--workload", "tpcd"),
    TPCC: ("--workload", "tpcc", "--set", "workload.address_space_gb=8.6"),
    CELLO: (),
    HPLAJW: (
        *("--workload", "hplajw"),
        *("--set", "workload.requests=308788", "--set", "workload.rate_per_s=42.9"),
    ),
}
"""How a workload is chosen; cello stands in the experiments, with what was fitted."""

SEGMENT_KB = {TPCD: 256, TPCC: 8, CELLO: 8, HPLAJW: 64}
"""Segments of section 6.4."""

SEEDS: dict[str, tuple[str, ...]] = {TPCD: ("--seeds", "1"), TPCC: ("--seeds", "1")}
"""The databases do without repetition: their arrivals are even, and their runs long."""

SIZES_MB, SEGMENTS_KB = (64, 128, 256, 512, 3072), (4, 8, 16, 32, 64, 128, 256)
ALL_SIZES = tuple(product(SIZES_MB, SEGMENTS_KB))

SWEPT: dict[str, tuple[int, ...]] = dict.fromkeys((CELLO, TPCC), (256, 3072))
"""Sizes in MB of the two workloads that take longest; the others have all of figure 5."""

TECHNIQUES, SIZES, BASELINES, COST = (f"paper-001-figure-{n}" for n in (4, 5, 6, 7))
REPLACEMENT, BYPASS, VIRTUAL = "paper-001-replacement", "paper-001-bypass", "paper-001-virtual"
SEGMENTS, BUFFER = "paper-001-segments", "paper-001-buffer"
MIRROR = "paper-001-mirror"
ARRAYS, DENSITY = ALONE = ("paper-001-arrays", "paper-001-density")
"""Experiments on the workload that they name."""

RUN_ON: dict[str, tuple[str, ...]] = {
    TECHNIQUES: WORKLOADS,
    BASELINES: WORKLOADS,
    SIZES: WORKLOADS,
    COST: WORKLOADS,
    REPLACEMENT: WORKLOADS,
    BYPASS: WORKLOADS,
    VIRTUAL: WORKLOADS,
    SEGMENTS: (TPCC, CELLO),
    BUFFER: (TPCC, CELLO),
    MIRROR: (CELLO, HPLAJW),
}
"""Experiments that are run on several workloads."""

IN_SEGMENTS = (TECHNIQUES, REPLACEMENT, BYPASS)
"""Experiments with the segments of section 6.4."""

REPEATED = (TECHNIQUES, BASELINES)
"""Experiments with several seeds."""

RECORDED = {"mail-a": 32, "kv-a": 16, "oltp-bank-a": 16, "oltp-orders-a": 16}
"""Recorded applications, with segments in KB: the least power of two that holds a mean request."""

RECORDED_SPEED = 0.25
"""Their speed: most of them would overload a single disk at their own."""

IDLE = "-idle"
"""What the directory of a run ends in where the controller cache writes in idle times, too."""


def word(mb: int, kb: int) -> str:
    """A caching disk of figure 5 as its experiment names it."""
    return f"caching-disk:front_mb={mb}:segment_kb={kb}"


def _options(name: str, workload: str) -> list[str]:
    """How an experiment is run on a workload."""
    options = [*CHOSEN[workload]]
    if name in IN_SEGMENTS:
        options += ["--set", f"hybrid.segment_kb={SEGMENT_KB[workload]}"]
    if name in REPEATED:
        options += SEEDS.get(workload, ())
    if name == SIZES and workload in SWEPT:
        words = [word(mb, kb) for mb, kb in product(SWEPT[workload], SEGMENTS_KB)]
        options += ["--vary", f"hybrid.kind={','.join(words)}"]
    return options


def _when_idle(name: str) -> list[str]:
    """What is different where the controller cache writes in idle times: only NONE and ALL of figure 4."""
    options = ["--set", "cache.destage=idle", "--seeds", "1"]
    return options + (["--vary", f"hybrid.kind={','.join(WORDS.values())}"] if name == TECHNIQUES else [])


def run(directory: Path, extra: Sequence[str] = ()) -> None:
    """Runs experiments that `directory` does not hold yet, each in a directory of its own.

    As many side by side as there are processors, one run of each at a time: most have only a few.
    """

    def start(planned: tuple[str, str, list[str]]) -> None:
        name, place, options = planned
        compare(name, directory / place, [*options, *extra, "--jobs", "1"])

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(start, _planned()))


def _planned() -> Iterator[tuple[str, str, list[str]]]:
    """Every experiment with its directory and options."""
    for name, workloads in RUN_ON.items():
        for workload in workloads:
            options = _options(name, workload)
            yield name, f"{name}-{workload}", options
            if name in REPEATED:
                yield name, f"{name}-{workload}{IDLE}", [*options, *_when_idle(name)]
    for name in ALONE:
        yield name, name, []
    for trace, segment_kb in RECORDED.items():
        file = str(PROJECT / f"sample/traces/{trace}.csv.zst")
        options = ["--trace", file, "--speedups", str(RECORDED_SPEED), "--seeds", "1"]
        yield BASELINES, f"{BASELINES}-{trace}", options
        yield TECHNIQUES, f"{TECHNIQUES}-{trace}", [*options, "--set", f"hybrid.segment_kb={segment_kb}"]


def directories() -> Iterable[tuple[str, str]]:
    """Every directory that `run` fills, and how the page names it."""
    for name, workloads in RUN_ON.items():
        for workload in workloads:
            yield f"{name}-{workload}", f"`{name}`, {TITLES[workload]}"
            if name in REPEATED:
                yield f"{name}-{workload}{IDLE}", f"`{name}`, {TITLES[workload]}, writing when idle"
    for trace in RECORDED:
        yield f"{BASELINES}-{trace}", f"`{BASELINES}`, {trace}"
        yield f"{TECHNIQUES}-{trace}", f"`{TECHNIQUES}`, {trace}"
    yield ARRAYS, f"`{ARRAYS}`, {TITLES[TPCC]}"
    yield DENSITY, f"`{DENSITY}`, {TITLES[TPCD]}"


@dataclass(frozen=True)
class Runs:
    """All experiments of a directory; `idle` for those whose cache writes in idle times, too."""

    directory: Path
    idle: bool = False

    def points(self, name: str, workload: str = "") -> Points:
        """The results of an experiment on a workload."""
        suffix = f"-{workload}" if workload else ""
        return read_points(self.directory / f"{name}{suffix}{IDLE if self.idle else ''}")

    def at(self, workload: str, system: str, measure: str = "mean_ms") -> float:
        """A measure of a system of figures 4 and 6, the mean over the seeds."""
        return self.points(_figure(system), workload).at(self._value(system), 1.0, measure)

    def row(self, workload: str, system: str) -> Row:
        """A system of figures 4 and 6 with the first seed, that of all other experiments."""
        return self.rows(_figure(system), workload)[self._value(system)]

    def rows(self, name: str, workload: str = "") -> dict[str, Row]:
        """An experiment by what varies in it, with the first seed."""
        return {value: rows[0] for (value, _), rows in self.points(name, workload).rows.items()}

    def overloaded(self, workload: str, system: str) -> bool:
        """Whether the queue of a system of figures 4 and 6 kept growing."""
        rows = self.points(_figure(system), workload).rows[self._value(system), 1.0]
        return any(row["saturated"] for row in rows)

    def _value(self, system: str) -> str:
        """A system as its experiment names it."""
        return WORDS.get(system, system) if self.idle else system

    def faster(self, workload: str, system: str, base: str) -> float:
        """How many times as fast as `base` a system is."""
        return self.at(workload, base) / self.at(workload, system)

    def grid(self, workload: str) -> dict[tuple[int, int], Row]:
        """Figure 5: rows by MB of MEMS and KB of a segment."""
        rows = self.rows(SIZES, workload)
        return {size: rows[word(*size)] for size in ALL_SIZES if word(*size) in rows}


def _figure(system: str) -> str:
    return BASELINES if system in BASELINE_SYSTEMS else TECHNIQUES


BASELINE_SYSTEMS = DISK, MEMS, DISK_RAM, MWB, LAZY = ("DISK", "MEMS", "DISK-RAM", "MWB", "LAZY")
TECHNIQUE_SYSTEMS = NONE, SHORTCUT, IREPORT, PWRITE, ALL = ("NONE", "SHORTCUT", "IREPORT", "PWRITE", "ALL")
SINGLE = (SHORTCUT, IREPORT, PWRITE)
"""The techniques one by one."""

WORDS = {NONE: "caching-disk:shortcut=false:immediate_report=false:partial_write=false", ALL: "caching-disk"}
"""What varies where the controller cache writes in idle times."""


def read_hits(row: Row) -> float:
    """Share of the reads of a hybrid that found all they wanted on the front device."""
    return float(row["hybrid_read_hits"]) / float(row["hybrid_reads"])

"""The systems in front of disks: the experiments on them, and their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ..paths import PROJECT
from ..runs import ComparisonRun, Planned, Points, Runs
from .names import BASELINE_SYSTEMS, CELLO, HPLAJW, MWB, TITLES, TPCC, TPCD, WORDS, WORKLOADS

CHOSEN: dict[str, tuple[str, ...]] = {
    TPCD: ("--workload", "tpcd"),
    TPCC: ("--workload", "tpcc", "--set", "workload.address_space_gb=8.6"),
    CELLO: (),
    HPLAJW: (
        *("--workload", "hplajw"),
        *("--set", "workload.requests=308788", "--set", "workload.rate_per_s=42.9"),
    ),
}
"""Options that choose a workload; cello is set in the experiments, with its fitted parameters."""

SEGMENT_KB = {TPCD: 256, TPCC: 8, CELLO: 8, HPLAJW: 64}
"""Sizes of segments in section 6.4."""

SEEDS: dict[str, tuple[str, ...]] = {TPCD: ("--seed", "1"), TPCC: ("--seed", "1")}
"""The databases are run with one seed: their arrivals are even, and their runs long."""

SIZES_MB, SEGMENTS_KB = (64, 128, 256, 512, 3072), (4, 8, 16, 32, 64, 128, 256)
ALL_SIZES = tuple(product(SIZES_MB, SEGMENTS_KB))

SWEPT: dict[str, tuple[int, ...]] = dict.fromkeys((CELLO, TPCC), (256, 3072))
"""Sizes in MB of the two workloads that take longest; the others run with all sizes of figure 5."""

TECHNIQUES, SIZES, BASELINES, COST = (f"wang2005-figure-{n}" for n in (4, 5, 6, 7))
REPLACEMENT, BYPASS, VIRTUAL = "wang2005-replacement", "wang2005-bypass", "wang2005-virtual"
SEGMENTS, BUFFER = "wang2005-segments", "wang2005-buffer"
MIRROR = "wang2005-mirror"
ARRAYS = "wang2005-arrays"
"""The experiment on arrays, on the workload that its file names."""

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
"""Recorded applications, with segments in KB: the smallest power of two that holds a mean request."""

RECORDED_SPEED = 0.25
"""Speed-up of their arrivals: at their own speed most would overload a single disk."""

IDLE = "-idle"
"""Ending of a run's directory where the controller cache writes in idle times too."""


DENSE = "-dense"
"""Ending of a run's directory where the disk reads at 50 MB/s because its tracks hold more."""

DISKS = ("atlas-10k-50mb", "atlas-10k-double-density")
"""Two disks that the paper may mean by a disk of 50 MB/s."""

ON_DENSE = ("--set", f"device.preset={DISKS[1]}", "--seed", "1")


def word(mb: int, kb: int) -> str:
    """A caching disk of figure 5, as its experiment names it."""
    return f"caching-disk:front_mb={mb}:segment_kb={kb}"


def _options(name: str, workload: str) -> tuple[str, ...]:
    """Options of an experiment on a workload."""
    options = [*CHOSEN[workload]]
    if name in IN_SEGMENTS:
        options += ["--set", f"hybrid.segment_kb={SEGMENT_KB[workload]}"]
    if name in REPEATED:
        options += SEEDS.get(workload, ())
    if name == SIZES and workload in SWEPT:
        text = [word(mb, kb) for mb, kb in product(SWEPT[workload], SEGMENTS_KB)]
        options += ["--vary", f"hybrid.kind={','.join(text)}"]
    return tuple(options)


def _when_idle(name: str) -> tuple[str, ...]:
    """Options where the controller cache writes in idle times: only NONE and ALL of figure 4 are run."""
    options = ("--set", "cache.destage=idle", "--seed", "1")
    return (*options, "--vary", f"hybrid.kind={','.join(WORDS.values())}") if name == TECHNIQUES else options


def plan() -> Iterator[Planned]:
    """Every experiment with its directory and options, on both readings of the paper's disk."""
    synthetic = list(_on_stand_ins())
    yield from synthetic
    yield from _on_recorded()
    for planned in synthetic:
        options, title = (*planned.options, *ON_DENSE), f"{planned.title}, double density"
        yield Planned(planned.experiment, options, f"{planned.suffix}{DENSE}", title)


def _on_stand_ins() -> Iterator[Planned]:
    for name, workloads in RUN_ON.items():
        for workload in workloads:
            options, title = _options(name, workload), f"`{name}`, {TITLES[workload]}"
            yield Planned(name, options, f"-{workload}", title)
            if name in REPEATED:
                idle = (*options, *_when_idle(name))
                yield Planned(name, idle, f"-{workload}{IDLE}", f"{title}, writing when idle")
    yield Planned(ARRAYS, title=f"`{ARRAYS}`, {TITLES[TPCC]}")


def _on_recorded() -> Iterator[Planned]:
    for trace, segment_kb in RECORDED.items():
        file = str(PROJECT / f"sample/traces/{trace}.csv.zst")
        options = ("--trace", file, "--speedup", str(RECORDED_SPEED), "--seed", "1")
        yield Planned(BASELINES, options, f"-{trace}", f"`{BASELINES}`, {trace}")
        segments = ("--set", f"hybrid.segment_kb={segment_kb}")
        yield Planned(TECHNIQUES, (*options, *segments), f"-{trace}", f"`{TECHNIQUES}`, {trace}")


@dataclass(frozen=True)
class Systems(Runs):
    """All experiments of a directory, in readings of the disk, of its cache and of the write buffer."""

    def on(self, name: str, workload: str = "") -> Points:
        """The results of an experiment on a workload."""
        return self.points(f"{name}-{workload}" if workload else name)

    def at(self, workload: str, system: str, measure: str = "mean_ms") -> float:
        """A measure of a system of figures 4 and 6, the mean over the seeds."""
        points = self.on(_figure(system), workload)
        return points.at(self._value(system, points), 1.0, measure)

    def against(self, workload: str, system: str, base: str, measure: str = "mean_ms") -> float:
        """Relative difference of a measure from that of `base`."""
        return self.at(workload, system, measure) / self.at(workload, base, measure) - 1

    def row(self, workload: str, system: str) -> ComparisonRun:
        """A system of figures 4 and 6 with the first seed, that of all other experiments."""
        points = self.on(_figure(system), workload)
        return points.rows[self._value(system, points), 1.0][0]

    def rows(self, name: str, workload: str = "") -> dict[str, ComparisonRun]:
        """An experiment's points with the first seed, by the value that varies."""
        return {value: rows[0] for (value, _), rows in self.on(name, workload).rows.items()}

    def overloaded(self, workload: str, system: str) -> bool:
        """Whether the queue of a system of figures 4 and 6 kept growing."""
        points = self.on(_figure(system), workload)
        return any(row.saturated for row in points.rows[self._value(system, points), 1.0])

    def _value(self, system: str, points: Points) -> str:
        """The name of a system in its experiment; the write buffer is that of the reading."""
        expected = (self.marked("buffer") or system) if system == MWB else system
        return expected if (expected, 1.0) in points.rows else WORDS.get(expected, expected)

    def faster(self, workload: str, system: str, base: str) -> float:
        """Mean response of `base` over that of a system."""
        return self.at(workload, base) / self.at(workload, system)

    @property
    def disk(self) -> str:
        """The disk of this reading."""
        return DISKS[DENSE in self.readings]

    def grid(self, workload: str) -> dict[tuple[int, int], ComparisonRun]:
        """Figure 5: rows by MB of MEMS and KB of a segment."""
        rows = self.rows(SIZES, workload)
        return {size: rows[word(*size)] for size in ALL_SIZES if word(*size) in rows}


def _figure(system: str) -> str:
    return BASELINES if system in BASELINE_SYSTEMS else TECHNIQUES

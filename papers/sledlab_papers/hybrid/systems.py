"""The systems in front of disks: the experiments on them, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

from sledlab.reproduction.verdicts import NumberTable

from ..paths import AJW_WEEK, PROJECT
from ..runs import ComparisonRun, ExperimentRuns, PlannedExperiment, Runs
from ..wording import number_table
from .names import BASELINE_SYSTEMS, CELLO, HPLAJW, MWB, NONE, TITLES, TPCC, TPCD, WORKLOADS

WORKLOAD_OPTIONS: dict[str, tuple[str, ...]] = {
    TPCD: ("--workload", "tpcd", "--set", "workload.probe_share=0.13"),
    TPCC: (
        *("--workload", "tpcc", "--set", "workload.address_space_gb=8.6"),
        *("--set", "workload.host_cache_requests=8500", "--set", "workload.new_write_share=0.0416"),
    ),
    CELLO: (),
    HPLAJW: (
        *("--workload", "hplajw"),
        *("--set", "workload.requests=308788", "--set", "workload.rate_per_s=42.9"),
        *("--set", "workload.busy_share=0.227"),
        *("--set", "workload.new_write_share=0.0505", "--set", "workload.address_space_gb=3.2"),
    ),
}
"""Options that choose a workload; cello is set in the experiments, with its fitted parameters."""

SEGMENT_KB = {TPCD: 256, TPCC: 8, CELLO: 8, HPLAJW: 64}
"""Sizes of segments in section 6.4."""

FIGURE_4_SEGMENT_KB = {TPCD: 64, TPCC: 8, CELLO: 8, HPLAJW: 8}
"""Sizes of segments in section 6.1: the smallest power of two that holds a mean request."""

SIZES_MB, SEGMENTS_KB = (64, 128, 256, 512, 3072), (4, 8, 16, 32, 64, 128, 256)
ALL_SIZES = tuple(product(SIZES_MB, SEGMENTS_KB))

FEWER_SIZES_MB = dict.fromkeys((TPCC, CELLO), (256, 3072))
"""Sizes in MB in figure 5 of the two workloads that take longest."""

TECHNIQUES, SIZES, BASELINES, COST = (f"wang2005-figure-{n}" for n in (4, 5, 6, 7))
CACHING_DISK = "wang2005-caching-disk"
"""The experiment on NONE and ALL with the segments of section 6.4."""

REPLACEMENT, BYPASS, VIRTUAL = "wang2005-replacement", "wang2005-bypass", "wang2005-virtual"
SEGMENTS, BUFFER = "wang2005-segments", "wang2005-buffer"
MIRROR = "wang2005-mirror"
ARRAYS = "wang2005-arrays"
"""The experiment on arrays, on the workload that its file names."""

EXPERIMENT_WORKLOADS: dict[str, tuple[str, ...]] = {
    TECHNIQUES: WORKLOADS,
    CACHING_DISK: WORKLOADS,
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

SEGMENTS_BY_EXPERIMENT = {
    TECHNIQUES: FIGURE_4_SEGMENT_KB,
    **dict.fromkeys((CACHING_DISK, REPLACEMENT, BYPASS), SEGMENT_KB),
}
"""Sizes of segments of experiments that set one for each workload."""

OTHER_POLICIES = ("slru", "arc")
OTHERS_SUFFIX = "-others"
"""Ending of the directory of further replacement policies."""

RECORDED_TRACES = {"mail-a": 32, "kv-a": 16, "oltp-bank-a": 16, "oltp-orders-a": 16}
"""Recorded applications, with segments in KB: the smallest power of two that holds a mean request."""

RECORDED_WEEK = "wang2005-ajw"
"""The experiment on a recorded week of a workstation."""

RECORDED_SPEEDUP = 0.25
"""Speed-up of their arrivals: at their own speed most would overload a single disk."""

FAST_SUFFIX = "-fast"
"""Ending of a run's directory on the disk that transfers sectors twice as fast."""

IDLE_SUFFIX = "-idle"
"""Ending of a run's directory with a cache that destages in idle periods."""

DISKS = ("atlas-10k-double-density", "atlas-10k-50mb")
"""The disk of 50 MB/s of the experiments, and the other one that the paper may mean."""


def kind_of_size(mb: int, kb: int) -> str:
    """A caching disk of figure 5, as its experiment names it."""
    return f"caching-disk:front_mb={mb}:segment_kb={kb}:copy_kb=64"


def _options(name: str, workload: str) -> tuple[str, ...]:
    """Options of an experiment on a workload."""
    options = [*WORKLOAD_OPTIONS[workload]]
    if name in SEGMENTS_BY_EXPERIMENT:
        options += ["--set", f"hybrid.segment_kb={SEGMENTS_BY_EXPERIMENT[name][workload]}"]
    if name == SIZES and workload in FEWER_SIZES_MB:
        sizes = product(FEWER_SIZES_MB[workload], SEGMENTS_KB)
        options += ["--vary", f"hybrid.kind={','.join(kind_of_size(mb, kb) for mb, kb in sizes)}"]
    return tuple(options)


def plan() -> Iterator[PlannedExperiment]:
    """Every experiment with its directory and options."""
    yield from _stand_in_plan()
    yield from _recorded_plan()


def _stand_in_plan() -> Iterator[PlannedExperiment]:
    for name, workloads in EXPERIMENT_WORKLOADS.items():
        for workload in workloads:
            options, title = _options(name, workload), f"`{name}`, {TITLES[workload]}"
            yield PlannedExperiment(name, options, f"-{workload}", title)
            if name == REPLACEMENT:
                yield PlannedExperiment(
                    name,
                    (*options, "--vary", f"hybrid.replacement={','.join(OTHER_POLICIES)}"),
                    f"-{workload}{OTHERS_SUFFIX}",
                    f"{title}, S-LRU and ARC",
                )
    yield PlannedExperiment(ARRAYS, title=f"`{ARRAYS}`, {TITLES[TPCC]}")


def _recorded_plan() -> Iterator[PlannedExperiment]:
    for trace, segment_kb in RECORDED_TRACES.items():
        file = str(PROJECT / f"sample/traces/{trace}.csv.zst")
        options = ("--trace", file, "--speedup", str(RECORDED_SPEEDUP), "--seed", "1")
        yield PlannedExperiment(BASELINES, options, f"-{trace}", f"`{BASELINES}`, {trace}")
        segments = ("--set", f"hybrid.segment_kb={segment_kb}")
        yield PlannedExperiment(TECHNIQUES, (*options, *segments), f"-{trace}", f"`{TECHNIQUES}`, {trace}")
    yield PlannedExperiment(RECORDED_WEEK, ("--trace", str(AJW_WEEK)), title=f"`{RECORDED_WEEK}`, HP `ajw`")


@dataclass(frozen=True)
class SeedMean:
    """A system with all seeds: means over them."""

    runs: Sequence[ComparisonRun]

    @property
    def saturated(self) -> bool:
        """Whether the queue of one of them kept growing."""
        return any(row.saturated for row in self.runs)

    def mean(self, measure: str) -> float:
        """The mean of a measure."""
        return fmean(getattr(row, measure) for row in self.runs)

    @property
    def mean_ms(self) -> float:
        """Mean response time in ms."""
        return self.mean("mean_ms")

    @property
    def read_hits(self) -> float:
        """Share of the reads of a hybrid that hit on the front device."""
        return self.mean("read_hits")

    @property
    def max_queue(self) -> int:
        """The longest queue with any seed."""
        return max(row.queue_max for row in self.runs)

    @property
    def spread(self) -> float:
        """Difference of the longest and the shortest mean response of a seed, relative to their mean."""
        times = [row.mean_ms for row in self.runs]
        return (max(times) - min(times)) / self.mean_ms


def workload_table(title: str, columns: str, rows: Mapping[str, Sequence[str]]) -> NumberTable:
    """A table of numbers behind a verdict, with a row for each workload."""
    return number_table(title, f"workload | {columns}", ([TITLES[name], *row] for name, row in rows.items()))


def largest_spread(means: Iterable[SeedMean]) -> float:
    """The largest relative difference of mean responses between seeds, without overloaded systems."""
    return max(mean.spread for mean in means if not mean.saturated)


@dataclass(frozen=True)
class HybridRuns(Runs):
    """All experiments of a directory, in readings of the disk, of its cache and of the write buffer."""

    def workload_runs(self, name: str, workload: str = "") -> ExperimentRuns:
        """The results of an experiment on a workload."""
        return self.experiment(f"{name}-{workload}" if workload else name)

    def seed_mean(self, workload: str, system: str) -> SeedMean:
        """A system of figure 6, with the segments of section 6.4."""
        experiment = BASELINES if system in BASELINE_SYSTEMS else CACHING_DISK
        return self.seed_means(experiment, workload)[self._axis_value(system)]

    def mean(self, workload: str, system: str, measure: str = "mean_ms") -> float:
        """A measure of a system of figure 6, the mean over the seeds."""
        return self.seed_mean(workload, system).mean(measure)

    def change(self, workload: str, system: str, base: str) -> float:
        """Relative difference of the mean response of a system of figure 6 from that of `base`."""
        return self.mean(workload, system) / self.mean(workload, base) - 1

    def change_on_same_seeds(self, row: SeedMean, workload: str, system: str) -> float:
        """Relative difference of a mean response from that of a system of figure 6 with the same seeds."""
        seeds = {run.seed for run in row.runs}
        runs = [run for run in self.seed_mean(workload, system).runs if run.seed in seeds]
        return row.mean_ms / SeedMean(runs).mean_ms - 1

    def technique_change(self, workload: str, technique: str, measure: str = "mean_ms") -> float:
        """Relative difference of a measure with a technique of figure 4 from that with none."""
        means = self.seed_means(TECHNIQUES, workload)
        return means[technique].mean(measure) / means[NONE].mean(measure) - 1

    def is_overloaded(self, workload: str, system: str) -> bool:
        """Whether the queue of a system of figure 6 kept growing."""
        return self.seed_mean(workload, system).saturated

    def _axis_value(self, system: str) -> str:
        """The name of a system in its experiment; the write buffer is that of the reading."""
        return (self.mark_value("buffer") or system) if system == MWB else system

    def speedup(self, workload: str, system: str, base: str) -> float:
        """Mean response of `base` over that of a system."""
        return self.mean(workload, base) / self.mean(workload, system)

    def performance_change(self, workload: str, system: str, base: str) -> float:
        """Relative difference of performance, the inverse of the mean response, from that of `base`."""
        return self.mean(workload, base) / self.mean(workload, system) - 1

    @property
    def disk(self) -> str:
        """The disk of this reading."""
        return DISKS[FAST_SUFFIX in self.readings]

    @property
    def cache_settings(self) -> tuple[tuple[str, Any], ...]:
        """Settings of the controller cache in this reading, for single runs."""
        return (("cache.destage", "idle"),) if IDLE_SUFFIX in self.readings else ()

    @property
    def lfuda(self) -> str:
        """The replacement policy that LFUDA stands for in this reading."""
        return self.mark_value("LFUDA") or "lfuda"

    def improvement(self, speedup: float) -> float:
        """The improvement by a speed-up: the gain in performance, or in another reading the time saved."""
        return 1 - 1 / speedup if self.mark_value("improvement") else speedup - 1

    def seed_means(self, name: str, workload: str = "") -> dict[str, SeedMean]:
        """The means over the seeds of an experiment, by the value that varies."""
        return {value: SeedMean(rows) for (value, _), rows in self.workload_runs(name, workload).rows.items()}

    def grid(self, workload: str) -> dict[tuple[int, int], SeedMean]:
        """Figure 5: means by MB of MEMS and KB of a segment."""
        means = self.seed_means(SIZES, workload)
        return {size: means[kind_of_size(*size)] for size in ALL_SIZES if kind_of_size(*size) in means}

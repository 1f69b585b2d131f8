"""Experiments of papers: running them, and reading their results."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import polars
from sledlab.study.executor.worker_choice import CLUSTER

from .markdown import table
from .simulator import run_study
from .wording import cells

T = TypeVar("T")

KEYED_OPTIONS = ("--set", "--job-set", "--vary")
"""Options that can be repeated with different keys."""


@dataclass(frozen=True)
class PlannedExperiment:
    """An experiment of `papers/experiments` to be run with options, with its directory and title."""

    experiment: str
    options: tuple[str, ...] = ()
    suffix: str = ""
    """Ending of the name of its directory."""
    title: str = ""

    @property
    def place(self) -> str:
        """The name of its directory."""
        return f"{self.experiment}{self.suffix}"

    @property
    def missing_data(self) -> str | None:
        """The reason why it cannot run here: a trace that is not there; `None` if it can run."""
        trace = dict(zip(self.options[::2], self.options[1::2], strict=True)).get("--trace")
        if trace is None or Path(trace).is_file():
            return None
        return f"no trace {trace} (set SLEDLAB_REFERENCE)"


def _name_shortener(schedulers: Iterable[str]) -> Callable[[str], str]:
    """Function that shortens names of schedulers to those without parameters, if they are still different."""
    counts_by_name = Counter(each.split(":")[0] for each in schedulers)
    return lambda name: name.split(":")[0] if counts_by_name[name.split(":")[0]] == 1 else name


def last_values(options: Sequence[str]) -> list[str]:
    """Return pairs of option and value without those that a later pair overrides.

    A plan may extend another plan and override its options, but a command rejects repeated options.

    Examples:
        >>> last_values(["--seed", "1..3", "--set", "b=1", "--set", "c=1", "--set", "b=2", "--seed", "1"])
        ['--set', 'c=1', '--set', 'b=2', '--seed', '1']
    """
    values_by_option: dict[tuple[str, str], str] = {}
    for option, value in zip(options[::2], options[1::2], strict=True):
        key = option, value.partition("=")[0] if option in KEYED_OPTIONS else ""
        values_by_option.pop(key, None)
        values_by_option[key] = value
    return [word for (option, _), value in values_by_option.items() for word in (option, value)]


def run(
    plan: Sequence[PlannedExperiment],
    directory: Path,
    extra_options: Sequence[str] = (),
    *,
    side_by_side: bool = False,
) -> None:
    """Run the experiments that `directory` does not hold yet, each in a separate directory.

    With `side_by_side`, as many experiments run at a time as there are processors, each with one run at a
    time: for experiments of few runs. Where `SLEDLAB_CLUSTER` names a cluster, all runs are executed there.
    """
    parallel_options = ("--parallel", "1") if side_by_side and not os.environ.get(CLUSTER) else ()

    def start(planned: PlannedExperiment) -> None:
        options = last_values([*planned.options, *extra_options, *parallel_options])
        run_study(planned.experiment, directory / planned.place, options)

    with ThreadPoolExecutor(os.cpu_count() if side_by_side else 1) as pool:
        list(pool.map(start, plan))


@dataclass(frozen=True)
class ComparisonRun:
    """A run of a comparison: one scheduler, value, speed-up and seed."""

    scheduler: str
    speedup: float
    seed: int
    requests: int
    saturated: bool
    throughput_iops: float
    mean_ms: float
    p99_ms: float
    max_ms: float
    read_mean_ms: float | None
    write_mean_ms: float | None
    queue_mean: float
    queue_max: int
    utilization: float
    elapsed_s: float
    turnaround_ms: float
    transfer_ms: float
    energy_j: float
    seek_j: float
    access_j: float
    idle_j: float
    inactive_j: float
    startup_j: float
    startups: int
    merged: int
    hybrid_reads: int
    hybrid_read_hits: int
    hybrid_writes: int
    hybrid_written_blocks: int
    hybrid_back_reads: int
    hybrid_back_writes: int
    hybrid_back_written_blocks: int
    hybrid_bypassed: int
    hybrid_live_share: float

    @property
    def servicing_j(self) -> float:
        """Energy of seeks and accesses."""
        return self.seek_j + self.access_j

    @property
    def read_hits(self) -> float:
        """Share of the reads of a hybrid that hit on the front device with all their blocks."""
        return self.hybrid_read_hits / self.hybrid_reads


@dataclass(frozen=True)
class LoadPoint:
    """A point of a load curve: the mean over seeds."""

    scheduler: str
    speedup: float
    seeds: int
    requests: int
    saturated: bool
    throughput_iops: float
    mean_ms: float
    mean_ci95_ms: float | None
    scv: float
    queue_mean: float
    utilization: float
    served_at_once: float
    positioning_ms: float


@dataclass(frozen=True)
class Crossing:
    """The arrival rate at which a scheduler reaches a mean response."""

    scheduler: str
    level_ms: float
    arrival_rate_iops: float | None
    reached: str


@dataclass(frozen=True)
class SchedulerCost:
    """Wall-clock cost of decisions of a scheduler."""

    scheduler: str
    speedup: float
    decision_ns: float


Rows = list[tuple[Any, T]]
"""Rows of a table by the value that varies."""


KEY_COLUMNS = ("scheduler", "speedup", "seed", "level_ms")
"""Columns that identify rows in every table, in addition to the column of the axis."""


class TableReads:
    """The tables that are read within a context, each with the columns that its rows declare."""

    _recorders: ClassVar[ContextVar[tuple[TableReads, ...]]] = ContextVar("recorders", default=())

    def __init__(self) -> None:
        self.columns_by_file: dict[Path, set[str]] = {}

    @classmethod
    def note(cls, file: Path, columns: Iterable[str]) -> None:
        """Note that a table is read."""
        for recorder in cls._recorders.get():
            recorder.columns_by_file.setdefault(file, set()).update(columns)

    @property
    def places(self) -> frozenset[str]:
        """The places of these tables."""
        return frozenset(file.parent.name for file in self.columns_by_file)

    @classmethod
    @contextmanager
    def record(cls) -> Iterator[TableReads]:
        """Record the tables that are read within the context."""
        reads = cls()
        token = cls._recorders.set((*cls._recorders.get(), reads))
        try:
            yield reads
        finally:
            cls._recorders.reset(token)


@cache
def _axis_and_rows(file: Path) -> tuple[str, list[dict[str, Any]]]:
    """The name of the column of what varies, and the rows of a table.

    The name has a dot in it, as no other column's has; where sets of settings vary, it is the second or third
    column, beside those that identify rows.
    """
    rows = polars.read_csv(file, infer_schema_length=None).to_dicts()
    columns = list(rows[0])
    set_column = next((name for name in columns[1:3] if name not in KEY_COLUMNS), columns[2])
    return next((name for name in columns if "." in name), set_column), rows


def read(file: Path, kind: type[T]) -> Rows[T]:
    """The rows of a table by the value that varies."""
    columns = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    TableReads.note(file, (*KEY_COLUMNS, _axis_and_rows(file)[0], *columns))
    return _rows(file, kind)  # type: ignore[arg-type]


@cache
def _rows(file: Path, kind: Any) -> Rows[Any]:
    axis, rows = _axis_and_rows(file)
    return [(row[axis], _row(kind, row)) for row in rows]


def _row(kind: type[T], row: Mapping[str, Any]) -> T:
    """A row as an instance of its class.

    A table that was saved before a column was declared lacks it, and so does the row: reading it is an
    `AttributeError` until the experiment is measured anew.
    """
    instance = object.__new__(kind)
    vars(instance).update({each.name: row[each.name] for each in fields(kind) if each.name in row})  # type: ignore[arg-type]
    return instance


def _value_text(value: object) -> str:
    """A value that varies as text: numbers by value, truth values as in a table."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


@dataclass(frozen=True)
class ExperimentRuns:
    """All runs of an experiment with one scheduler: by value that varies and speed-up, one a seed."""

    rows: dict[tuple[str, float], list[ComparisonRun]]

    @property
    def axis_values(self) -> list[str]:
        """Values of what varies, in the order of the experiment."""
        return list(dict.fromkeys(value for value, _ in self.rows))

    @property
    def speedups(self) -> list[float]:
        """All speed-ups, ascending."""
        return sorted({speedup for _, speedup in self.rows})

    def seed_values(self, value: object, speedup: float, measure: str) -> list[float]:
        """A measure by seed."""
        return [float(getattr(point, measure)) for point in self.rows[_value_text(value), speedup]]

    def mean(self, value: object, speedup: float, measure: str) -> float:
        """The mean of a measure over the seeds."""
        values = self.seed_values(value, speedup, measure)
        return sum(values) / len(values)

    def share(self, value: object, speedup: float, *parts: str) -> float:
        """The share of some parts in the total energy."""
        return sum(self.mean(value, speedup, part) for part in parts) / self.mean(value, speedup, "energy_j")

    def changes(self, value: object, base: object, speedup: float, measure: str) -> list[float]:
        """Relative differences of a measure from that of `base`, by seed."""
        pairs = zip(
            self.seed_values(value, speedup, measure), self.seed_values(base, speedup, measure), strict=True
        )
        return [compared_value / base_value - 1 for compared_value, base_value in pairs]

    def change(self, value: object, base: object, speedup: float, measure: str) -> float:
        """The mean of these relative differences over the seeds."""
        changes = self.changes(value, base, speedup, measure)
        return sum(changes) / len(changes)

    def stable_speedups(self, *values: object) -> list[float]:
        """Speed-ups at which none of these cases is overloaded."""
        return [
            speedup
            for speedup in self.speedups
            if not any(
                point.saturated for value in values for point in self.rows[_value_text(value), speedup]
            )
        ]


REFERENCE_SCHEDULER = "sptf"
"""The scheduler whose mean response time tells how heavy a load is."""

LIGHT, MODERATE, HEAVY = "light", "moderate", "heavy"
LEVELS_MS = {MODERATE: (2.0, 5.0, 10.0), HEAVY: (20.0, 50.0, 100.0, 200.0, 500.0)}
"""Mean response times at which throughput is compared."""


@dataclass(frozen=True)
class LoadCurves:
    """One load curve for every scheduler: tables of a comparison by scheduler and speed-up or level."""

    curves: dict[tuple[str, float], LoadPoint]
    crossings: Mapping[tuple[str, float], Crossing] = field(default_factory=dict)
    costs: Mapping[tuple[str, float], SchedulerCost] = field(default_factory=dict)

    @property
    def schedulers(self) -> list[str]:
        """All schedulers by name."""
        return sorted({name for name, _ in self.curves})

    @property
    def speedups(self) -> list[float]:
        """All loads, as speed-ups, ascending."""
        return sorted({speedup for _, speedup in self.curves})

    def value(self, scheduler: str, speedup: float, measure: str = "mean_ms") -> float:
        """A measure at a load."""
        return float(getattr(self.curves[scheduler, speedup], measure))

    def half_interval_ms(self, speedup: float, *schedulers: str) -> float:
        """Half the widest 95 % interval of the means of schedulers; 0 if no run is long enough for one."""
        return max(self.curves[each, speedup].mean_ci95_ms or 0.0 for each in schedulers)

    def change(self, a: str, b: str, speedup: float, measure: str = "mean_ms") -> float:
        """Relative difference of a measure of `a` from that of `b`."""
        return self.value(a, speedup, measure) / self.value(b, speedup, measure) - 1

    def weight(self, speedup: float) -> str:
        """Light, moderate or heavy: a mean below 2 ms, up to 10 ms, above that under SPTF."""
        mean_ms = self.value(REFERENCE_SCHEDULER, speedup)
        return LIGHT if mean_ms < 2 else MODERATE if mean_ms < 10 else HEAVY

    def loads(self, weights: Sequence[str], *schedulers: str) -> list[float]:
        """Loads of these weights at which none of the schedulers is overloaded."""
        return [
            speedup
            for speedup in self.speedups
            if self.weight(speedup) in weights
            and not any(self.curves[scheduler, speedup].saturated for scheduler in schedulers)
        ]

    def changes(self, a: str, b: str, weights: Sequence[str], measure: str = "mean_ms") -> dict[float, float]:
        """Relative differences of a measure of `a` from that of `b`, at every load of these weights."""
        return {speedup: self.change(a, b, speedup, measure) for speedup in self.loads(weights, a, b)}

    def gains(
        self, a: str, b: str, weights: Sequence[str], others: LoadCurves | None = None
    ) -> dict[float, float]:
        """Relative gain in throughput of `a` over `b` at equal mean response time, by its level in ms.

        Levels that one of them does not reach, or only in overload, are omitted.

        Args:
            a: A scheduler.
            b: The scheduler that it is compared with.
            weights: Weights of the load, whose levels count.
            others: The load curves of `b`, if they are not these.
        """
        gains_by_level = {}
        for level_ms in (level_ms for weight in weights for level_ms in LEVELS_MS[weight]):
            rate_a, rate_b = self._rate(a, level_ms), (others or self)._rate(b, level_ms)
            if rate_a and rate_b:
                gains_by_level[level_ms] = rate_a / rate_b - 1
        return gains_by_level

    def _rate(self, scheduler: str, level_ms: float) -> float | None:
        row = self.crossings.get((scheduler, level_ms))
        return row.arrival_rate_iops if row and row.reached == "yes" else None


class LazyMapping(Mapping[Any, T]):
    """Rows by a key; the table is read on first access."""

    def __init__(self, load: Callable[[], Mapping[Any, T]]) -> None:
        self._load = cache(load)

    def __getitem__(self, key: Any) -> T:
        """The row of a key."""
        return self._load()[key]

    def __iter__(self) -> Iterator[Any]:
        """All keys."""
        return iter(self._load())

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._load())


def mark_value(readings: Iterable[str], word: str) -> str:
    """The value after a word in the readings, such as 2 in `seed 2`; empty where no reading has the word."""
    return next((each.split(" ", 1)[1] for each in readings if each.startswith(f"{word} ")), "")


@dataclass(frozen=True)
class Runs:
    """The experiments in a directory, in some readings.

    Attributes:
        directory: The directory of all experiments.
        readings: Endings of directories that are read instead of others, where they exist, and marks such as
            `seed 2` that change how runs are read: a claim is judged by other modeling choices with them.
    """

    directory: Path
    readings: tuple[str, ...] = ()

    def place(self, name: str) -> str:
        """The directory of an experiment in these readings."""
        for ending in self.readings:
            name += ending if (self.directory / f"{name}{ending}").exists() else ""
        return name

    def mark_value(self, word: str) -> str:
        """The value after a word in the readings, such as 2 in `seed 2`."""
        return mark_value(self.readings, word)

    def experiment(self, place: str, scheduler: str = "") -> ExperimentRuns:
        """The runs of an experiment with one of its schedulers, by default FCFS, or the only one.

        Raises:
            LookupError: The readings name one of several seeds, and the experiment has it not.
        """
        points = read(self.directory / self.place(place) / "runs.csv", ComparisonRun)
        schedulers = {point.scheduler for _, point in points}
        selected_scheduler = scheduler or self.mark_value("under") or "fcfs"
        seeds, seed = {str(point.seed) for _, point in points}, self.mark_value("seed")
        if len(seeds) == 1:
            seed = ""
        elif seed and seed not in seeds:
            raise LookupError(f"`{self.place(place)}` has no seed {seed}")
        points_by_case: dict[tuple[str, float], list[ComparisonRun]] = {}
        for value, point in points:
            is_selected = point.scheduler == selected_scheduler or len(schedulers) == 1
            if is_selected and seed in ("", str(point.seed)):
                points_by_case.setdefault((_value_text(value), point.speedup), []).append(point)
        return ExperimentRuns(points_by_case)

    def load_curves(self, place: str, axis_value: Any = None) -> LoadCurves:
        """The load curves of an experiment, for one value of what varies; names are as short as is unique."""
        folder = self.directory / self.place(place)

        def rows(table: str, kind: type[T]) -> list[T]:
            table_rows = read(folder / f"{table}.csv", kind)
            return [row for value, row in table_rows if axis_value is None or value == axis_value]

        curves = rows("curves", LoadPoint)
        shorten = _name_shortener({row.scheduler for row in curves})
        return LoadCurves(
            {(shorten(row.scheduler), row.speedup): row for row in curves},
            LazyMapping(
                lambda: {(shorten(row.scheduler), row.level_ms): row for row in rows("throughput", Crossing)}
            ),
            LazyMapping(
                lambda: {
                    (shorten(row.scheduler), row.speedup): row for row in rows("decision_cost", SchedulerCost)
                }
            ),
        )

    def experiment_table(self, plan: Sequence[PlannedExperiment]) -> str:
        """A table of the experiments that ran, their lengths, and the depths of queues."""
        rows = []
        for planned_experiment in plan:
            points = [
                point
                for _, point in read(self.directory / planned_experiment.place / "runs.csv", ComparisonRun)
            ]
            seeds = {point.seed for point in points}
            min_requests, max_queue_mean = min(p.requests for p in points), max(p.queue_mean for p in points)
            title = planned_experiment.title or f"`{planned_experiment.experiment}`"
            rows.append(
                cells(
                    "{} | {} | {} | {:,} | {:,.0f}",
                    title,
                    len(points),
                    len(seeds),
                    min_requests,
                    max_queue_mean,
                )
            )
        return table("experiment | runs | seeds | requests a run, at least | longest mean queue", rows)

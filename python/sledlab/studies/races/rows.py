"""Runs of competitors over a range of loads: means, wall-clock figures, load at equal response."""

from __future__ import annotations

import math
from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from sledlab.errors import unknown
from sledlab.show.model_names import label
from sledlab.study.columns import Column, columns
from sledlab.study.measure import RunFigures  # noqa: TC001 - annotations are read at run time
from sledlab.study.statistics import SeedMeans, average, half_width, mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Plan, RunSpec

    Keys = tuple[Any, ...]

LEVELS_MS = (2.0, 5.0, 10.0, 20.0)
"""Mean response times at which loads are compared, whatever the data."""


@dataclass(frozen=True)
class Competitor:
    """The competitor of a run, and the values of the keys that vary besides.

    Attributes:
        competitor: The kind and the name, such as `{"scheduler": "fcfs"}`: a column.
        varied: Values of the keys that vary besides: a column for each key.
    """

    competitor: Mapping[str, Any]
    speedup: Annotated[float, Column("what the times between arrivals are divided by")]
    varied: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name of the competitor."""
        return str(next(iter(self.competitor.values())))

    @property
    def label(self) -> str:
        """The competitor's name on pages and in tables."""
        return label(self.name) if "scheduler" in self.competitor else self.name

    @property
    def keys(self) -> Keys:
        """The keys that rows are sorted by."""
        return self.name, self.speedup, *self.varied.values()


@dataclass(frozen=True)
class RaceRun:
    """A run."""

    who: Competitor
    seed: Annotated[int, Column("seed of random numbers")]
    run: RunFigures


@dataclass(frozen=True)
class Mean:
    """Means over the seeds."""

    who: Competitor
    run: SeedMeans
    requests: Annotated[int, Column("measured reads and writes, of all seeds")]
    total_energy_per_request_mj: Annotated[float, Column("energy of the devices per read or write", "mJ")]

    def value(self, measure: str) -> float:
        """The value of a column.

        Raises:
            Error: There is no such measure.
        """
        if measure not in MEASURES:
            raise unknown("measure", measure, MEASURES)
        return float(getattr(self if measure == MEASURES[0] else self.run, measure))


MEASURES = (
    "total_energy_per_request_mj",
    *(
        name
        for name, kind in get_type_hints(SeedMeans).items()
        if kind is float and not columns(SeedMeans)[name].hidden
    ),
)
"""Columns that can be drawn against the load."""


@dataclass(frozen=True)
class Level:
    """The load at which a mean response is reached."""

    competitor: Mapping[str, Any]
    varied: Mapping[str, Any]
    level_ms: Annotated[float, Column("mean response time", "ms")]
    arrival_rate_iops: Annotated[
        float | None, Column("reads and writes offered at which it is reached", "1/s")
    ]
    arrival_rate_ci95_iops: Annotated[
        float | None, Column("half the 95 % confidence interval over seeds", "1/s")
    ]
    reached: Annotated[str, Column("yes; in overload; below, above: not at any of these loads")]


@dataclass(frozen=True)
class DecisionCost:
    """Wall-clock figures of a competitor at a load."""

    who: Competitor
    queue_mean: Annotated[float | None, Column("mean requests waiting")]
    decision_ns: Annotated[float | None, Column("wall-clock time of a decision", "ns")]
    wall_s: Annotated[float | None, Column("wall-clock time of a run", "s")]


def sorted_runs(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> list[tuple[RaceRun, SystemRun]]:
    """Return all runs of a plan, sorted by competitor, speed-up, varied values and seed.

    The labels of its cases are competitor, speed-up, and the keys that vary besides, in this order.
    """
    pairs = []
    for case in plan.cases:
        competitor_label, (_, speedup), *varied = case.labels
        competitor = Competitor(dict([competitor_label]), speedup, dict(varied))
        pairs += [
            (RaceRun(competitor, spec.seed, results[spec].row), results[spec]) for spec in plan.specs_of(case)
        ]
    return sorted(pairs, key=lambda pair: (*pair[0].who.keys, pair[0].seed))


def means(race_runs: Sequence[RaceRun]) -> list[Mean]:
    """Means over the seeds, of sorted runs."""
    rows = []
    for _, group in groupby(race_runs, key=lambda race_run: race_run.who.keys):
        group_runs = list(group)
        runs = [race_run.run for race_run in group_runs]
        energy = math.fsum(run.energy_j / run.completed * 1000 for run in runs) / len(runs)
        rows.append(Mean(group_runs[0].who, average(runs), sum(run.requests for run in runs), energy))
    return rows


def costs(pairs: Sequence[tuple[RaceRun, SystemRun]]) -> list[DecisionCost]:
    """Wall-clock figures of sorted runs: means over the seeds."""
    rows = []
    for _, group in groupby(pairs, key=lambda pair: pair[0].who.keys):
        group_pairs = list(group)
        mean_times = (
            mean([system_run.timing.get(name) for _, system_run in group_pairs])
            for name in ("decision_ns", "wall_s")
        )
        rows.append(
            DecisionCost(
                group_pairs[0][0].who,
                mean([race_run.run.queue_mean for race_run, _ in group_pairs]),
                *mean_times,
            )
        )
    return rows


def throughput(race_runs: Sequence[RaceRun]) -> list[Level]:
    """The arrival rate at which the mean response of each competitor reaches each level.

    Interpolated on the curve through the measured loads: straight lines of the logarithm of the mean
    response over the arrival rate. With several seeds, the mean over them with its interval.

    Returns:
        One row per competitor and level, `arrival_rate_iops` empty where it is not reached; `reached` has
        why: `yes`, `in overload` (the load above was overloaded, where the response has no value of its
        own), `below` (even at the lightest load it is longer), `above` (even at the heaviest it is shorter).
    """
    groups: dict[Keys, list[RaceRun]] = {}
    for race_run in race_runs:
        groups.setdefault((race_run.who.name, *race_run.who.varied.values()), []).append(race_run)
    rows = []
    for level in levels([row.run for row in means(race_runs)]):
        for group in groups.values():
            seeds = dict.fromkeys(race_run.seed for race_run in group)
            curves = [[race_run.run for race_run in group if race_run.seed == seed] for seed in seeds]
            competitor = group[0].who
            crossing_columns = _mean_rate([crossing(curve, level) for curve in curves])
            rows.append(Level(competitor.competitor, competitor.varied, level, *crossing_columns))
    return rows


def _mean_rate(crossings: Sequence[tuple[float | None, str]]) -> tuple[float | None, float | None, str]:
    """The mean rate over seeds, with its interval, where all reach the level; otherwise why not."""
    rates = [rate for rate, _ in crossings if rate is not None]
    outcomes = [outcome for _, outcome in crossings]
    if len(rates) < len(crossings):
        misses = [outcome for outcome in outcomes if outcome in ("below", "above")]
        return None, None, max(misses, key=misses.count)
    return mean(rates), half_width(rates), "in overload" if "in overload" in outcomes else "yes"


def crossing(curve: Iterable[RunFigures], level_ms: float) -> tuple[float | None, str]:
    """The arrival rate at which a curve first reaches a mean response time, and the text of `reached`."""
    ordered = sorted(curve, key=lambda run: run.arrival_rate_iops)
    if ordered[0].mean_ms >= level_ms:
        return (ordered[0].arrival_rate_iops, "yes") if ordered[0].mean_ms == level_ms else (None, "below")
    for lower, upper in pairwise(ordered):
        if lower.mean_ms < level_ms <= upper.mean_ms:
            share = math.log(level_ms / lower.mean_ms) / math.log(upper.mean_ms / lower.mean_ms)
            rate = lower.arrival_rate_iops + share * (upper.arrival_rate_iops - lower.arrival_rate_iops)
            return rate, "in overload" if upper.saturated else "yes"
    return None, "above"


def levels(runs: Sequence[RunFigures]) -> list[float]:
    """Levels of mean response time to compare at, in ms: 2, 5, 10, 20 and further ones that fit the data."""
    steady = [run.mean_ms for run in runs if not run.saturated] or [run.mean_ms for run in runs]
    low, high = min(steady), max(steady)
    candidates = (float(f"{digit}e{power}") for power in range(-3, 7) for digit in (1, 2, 5))
    return sorted({*LEVELS_MS, *(level for level in candidates if low < level <= high)})


def build_tables(
    pairs: Sequence[tuple[RaceRun, SystemRun]],
) -> tuple[Mapping[str, Any], Mapping[str, Sequence[DecisionCost]]]:
    """Tables of sorted runs: of simulated results, and of wall-clock figures."""
    race_runs = [race_run for race_run, _ in pairs]
    rows = {"runs": race_runs, "curves": means(race_runs), "throughput": throughput(race_runs)}
    return rows, {"decision_cost": costs(pairs)}

"""Means over the seeds, with their confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from sledlab.show.ranking import is_level
from sledlab.study.columns import Column
from sledlab.study.measure import RunFigures

MIN_INDEPENDENT = 20
"""Minimum number of independent requests that each run must be worth, for an interval over seeds.

Means of shorter runs, which begin with an empty queue, are biased and skewed
(`validation/sections/intervals.py`).
"""

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Case, Plan, RunSpec


@dataclass(frozen=True)
class SeedMeans(RunFigures):
    """Means over the seeds of a row.

    `mean_ci95_ms` is by Student's t over the seeds, or by batch means where there is one; None, like
    `scv_ci95`, if the runs are too short for their load. No column is a sum:
    `requests` is a mean like the others; `saturated` is true if any run was.
    """

    MEANS_OF: ClassVar[type] = RunFigures
    """The class whose columns are means here, also those that count."""

    seeds: Annotated[int, Column("seeds over which the row is the mean")] = 1
    scv_ci95: Annotated[float | None, Column("half the 95 % confidence interval of the SCV over seeds")] = (
        None
    )
    energy_ci95_j: Annotated[
        float | None, Column("half the 95 % confidence interval of the energy over seeds", "J")
    ] = None
    seed_means_ms: Annotated[
        Sequence[float], Column("mean response time with each seed", "ms", hidden=True)
    ] = ()

    @property
    def half_ms(self) -> float | None:
        """Half the 95 % interval of the mean over seeds; None with one seed or a growing queue."""
        return self.mean_ci95_ms if self.seeds > 1 and not self.saturated else None

    @property
    def half_j(self) -> float | None:
        """Half the 95 % interval of the energy over seeds; None with one seed or a growing queue."""
        return None if self.saturated else self.energy_ci95_j

    def is_level(self, other: SeedMeans) -> bool:
        """Return whether both means are level: their difference, seed by seed, is below its uncertainty."""
        differences = relative(self.seed_means_ms, other.seed_means_ms)
        return is_level(mean(differences) or 0.0, half_width(differences))


def case_runs(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> dict[Case, list[RunFigures]]:
    """Return the results behind each row of all tables: a run for each seed."""
    return {case: [results[spec].row for spec in plan.specs_of(case)] for case in plan.cases}


def average(runs: Sequence[RunFigures]) -> SeedMeans:
    """Return the mean of the runs of a row, one for each seed."""
    columns = {each.name: [getattr(run, each.name) for run in runs] for each in fields(RunFigures)}
    means = {name: _mean(column) for name, column in columns.items()}
    are_long = all(run.requests >= MIN_INDEPENDENT * run.correlated_requests for run in runs)
    if len(runs) > 1:
        means["mean_ci95_ms"] = half_width(columns["mean_ms"]) if are_long else None
    return SeedMeans(
        **means,
        seeds=len(runs),
        scv_ci95=half_width(columns["scv"]) if are_long else None,
        energy_ci95_j=half_width(columns["energy_j"]),
        seed_means_ms=columns["mean_ms"],
    )


def _mean(values: Sequence[Any]) -> Any:
    """Return the mean of numbers without `None`s; of booleans, whether any is true; of mappings, by key."""
    first = next((value for value in values if value is not None), None)
    if first is None:
        return None
    if isinstance(first, bool):
        return any(values)
    if isinstance(first, dict):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: _mean([value.get(name) for value in values]) for name in names if name != "bins"}
    if len(values) == 1:
        return first
    return mean(values)


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without any.

    Examples:
        >>> mean([1.0, None, 2.0]), mean([None])
        (1.5, None)
    """
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def t_975(freedom: int) -> float:
    """Return the value of Student's t below which 97.5 % lie, for `freedom` degrees of freedom, 1 or more.

    Examples:
        >>> [round(t_975(n), 3) for n in (1, 9, 30)]
        [12.706, 2.262, 2.042]
    """
    low, high = 0.0, 13.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (middle, high) if _t_probability(middle, freedom) < 0.95 else (low, middle)
    return (low + high) / 2


def _t_probability(t: float, freedom: int) -> float:
    """Return the probability of lying between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, cosine) if odd else (1.0, 1.0)
    if freedom == 1:
        total = 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def half_width(values: Sequence[float]) -> float | None:
    """Return half the 95 % confidence interval of a mean of independent values; None for fewer than two.

    Examples:
        >>> round(half_width([1.0, 2.0, 3.0]), 3)
        2.484
    """
    count = len(values)
    if count < 2:
        return None
    mean = math.fsum(values) / count
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    return t_975(count - 1) * math.sqrt(variance / count)


def relative(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return by which share each value is less than the other value of its pair.

    Examples:
        >>> relative([3.0, 1.0], [4.0, 1.0])
        [0.25, 0.0]
    """
    return [1 - value / other for value, other in zip(values, others, strict=True)]


def straight_line(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float, float | None] | None:
    """Return the slope, intercept and R² of the straight line through points; None where all have the same x.

    Examples:
        >>> straight_line([0, 1, 2], [1, 3, 5])
        (2.0, 1.0, 1.0)
    """
    if len(set(xs)) < 2:
        return None
    middle_x, middle_y = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    sum_xx = math.fsum((value - middle_x) ** 2 for value in xs)
    sum_xy = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(xs, ys, strict=True))
    slope = sum_xy / sum_xx
    residual_sum = math.fsum(
        (b - middle_y - slope * (a - middle_x)) ** 2 for a, b in zip(xs, ys, strict=True)
    )
    sum_yy = math.fsum((value - middle_y) ** 2 for value in ys)
    return slope, middle_y - slope * middle_x, 1 - residual_sum / sum_yy if sum_yy > 0 else None

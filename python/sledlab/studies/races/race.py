"""A race: competitors, such as schedulers or devices, at the same loads, and the winners at each load.

A race may have groups: the race is run once for each combination of other keys that vary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.errors import Error
from sledlab.show.ranking import Ranking, is_level
from sledlab.studies.races.rows import DecisionCost, Level, Mean, RaceRun
from sledlab.study.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars
    from matplotlib.figure import Figure

    from sledlab.study.statistics import SeedMeans

MAX_HIGHLIGHTED = 6
"""Most competitors that a figure distinguishes by color."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The results of one competitor over the loads.

    Attributes:
        name: Name of the competitor.
        rows: The competitor's means, by speed-up.
    """

    name: str
    rows: Sequence[Mean]

    @property
    def label(self) -> str:
        """The competitor's name on pages and in tables."""
        return self.rows[0].who.label

    def find_row(self, speedup: float) -> Mean:
        """The row at a load."""
        return next(row for row in self.rows if row.who.speedup == speedup)

    def run(self, speedup: float) -> SeedMeans:
        """The results at a load."""
        return self.find_row(speedup).run

    @cached_property
    def highest_steady_speedup(self) -> float | None:
        """The highest speed-up before the first overload; None if overloaded at the lowest already."""
        highest = None
        for row in self.rows:
            if row.run.saturated:
                break
            highest = row.who.speedup
        return highest


@dataclass(frozen=True, eq=False)
class Group:
    """The race for one combination of the keys that vary besides competitors and loads.

    Attributes:
        varied: Keys that vary, each with its value in this group; empty if none does.
        curves: The competitors in the order in which the user gave them.
    """

    varied: tuple[tuple[str, Any], ...]
    curves: Sequence[Curve]

    @property
    def competitor_kind(self) -> str:
        """The kind of competitors, such as `scheduler`."""
        return str(next(iter(self.curves[0].rows[0].who.competitor)))

    @cached_property
    def speedups(self) -> list[float]:
        """All loads, as speed-ups, ascending."""
        return sorted({row.who.speedup for curve in self.curves for row in curve.rows})

    def rate(self, speedup: float) -> float:
        """Requests offered per second at a load, given as a speed-up."""
        return self.curves[0].run(speedup).arrival_rate_iops

    @cached_property
    def ranking_speedup(self) -> float:
        """The load at which competitors are ranked: the highest with more than half not overloaded."""
        return max(
            (speedup for speedup in self.speedups if 2 * len(self.steady(speedup)) > len(self.curves)),
            default=self.speedups[0],
        )

    def steady(self, speedup: float) -> list[Curve]:
        """Competitors that are not overloaded at a load."""
        return [curve for curve in self.curves if not curve.run(speedup).saturated]

    def best(self, speedup: float, measure: str = "mean_ms") -> list[Curve]:
        """The competitors with the lowest value at a load, best first, and those level with it.

        Means are compared seed by seed. Overloaded competitors do not count, unless all are overloaded.
        """
        ranking = self.rank(speedup, measure)
        candidates = ranking.rows[: ranking.steady or None]
        if measure == "mean_ms":
            best_run = ranking.first.run(speedup)
            return [curve for curve in candidates if curve.run(speedup).is_level(best_run)]
        values = zip(candidates, ranking.values, strict=False)
        return [curve for curve, value in values if _is_level(value, ranking.values[0])]

    def rank(self, speedup: float, measure: str = "mean_ms") -> Ranking[Curve]:
        """The competitors by a measure at a load."""
        return Ranking.of(
            self.curves,
            lambda curve: curve.find_row(speedup).value(measure),
            lambda curve: curve.run(speedup).saturated,
        )

    def fastest(self, speedup: float, op: str) -> list[Curve]:
        """Return all competitors that are not overloaded by their mean response time of reads or of writes.

        Args:
            speedup: The load.
            op: `read` or `write`.

        Returns:
            The competitors, fastest first; empty if one has no such requests.
        """
        means_ms = {curve: getattr(curve.run(speedup), f"{op}_mean_ms") for curve in self.steady(speedup)}
        return [] if None in means_ms.values() else sorted(means_ms, key=lambda curve: float(means_ms[curve]))

    @cached_property
    def ranking(self) -> list[Curve]:
        """Competitors by mean response time at the ranking load; then overloaded ones by sustained load."""

        def sort_key(curve: Curve) -> tuple[bool, float, float]:
            run = curve.run(self.ranking_speedup)
            if run.saturated:
                return True, -(curve.highest_steady_speedup or 0.0), -run.throughput_iops
            return False, 0.0, run.mean_ms

        return sorted(self.curves, key=sort_key)

    @cached_property
    def baseline(self) -> Curve:
        """The competitor that others are compared with: FCFS, or the last ranked one not overloaded."""
        fcfs = next((curve for curve in self.curves if curve.name == "fcfs"), None)
        steady = [curve for curve in self.ranking if not curve.run(self.ranking_speedup).saturated]
        return fcfs or (steady or self.ranking)[-1]

    @cached_property
    def highlighted_curves(self) -> list[Curve]:
        """Competitors that a figure colors: all of a few; otherwise leaders, the fairest and the baseline."""
        if len(self.curves) <= MAX_HIGHLIGHTED:
            return list(self.curves)
        special = {self.best(self.ranking_speedup, "scv")[0], self.baseline}
        leaders = [curve for curve in self.ranking if curve not in special][: MAX_HIGHLIGHTED - len(special)]
        return [curve for curve in self.ranking if curve in special or curve in leaders]


def _is_level(value: float, best: float) -> bool:
    """Return whether a value that has no value for each seed is level with the best."""
    return value == best or is_level(1 - best / value)


@dataclass(frozen=True, repr=False)
class Race(Outcome, ABC):
    """The outcome of a race: tables, curves and winners at each load.

    Attributes:
        rows: The simulated results: `runs`, `curves` and `throughput`.
        costs: Wall-clock figures: `decision_cost`.
        config: The part of the experiment that all runs share, as plain data.
        axes: The values of all axes.
        toml: The race as a file.
    """

    kinds: ClassVar[Mapping[str, type]] = {"runs": RaceRun, "curves": Mean, "throughput": Level}
    cost_kinds: ClassVar[Mapping[str, type]] = {"decision_cost": DecisionCost}

    rows: Mapping[str, Sequence[Any]] = field(repr=False)
    costs: Mapping[str, Sequence[DecisionCost]] = field(repr=False)
    config: Mapping[str, Any] = field(repr=False)
    axes: Mapping[str, Any]
    toml: str = field(repr=False)

    @property
    def runs(self) -> polars.DataFrame:
        """One row per competitor, speed-up and seed: the simulated results."""
        return self.tables["runs"]

    @property
    def curves(self) -> polars.DataFrame:
        """One row per competitor and speed-up: means over the seeds, and half widths of 95 % intervals.

        `mean_ci95_ms` is by Student's t over seeds, or by batch means where there is one seed;
        `scv_ci95` is empty then.
        """
        return self.tables["curves"]

    @property
    def throughput(self) -> polars.DataFrame:
        """Arrival rates at which the mean response reaches 2, 5, 10, 20 ms, and levels that fit the data.

        Interpolated on the load curve, the logarithm of the response over the arrival rate; empty
        where a level is not reached; `reached` has the reason.
        """
        return self.tables["throughput"]

    @property
    def decision_cost(self) -> polars.DataFrame:
        """Wall-clock figures per competitor and speed-up: ns per decision of the scheduler, and s per run."""
        return self.tables["decision_cost"]

    @cached_property
    def groups(self) -> list[Group]:
        """The race for every combination of varied values; a single group if no key varies."""
        means_by_group: dict[tuple[tuple[str, Any], ...], dict[str, list[Mean]]] = {}
        for row in self.rows["curves"]:
            means_by_group.setdefault(tuple(row.who.varied.items()), {}).setdefault(row.who.name, []).append(
                row
            )
        return [
            Group(varied, [Curve(name, means_by_group[varied][name]) for name in self.competitors])
            for varied in self._order(means_by_group)
        ]

    @property
    @abstractmethod
    def competitors(self) -> Sequence[str]:
        """Names of the competitors in the order in which the user gave them."""

    def _order(self, values: Iterable[Any]) -> list[Any]:
        """Combinations of varied values in the order of the groups: sorted, unless overridden."""
        return sorted(values)

    def group(self, varied: Any = None) -> Group:
        """Return the first group with some varied values.

        Args:
            varied: The value of the key that varies, or values by key, such as `{"device.sleds": 4}`.
                Default: any.

        Raises:
            Error: There is no such group.
        """
        for group in self.groups:
            values_by_key = dict(group.varied)
            if varied is None or (
                varied.items() <= values_by_key.items()
                if isinstance(varied, Mapping)
                else [varied] == [*values_by_key.values()]
            ):
                return group
        has_one_key = all(len(group.varied) == 1 for group in self.groups)
        known_values = [
            str(group.varied[0][1] if has_one_key else dict(group.varied)) for group in self.groups
        ]
        remedy = f"known: {', '.join(known_values)}" if self.groups[0].varied else "nothing varies; omit it"
        raise Error(f"nothing was compared at `{varied}`", remedy=remedy)

    def plot_options(self, where: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the combination of varied values whose figure is drawn.

        Raises:
            Error: One of the keys does not vary, or has no such value.
        """
        for group in self.groups:
            texts_by_key = {key: str(value) for key, value in group.varied}
            if where.items() <= texts_by_key.items():
                return {"varied": {key: value for key, value in group.varied if key in where}}
        known_values = ", ".join(str(dict(group.varied)) for group in self.groups if group.varied)
        remedy = f"add --x and --y, or choose one of {known_values}" if known_values else "add --x and --y"
        raise Error(f"no figure of this comparison is drawn by {', '.join(where)}", remedy=remedy)

    def plot(self, measure: str = "mean_ms", *, varied: Any = None, width: str | None = None) -> Figure:
        """Draw a measure against the load, one line per competitor; overloaded points are set apart.

        Args:
            measure: A column of `curves`, such as `mean_ms`, `scv`, `p99_ms`, `queue_mean` or
                `total_energy_per_request_mj`.
            varied: The value of the key that varies, or values by key, such as `{"device.sleds": 4}`.
                Default: the first combination.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such column or value.
        """
        return self._draw(measure, varied=varied, width=width)

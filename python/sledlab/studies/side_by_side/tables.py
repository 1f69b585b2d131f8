"""The outcome of devices side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.show.ranking import Ranking
from sledlab.studies.costs.cost import MEMORY, device_names
from sledlab.studies.costs.goal import ResponseGoal, goal
from sledlab.studies.costs.system_cost import system_cost
from sledlab.studies.races.race import Curve, Group, Race
from sledlab.studies.races.rows import build_tables, sorted_runs
from sledlab.studies.side_by_side.plan import SideBySidePlan
from sledlab.studies.side_by_side.recommendation import value_ms
from sledlab.studies.side_by_side.rows import DeviceMean, MaxLoad, SystemPart
from sledlab.study.plan import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.studies.races.rows import Mean
    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Plan, RunSpec


@dataclass(frozen=True, repr=False)
class SideBySide(Race):
    """The outcome of devices side by side, on one or more traces or workloads: tables, curves, winners.

    Times are in ms, rates in requests per second of simulated time. Displays itself as a table in a
    notebook, and prints as one.

    Attributes:
        rows: The simulated results: `runs`, `curves` with costs, `throughput`, `parts` that have a price, and
            `max_loads` if these were searched.
        costs: Wall-clock figures: `decision_cost`.
        config: The experiment of one run, as plain data: what all runs share is read from it; and prices.
        axes: Devices, traces or workloads, speed-ups and seeds.
        toml: The study as a file that `sledlab compare` takes.
        devices: The devices in the order in which the user gave them.
        sources: Traces or workloads in the order in which the user gave them.

    Examples:
        >>> import sledlab as sl
        >>> comparison = sl.compare(sl.workload("uniform"), ["mems-g2", "mems-g1"], limit=500, parallel=1)
        >>> comparison.answer.split(" on average")[0]
        'mems-g2 answers uniform in 1.78 ms'
        >>> comparison.runs.columns[:4]
        ['device', 'speedup', 'workload', 'seed']
    """

    kinds: ClassVar[Mapping[str, type]] = {
        **Race.kinds,
        "curves": DeviceMean,
        "parts": SystemPart,
        "max_loads": MaxLoad,
    }

    devices: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def goal(self) -> ResponseGoal | None:
        """The goal for response times, if any."""
        return goal(self.axes.get("goal"))

    @property
    def parts(self) -> dict[str, list[SystemPart]]:
        """The parts of each device or system that have a price, by its name."""
        return {name: [row for row in self.rows["parts"] if row.device == name] for name in self.devices}

    def max_loads(self, group: Group) -> dict[str, MaxLoad]:
        """Return the highest loads that devices sustain of the requests of a group, by name, if searched."""
        return {
            str(row.competitor["device"]): row
            for row in self.rows["max_loads"]
            if row.varied == dict(group.varied)
        }

    @property
    def competitors(self) -> Sequence[str]:
        """The devices, which are the competitors."""
        return self.devices

    def _order(self, values: Iterable[Any]) -> list[Any]:
        return sorted(values, key=lambda varied: self.sources.index(varied[0][1]))

    def plot(self, measure: str = "percentiles", *, varied: Any = None, width: str | None = None) -> Figure:
        """Draw the devices side by side.

        Args:
            measure: `percentiles` of the response times, `cost` against response, `energy` of a request, or a
                column of `curves`, which is drawn against the load where there are several.
            varied: Name of a trace or workload, for a column; by default the first.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such column or value.
        """
        return self._draw(measure, varied=varied, width=width)


@dataclass(frozen=True)
class Standing:
    """The ranking of the devices at one load.

    Attributes:
        steady: Devices that are not overloaded, fastest first.
        level_count: Number of these level with the fastest, which come first; see `Group.best`.
        overloaded: Overloaded devices, the one with most completions first.
    """

    steady: Sequence[Curve]
    level_count: int
    overloaded: Sequence[Curve]

    @classmethod
    def from_group(cls, group: Group, speedup: float) -> Standing:
        """Return the ranking in a group at a load."""
        ranking = group.rank(speedup)
        steady = ranking.rows[: ranking.steady]
        level_curves = group.best(speedup) if steady else []
        overloaded = Ranking.of(
            ranking.rows[ranking.steady :], lambda curve: -curve.run(speedup).throughput_iops
        )
        return cls(
            [*level_curves, *(curve for curve in steady if curve not in level_curves)],
            len(level_curves),
            overloaded.rows,
        )

    @property
    def winner(self) -> Curve | None:
        """The device that is faster than all others; None where several are level, or all are overloaded."""
        return self.steady[0] if self.level_count == 1 else None


def conclude(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> SideBySide:
    """Return the outcome, made of the results of all runs."""
    assert isinstance(plan, SideBySidePlan)
    labels = [[value for _, value in case.labels] for case in plan.cases]
    devices, sources = (tuple(dict.fromkeys(each[index] for each in labels)) for index in (0, 2))
    rows, costs = build_tables(sorted_runs(plan, results))
    configs = {name: plain(plan.bases[f"{name} on {sources[0]}"].to_toml()) for name in devices}
    names = {MEMORY}.union(*map(device_names, configs.values()))
    tables = {
        **rows,
        "curves": [_with_cost(row, plan, configs[row.who.name]) for row in rows["curves"]],
        "parts": [
            SystemPart(device, part.name, part.table == "device_gb", part.quantity, part.price)
            for device, parts in plan.parts.items()
            for part in parts or ()
        ],
        "max_loads": plan.max_loads,
    }
    used_prices = plan.prices.select({"node": set(), "device": names, "network": set()})
    config = {**plan.config, "prices": used_prices}
    return SideBySide(tables, costs, config, plan.axes, plan.toml, devices, sources)


def _with_cost(row: Mean, plan: SideBySidePlan, config: Mapping[str, Any]) -> DeviceMean:
    """Return the means of a device with its costs."""
    cost = system_cost(config, row.run, plan.parts[row.who.name], plan.prices)
    meets = (
        None
        if plan.goal is None
        else not row.run.saturated and value_ms(row.run, plan.goal) <= plan.goal.limit_ms
    )
    return DeviceMean(row.who, row.run, row.requests, row.total_energy_per_request_mj, cost, meets)

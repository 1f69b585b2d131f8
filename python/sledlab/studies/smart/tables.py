"""The outcome of a study of smart storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from sledlab.studies.costs.cost import Cost  # noqa: TC001 - annotations are read at run time
from sledlab.studies.costs.prices import prices
from sledlab.studies.smart.costs import all_names, replay_cost
from sledlab.studies.smart.replays import ReplayFigures  # noqa: TC001 - annotations are read at run time
from sledlab.study.columns import Column
from sledlab.study.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from sledlab.studies.costs.prices import Prices
    from sledlab.study.measure import MeasuredRun
    from sledlab.study.plan import Case, Plan, RunSpec


@dataclass(frozen=True)
class SmartCase:
    """A replayed job, with device, network, pages and place."""

    job: Annotated[str, Column("name of the job")]
    nodes: Annotated[int, Column("nodes that hold data")]
    device: Annotated[str, Column("store of a node")]
    network: Annotated[str, Column("network between the nodes")]
    page_kb: Annotated[float | None, Column("size of a page; none where the node's own holds", "1024 bytes")]
    at: Annotated[str, Column("where the work is done: nodes or host")]


@dataclass(frozen=True)
class SmartRun:
    """A replay."""

    where: SmartCase
    run: ReplayFigures
    cost: Cost


@dataclass(frozen=True)
class PhaseRow:
    """A phase of a replay."""

    where: SmartCase
    phase: Annotated[str, Column("name of the phase")]
    elapsed_s: Annotated[float, Column("length of the phase", "s")]
    compute_s: Annotated[float, Column("mean time in which a node works on data", "s")]
    store_s: Annotated[float, Column("mean time in which a node waits for its store", "s")]
    network_s: Annotated[float, Column("mean time in which a node handles messages", "s")]
    waiting_s: Annotated[float, Column("mean time in which a node waits for others", "s")]
    longest: Annotated[int, Column("node that works longest")]
    longest_compute_s: Annotated[float, Column("time in which the longest node works on data", "s")]
    longest_store_s: Annotated[float, Column("time in which the longest node waits for its store", "s")]
    longest_network_s: Annotated[float, Column("time in which the longest node handles messages", "s")]


@dataclass(frozen=True, repr=False)
class SmartStudy(Outcome):
    """Jobs on storage nodes: their times, bottlenecks, energy and prices.

    Displays itself as a table in a notebook, and prints as one.

    Attributes:
        rows: The simulated results: `runs` and `phases`.
        costs: Empty.
        config: The experiment of one replay, as plain data: what all replays share is read from it.
        axes: Records, devices, networks, pages and places, as plain data.
        toml: The study as a file that `sledlab smart` takes.
        prices: The prices that are used, in USD, as plain data.

    Examples:
        >>> import sledlab as sl
        >>> study = sl.smart_study("sample:scan", ["mems-g2", "hp-c2490a"], parallel=1)
        >>> study.tables["runs"].select("device", "bottleneck").rows()
        [('mems-g2', 'store'), ('hp-c2490a', 'store')]
    """

    kinds: ClassVar[Mapping[str, type]] = {"runs": SmartRun, "phases": PhaseRow}

    prices: Mapping[str, Any]

    @property
    def runs(self) -> list[SmartRun]:
        """The replays: fewest nodes first, devices in the order in which the user gave them."""
        return list(self.rows["runs"])  # type: ignore[arg-type]

    def plot(self, section: str = "times", *, width: str | None = None) -> Figure:
        """Draw a section.

        Args:
            section: `times`, `scaling`, `phases` or `pareto`.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such section, or too few replays have a price for `pareto`.
        """
        return self._draw(section, width=width)

    def extras(self) -> Mapping[str, Any]:
        """The prices."""
        return {"prices": dict(self.prices)}


def conclude(plan: Plan, results: Mapping[RunSpec, MeasuredRun[Any]]) -> SmartStudy:
    """The outcome, made of the results of all replays."""
    price_list = prices(plan.axes["price"])
    runs = [_run(plan, case, results, price_list) for case in plan.select_cases("runs")]
    phases = [PhaseRow(each.where, **phase) for each in runs for phase in each.run.phases]
    used_prices = price_list.select(all_names(plan))
    return SmartStudy({"runs": runs, "phases": phases}, {}, plan.config, plan.axes, plan.toml, used_prices)


def _run(
    plan: Plan, plan_case: Case, results: Mapping[RunSpec, MeasuredRun[Any]], price_list: Prices
) -> SmartRun:
    """The row of a replay, with its costs."""
    (spec,) = plan.specs_of(plan_case)
    case, row = SmartCase(**dict(plan_case.labels)), results[spec].row
    return SmartRun(case, row, replay_cost(plan, spec, case.nodes, row, price_list))

"""The outcome of a comparison of schedulers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.study.columns import records
from sledlab.study.race import Race
from sledlab.study.race_rows import measured, rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.study.columns import Row
    from sledlab.study.measure import Found
    from sledlab.study.plan import Plan, Point


@dataclass(frozen=True, repr=False)
class Comparison(Race):
    """A race of schedulers: tables, curves and a ranking.

    Times are in ms, rates in requests per second of simulated time. Displays itself as a table in a
    notebook, and prints as one.

    Attributes:
        rows: The simulated results: `points`, `curves` and `throughput`.
        costs: Wall-clock figures: `decision_cost`.
        config: The part of the experiment that all points share, as plain data.
        axes: Schedulers, speed-ups, seeds, and `vary`.
        toml: The comparison as a file that `sledlab compare` takes.

    Examples:
        >>> import sledlab as sl
        >>> race = sl.compare(
        ...     sl.workload("uniform"), "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1, 1.4],
        ...     limit=2000, parallel=1,
        ... )
        >>> race.curves.columns[:2]
        ['scheduler', 'speedup']
        >>> race.plot("scv").axes[0].get_xlabel()
        'requests per second'
    """

    @property
    def schedulers(self) -> tuple[str, ...]:
        """The schedulers in the order in which the user gave them."""
        return tuple(self.axes["scheduler"])

    @property
    def competitors(self) -> Sequence[str]:
        """The schedulers, which are the competitors."""
        return self.schedulers

    def arranged(self, tables: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
        """Answer, some of the tables by name, and the experiment that all points share, as plain data."""
        found = {name: records(rows) for name, rows in tables.items()}
        return {**self.heading, **found, "config": dict(self.config)}


def conclude(plan: Plan, found: Mapping[Point, Found]) -> Comparison:
    """The comparison, made of the results of all points."""
    return Comparison(*rows_of(measured(plan, found)), plan.config, plan.axes, plan.toml)

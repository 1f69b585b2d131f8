"""The outcome of a comparison of schedulers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import polars
from sledlab.studies.compare.sweep import sweeps
from sledlab.studies.races.race import Race
from sledlab.studies.races.rows import build_tables, sorted_runs
from sledlab.study.columns import records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.study.columns import Row
    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Plan, RunSpec


@dataclass(frozen=True, repr=False)
class Comparison(Race):
    """A race of schedulers: tables, curves and a ranking.

    Times are in ms, rates in requests per second of simulated time. Displays itself as a table in a
    notebook, and prints as one.

    Attributes:
        rows: The simulated results: `runs`, `curves` and `throughput`.
        costs: Wall-clock figures: `decision_cost`.
        config: The part of the experiment that all runs share, as plain data.
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

    def plot(self, measure: str = "", *, varied: Any = None, width: str | None = None) -> Figure:
        """Draw a measure against the load, one line per scheduler; or what varied settings do.

        Args:
            measure: `grid`, a heat map of the mean response over the two settings of `vary`, `effects`, a bar
                for each value of `vary`, or a column of `curves`, such as `mean_ms`, `scv`, `p99_ms`,
                `queue_mean` or `total_energy_per_request_mj`. Default: `grid` where two settings vary under
                one scheduler, otherwise `effects` if settings vary, otherwise `mean_ms`.
            varied: The value of the key that varies, or values by key, such as `{"device.sleds": 4}`.
                Default: the first combination.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such column or value.
        """
        default = "mean_ms" if varied is not None else "grid" if self.is_grid else "effects"
        if (measure or default) == "grid":
            if len(self.varied_keys) != 2:
                raise Error("a grid has two settings that vary", remedy="vary two settings, or use --x twice")
            return self.plot_columns("mean_ms", list(self.varied_keys), width=width)
        default = default if sweeps(self) else "mean_ms"
        return self._draw(measure or default, varied=varied, width=width)

    @property
    def varied_keys(self) -> Sequence[str]:
        """The keys of `vary` that have several values."""
        values_by_key: dict[str, set[str]] = {}
        for group in self.groups:
            for key, value in group.varied:
                values_by_key.setdefault(key, set()).add(str(value))
        return [key for key, values in values_by_key.items() if len(values) > 1]

    @property
    def is_grid(self) -> bool:
        """Whether two settings vary under a single scheduler."""
        return len(self.varied_keys) == 2 and len(self.competitors) == 1

    @property
    def effects(self) -> polars.DataFrame:
        """The effect of each value of `vary`, with all else as in the best combination; empty without `vary`.

        Columns: keys that change the requests, `speedup`, `key`, `value`, `mean_ms`, `less` (the share that
        the best value saves), `less_ci95` (half its 95 % confidence interval over the seeds), `differs` and
        `overloaded`.
        """
        return polars.DataFrame(self._effects(), infer_schema_length=None)

    def _effects(self) -> list[dict[str, Any]]:
        """Return the rows of `effects`."""
        return [
            {**dict(sweep.case), "speedup": sweep.speedup, **effect.to_dict()}
            for sweep in sweeps(self)
            for key in sweep.values
            for effect in sweep.effects(key)
        ]

    def plain_data(self, tables: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
        """Answer, some of the tables by name, and the experiment that all runs share, as plain data."""
        records_by_table = {name: records(rows) for name, rows in tables.items()}
        effects = {"effects": self._effects()} if self.axes.get("vary") else {}
        return {**self.heading, **records_by_table, **effects, "config": dict(self.config)}


def conclude(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> Comparison:
    """Return the comparison, made of the results of all runs."""
    return Comparison(*build_tables(sorted_runs(plan, results)), plan.config, plan.axes, plan.toml)

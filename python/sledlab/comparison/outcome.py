"""What a comparison found out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.comparison import statistics
from sledlab.recording import REPORT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars
    from matplotlib.figure import Figure

    from sledlab.comparison.plan import Plan, Point
    from sledlab.comparison.ranking import Group


@dataclass(frozen=True, repr=False)
class Comparison:
    """A race of schedulers: tables, curves and a ranking.

    Times are in ms, rates in requests per second of simulated time. Displays itself as a table in a
    notebook, and prints as one.

    Attributes:
        rows: The simulated results, one mapping per point, sorted by scheduler, speed-up, what
            varies, and seed.
        costs: Wall-clock figures, one mapping per scheduler and speed-up.
        config: What all points have in common, as plain data.
        vary: The key that varies besides, if one does.
        schedulers: The schedulers in the order given.
        toml: The comparison as a file that `sledlab compare` takes.

    Example:
        >>> import sledlab as sl
        >>> race = sl.compare(
        ...     sl.workload("uniform"), "mems-g2", schedulers=["fcfs", "sptf"], speedups=[1, 1.4],
        ...     limit=2000, jobs=1,
        ... )
        >>> race.curves.columns[:2]
        ['scheduler', 'speedup']
        >>> race.plot("scv").axes[0].get_xlabel()
        'requests per second'
    """

    rows: Sequence[Mapping[str, Any]] = field(repr=False)
    costs: Sequence[Mapping[str, Any]] = field(repr=False)
    config: Mapping[str, Any] = field(repr=False)
    vary: str | None
    schedulers: tuple[str, ...]
    toml: str = field(repr=False)

    @classmethod
    def of(cls, plan: Plan, found: Mapping[Point, Mapping[str, Any]]) -> Comparison:
        """The comparison of the points found."""
        from sledlab.comparison.plan import plain

        vary = plan.vary[0] if plan.vary else None
        ordered = sorted(found, key=lambda point: _order(point.keys()))
        rows = [point.keys() | found[point]["row"] for point in ordered]
        return cls(
            rows=rows,
            costs=_costs(ordered, found, vary),
            config=plain(plan.text(plan.points[-1])),
            vary=vary,
            schedulers=plan.schedulers,
            toml=plan.to_toml(),
        )

    @cached_property
    def points(self) -> polars.DataFrame:
        """One row per scheduler, speed-up and seed: what the simulator found."""
        return _frame(self.rows)

    @cached_property
    def curve_rows(self) -> list[dict[str, Any]]:
        """The rows of `curves` as plain data."""
        return statistics.curves(self.rows, self.vary)

    @cached_property
    def curves(self) -> polars.DataFrame:
        """One row per scheduler and speed-up: means over the seeds, and half widths of 95 % intervals.

        `mean_ci95_ms` is by Student's t over seeds, or by batch means where there is one seed;
        `scv_ci95` is empty then.
        """
        return _frame(self.curve_rows)

    @cached_property
    def throughput(self) -> polars.DataFrame:
        """Arrival rates at which the mean response reaches 2, 5, 10, 20 ms and what fits besides (MT-03).

        Interpolated on the load curve, the logarithm of the response over the arrival rate; empty
        where a level is not reached, and `reached` says why.
        """
        return _frame(statistics.throughput(self.rows, self.vary))

    @cached_property
    def decision_cost(self) -> polars.DataFrame:
        """Wall-clock figures per scheduler and speed-up: ns per decision, and s per run."""
        return _frame(self.costs)

    @cached_property
    def groups(self) -> list[Group]:
        """The race once for every value of what varies; a single one where nothing does."""
        from sledlab.comparison.ranking import grouped

        return grouped(self.curve_rows, self.vary, self.schedulers)

    def plot(self, measure: str = "mean_ms", *, varied: Any = None) -> Figure:
        """Draws a measure against the load, one line per scheduler; overloaded points are set apart.

        Args:
            measure: A column of `curves`, such as `mean_ms`, `scv`, `p99_ms`, `queue_mean` or
                `energy_per_request_mj`.
            varied: A value of what varies; the first one unless given.

        Raises:
            Error: There is no such column or value.
        """
        from sledlab.comparison import figures, ranking

        return figures.load_curves(ranking.pick(self.groups, varied), measure)

    def report(self, path: str | Path) -> Path:
        """Writes a self-contained HTML page about the comparison to `path` and returns the path."""
        from sledlab import report

        return report.write_comparison(self, Path(path))

    def write(self, directory: str | Path) -> None:
        """Writes all tables, the comparison itself and the report into a directory."""
        place = Path(directory)
        self.points.write_parquet(place / "points.parquet")
        self.points.write_csv(place / "points.csv")
        self.curves.write_parquet(place / "curves.parquet")
        self.curves.write_csv(place / "curves.csv")
        self.throughput.write_csv(place / "throughput.csv")
        self.decision_cost.write_csv(place / "decision_cost.csv")
        (place / "compare.toml").write_text(self.toml, encoding="utf-8")
        self.report(place / REPORT)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data: what `--json` prints."""
        from sledlab.comparison import words

        return {
            "answer": words.answer(self),
            "points": list(self.rows),
            "curves": self.curve_rows,
            "throughput": statistics.throughput(self.rows, self.vary),
            "decision_cost": list(self.costs),
            "config": dict(self.config),
        }

    def __repr__(self) -> str:
        """The table and the answer."""
        from sledlab.comparison import words

        return words.as_text(self)

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        from sledlab.comparison import words

        return words.as_html(self)


def _order(keys: Mapping[str, Any]) -> tuple[Any, ...]:
    """By scheduler, speed-up, what varies, seed."""
    return tuple(keys.values())


def _costs(
    ordered: Sequence[Point], found: Mapping[Point, Mapping[str, Any]], vary: str | None
) -> list[dict[str, Any]]:
    """Wall-clock figures: means over the seeds."""
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in ordered:
        groups.setdefault(tuple(list(point.keys().values())[:-1]), []).append(point)
    rows = []
    for group in groups.values():
        keys = {name: value for name, value in group[0].keys().items() if name != "seed"}
        row = keys | {"queue_mean": _mean([found[point]["row"]["queue_mean"] for point in group])}
        for name in ("decision_ns", "wall_s"):
            values = [found[point]["timing"].get(name) for point in group]
            row[name] = _mean([value for value in values if value is not None])
        rows.append(row)
    return rows


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _frame(rows: Sequence[Mapping[str, Any]]) -> polars.DataFrame:
    import polars

    return polars.DataFrame([dict(row) for row in rows], infer_schema_length=None)

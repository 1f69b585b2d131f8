"""The outcome of a search for the smallest cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from sledlab._native import __version__
from sledlab.display import SCHEMA, DisplayedResult, find_presentation
from sledlab.results import OUTCOME, read_errors, read_json
from sledlab.studies.costs.cost import Cost  # noqa: TC001 - annotations are read at run time
from sledlab.studies.size.goal import ClusterGoal
from sledlab.studies.smart.replays import ReplayFigures  # noqa: TC001 - annotations are read at run time
from sledlab.study.columns import Column, ColumnSelection, frame, records
from sledlab.study.saved import from_plain, output_files, write_result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars
    from matplotlib.figure import Figure

TABLE = "sizes"
"""Name of the table of sizes."""

KIND = "size"
"""The kind of these results, named in the directory that they are written to."""

OUTPUT_FILES = output_files(TABLE)
"""All files that `write` creates in a directory."""


@dataclass(frozen=True)
class Size:
    """A replay on a number of nodes."""

    device: Annotated[str, Column("store of a node")]
    nodes: Annotated[int, Column("nodes that hold data")]
    run: Annotated[
        ReplayFigures,
        ColumnSelection(
            *("elapsed_s", "compute_s", "store_s", "network_s", "waiting_s"),
            *("saved_compute", "saved_store", "saved_network", "bottleneck"),
        ),
    ]
    meets: Annotated[bool, Column("whether the cluster meets the goal")]
    cost: Annotated[Cost, ColumnSelection("cluster_usd", "job_usd")]


@dataclass(frozen=True, repr=False)
class SmartSize(DisplayedResult):
    """The smallest cluster that meets a goal, on each device, and all replays made to find it.

    Displays itself as a table in a notebook, and prints as one.

    Attributes:
        job: Name of the job.
        goal: The goal: `until`, a component; or `deadline_s`, `budget_usd` or both.
        nodes: The fewest and the most nodes that may be tried.
        smallest: The number of nodes found for each device; None where no number tried meets the goal. With a
            budget and no deadline, the smallest number with which the job is fastest.
        rows: The replays, by device and number of nodes.
        job_settings: Parameters of the job and its data that the user set.
        config: The part of the experiment that all replays share, as plain data.
        devices: The device of each name, as plain data.
        buys: The most nodes, of those that may be tried, that the budget buys, for each device; empty without
            a budget.
        prices: The prices that are used, in USD, as plain data.

    Examples:
        >>> import sledlab as sl
        >>> size = sl.smart_size(
        ...     "scan", "mems-g2", deadline="20ms", node_count="1..8", job_settings=["scale_factor=0.001"]
        ... )
        >>> n = size.smallest["mems-g2"]
        >>> size.sizes.filter(size.sizes["nodes"].is_in([n - 1, n]))["meets"].to_list()
        [False, True]
    """

    job: str
    goal: ClusterGoal
    nodes: tuple[int, int]
    smallest: Mapping[str, int | None]
    rows: Sequence[Size] = field(repr=False)
    job_settings: Mapping[str, str]
    config: Mapping[str, Any] = field(repr=False)
    devices: Mapping[str, Any] = field(repr=False)
    buys: Mapping[str, int]
    prices: Mapping[str, Any] = field(repr=False)

    @cached_property
    def sizes(self) -> polars.DataFrame:
        """A row for every replay, by device and number of nodes.

        Columns `device`, `nodes`, `elapsed_s`; `compute_s`, `store_s`, `network_s` and `waiting_s`, means
        over nodes; `saved_compute`, `saved_store` and `saved_network`, the share of the time that each would
        save if it were twice as fast; `bottleneck`, which would save the most; `meets`; `cluster_usd`, the
        price of the cluster, and `job_usd`, the cost of one job.
        """
        return frame(self.rows, Size)

    @property
    def answer(self) -> str:
        """For each device, the number of nodes, and the results with it and with one less, in sentences."""
        return find_presentation(self).answer(self)

    def device_rows(self, device: str) -> list[Size]:
        """The replays on a device, fewest nodes first."""
        return [each for each in self.rows if each.device == device]

    def find_row(self, device: str, nodes: int) -> Size:
        """The replay on a device and a number of nodes."""
        return next(each for each in self.device_rows(device) if each.nodes == nodes)

    def larger_misses(self, device: str) -> list[Size]:
        """Replays with more nodes than the number found that miss the goal: more nodes need not be better."""
        node_count = self.smallest[device]
        if node_count is None or self.goal.is_fastest:
            return []
        return [each for each in self.device_rows(device) if each.nodes > node_count and not each.meets]

    def plot(self, kind: str = "times", *, width: str | None = None) -> Figure:
        """Draw the replays against the number of nodes.

        Args:
            kind: `times`, the time of the job, or `saved`, the time that each component twice as fast saves.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such kind.
        """
        return self._draw(kind, width=width)

    def to_dict(self) -> dict[str, Any]:
        """All results as plain data: printed by `--json`."""
        return {
            "schema": SCHEMA,
            "answer": self.answer,
            "warnings": self.warnings,
            "job": self.job,
            "job_settings": dict(self.job_settings),
            "goal": asdict(self.goal),
            "nodes": list(self.nodes),
            "smallest": dict(self.smallest),
            "contradicting": {
                device: [each.nodes for each in self.larger_misses(device)] for device in self.smallest
            },
            "buys": dict(self.buys),
            "sizes": records(self.rows),
            "prices": dict(self.prices),
            "version": __version__,
            "devices": dict(self.devices),
            "config": dict(self.config),
        }

    def write(self, directory: Path) -> None:
        """Write page, table (also as LaTeX) and summary into a directory."""
        write_result(self, self.to_dict(), {TABLE: self.sizes}, directory)


def read(directory: Path) -> SmartSize:
    """Read the outcome that `SmartSize.write` wrote into a directory.

    Raises:
        Error: A file is missing or damaged.
    """
    with read_errors(directory / OUTCOME) as path:
        saved = read_json(path)
        goal, rows = ClusterGoal(**saved.pop("goal")), from_plain(Sequence[Size], saved.pop("rows"))
        return SmartSize(goal=goal, rows=rows, **saved)

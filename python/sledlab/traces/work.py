"""Work records: what each node of a cluster did, in counts and bytes; see docs/work.md."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.display import DisplayedResult
from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy
    from matplotlib.figure import Figure


MAX_NODES = 1024
"""Most nodes for which the bytes sent from node to node are kept as a matrix."""


STEPS_PER_CALL = 1 << 16
"""Number of steps of nodes in one call of the extension, during which no signal is handled."""


@dataclass(frozen=True, repr=False)
class Work(DisplayedResult):
    """A work record: what each node of a cluster did in each phase of a job.

    Displays itself as a table of its phases.

    Attributes:
        name: The file of the record.

    Examples:
        >>> import sledlab as sl
        >>> sort = sl.work("sample:sort")
        >>> sort.job, sort.nodes, sort.kinds
        ('sort', 4, ('tuple', 'pack', 'unpack', 'compare', 'merge'))
        >>> sort.phases["phase"].to_list()
        ['sampling', 're-distribution', 'internal sort', 'merge']
    """

    name: str
    native: _native.Work

    @cached_property
    def description(self) -> Mapping[str, Any]:
        """The properties below but `traffic`, as plain data."""
        header: dict[str, Any] = json.loads(self.native.describe())
        rows: list[dict[str, Any]] = []
        phases_per_call = max(1, STEPS_PER_CALL // header["nodes"])
        for first in range(0, header["phases"], phases_per_call):
            rows += json.loads(self.native.describe_phases(first, phases_per_call))
        return {**header, "phases": rows}

    @property
    def job(self) -> str:
        """Name of the job."""
        return str(self.description["job"])

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the job and of its data."""
        result: Mapping[str, Any] = self.description["parameters"]
        return result

    @property
    def seed(self) -> int:
        """Seed of the job's random numbers."""
        return int(self.description["seed"])

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.description["nodes"])

    @property
    def files(self) -> dict[str, list[int]]:
        """Bytes of each file on every node."""
        return {file["name"]: file["bytes"] for file in self.description["files"]}

    @property
    def groups(self) -> dict[str, list[int]]:
        """Members of each group of nodes, by the name of the group."""
        return {group["name"]: group["members"] for group in self.description["groups"]}

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of operation in the record."""
        return tuple(self.description["kinds"])

    @cached_property
    def phases(self) -> polars.DataFrame:
        """Phases with totals over all nodes: `phase`, `read_bytes`, `written_bytes`, `sent_bytes`.

        A further column for each kind of operation holds the number of operations. Bytes of collectives are
        not in `sent_bytes`: the replay decides how many messages a collective takes.
        """
        rows = self.description["phases"]
        columns: dict[str, Any] = {"phase": [row["name"] for row in rows]}
        for name in ("read_bytes", "written_bytes", "sent_bytes"):
            columns[name] = [row[name] for row in rows]
        for kind in self.kinds:
            columns[kind] = [row["operations"].get(kind, 0) for row in rows]
        return polars.DataFrame(columns)

    @cached_property
    def traffic(self) -> numpy.ndarray[Any, Any]:
        """Bytes that each node (row) sends each node (column) in all phases; the last column is the client.

        Bytes of collectives are omitted.

        Raises:
            Error: There are more than 1,024 nodes, too many for a matrix.
        """
        if self.nodes > MAX_NODES:
            raise Error(
                f"a matrix of {self.nodes:,} nodes is too large",
                remedy=f"there is one for up to {MAX_NODES:,} nodes; `phases` has the sums",
            )
        return np.array(json.loads(self.native.traffic()), dtype=np.uint64)

    def plot(self, *, width: str | None = None) -> Figure:
        """Draw the bytes that each node sends each node.

        Args:
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.
        """
        return self._draw(width=width)


def work(path: str | Path) -> Work:
    """Read a work record, plain or compressed.

    Args:
        path: The file of the record.

    Raises:
        Error: The record cannot be read; the message has the location of the error.

    Examples:
        >>> import sledlab as sl
        >>> sl.work("sample:exchange").traffic.sum(axis=1).tolist()
        [3145728, 3145728, 3145728, 3145728]
    """
    return Work(str(path), _native.Work(str(path)))

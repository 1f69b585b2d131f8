"""The result of the replay of a work record."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab.display import DisplayedResult
from sledlab.lazy import numpy as np
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy
    from matplotlib.figure import Figure

COMPONENTS = ("compute", "store", "network", "waiting")
"""Components of the time of a node: each nanosecond counts as exactly one of them."""

COUNTS = ("requests", "read_bytes", "written_bytes", "sent_bytes", "received_bytes")
"""Counts of what a node did in a phase: requests to its store, bytes moved and sent."""


@dataclass(frozen=True)
class ClusterEnergy:
    """Energy of a cluster in J. The parts sum to `total`."""

    total: float
    store: float
    processor: float
    memory: float
    network: float


@dataclass(frozen=True)
class Bottleneck:
    """The component that holds a job up.

    Attributes:
        what: `compute`, `store` or `network`.
        saved: Share of the elapsed time that doubling the component's speed saves; `None` without what-if.
    """

    what: str
    saved: float | None


@dataclass(frozen=True, repr=False)
class ClusterResult(DisplayedResult):
    """The result of the replay of a work record: the time of every node by component.

    Displays itself as a table in a notebook, and prints as one.

    Examples:
        >>> import sledlab as sl
        >>> r = sl.replay("sample:scan", "mems-g2")
        >>> r.bottleneck.what, round(r.bottleneck.saved, 2)
        ('store', 0.38)
        >>> r.phases.select("phase", "node", "requests").row(0)
        ('scan', 0, 1024)
    """

    summary: Mapping[str, Any] = field(repr=False)
    """All results but the rows of nodes, as plain data: the object that `--json` prints."""
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False)
    """The columns of `phases`."""
    traffic_rows: Sequence[Sequence[int]] = field(default=(), repr=False)
    """The rows of `traffic`."""
    experiment: str = field(default="", repr=False)
    """The complete experiment as TOML."""

    @property
    def as_file(self) -> str:
        """The experiment as a file that gives the same result again."""
        return self.experiment

    @property
    def job(self) -> str:
        """Name of the job."""
        return str(self.summary["job"])

    @property
    def nodes(self) -> int:
        """Number of nodes, spares and a host included; the host is the last."""
        return int(self.summary["nodes"])

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """Copies, failed nodes and rebuild; `None` where nodes hold no copies.

        `redundancy`; `failed`, the nodes that failed before the job ended; `phase`, in which or before which
        they failed; `detected_s`, the time from which other nodes do their work; `copied_bytes`, bytes of
        copies; `spares`, the number of these last nodes; `rebuild`, with the `bytes` of failed nodes,
        the `job_bytes` of these rebuilt before the job ended, and `finished_s`, the end of the rebuild.

        Examples:
            >>> import sledlab as sl
            >>> failing = {"cluster.redundancy": "chained", "cluster.failed": 2}
            >>> r = sl.replay("sample:scan", "mems-g2", settings=failing, what_if=False)
            >>> r.failure["failed"], r.failure["phase"]
            ([2], 'scan')
        """
        result: Mapping[str, Any] | None = self.summary.get("failure")
        return result

    @property
    def spares(self) -> int:
        """Number of nodes that stand in for failed ones."""
        return int(self.failure["spares"]) if self.failure else 0

    @property
    def is_on_host(self) -> bool:
        """Whether a host did the work of the job, instead of the nodes."""
        return bool(self.config["cluster"]["at"] == "host")

    @property
    def elapsed_s(self) -> float:
        """From the beginning to the end of the last phase, in s."""
        return float(self.summary["elapsed_s"])

    @cached_property
    def phases(self) -> polars.DataFrame:
        """A row for every phase and node.

        Columns `phase`, `node`; `phase_start_s`, `phase_end_s`; `compute_s`, `store_s`, `network_s` and
        `waiting_s`, which sum to the length of the phase; `processor_s`, time of the processor for data and
        messages; `requests` to the store, `read_bytes`, `written_bytes`; `sent_bytes` and `received_bytes`,
        without collectives; `store_j`, energy of the store.
        """
        return polars.DataFrame(dict(self.columns))

    @cached_property
    def by_phase(self) -> polars.DataFrame:
        """The columns of `phases` summed over all nodes, a row for every phase; `elapsed_s` is its length."""
        return polars.DataFrame(self.summary["by_phase"])

    @cached_property
    def traffic(self) -> numpy.ndarray[Any, Any]:
        """Bytes that each node (row) sends each node (column) in all phases; the last column is the client.

        Bytes of collectives are omitted. A host is the last row, and the last column but one. Empty for more
        than 1,024 nodes.
        """
        return np.array(self.traffic_rows, dtype=np.uint64)

    @property
    def components_s(self) -> Mapping[str, float]:
        """Time of all nodes together in each of `COMPONENTS`, in s."""
        result: Mapping[str, float] = self.summary["components_s"]
        return result

    @cached_property
    def energy(self) -> ClusterEnergy:
        """Energy of all nodes, in J."""
        return ClusterEnergy(**self.summary["energy_j"])

    @cached_property
    def what_if(self) -> polars.DataFrame:
        """A row for each component made twice as fast: `what`, `elapsed_s`, share `saved`; or empty."""
        schema = {"what": polars.String, "elapsed_s": polars.Float64, "saved": polars.Float64}
        return polars.DataFrame(self.summary["what_if"], schema=schema)

    @property
    def largest(self) -> str:
        """The component, waiting excepted, that takes most time of all nodes together."""
        return str(self.summary["largest"])

    @property
    def bottleneck(self) -> Bottleneck:
        """The component whose doubled speed saves most; the largest component without what-if."""
        return Bottleneck(**self.summary["bottleneck"])

    @property
    def simulated_share(self) -> float:
        """Share of the pages that was simulated; the others belong to skipped passes of nested loops."""
        return float(self.summary["simulated_share"])

    @property
    def skipped_passes(self) -> int:
        """Number of passes of nested loops that were skipped, over all nodes."""
        return int(self.summary["skipped_passes"])

    @property
    def sampling_error(self) -> float:
        """Bound on the relative error of the elapsed time due to skipped passes, with 99.9 % confidence."""
        return float(self.summary["sampling_error"])

    @property
    def config(self) -> Mapping[str, Any]:
        """The complete experiment as plain data."""
        result: Mapping[str, Any] = self.summary["config"]
        return result

    @property
    def toml(self) -> str:
        """The complete experiment as TOML."""
        return self.experiment

    def plot(self, kind: str = "phases", *, width: str | None = None) -> Figure:
        """Draw the replay.

        Args:
            kind: `phases`, `timeline`, `traffic`, `what_if` or `energy`.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such kind, or the result lacks the numbers that it shows.

        Examples:
            >>> import sledlab as sl
            >>> sl.replay("sample:scan", "mems-g2").plot().axes[0].get_xlabel()
            'time of a node (s), mean over nodes'
        """
        return self._draw(kind, width=width)

    def to_dict(self) -> dict[str, Any]:
        """The summary with its warnings as plain data."""
        return {**self.summary, "warnings": self.warnings}

    def to_json(self, indent: int | None = 2) -> str:
        """The summary with its warnings as JSON text; the same replay gives the same text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

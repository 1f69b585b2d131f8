"""The result of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sledlab.display import DisplayedResult
from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.runs.request_columns import REQUEST_COLUMNS, describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars
    from matplotlib.figure import Figure

    from sledlab.runs.emulation import Emulation
    from sledlab.runs.explanation import Explanation
    from sledlab.runs.requests import RequestsTable

write_perfetto = later("sledlab.runs.perfetto:write")
explanation = later("sledlab.runs.explanation:explain")


T = TypeVar("T", bound="float | None")


@dataclass(frozen=True)
class Times(Generic[T]):
    """Statistics of a time per request, all in ms except `scv`, which has no unit; None without requests.

    Percentiles are accurate to 0.1 % or better; the other statistics are exact. `std` is the population
    standard deviation. `scv` is the squared coefficient of variation, variance over squared mean (Hong 2006,
    section 5: fairness). Both are 0 for one request. `ci95_half_width` is half the 95 % confidence interval
    of the mean by batch means; None if the run is too short: `correlated_requests` successive requests are
    worth one independent request, and an interval needs 100 of these.
    """

    mean: T
    std: T
    scv: T
    p50: T
    p90: T
    p95: T
    p99: T
    p999: T
    max: T
    ci95_half_width: float | None = None
    correlated_requests: float | None = None


@dataclass(frozen=True)
class RequestStatistics:
    """Statistics of reads alone, or of writes alone.

    Attributes:
        requests: Number of reads, or of writes.
        bytes: Bytes moved.
        response_time: Arrival to acknowledgement, in ms; all None without requests.
    """

    requests: int
    bytes: int
    response_time: Times[float | None]


@dataclass(frozen=True)
class QueueLength:
    """Number of waiting requests: mean over time, and maximum."""

    mean: float
    max: int


@dataclass(frozen=True)
class Energy:
    """Energy by state of the device, in J. The parts sum to `total`."""

    total: float
    seek: float
    access: float
    idle: float
    inactive: float
    startup: float


@dataclass(frozen=True)
class StateTime:
    """Time in each state of the device, in s. The parts sum to the elapsed time."""

    seek: float
    access: float
    idle: float
    inactive: float
    startup: float


@dataclass(frozen=True, repr=False)
class Result(DisplayedResult):
    """The result of a run: numbers, plots and, where recorded, every request.

    Times are in ms, energy in J. Displays itself as a table in a notebook, and prints as one.

    Examples:
        >>> import sledlab as sl
        >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=1000, seed=1)
        >>> r.response_time.p50 <= r.response_time.p99 <= r.response_time.max
        True
        >>> r.requests.height
        1000
    """

    summary: Mapping[str, Any] = field(repr=False)
    """The numbers of the properties below, as plain data."""
    series: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Time series of the run, a list per column (`time_s`, `requests`, `mean_response_ms` ...)."""
    cdf: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Response-time distributions: for `all`, `read` and `write`, lists `response_ms` and `share`."""
    timing: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Wall-clock figures of the run: `wall_s` and `operations_per_s`."""
    experiment: str = field(default="", repr=False)
    """The complete experiment as TOML."""
    table: RequestsTable | None = field(default=None, repr=False, compare=False)
    emulation: Emulation | None = field(default=None, repr=False, compare=False)
    """Lateness of the replies to real programs, for runs of `serve`; `None` for others."""

    @property
    def checksum(self) -> str:
        """Checksum of all completion times, 16 hexadecimal digits: the same wherever the experiment runs."""
        return str(self.summary["checksum"])

    @cached_property
    def response_time(self) -> Times[float]:
        """Response time, from arrival to acknowledgement, in ms."""
        return Times(**self.summary["response_time_ms"])

    @cached_property
    def read(self) -> RequestStatistics:
        """Statistics of reads alone."""
        return _statistics(self.summary["read"])

    @cached_property
    def write(self) -> RequestStatistics:
        """Statistics of writes alone."""
        return _statistics(self.summary["write"])

    @cached_property
    def energy(self) -> Energy:
        """Energy by state of the device, in J."""
        return Energy(**self.summary["energy_j"])

    @cached_property
    def state_time(self) -> StateTime:
        """Time in each state of the device, in s."""
        return StateTime(**self.summary["state_time_s"])

    @cached_property
    def queue_length(self) -> QueueLength:
        """Number of waiting requests: mean and maximum."""
        return QueueLength(**self.summary["queue_length"])

    @property
    def as_file(self) -> str:
        """The experiment as a file that gives the same result again."""
        return self.experiment

    @property
    def count(self) -> int:
        """Number of reads and writes in the statistics."""
        return int(self.summary["requests"])

    @property
    def elapsed_s(self) -> float:
        """Simulated time of the statistics, in s, up to the end of the last work of the device.

        From the start of the run; after a warm-up, from the arrival of the first request in the statistics.
        """
        return float(self.summary["elapsed_s"])

    @property
    def queue_time_ms(self) -> float:
        """Mean queue time, from arrival to the start of service, in ms."""
        return float(self.summary["queue_time_ms"]["mean"])

    @property
    def service_time_ms(self) -> float:
        """Mean service time, from its start to completion, in ms."""
        return float(self.summary["service_time_ms"]["mean"])

    @property
    def positioning_time_ms(self) -> float:
        """Mean positioning time to the first block of a request, in ms; on a sled the larger of x and y."""
        return float(self.summary["positioning_time_ms"]["mean"])

    @property
    def throughput_iops(self) -> float:
        """Requests completed per second of simulated time."""
        return float(self.summary["throughput_iops"])

    @property
    def throughput_mb_s(self) -> float:
        """Data moved per second of simulated time, in MB/s (10^6 bytes)."""
        return float(self.summary["throughput_mb_s"])

    @property
    def utilization(self) -> float:
        """Share of the elapsed time in which the mechanism was busy, 0 to 1."""
        return float(self.summary["utilization"])

    @property
    def startups(self) -> int:
        """Number of start-ups of the device from its inactive state."""
        return int(self.summary["startups"])

    @property
    def saturated(self) -> bool:
        """Whether the run was overloaded: its queue kept growing, so response times grow with its length."""
        return bool(self.summary["saturated"])

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end."""
        return bool(self.summary.get("interrupted", False))

    @property
    def seed(self) -> int:
        """The root seed of the run."""
        return int(self.summary["seed"])

    @property
    def version(self) -> str:
        """The version of sledlab that ran the experiment."""
        return str(self.summary["version"])

    @property
    def config(self) -> Mapping[str, Any]:
        """The complete experiment as plain data."""
        config: Mapping[str, Any] = self.summary["config"]
        return config

    @property
    def requests(self) -> polars.DataFrame:
        """Every request after the warm-up, one row each, in order of completion.

        `help(result.requests)` shows the columns with their units and meanings: times in ns, parts of the
        service time, energies in uJ, and with several devices the number of the device. Shares its memory
        with the recorded Arrow table.

        Raises:
            Error: The run did not keep its requests.
        """
        if self.table is None:
            raise Error(
                "this run did not record its requests",
                remedy="run with requests=True, or requests='requests.parquet' for very long runs",
            )
        return describe(self.table.frame(), REQUEST_COLUMNS)

    def plot(self, kind: str = "overview", *, width: str | None = None) -> Figure:
        """Draw the run.

        Args:
            kind: `overview` (all of the following), `cdf`, `response`, `parts`, `energy`, `throughput` or
                `queue`.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Returns:
            A matplotlib figure.

        Raises:
            Error: There is no such kind.

        Examples:
            >>> import sledlab as sl
            >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100)
            >>> r.plot("cdf").axes[0].get_xlabel()
            'response time (ms)'
        """
        return self._draw(kind, width=width)

    figure_column: ClassVar[str] = "response_ms"
    """Column of the requests that is drawn by default."""

    def plot_options(self, where: Mapping[str, str]) -> Mapping[str, Any]:
        """Raise an error: the figures of a run have no parts, only columns of its requests have.

        Raises:
            Error: Always.
        """
        raise Error(f"the figure of a run is not drawn by {', '.join(where)}", remedy="add --x and --y")

    def plot_columns(
        self,
        y: str = "response_ms",
        x: str | Sequence[str] = (),
        *,
        width: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> Figure:
        """Draw a column of `requests`: a point for each request, or over two columns a heat map of means.

        Args:
            y: The column, such as `response_ms`, which is `response_ns` in ms.
            x: The column of the x axis, or two columns for a heat map. Default: `arrival_s`.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.
            where: Values of columns that requests must have, such as `{"op": "R"}`.

        Raises:
            Error: The run did not keep its requests, or they have no such column or value.

        Examples:
            >>> import sledlab as sl
            >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100, requests=True)
            >>> r.plot_columns("positioning_ms", "lbn").axes[0].get_ylabel()
            'positioning (ms)'
        """
        columns = [x] if isinstance(x, str) else list(x)
        return self._draw("columns", y=y, x=columns, where=where or {}, width=width)

    def explain(self, number: int | None = None) -> Explanation:
        """Explain one request: what it waited for, and the parts of its service time and energy.

        Args:
            number: The request, as in the column `id` of `requests`. Default: the slowest.

        Raises:
            Error: There is no such request, or the run did not keep its requests.

        Examples:
            >>> import sledlab as sl
            >>> r = sl.simulate(sl.workload("uniform", mean_interarrival_ms=0.7), "mems-g2", limit=100)
            >>> slowest = r.explain()
            >>> slowest.response_ms == r.response_time.max, slowest.wait.served_count > 0
            (True, True)
        """
        result: Explanation = explanation(self.requests, self.config, number, self.experiment)
        return result

    def perfetto(self, path: str | Path) -> Path:
        """Write every request as a trace for https://ui.perfetto.dev and return the path.

        Each device has tracks of waiting requests, arrivals, requests, parts of their positioning, and its
        states; all times are exact, in ns. The file takes about 300 bytes a request.

        Args:
            path: The file to write; its name ends in `.pftrace`.

        Raises:
            Error: The run did not keep its requests, or has more than five million of them.

        Examples:
            >>> import sledlab as sl, tempfile
            >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100)
            >>> r.perfetto(f"{tempfile.mkdtemp()}/run.pftrace").suffix
            '.pftrace'
        """
        write_perfetto(self.requests, self.summary, Path(path))
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """The summary with its warnings as plain data."""
        return {**self.summary, "warnings": self.warnings}

    def to_json(self, indent: int | None = 2) -> str:
        """The summary with its warnings as JSON text; the same run gives the same text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)


def _statistics(statistics: Mapping[str, Any]) -> RequestStatistics:
    return RequestStatistics(
        statistics["requests"], statistics["bytes"], Times(**statistics["response_time_ms"])
    )

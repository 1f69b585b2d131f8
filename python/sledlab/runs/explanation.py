"""One request of a run: the parts of its response time, and the causes of its wait."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.display import DisplayedResult, find_presentation
from sledlab.errors import Error
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.runs.decisions import decisions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from matplotlib.figure import Figure

    from sledlab.runs.decisions import Decisions

CACHE = "cache"
"""Kind of the device of a request that a cache answered."""

PARTS = ("overhead", "seek_x", "settle", "seek_y", "turnaround", "rotation", "positioning", "transfer")
"""Parts of the service time that have a column, in the order of the table of requests."""


@dataclass(frozen=True)
class Wait:
    """The time of a request in the queue, in ms, by what the device did meanwhile.

    Attributes:
        total_ms: From the arrival to the start of service.
        served_ms: Part in which the device served other requests.
        startup_ms: Part in which the device started up, as in the column `startup_ns`.
        delay_ms: Part in which the device stayed parked because its power policy delayed the start-up.
        other_ms: Part in which the device did work that the table of requests does not have.
        in_service: Request that was in service at the arrival, if any.
        earlier: Number of requests that arrived before, and were served during the wait.
        later: Number of requests that arrived later, and were served first.
        longest: Request that took the largest part of the wait, if any.
        longest_ms: That part.
    """

    total_ms: float
    served_ms: float
    startup_ms: float
    delay_ms: float
    other_ms: float
    in_service: int | None
    earlier: int
    later: int
    longest: int | None
    longest_ms: float

    @property
    def served_count(self) -> int:
        """Number of requests that were served during the wait."""
        return self.earlier + self.later + (self.in_service is not None)

    @classmethod
    def from_row(
        cls, row: Mapping[str, Any], requests: polars.DataFrame, *, delays_startups: bool = False
    ) -> Self:
        """Return the wait of a request.

        Args:
            row: The request.
            requests: All requests that its device served.
            delays_startups: Whether the power policy may delay start-ups.
        """
        arrival_ns, start_ns = row["arrival_ns"], row["start_ns"]
        other_requests = requests.filter(
            (polars.col("completion_ns") > arrival_ns)
            & (polars.col("start_ns") < start_ns)
            & (polars.col("id") != row["id"])
        ).sort("start_ns")
        columns = ("id", "arrival_ns", "start_ns", "completion_ns")
        ids, arrivals, starts, ends = (
            other_requests[name].to_numpy().astype(np.int64, copy=False) for name in columns
        )
        overlap_ns = np.minimum(ends, start_ns) - np.maximum(starts, arrival_ns)
        total_ns, startup_ns = start_ns - arrival_ns, row["startup_ns"]
        # The start-up ends when the device selects the next request.
        startup_end_ns = (
            int(min(starts[starts >= arrival_ns + startup_ns], default=start_ns))
            if startup_ns
            else arrival_ns
        )
        startup_begin_ns = startup_end_ns - startup_ns
        busy_ns = _covered_ns(
            np.append(starts, startup_begin_ns), np.append(ends, startup_end_ns), arrival_ns, start_ns
        )
        delay_ns = (
            startup_begin_ns - arrival_ns - _covered_ns(starts, ends, arrival_ns, startup_begin_ns)
            if delays_startups
            else 0
        )
        ids_in_service = ids[starts < arrival_ns]
        started_after_arrival = starts >= arrival_ns
        longest_index = int(overlap_ns.argmax()) if len(overlap_ns) else None
        return cls(
            total_ms=total_ns / 1e6,
            served_ms=(busy_ns - startup_ns) / 1e6,
            startup_ms=startup_ns / 1e6,
            delay_ms=delay_ns / 1e6,
            other_ms=(total_ns - busy_ns - delay_ns) / 1e6,
            in_service=int(ids_in_service[-1]) if len(ids_in_service) else None,
            earlier=int((started_after_arrival & (arrivals <= arrival_ns)).sum())
            + max(len(ids_in_service) - 1, 0),
            later=int((started_after_arrival & (arrivals > arrival_ns)).sum()),
            longest=None if longest_index is None else int(ids[longest_index]),
            longest_ms=0.0 if longest_index is None else int(overlap_ns[longest_index]) / 1e6,
        )


def _covered_ns(begins: Any, ends: Any, first: int, last: int) -> int:
    """Return the length of the union of intervals within `first` and `last`."""
    order = np.argsort(begins)
    begins, ends = np.clip(begins[order], first, last), np.clip(ends[order], first, last)
    covered_until = np.maximum.accumulate(np.concatenate(([first], ends)))[:-1]
    return int(np.maximum(ends - np.maximum(begins, covered_until), 0).sum()) if len(begins) else 0


@dataclass(frozen=True, repr=False)
class Explanation(DisplayedResult):
    """One request of a run: the parts of its response time, and the causes of its wait. Prints as text.

    Attributes:
        number: The request, as in the column `id` of the table of requests.
        op: `R` or `W`.
        lbn: First block.
        blocks: Number of blocks.
        kind: Kind of the device that served it, such as `mems` or `disk`; `cache` if a cache answered.
        device: Number of that device in an array or a hybrid.
        arrival_ms: Arrival, in simulated time.
        response_ms: From the arrival to the completion.
        requests: Number of requests in the table.
        faster: Number of these with a shorter response time.
        slower: Number of these with a longer response time.
        wait: The time in the queue.
        parts_ms: Parts of the service time, by name. Positioning is the larger of x and y on a sled.
        reposition_ms: Part of the transfer spent moving between rows or tracks.
        energy_uj: Energy of the request, by `seek`, `access` and `startup`.
        decisions: The decisions that passed the request over; `None` if it did not wait, or the run cannot be
            repeated from its experiment: with requests from Python, a cache, a hybrid, an array, merging
            or a warm-up.
        config: The experiment, as plain data.

    Examples:
        >>> import sledlab as sl
        >>> r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=100, seed=1)
        >>> print(r.explain(0).answer.split(". ")[1])
        The device was idle, so it did not wait
    """

    number: int
    op: str
    lbn: int
    blocks: int
    kind: str
    device: int | None
    arrival_ms: float
    response_ms: float
    requests: int
    faster: int
    slower: int
    wait: Wait
    parts_ms: Mapping[str, float]
    reposition_ms: float
    energy_uj: Mapping[str, float]
    decisions: Decisions | None
    config: Mapping[str, Any] = field(repr=False)

    @property
    def x_ms(self) -> float:
        """Seek and settling in x, on a sled."""
        return self.parts_ms["seek_x"] + self.parts_ms["settle"]

    @property
    def y_ms(self) -> float:
        """Seek and turnarounds in y, on a sled."""
        return self.parts_ms["seek_y"] + self.parts_ms["turnaround"]

    @property
    def service_ms(self) -> float:
        """Service time."""
        return self.response_ms - self.wait.total_ms

    @property
    def answer(self) -> str:
        """Return the explanation in a few sentences."""
        return find_presentation(self).answer(self)

    def plot(self, *, width: str | None = None) -> Figure:
        """Draw the parts of the response time.

        Args:
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.
        """
        return self._draw(width=width)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data: printed by `--json`."""
        fields = {name: value for name, value in asdict(self).items() if name != "config"}
        decisions = None if self.decisions is None else self.decisions.to_dict()
        return {"answer": self.answer, **fields, "decisions": decisions}


def explain(
    requests: polars.DataFrame, config: Mapping[str, Any], number: int | None, experiment: str
) -> Explanation:
    """Return the explanation of a request of an experiment, given as TOML; see `Result.explain`."""
    if requests.is_empty():
        raise Error("the run completed no request that could be explained", remedy="raise --limit")
    if number is None:
        number = int(requests["id"][requests["response_ns"].arg_max() or 0])
    matching_rows = requests.filter(polars.col("id") == number)
    if matching_rows.is_empty():
        ids = requests["id"].to_list()
        remedy = f"reads and writes of this run have ids from {min(ids)} to {max(ids)}; a warm-up is excluded"
        raise Error(f"there is no request {number} in the table of requests", remedy=remedy)
    row = matching_rows.row(0, named=True)
    kind = _device_kind(config, row)
    return Explanation(
        number=number,
        op=row["op"],
        lbn=row["lbn"],
        blocks=row["blocks"],
        kind=kind,
        device=row.get("device"),
        arrival_ms=row["arrival_ns"] / 1e6,
        response_ms=row["response_ns"] / 1e6,
        requests=requests.height,
        faster=int((requests["response_ns"] < row["response_ns"]).sum()),
        slower=int((requests["response_ns"] > row["response_ns"]).sum()),
        wait=Wait.from_row(
            row,
            _device_requests(config, requests, row, kind),
            delays_startups=_delays_startups(config.get("power", {}).get("kind", "")),
        ),
        parts_ms={name: row[f"{name}_ns"] / 1e6 for name in PARTS},
        reposition_ms=row["reposition_ns"] / 1e6,
        energy_uj={name: row[f"{name}_uj"] for name in ("seek", "access", "startup")},
        decisions=decisions(experiment, config, requests, row),
        config=config,
    )


def _delays_startups(power_policy: str) -> bool:
    """Whether a power policy may delay start-ups: a plug-in may."""
    return power_policy == "delayed-spinup" or ":" in power_policy


def has_model(config: Mapping[str, Any], table: str) -> bool:
    """Whether an experiment has a `cache` or a `hybrid`."""
    return bool(config.get(table, {}).get("kind", "none") != "none")


def _device_kind(config: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Return the kind of the device that served a request."""
    used_device = row["seek_uj"] + row["access_uj"] > 0 if has_model(config, "cache") else True
    if not used_device or row.get("device", 0) is None:
        return CACHE
    is_front = has_model(config, "hybrid") and row["device"] % 2 == 0
    return str(config["front" if is_front else "device"]["kind"])


def _device_requests(
    config: Mapping[str, Any], requests: polars.DataFrame, row: Mapping[str, Any], kind: str
) -> polars.DataFrame:
    """Return the requests that the device of a request served, without those that a cache answered."""
    if kind == CACHE:
        return requests.clear()
    if "device" in requests.columns:
        requests = requests.filter(polars.col("device") == row["device"])
    if has_model(config, "cache"):
        requests = requests.filter(polars.col("seek_uj") + polars.col("access_uj") > 0)
    return requests

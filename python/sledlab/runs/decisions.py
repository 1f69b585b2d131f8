"""Decisions that passed a request over, found by repeating the run in its recorded order up to that request.

A Python scheduler serves the requests in the order of the table, so the repeated run equals the recorded
one. At each decision while the request waits, the device is asked for the positioning times of the
request and of the chosen one. Runs for which the table does not have the order of service have no such
decisions: those with caches, hybrids, arrays, merging, or a warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab._native import Experiment
from sledlab.errors import Error
from sledlab.traces.stream import open_stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars

    from sledlab._native import DeviceView, QueuedRequest

PLUGIN = f"{__name__}:RecordedOrder"
"""The scheduler that repeats the recorded order."""

MAX_REQUESTS = 100_000
"""Most requests that are served again: about two seconds."""

EDGE = 0.1
"""Share of the cylinders at each end of the device that are its edge."""


@dataclass(frozen=True)
class PassedOver:
    """A decision that chose another request.

    Attributes:
        after_ms: Time of the decision, from the arrival of the request that is explained.
        chosen: The request that was chosen instead.
        chosen_ms: Positioning time to the chosen request.
        own_ms: Positioning time to the request that is explained.
        queued: Number of requests in the queue.
    """

    after_ms: float
    chosen: int
    chosen_ms: float
    own_ms: float
    queued: int

    @property
    def lag_ms(self) -> float:
        """How much later than the chosen request the device would have reached this one; may be negative."""
        return self.own_ms - self.chosen_ms


@dataclass(frozen=True)
class Decisions:
    """All decisions that passed a request over.

    Attributes:
        passed_over: The decisions, in order.
        cylinder: Cylinder of the first block of the request.
        cylinders: Number of cylinders of the device.
    """

    passed_over: Sequence[PassedOver]
    cylinder: int
    cylinders: int

    @property
    def positive_lags_ms(self) -> list[float]:
        """Lags of the decisions in which the device would have reached the chosen request sooner."""
        return [each.lag_ms for each in self.passed_over if each.lag_ms > 0]

    @property
    def median_lag_ms(self) -> float | None:
        """Median of the positive lags; None without any."""
        return median(self.positive_lags_ms) if self.positive_lags_ms else None

    @property
    def is_at_edge(self) -> bool:
        """Whether the request lies at an edge of the device."""
        share = self.cylinder / max(self.cylinders - 1, 1)
        return self.cylinders > 1 and not EDGE < share < 1 - EDGE

    def to_dict(self) -> dict[str, Any]:
        """Return the decisions as plain data."""
        return {
            "count": len(self.passed_over),
            "positive_lags": len(self.positive_lags_ms),
            "median_lag_ms": self.median_lag_ms,
            "cylinder": self.cylinder,
            "cylinders": self.cylinders,
            "passed_over": [{**vars(each), "lag_ms": each.lag_ms} for each in self.passed_over],
        }


class LastDecisionError(Exception):
    """The last decision was made, so the repeated run ends."""


class RecordedOrder:
    """A scheduler that serves requests in a recorded order, and notes the decisions that pass one over."""

    service_order: ClassVar[ServiceOrder | None] = None
    """The order to repeat, of the run that executes."""

    def __init__(self, **settings: Any) -> None:
        """Create an empty queue; settings of the scheduler that made the decisions have no effect."""
        assert self.service_order is not None
        self._service_order = self.service_order
        self._queue: dict[int, QueuedRequest] = {}

    def push(self, request: QueuedRequest) -> None:
        """Add a request to the queue."""
        self._queue[request.id] = request

    def pop(self, now_ns: int, device: DeviceView) -> QueuedRequest:
        """Return the request that was served next in the recorded run."""
        return self._queue.pop(self._service_order.choose(now_ns, self._queue, device))

    def __len__(self) -> int:
        """Return the number of requests in the queue."""
        return len(self._queue)


class ServiceOrder:
    """The recorded order of service up to a request, and the decisions noted in the repeated run."""

    def __init__(self, order: Sequence[int], number: int) -> None:
        """Create an order that ends with the request `number`."""
        self._order = iter(order)
        self._number = number
        self.decisions: Decisions | None = None
        self.decided_ns = 0
        self._passed_over: list[PassedOver] = []

    def choose(self, now_ns: int, queue: Mapping[int, QueuedRequest], device: DeviceView) -> int:
        """Return the id of the request to serve now; the run ends with an exception at the last one."""
        chosen = next(self._order)
        request = queue.get(self._number)
        if request is None:
            return chosen
        if chosen == self._number:
            cylinder, _ = device.location(request.lbn)
            self.decisions = Decisions(self._passed_over, cylinder, device.cylinders)
            self.decided_ns = now_ns
            raise LastDecisionError
        own_ns, chosen_ns = (int(value) for value in device.positioning_ns([request, queue[chosen]]))
        after_ms = (now_ns - request.arrival_ns) / 1e6
        self._passed_over.append(PassedOver(after_ms, chosen, chosen_ns / 1e6, own_ns / 1e6, len(queue)))
        return chosen


def decisions(
    experiment: str, config: Mapping[str, Any], requests: polars.DataFrame, row: Mapping[str, Any]
) -> Decisions | None:
    """Return the decisions that passed a request over; `None` where the run cannot be repeated.

    Args:
        experiment: The experiment as TOML.
        config: The experiment, as plain data.
        requests: The table of requests.
        row: The request.
    """
    served = requests.filter(requests["start_ns"] <= row["start_ns"]).sort("start_ns", "completion_ns")
    order = served["id"].to_list()
    if not _has_order(config) or len(order) > MAX_REQUESTS or row["start_ns"] == row["arrival_ns"]:
        return None
    service_order = ServiceOrder(order, row["id"])
    RecordedOrder.service_order = service_order
    try:
        repeated = Experiment(experiment).with_setting("scheduler.kind", PLUGIN).with_plugins([PLUGIN])
        repeated, stream = open_stream(repeated, None)
        repeated.run(stream.source, None, None, stream.highest_end)
    except Error:  # raised by the scheduler at the last decision, or the run cannot be repeated
        pass
    finally:
        RecordedOrder.service_order = None
    is_same_run = service_order.decided_ns == row["start_ns"] - row["startup_ns"]
    return service_order.decisions if is_same_run else None


def _has_order(config: Mapping[str, Any]) -> bool:
    """Return whether the table of requests has the order of service of the whole run."""
    kinds = {"cache": "none", "hybrid": "none", "merge": "none", "system": "single"}
    is_single = all(config.get(table, {}).get("kind", kind) == kind for table, kind in kinds.items())
    return is_single and not config.get("replay", {}).get("warmup")

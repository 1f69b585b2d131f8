"""The requests of an experiment fitted to the capacity of one device, whichever device serves them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.model import settings
from sledlab.traces.read import GeneratedRequests, Trace, file_opener
from sledlab.traces.stream import open_on_one_device

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.traces.read import Opener


@dataclass(frozen=True)
class FittedRequests:
    """Requests fitted to the capacity of one device.

    Attributes:
        opener: The opener of the requests before they are fitted.
        devices: How the devices of the trace become one, by `trace.devices`.
        outside: Treatment of requests past the end of the device, by `replay.outside`.
        capacity_blocks: Capacity of the device, in blocks.
        limit: Most requests, reads and writes; 0 for all.
        operations: Most operations, flushes and trims included; 0 for all.
    """

    opener: Opener
    devices: str
    outside: str
    capacity_blocks: int
    limit: int
    operations: int = 0

    def open(self) -> _native.Source:
        """Open the fitted requests at the first."""
        source = open_on_one_device(self.opener, self.devices)
        if self.outside != "reject":
            is_scaled = self.outside == "scale"
            end = (
                max(_native.survey(open_on_one_device(self.opener, self.devices))[1], default=0)
                if is_scaled
                else None
            )
            source = _native.fit(source, self.outside, self.capacity_blocks, end)
        return _native.limit(source, self.limit, self.operations)

    def with_seed(self, seed: int) -> FittedRequests:
        """These requests generated from another seed; recorded requests stay as they are."""
        return (
            replace(self, opener=self.opener.with_seed(seed))
            if isinstance(self.opener, GeneratedRequests)
            else self
        )


def fit_trace(
    config: Mapping[str, Any], trace: Trace | None, capacity_blocks: int, plugins: Sequence[str] = ()
) -> Trace:
    """The trace or workload of an experiment, fitted to the capacity of a device.

    Args:
        config: The complete experiment as plain data.
        trace: A trace to replay instead of the trace or workload that the experiment names.
        capacity_blocks: Capacity of the device, in blocks.
        plugins: Plug-ins that may run; the workload may be one of them.

    Raises:
        Error: The number of requests of the workload is not known before the runs.
    """
    replay_table, trace_table = config["replay"], config.get("trace") or {}
    limit, operations = (int(replay_table.get(key) or 0) for key in ("limit", "operations"))
    if trace is None and "workload" in config:
        trace = _generate(config, capacity_blocks, limit or operations, plugins)
    elif trace is None:
        trace = Trace(trace_table["file"], trace_table.get("format") or "", file_opener(trace_table))
    devices, outside = str(trace_table.get("devices", "one")), str(replay_table["outside"])
    return replace(
        trace, opener=FittedRequests(trace.opener, devices, outside, capacity_blocks, limit, operations)
    )


def _generate(config: Mapping[str, Any], capacity_blocks: int, limit: int, plugins: Sequence[str]) -> Trace:
    parameters = dict(config["workload"])
    kind = parameters.pop("kind")
    # A duration ends runs, but not this generator. A plug-in without any limit ends by itself.
    if config["replay"]["duration_s"] and not (parameters.get("requests") or limit):
        raise Error(
            f"the study reads the requests of `{kind}` before the runs, and their number is not limited",
            remedy="specify the number of requests with --limit N",
        )
    seed = int(config["seed"])
    opener = GeneratedRequests(kind, settings.table(parameters), seed, capacity_blocks, tuple(plugins))
    return Trace(kind, "generated", opener)

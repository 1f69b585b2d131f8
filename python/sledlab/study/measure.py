"""One run of a study: from the text of an experiment to a typed row of numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from sledlab import _native
from sledlab.model import settings
from sledlab.model.device import host_blocks
from sledlab.runs.execute import execute
from sledlab.runs.recording import Recording
from sledlab.show.device_states import STATES
from sledlab.study.access_map import AccessMap
from sledlab.study.columns import Column
from sledlab.study.idle_periods import IdlePeriods
from sledlab.study.inputs import opener_files
from sledlab.study.plan import plain
from sledlab.traces.contents import identity
from sledlab.traces.fitted_requests import FittedRequests
from sledlab.traces.read import Table, file_opener
from sledlab.traces.samples import locate

if TYPE_CHECKING:
    from collections.abc import Callable

    from sledlab.runs.result import Result
    from sledlab.traces.read import Opener, Trace

PARTS = ("positioning", "seek_x", "settle", "seek_y", "turnaround", "rotation", "transfer")
"""Parts of the service time that have a column."""

RUN_COLUMNS = (
    *("throughput_iops", "utilization", "startups", "saturated", "elapsed_s"),
    *("queue_time_ms", "service_time_ms"),
)
"""Columns of a run whose values are attributes of the result under the same name."""

RESPONSE_COLUMNS = ("mean", "std", "p50", "p90", "p95", "p99", "p999", "max")
"""Statistics of response times that have a column, in ms."""

COUNTED_PARTS = ("cache", "hybrid", "flash")
"""Parts of a summary, absent in some runs, whose counts are columns."""


@dataclass(frozen=True)
class RunFigures:
    """The simulated results of a run; no value depends on the machine."""

    requests: Annotated[int, Column("measured reads and writes")]
    arrival_rate_iops: Annotated[
        float, Column("reads and writes offered; completed unless the replay is open", "1/s")
    ]
    throughput_iops: Annotated[float, Column("reads and writes completed", "1/s")]
    mean_ms: Annotated[float, Column("mean response time", "ms")]
    mean_ci95_ms: Annotated[
        float | None, Column("half the 95 % confidence interval of the mean response time", "ms")
    ]
    std_ms: Annotated[float, Column("standard deviation of the response times", "ms")]
    scv: Annotated[float, Column("squared coefficient of variation of the response times")]
    p50_ms: Annotated[float, Column("median response time", "ms")]
    p90_ms: Annotated[float, Column("90th percentile of the response times", "ms")]
    p95_ms: Annotated[float, Column("95th percentile", "ms")]
    p99_ms: Annotated[float, Column("99th percentile", "ms")]
    p999_ms: Annotated[float, Column("99.9th percentile", "ms")]
    max_ms: Annotated[float, Column("slowest response", "ms")]
    queue_mean: Annotated[float, Column("mean requests waiting")]
    queue_max: Annotated[int, Column("maximum number of requests waiting")]
    utilization: Annotated[float, Column("share of time in which the mechanism was busy")]
    energy_j: Annotated[float, Column("energy of the devices", "J")]
    seek_j: Annotated[float, Column("energy of seeks", "J")]
    access_j: Annotated[float, Column("energy of accesses", "J")]
    idle_j: Annotated[float, Column("energy while idle", "J")]
    inactive_j: Annotated[float, Column("energy while parked", "J")]
    startup_j: Annotated[float, Column("energy of start-ups", "J")]
    request_energy_uj: Annotated[
        float, Column("mean energy charged to a request: seek, access and start-up", "uJ")
    ]
    startups: Annotated[int, Column("start-ups")]
    merged: Annotated[int, Column("requests that were served together with others")]
    saturated: Annotated[bool, Column("whether the queue kept growing")]
    elapsed_s: Annotated[float, Column("simulated time", "s")]
    queue_time_ms: Annotated[float, Column("mean time from arrival to start", "ms")]
    service_time_ms: Annotated[float, Column("mean time from start to completion", "ms")]
    served_at_once: Annotated[float, Column("requests in service at a time while a device is busy")]
    positioning_ms: Annotated[float, Column("mean positioning time", "ms")]
    seek_x_ms: Annotated[float, Column("mean seek in x, or of the arm", "ms")]
    settle_ms: Annotated[float, Column("mean settling", "ms")]
    seek_y_ms: Annotated[float, Column("mean seek in y", "ms")]
    turnaround_ms: Annotated[float, Column("mean turnarounds", "ms")]
    rotation_ms: Annotated[float, Column("mean rotational latency", "ms")]
    transfer_ms: Annotated[float, Column("mean transfer", "ms")]
    read_mean_ms: Annotated[float | None, Column("mean response time of reads", "ms")]
    write_mean_ms: Annotated[float | None, Column("mean response time of writes", "ms")]
    counts: Mapping[str, float]
    """Counts of caches, hybrids and flash, a column each, with the prefix `cache_`, `hybrid_` or `flash_`."""
    completed: Annotated[
        int, Column("reads and writes completed in the measured time, of the warm-up too", hidden=True)
    ]
    correlated_requests: Annotated[
        float, Column("successive requests that are worth one independent request", hidden=True)
    ]
    reads: Annotated[int, Column("measured reads", hidden=True)]
    writes: Annotated[int, Column("measured writes", hidden=True)]
    read_bytes: Annotated[int, Column("bytes read", "bytes", hidden=True)]
    written_bytes: Annotated[int, Column("bytes written", "bytes", hidden=True)]
    read_energy_uj: Annotated[float | None, Column("mean energy charged to a read", "uJ", hidden=True)]
    write_energy_uj: Annotated[float | None, Column("mean energy charged to a write", "uJ", hidden=True)]
    seek_time_s: Annotated[float, Column("time seeking", "s", hidden=True)]
    access_time_s: Annotated[float, Column("time accessing", "s", hidden=True)]
    idle_time_s: Annotated[float, Column("time idle", "s", hidden=True)]
    inactive_time_s: Annotated[float, Column("time parked", "s", hidden=True)]
    startup_time_s: Annotated[float, Column("time starting up", "s", hidden=True)]
    merged_groups: Annotated[int, Column("services of merged requests", hidden=True)]
    tip_time_s: Annotated[float, Column("time of active tips, summed over tips", "s", hidden=True)]
    dark_tip_time_s: Annotated[float, Column("time of inactive tips, summed over tips", "s", hidden=True)]
    idle_periods: Annotated[
        Mapping[str, Any] | None, Column("idle periods of devices that never park", hidden=True)
    ] = None


R = TypeVar("R")


@dataclass(frozen=True)
class MeasuredRun(Generic[R]):
    """The results of a run, as they are saved.

    Attributes:
        row: The simulated results.
        timing: Wall-clock figures by name: `wall_s`, `decision_ns`.
    """

    row: R
    timing: Mapping[str, float] = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The results as plain data; rows are flat, so nothing need be copied."""
        row: Any = self.row
        flat = {each.name: getattr(row, each.name) for each in fields(row)} if is_dataclass(row) else row
        return {"row": flat, "timing": dict(self.timing)}

    @staticmethod
    def from_dict(data: Mapping[str, Any], kind: Callable[..., R]) -> MeasuredRun[R]:
        """Results from plain data, with a row of `kind`.

        Raises:
            KeyError, TypeError: The data are of another version.
        """
        return MeasuredRun(kind(**data["row"]), data["timing"])


SystemRun = MeasuredRun[RunFigures]
"""The results of a run against one system."""


def measure(
    text: str,
    trace: Trace | None,
    counts_idle_periods: bool = False,
    plugins: Sequence[str] = (),
    *,
    stop_overloaded: bool = False,
) -> SystemRun:
    """Run an experiment.

    Args:
        text: The complete experiment.
        trace: The trace to replay instead of the one that the experiment names; generated requests follow its
            seed.
        counts_idle_periods: Whether to count the idle periods of devices that never park, where addresses
            tell which device works.
        plugins: Plug-ins that may run.
        stop_overloaded: Whether a run whose queue kept growing ends with its last arrival.

    Raises:
        Error: The run failed because of its experiment, trace or plug-in.
        InternalError: The run failed because of a defect of sledlab.
        KeyboardInterrupt: The user stopped it.
    """
    experiment = _native.Experiment(text).with_plugins(plugins)
    trace = trace.with_seed(plain(text)["seed"]) if trace else None
    access_map = (
        AccessMap.of(experiment)
        if counts_idle_periods and experiment.setting("power.kind") == "never"
        else None
    )
    idle_periods = IdlePeriods(access_map) if access_map else None
    recording = Recording(sinks=[idle_periods] if idle_periods else [])
    result = execute(experiment, recording, trace=trace, time_decisions=True, stop_overloaded=stop_overloaded)
    return SystemRun(result_row(result, arrival_rate(result, trace), idle_periods), dict(result.timing))


def result_row(result: Result, rate: float, idle_periods: IdlePeriods | None) -> RunFigures:
    """The row of a result.

    Args:
        result: The result.
        rate: Reads and writes offered per second.
        idle_periods: The idle periods of the device, where they were counted.
    """
    times, summary = result.response_time, result.summary
    parts, energy, state_time = summary["time_by_part_ms"], summary["energy_j"], summary["state_time_s"]
    columns: dict[str, Any] = {name: getattr(result, name) for name in RUN_COLUMNS}
    columns |= {f"{name}_ms": getattr(times, name) for name in RESPONSE_COLUMNS}
    columns |= {f"{state}_j": energy[state] for state in STATES}
    columns |= {f"{state}_time_s": state_time[state] for state in STATES}
    columns |= {f"{part}_ms": parts[part] for part in PARTS}
    for name, op_result in (("read", result.read), ("write", result.write)):
        columns |= {f"{name}s": op_result.requests, f"{name}_energy_uj": summary[name]["request_energy_uj"]}
        columns[f"{name}_mean_ms"] = op_result.response_time.mean
    return RunFigures(
        **columns,
        requests=result.count,
        completed=summary["completed"],
        correlated_requests=summary["response_time_ms"]["correlated_requests"],
        arrival_rate_iops=rate,
        mean_ci95_ms=times.ci95_half_width,
        scv=times.scv,
        queue_mean=result.queue_length.mean,
        queue_max=result.queue_length.max,
        energy_j=result.energy.total,
        request_energy_uj=summary["request_energy_uj"],
        merged=summary["merged"]["requests"],
        served_at_once=_mean_in_service(result),
        counts=_counts(summary),
        read_bytes=result.read.bytes,
        written_bytes=result.write.bytes,
        merged_groups=summary["merged"]["groups"],
        tip_time_s=summary["tip_time_s"],
        dark_tip_time_s=summary["dark_tip_time_s"],
        idle_periods=idle_periods.to_dict() if idle_periods else None,
    )


def _counts(summary: Mapping[str, Any]) -> dict[str, float]:
    """Counts of cache, hybrid and flash by column; those of a hybrid's own devices are omitted."""
    counts: dict[str, float] = {}
    for part in COUNTED_PARTS:
        for name, value in (summary.get(part) or {}).items():
            items = value.items() if isinstance(value, Mapping) else [("", value)]
            counts |= {"_".join(filter(None, (part, name, key))): count for key, count in items}
    return counts


def _mean_in_service(result: Result) -> float:
    """Return the mean number of requests in service at a busy device: above 1 if some are served together.

    In a run that was stopped, services that had not ended count as busy time without their requests.
    """
    busy_s = busy_time_s(result)
    return result.count * result.service_time_ms / 1000 / busy_s if busy_s > 0 else 1.0


def busy_time_s(result: Result) -> float:
    """Return the time in which devices were busy, of all devices and of all sleds that move by themselves."""
    if result.elapsed_s <= 0:
        return 0.0
    devices = round(math.fsum(result.summary["state_time_s"].values()) / result.elapsed_s)
    return result.utilization * result.elapsed_s * max(devices, 1)


def arrival_rate(result: Result, trace: Trace | None) -> float:
    """Return reads and writes offered per second of simulated time; completions unless the replay is open."""
    replay, operations = result.config["replay"], result.summary["operations"]
    if replay["mode"] != "open":
        return result.throughput_iops
    duration_s = float(replay.get("duration_s") or 0)
    # The first operation after the duration is enough to know that the source lasts longer.
    max_operations = operations["issued"] + operations["rejected"] + 1 if duration_s else 0
    span_s = _span_s(result.config, trace, max_operations) / float(replay["speedup"])
    if duration_s:
        span_s = min(span_s, duration_s)
    offered = float(operations["offered"])
    return offered / span_s if span_s > 0 else result.throughput_iops


@dataclass(frozen=True)
class _Limits:
    """Limits at which a replay ends: number of requests, and of operations; 0 for no limit."""

    requests: int
    operations: int

    def limit(self, source: _native.Source) -> _native.Source:
        """A source, ended at these limits."""
        return _native.limit(source, self.requests, self.operations)

    def tighten(self, other: _Limits) -> _Limits:
        """The tighter of both limits."""
        pairs = ((self.requests, other.requests), (self.operations, other.operations))
        return _Limits(*(min(filter(None, pair), default=0) for pair in pairs))


def _span_s(config: Mapping[str, Any], trace: Trace | None, max_operations: int) -> float:
    """Time of the last arrival, in s, in recorded or generated time (before any speed-up).

    At most `max_operations` are read; 0 for all.
    """
    replay = config["replay"]
    limits = _Limits(int(replay.get("limit") or 0), int(replay.get("operations") or 0))
    limits = limits.tighten(_Limits(0, max_operations))
    if trace is not None:
        return _last_of_trace_s(trace.opener, limits)
    if "trace" in config:
        return _last_of_trace_s(file_opener(config["trace"]), limits)
    store = json.dumps({table: config[table] for table in ("device", "system")}, sort_keys=True)
    return _last_generated_s(json.dumps(config["workload"]), config["seed"], store, limits)


def _last_of_trace_s(opener: Any, limits: _Limits) -> float:
    if isinstance(opener, FittedRequests):  # addresses are other ones, arrivals the same
        return _last_of_trace_s(opener.opener, limits.tighten(_Limits(opener.limit, opener.operations)))
    if not isinstance(opener, Table):
        return _last_arrival_s(opener, _files_identity(opener), limits)
    if limits != _Limits(0, 0):
        return _last_s(opener.open(), limits)
    last: Any = opener.table["time_us"].max()
    return 0.0 if last is None else float(last) / 1e6


def _files_identity(opener: Opener) -> str:
    """Another text for another state of the files that an opener reads; empty where it reads none."""
    return " ".join(identity(locate(name)) for name in opener_files(opener))


@lru_cache(maxsize=16)
def _last_arrival_s(opener: Opener, _identity: str, limits: _Limits) -> float:
    return _last_s(opener.open(), limits)


@lru_cache(maxsize=256)
def _last_generated_s(workload: str, seed: int, store: str, limits: _Limits) -> float:
    parameters = json.loads(workload)
    kind = parameters.pop("kind")
    # All plug-ins are allowed: a plug-in named here was allowed and has run in this process before.
    capacity = host_blocks(_native.Experiment(settings.document(json.loads(store))).with_plugins(["*"]))
    return _last_s(_native.Source.generate(kind, settings.table(parameters), seed, capacity, [kind]), limits)


def _last_s(source: _native.Source, limits: _Limits) -> float:
    return _native.survey(limits.limit(source))[2] / 1e9

"""One point of a comparison: from the text of an experiment to a row of numbers."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sledlab import _native, settings
from sledlab.devices import describe
from sledlab.wording import STATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.result import Result
    from sledlab.traces import File, Opener, ParquetFile, Trace


def measure(text: str, trace: Trace | None) -> dict[str, Any]:
    """Runs an experiment.

    Returns:
        `row`, the simulated results, and `timing`, the wall-clock figures.

    Raises:
        Error: The run failed because of what it was given.
        InternalError: It failed because of us.
        KeyboardInterrupt: It was interrupted.
    """
    from sledlab.recording import Recording
    from sledlab.simulation import execute

    experiment = _native.Experiment(text)
    result = execute(experiment, Recording(), trace=trace, time_decisions=True)
    if result.interrupted:
        raise KeyboardInterrupt
    return {"row": _row(result, arrival_rate(result, trace)), "timing": dict(result.timing)}


def is_python(word: str) -> bool:
    """Whether a word names a class, `module:Class`, instead of a model with parameters."""
    module, colon, rest = word.partition(":")
    return bool(module and colon) and "=" not in rest


def _row(result: Result, rate: float) -> dict[str, Any]:
    """The simulated results; nothing that depends on the machine."""
    times, parts = result.response_time, result.summary["time_by_part_ms"]
    row = {
        "requests": result.count,
        "arrival_rate": rate,
        "throughput_iops": result.throughput_iops,
        "mean_ms": times.mean,
        "mean_ci95_ms": times.ci95_half_width,
        "std_ms": times.std,
        "scv": times.scv,
        "p50_ms": times.p50,
        "p90_ms": times.p90,
        "p95_ms": times.p95,
        "p99_ms": times.p99,
        "p999_ms": times.p999,
        "max_ms": times.max,
        "queue_mean": result.queue_length.mean,
        "queue_max": result.queue_length.max,
        "utilization": result.utilization,
        "energy_j": result.energy.total,
        **{f"{state}_j": result.summary["energy_j"][state] for state in STATES},
        "energy_per_request_uj": result.summary["energy_per_request_uj"],
        "startups": result.summary["startups"],
        "merged": result.summary["merged"]["requests"],
        "saturated": result.saturated,
        "elapsed_s": result.elapsed_s,
        "queue_time_ms": result.queue_time_ms,
        "service_time_ms": result.service_time_ms,
        "served_at_once": _served_at_once(result),
    }
    row |= {f"{part}_ms": parts[part] for part in PARTS}
    for op in ("read", "write"):
        # None where there were no such requests.
        row[f"{op}_mean_ms"] = result.summary[op]["response_time_ms"].get("mean")
    return row | _counts(result.summary)


COUNTED = ("cache", "hybrid")
"""Parts of a summary whose counts have columns, where there are such parts."""


def _counts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What a cache and a hybrid counted, one column each; the devices of a hybrid count for themselves."""
    found: dict[str, Any] = {}
    for part in COUNTED:
        for name, value in (summary.get(part) or {}).items():
            if isinstance(value, dict):
                found |= {f"{part}_{name}_{key}": count for key, count in value.items()}
            else:
                found[f"{part}_{name}"] = value
    return found


def _served_at_once(result: Result) -> float:
    """Requests in service at a time while a sled is busy: above 1 where some are served together."""
    device = result.config["device"]
    sleds = int(device.get("sleds", 1)) if device.get("sled_motion") == "independent" else 1
    busy_s = result.utilization * result.elapsed_s * sleds
    return result.count * result.service_time_ms / 1000 / busy_s if busy_s > 0 else 1.0


PARTS = ("positioning", "seek_x", "settle", "seek_y", "turnaround", "rotation", "transfer")
"""Parts of the service time that have a column."""


def arrival_rate(result: Result, trace: Trace | None) -> float:
    """Reads and writes offered per second of simulated time; what completes where arrival is issue."""
    replay, operations = result.config["replay"], result.summary["operations"]
    if str(replay["mode"]).startswith("closed"):
        return result.throughput_iops
    span_s = _span_s(result.config, trace) / float(replay["speedup"])
    if replay.get("duration_s"):
        span_s = min(span_s, float(replay["duration_s"]))
    return (
        float((operations["read"] + operations["write"]) / span_s) if span_s > 0 else result.throughput_iops
    )


def _span_s(config: Mapping[str, Any], trace: Trace | None) -> float:
    """Time of the last arrival as recorded or generated, in s."""
    limit = int(config["replay"].get("limit") or 0)
    if trace is not None:
        return _last_in_memory_s(trace.opener, limit)
    if "trace" in config:
        return _last_arrival_s(_opener(config["trace"]), limit)
    device = json.dumps(config["device"], sort_keys=True)
    return _last_generated_s(json.dumps(config["workload"]), config["seed"], device, limit)


def _last_in_memory_s(opener: Opener, limit: int) -> float:
    from sledlab.traces import Table

    if not isinstance(opener, Table):
        return _last_s(opener.open(), limit)
    times = opener.table["time_us"].to_numpy()
    return float(times[:limit].max() if limit else times.max()) / 1e6 if len(times) else 0.0


def _opener(trace: Mapping[str, Any]) -> File | ParquetFile:
    from sledlab.traces import File, ParquetFile, is_parquet

    file, form, window = trace["file"], trace.get("format") or None, int(trace.get("sort_window") or 0)
    return ParquetFile(file, window) if is_parquet(file, form) else File(file, form, window)


@lru_cache(maxsize=16)
def _last_arrival_s(opener: File | ParquetFile, limit: int) -> float:
    return _last_s(opener.open(), limit)


@lru_cache(maxsize=256)
def _last_generated_s(workload: str, seed: int, device: str, limit: int) -> float:
    said = json.loads(workload)
    kind = said.pop("kind")
    experiment = _native.Experiment(settings.document({"device": json.loads(device)}))
    capacity = describe(experiment)["capacity_blocks"]
    return _last_s(_native.Source.generate(kind, settings.table(said), seed, capacity), limit)


def _last_s(source: _native.Source, limit: int) -> float:
    return _native.survey(_native.limit(source, limit) if limit else source)[2] / 1e9

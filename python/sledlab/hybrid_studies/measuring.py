"""One run of a hybrid study: from the text of an experiment to a row of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.comparison.plan import plain
from sledlab.hybrid_studies.requests import BLOCK_BYTES, seeded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.result import Result
    from sledlab.traces import Trace

TRAFFIC = ("reads", "read_mb", "writes", "written_mb")
"""What a device is asked for; MB of 10^6 bytes."""


def measure(text: str, trace: Trace | None) -> dict[str, Any]:
    """Runs an experiment on requests that were fitted to the disk before.

    Returns:
        `row`, the simulated results, and `timing`, the wall-clock figures.

    Raises:
        Error: The run failed because of what it was given.
        InternalError: It failed because of us.
        KeyboardInterrupt: It was interrupted.
    """
    from sledlab.recording import Recording
    from sledlab.simulation import execute

    assert trace is not None
    given = seeded(trace, int(plain(text)["seed"]))
    result = execute(_native.Experiment(text), Recording(), trace=given)
    if result.interrupted:
        raise KeyboardInterrupt
    return {"row": _row(result), "timing": dict(result.timing)}


def _row(result: Result) -> dict[str, Any]:
    """The simulated results; nothing that depends on the machine."""
    times, summary = result.response_time, result.summary
    cache, hybrid = summary.get("cache"), summary.get("hybrid")
    return {
        "requests": result.count,
        "elapsed_s": result.elapsed_s,
        "mean_ms": times.mean,
        "mean_ci95_ms": times.ci95_half_width,
        "p50_ms": times.p50,
        "p95_ms": times.p95,
        "p99_ms": times.p99,
        "read_ms": result.read.response_time.mean if result.read.requests else None,
        "write_ms": result.write.response_time.mean if result.write.requests else None,
        "saturated": result.saturated,
        "energy_j": result.energy.total,
        "cache_read_hits": _share(cache, "read_hits", "read_hits", "read_misses"),
        "mems_read_hits": _share(hybrid, "read_hits", "reads"),
        "mems_write_hits": _share(hybrid, "write_hits", "writes"),
        "superseded": _share(hybrid, "superseded_blocks", "written_blocks"),
        "live_share": hybrid["live_share"] if hybrid else None,
        "traffic": _traffic(result),
    }


def _share(counts: Mapping[str, Any] | None, part: str, *whole: str) -> float | None:
    """A count over the sum of others; none where there is nothing of the kind."""
    total = sum(counts[name] for name in whole) if counts else 0
    return float(counts[part] / total) if counts and total else None


def _traffic(result: Result) -> dict[str, dict[str, float]]:
    """What each device was asked for: `disk` and `mems` (MT-12)."""
    hybrid = result.summary.get("hybrid")
    if hybrid:
        return {"disk": _accesses(**hybrid["back"]), "mems": _accesses(**hybrid["front"])}
    device = "mems" if result.config["device"]["kind"] == "mems" else "disk"
    cache = result.summary.get("cache")
    if cache:
        fetched = cache["fetched_blocks"] + cache["read_ahead_blocks"]
        found = _accesses(cache["read_misses"], fetched, cache["destages"], cache["destaged_blocks"])
        return {device: found}
    reads, writes = result.read, result.write
    blocks = (reads.bytes // BLOCK_BYTES, writes.bytes // BLOCK_BYTES)
    return {device: _accesses(reads.requests, blocks[0], writes.requests, blocks[1])}


def _accesses(reads: int, read_blocks: int, writes: int, written_blocks: int) -> dict[str, float]:
    megabytes = BLOCK_BYTES / 1e6
    values = (reads, read_blocks * megabytes, writes, written_blocks * megabytes)
    return dict(zip(TRAFFIC, map(float, values), strict=True))

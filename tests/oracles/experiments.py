"""Random small experiments for the oracles: seeds, traces and runs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import pytest
import sledlab as sl

BLOCK_BYTES = 512
HYBRID_FRONT_MB = 40_000
"""As much as the disk of a hybrid, which a mirror needs."""


class Request(NamedTuple):
    """A request of a random trace."""

    time_us: int
    op: str
    lbn: int
    blocks: int


class Access(NamedTuple):
    """An access that a device served."""

    start_ns: int
    lbn: int
    blocks: int
    is_write: bool


def random_experiments(quick: int, slow: int) -> pytest.MarkDecorator:
    """Run a test with the seeds below `quick`, and in the slow tier with those from `quick` to `slow`.

    A thousand are enough to meet what happens in one experiment of two hundred; more would make the slow tier
    longer than it may be.
    """
    more = pytest.param(range(quick, slow), marks=pytest.mark.slow("more random experiments"))
    return pytest.mark.parametrize("seeds", [range(quick), more], ids=["quick", "more"])


def generators(seeds: Sequence[int]) -> Iterator[random.Random]:
    """Yield a generator of random numbers for each seed; a failing test shows the last seed in its output."""
    for seed in seeds:
        print(f"seed {seed}")
        yield random.Random(seed)


def trace(requests: Sequence[Request]) -> sl.Trace:
    """A trace of these requests, whose times count from 0."""
    return sl.trace(
        {
            "time_us": [request.time_us for request in requests],
            "op": [request.op for request in requests],
            "offset_bytes": [request.lbn * BLOCK_BYTES for request in requests],
            "length_bytes": [request.blocks * BLOCK_BYTES for request in requests],
        },
        start="zero",
    )


def simulate(arrivals: Sequence[Request], device: Any = "ram", **options: Any) -> sl.Result:
    """A run of these requests with a table of requests."""
    return sl.simulate(trace(arrivals), device, **{"requests": True, **options})


def hybrid_counters(requests: Sequence[Request], kind: str, **options: Any) -> dict[str, Any]:
    """The counts of a hybrid, those of its devices as `front_reads` or `back_written_blocks`."""
    front = {"front.capacity_mb": HYBRID_FRONT_MB}
    hybrid = sl.hybrid(kind, **options)
    result = simulate(
        requests, "mobile-disk", hybrid=hybrid, front="ram", power="never", requests=False, settings=front
    )
    counters = result.summary["hybrid"]
    for device in ("front", "back"):
        counters |= {f"{device}_{key}": count for key, count in counters[device].items()}
    return counters


class HybridModel:
    """Counts as `hybrid_counters` returns them: some of the hybrid, and those of its devices."""

    def __init__(self, names: str) -> None:
        accesses = ("reads", "read_blocks", "writes", "written_blocks")
        devices = [f"{device}_{each}" for device in ("front", "back") for each in accesses]
        self.counters = dict.fromkeys([*names.split(), *devices], 0)

    def count(self, **counts: int) -> None:
        for name, count in counts.items():
            self.counters[name] += count


class Recorder:
    """A device that takes a microsecond for each block and keeps the accesses that it served."""

    active_mw, idle_mw = 1000.0, 0.0
    instances: ClassVar[list[Recorder]] = []

    def __init__(self, capacity_blocks: int = 1000) -> None:
        self.capacity_blocks = capacity_blocks
        self.accesses: list[Access] = []
        self.instances.append(self)

    def serve(self, state: int, lbn: int, blocks: int, is_write: bool) -> float:
        return blocks / 1000

    def served(self, start_ns: int, lbn: int, blocks: int, is_write: bool) -> None:
        self.accesses.append(Access(start_ns, lbn, blocks, is_write))


def record_accesses(
    requests: Sequence[Request], devices: int, **options: Any
) -> tuple[sl.Result, list[list[Access]]]:
    """A run on a number of recorders, and the accesses of each of them, those of spares last."""
    Recorder.instances.clear()
    result = simulate(requests, f"{__name__}:Recorder", **options)
    # The first objects are those that validate the experiment.
    return result, [recorder.accesses for recorder in Recorder.instances[-devices:]]

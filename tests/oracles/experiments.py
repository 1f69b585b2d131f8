"""Random small experiments for the oracles: seeds, traces and runs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
import sledlab as sl

BLOCK_BYTES = 512


class Request(NamedTuple):
    """A request of a random trace."""

    time_us: int
    op: str
    lbn: int
    blocks: int


def random_experiments(quick: int, slow: int) -> pytest.MarkDecorator:
    """Run a test with the seeds below `quick`, and in the slow tier with those from `quick` to `slow`."""
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

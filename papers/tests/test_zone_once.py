"""The ZSPTF in Python that computes each positioning time once."""

from __future__ import annotations

from statistics import fmean

import pytest
import sledlab as sl

from sledlab_papers.scheduling.plan import ONCE


def run(scheduler: str, speedup: float, seed: int = 1) -> sl.Result:
    """A short run of the stand-in for cello."""
    return sl.simulate(
        sl.workload("cello"),
        "mems-g2",
        scheduler=scheduler,
        speedup=speedup,
        limit=4000,
        seed=seed,
        requests=True,
    )


def test_short_queues_are_served_as_by_zsptf() -> None:
    once, zsptf = (run(scheduler, 1.0).requests for scheduler in (ONCE, "zsptf"))
    assert once.equals(zsptf)


@pytest.mark.parametrize("speedup", [20.0, 100.0])
def test_long_queues_lose_no_request(speedup: float) -> None:
    result = run(ONCE, speedup)
    assert result.requests["id"].sort().to_list() == list(range(4000))


def test_long_queues_take_longer_than_zsptf_and_less_than_fcfs() -> None:
    once, zsptf, fcfs = (
        fmean(run(scheduler, 100.0, seed).response_time.mean for seed in range(1, 6))
        for scheduler in (ONCE, "zsptf", "fcfs")
    )
    assert zsptf < once < fcfs

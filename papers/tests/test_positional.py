"""The SSTF in Python that goes by the distance in x, and the experiment that compares it."""

from __future__ import annotations

import pytest
import sledlab as sl

from sledlab_papers.scheduling.plan import BY_X, POSITIONAL, SSTF_BY_X
from sledlab_papers.scheduling.positional import SLEDS
from sledlab_papers.simulator import experiment


def run(scheduler: str, depth: int, limit: int, **device: object) -> sl.Result:
    """A short run with a constant number of requests outstanding."""
    return sl.simulate(
        sl.workload("uniform", blocks=1),
        sl.device("mems-g2", layout="y-sequential", **device),
        scheduler=scheduler,
        replay=f"closed:{depth}",
        limit=limit,
        seed=1,
        requests=True,
    )


@pytest.mark.parametrize("sleds", SLEDS)
def test_single_requests_are_served_as_by_p_sstf(sleds: int) -> None:
    # Of these requests no two wait at one position, so that P-SSTF goes to the nearest.
    device = {"sleds": sleds, "sled_motion": "together"}
    by_x, p_sstf = (run(name, 6, 1000, **device).requests for name in (BY_X, "p-sstf:batch=none"))
    assert by_x.equals(p_sstf)


def test_long_queue_loses_no_request() -> None:
    result = run(BY_X, 500, 2000)
    assert result.requests["id"].sort().to_list() == list(range(2000))
    assert result.response_time.mean < run("sstf", 500, 2000).response_time.mean


def test_both_runs_have_the_same_loads() -> None:
    assert SSTF_BY_X.options == ("--scheduler", BY_X)
    study = experiment(POSITIONAL)["study"]
    assert tuple(study["vary"]["device.sleds"]) == SLEDS

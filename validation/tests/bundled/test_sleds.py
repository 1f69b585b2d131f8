"""Sleds compared with recorded runs of the reference simulator, on any machine."""

import pytest

from validation import reference
from validation.reference import BUNDLED
from validation.sections.agreement import agreement
from validation.simulator import replay

RUNS = reference.runs(BUNDLED)


@pytest.mark.parametrize("name", RUNS)
def test_a_replay_agrees_with_the_run(name: str) -> None:
    compared = agreement(name, BUNDLED)
    assert not compared.exceeded_limits, compared


def test_reference_runs_cover_generations_and_schedulers() -> None:
    assert {run.device for run in RUNS.values()} == {"G1", "G2", "G3"}
    assert {run.family for run in RUNS.values()} == {"mech", "base", "sched", "sweep"}
    assert len({run.scheduler for run in RUNS.values()}) == 7
    assert all(run.scheduler for run in RUNS.values())


def test_another_model_does_not_agree() -> None:
    # A sled that settles twice as long, or serves requests in another order, must fail.
    run = RUNS["sched_G2_SPTF_OPT"]
    for scheduler, changes in (("sptf", {"settle_constants": 2.0}), ("fcfs", {})):
        result = replay(run.trace, "mems-g2-disksim", scheduler=scheduler, **(run.changes | changes))
        assert abs(result.response_time.mean / run.mean_response_ms - 1) > 0.01

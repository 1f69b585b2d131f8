"""Replays against recorded runs of the reference simulator."""

from collections import Counter

import pytest

from validation import reference
from validation.sections.agreement import agreement, compared_runs

needs_reference = pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)


def test_run_agrees(run: str) -> None:
    compared = agreement(run)
    assert not compared.exceeded_limits, compared


@needs_reference
def test_every_family_is_compared() -> None:
    runs = compared_runs()
    assert Counter(run.family for run in runs) == {
        "mech": 27,
        "base": 21,
        "sched": 20,
        "sweep": 24,
        "hp": 8,
        "excl": 8,
        "stock": 10,
        "memsvalid": 6,
    }
    assert {run.device for run in runs} == {"G1", "G2", "G3", "V1"}

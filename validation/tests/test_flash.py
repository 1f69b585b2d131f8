"""Flash against recorded runs of MQSim."""

import pytest

from validation.sections import flash
from validation.sections.flash import FlashRun, comparison, runs

needs_runs = pytest.mark.skipif(not flash.is_present(), reason=flash.MISSING_MESSAGE)

RUNS = [pytest.param(run, id=run.name) for run in runs()] or [pytest.param(None, id="none", marks=needs_runs)]


@needs_runs
def test_every_run_is_compared() -> None:
    assert [sum(run.folder == folder for run in runs()) for folder in flash.FOLDERS] == [19, 12]


@pytest.mark.parametrize("case", RUNS)
def test_mean_response_and_write_amplification_agree(case: FlashRun) -> None:
    compared = comparison(case)
    assert abs(compared.ratio - 1) < compared.band
    if compared.amplification_ratio is not None:
        assert abs(compared.amplification_ratio - 1) < flash.AMPLIFICATION_BAND


@needs_runs
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("read-page-30000", {"channel_mb_s": 300.0}),
        ("write-page-10000", {"allocation": "turn"}),
        ("mixed-page-15000", {"reads_first": False}),
        ("write-op12-200", {"garbage_collection": "spread"}),
        ("write-op28-4000", {"gc_free_blocks": 50}),
    ],
)
def test_fault_leaves_the_band(name: str, fault: dict[str, object]) -> None:
    case = next(run for run in runs() if run.name == name)
    faulty = comparison(case, **fault)
    assert abs(faulty.ratio - 1) > faulty.band

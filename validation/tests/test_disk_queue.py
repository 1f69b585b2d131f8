"""Replays with several commands in a disk against recorded runs of the reference simulator."""

import numpy as np
import pytest

from validation.sections import disk_open, disk_queue
from validation.sections.disk_queue import QueueRun, comparison, runs, shifted_deviations

needs_reference = pytest.mark.skipif(not disk_open.is_present(), reason=disk_open.MISSING_MESSAGE)


def cases(*selected: QueueRun) -> pytest.MarkDecorator:
    skipped_cases = [pytest.param(None, id="none", marks=needs_reference)]
    return pytest.mark.parametrize(
        "case", [pytest.param(run, id=run.name) for run in selected] or skipped_cases
    )


NON_STREAM_RUNS = [run for run in runs() if (run.drive, run.load) not in disk_open.STREAMS]


@needs_reference
def test_every_drive_queue_run_is_compared() -> None:
    # The HP C2490A hangs in the reference simulator.
    assert len(runs()) == 2 * (4 + 4 + 2 + 1)
    assert {run.drive for run in runs()} == {"atlas10k", "cheetah9LP"}


@cases(*(run for run in NON_STREAM_RUNS if run.column == "dev_fcfs"))
def test_fcfs_drives_differ_by_single_turns(case: QueueRun) -> None:
    compared = comparison(case)
    assert abs(compared.deviation) < 0.003
    assert compared.same_course > 0.985


@cases(*(run for run in runs() if run not in NON_STREAM_RUNS))
def test_streams_take_as_long(case: QueueRun) -> None:
    assert abs(comparison(case).deviation) < 0.01


@cases(*(run for run in NON_STREAM_RUNS if run.column != "dev_fcfs"))
def test_mean_responses_agree_within_platter_angle_variance(case: QueueRun) -> None:
    if abs(comparison(case).deviation) > 0.01:
        # One turn more changes every later choice, as with the queue in the host.
        deviations = np.array(shifted_deviations(case))
        assert abs(deviations.mean()) < 3 * deviations.std(ddof=1)


@cases(*(run for run in NON_STREAM_RUNS if run.column == "dev_sptf_opt"))
def test_present_angle_reduces_response_time(case: QueueRun) -> None:
    assert comparison(case).moment_off < comparison(case).deviation


@pytest.mark.slow("replays every run with the queue in the drive nine times")
@needs_reference
def test_table_gives_a_reason_for_every_deviation(everything: bool) -> None:
    measured = disk_queue.SECTION.save() if everything else disk_queue.measure()
    rows = disk_queue.rows(measured)
    assert len(rows) == len(runs())
    assert {len(row) for row in rows} == {12}
    assert all(row[4] or abs(float(row[7])) <= 1 for row in rows)

"""Replays of open arrivals on disks against recorded runs of the reference simulator."""

import numpy as np
import pytest

from validation.sections import disk_open
from validation.sections.disk_open import (
    OpenRun,
    comparison,
    runs,
    shifted_deviations,
    shifted_phase_deviations,
)

pytestmark = pytest.mark.slow("replays every recorded run of the disk")
needs_reference = pytest.mark.skipif(not disk_open.is_present(), reason=disk_open.MISSING_MESSAGE)

MAX_MEAN_DEVIATION = 0.01
"""Maximum relative deviation of the mean response time from the recorded one."""

MAX_SERVICE_DEVIATION = 0.003
"""Maximum relative deviation of the mean service time from the recorded one, if both serve alike."""


def cases(*selected: OpenRun) -> pytest.MarkDecorator:
    skipped_cases = [pytest.param(None, id="none", marks=needs_reference)]
    return pytest.mark.parametrize(
        "case", [pytest.param(run, id=run.name) for run in selected] or skipped_cases
    )


SPTF = [run for run in runs() if run.column == "sptf_angle_fixed"]

PHASES_WITH_CHANCE_TURNS = ("read16_2streams", "read16_interrupted")
"""Phases of streams in which single revolutions, gained or lost by chance, change the mean."""

SERVED_ALIKE = [run for run in runs() if run.has_same_rules]


@needs_reference
def test_every_host_queue_run_is_compared() -> None:
    assert len(runs()) == 3 * (2 + 7 + 7 + 5 + 1)
    assert {run.drive for run in runs()} == set(disk_open.DRIVES)


@cases(*SERVED_ALIKE)
def test_service_times_agree(case: OpenRun) -> None:
    assert abs(comparison(case).service_off) < MAX_SERVICE_DEVIATION


@cases(*(run for run in SERVED_ALIKE if run.column == "fcfs"))
def test_fcfs_differs_by_single_turns(case: OpenRun) -> None:
    compared = comparison(case)
    # A sector just reached here may be just missed there, as the platters of the reference simulator drift.
    assert compared.same_service > 0.985
    assert abs(compared.deviation) < MAX_MEAN_DEVIATION or abs(compared.off_but_for_turns) < 0.001


@cases(*(run for run in SERVED_ALIKE if run.column != "fcfs"))
def test_mean_responses_agree_within_platter_angle_variance(case: OpenRun) -> None:
    if abs(comparison(case).deviation) > MAX_MEAN_DEVIATION:
        # One turn more changes every later choice. The recorded mean is within those of runs with other
        # platter angles.
        deviations = np.array(shifted_deviations(case))
        assert deviations.std(ddof=1) > 0.003
        assert abs(deviations.mean()) < 3 * deviations.std(ddof=1)


@cases(*SPTF)
def test_sptf_is_faster_by_its_knowledge(case: OpenRun) -> None:
    # SPTF here knows the overheads of a command and when buffered blocks will be written; the test
    # `reference_sptf` of sledlab-sim shows the effect of the overheads alone.
    compared = comparison(case)
    assert compared.deviation < 0.0
    assert compared.service_off < 0.0


@cases(*(run for run in runs() if run.is_stale))
def test_a_stale_angle_costs_the_reference_simulator_time(case: OpenRun) -> None:
    assert comparison(case).deviation < 0


@cases(*(run for run in runs() if (run.drive, run.load) in disk_open.STREAMS))
def test_streams_take_as_long_in_every_phase(case: OpenRun) -> None:
    deviations = comparison(case).phases_off
    assert len(deviations) == 11
    assert abs(comparison(case).deviation) < 0.005
    fast_phases = {"read16_fast", "read128_fast"}
    assert all(abs(deviations[phase]) < 0.0025 for phase in fast_phases)
    assert abs(deviations["write64_fast"]) < 0.02
    assert all(
        abs(deviation) < 0.012
        for phase, deviation in deviations.items()
        if phase not in ("write64_fast", *PHASES_WITH_CHANCE_TURNS)
    )
    # The recorded run is within those with other platter angles.
    shifted_deviations_by_phase = shifted_phase_deviations(case)
    assert all(
        abs(shifted_deviations_by_phase[phase].mean())
        < 3 * shifted_deviations_by_phase[phase].std(ddof=1)
        < 0.07
        for phase in PHASES_WITH_CHANCE_TURNS
    )


def test_services_are_distinguished() -> None:
    # The third overtakes the second; the fourth finds the drive idle.
    arrivals, responses = np.array([0.0, 1.0, 2.0, 50.0]), np.array([10.0, 29.0, 13.0, 5.0])
    assert disk_open.service_times(arrivals, responses).tolist() == [10.0, 15.0, 5.0, 5.0]
    responses_in_order = disk_open.fcfs_responses(arrivals, np.array([10.0, 5.0, 15.0, 5.0]))
    assert responses_in_order.tolist() == [10.0, 14.0, 28.0, 5.0]


@needs_reference
def test_table_gives_a_reason_for_every_deviation(everything: bool) -> None:
    measured = disk_open.SECTION.save() if everything else disk_open.measure()
    rows = disk_open.rows(measured)
    assert len(rows) == len(runs())
    assert {len(row) for row in rows} == {11}
    assert all(row[4] or abs(float(row[7])) <= 1 for row in rows)

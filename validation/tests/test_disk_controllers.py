"""Controllers of disks in 129 scenarios against recorded runs of the reference simulator."""

import pytest

from validation.sections import disk_controllers
from validation.sections.disk_controllers import CAUSES, FamilyRow, family_rows, recorded_runs, sample
from validation.sections.disk_scenarios import DRIVES, SCENARIOS

RARE_CAUSE = "overhead"
"""A cause that changes few requests, by a revolution."""


@pytest.fixture(scope="module")
def rows(everything: bool) -> tuple[FamilyRow, ...]:
    """The comparison of all runs, or of a sample."""
    return disk_controllers.SECTION.save() if everything else family_rows(sample())


def test_every_request_of_the_scenarios_is_recorded() -> None:
    assert len(SCENARIOS) == 129
    assert len(recorded_runs()) == 4 * len(DRIVES) * len(SCENARIOS)
    assert {run.scenario for run in recorded_runs()} == set(SCENARIOS)
    for run in recorded_runs():
        assert len(run.service_us) == len(run.scenario.requests(run.drive))


def test_families_without_a_cause_agree(rows: tuple[FamilyRow, ...]) -> None:
    rows_without_cause = [row for row in rows if row.family not in CAUSES]
    assert rows_without_cause
    for row in rows_without_cause:
        assert row.different == 0, row
        assert abs(row.deviation) < 1e-4, row


def test_every_cause_changes_requests(rows: tuple[FamilyRow, ...], everything: bool) -> None:
    changed_families = {row.family for row in rows if row.different}
    assert changed_families <= CAUSES.keys()
    if everything:
        assert changed_families == CAUSES.keys()
        rare = [row for row in rows if CAUSES.get(row.family) == RARE_CAUSE]
        assert max(row.different / row.requests for row in rare) < 0.01

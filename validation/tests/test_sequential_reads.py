"""Sequential reads with short gaps against recorded runs of the reference simulator."""

import pytest

from validation.sections.sequential_reads import SequentialRun, comparison, runs


@pytest.mark.parametrize("case", [pytest.param(run, id=run.name) for run in runs() if run.gap_us <= 10])
def test_throughput_agrees_where_the_switch_matters(case: SequentialRun) -> None:
    assert abs(comparison(case).deviation) < 0.03


@pytest.mark.parametrize("case", [pytest.param(run, id=run.name) for run in runs() if run.gap_us > 10])
def test_throughput_agrees_at_longer_gaps(case: SequentialRun) -> None:
    assert abs(comparison(case).deviation) < 0.15

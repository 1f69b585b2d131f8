"""Judges of claims on power: readings of idle power, and pairs of requests in a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from sledlab_papers.power.breakdown import IdleReading
from sledlab_papers.power.merging import _pair_case
from sledlab_papers.power.plan import PowerRuns


@pytest.mark.parametrize(
    ("idle_j", "servicing_j", "fits_print"),
    [(90.6, 9.4, True), (90.4, 9.4, False), (92.0, 8.0, False), (91.4, 8.4, False)],
)
def test_reading_fits_by_printed_digits(idle_j: float, servicing_j: float, fits_print: bool) -> None:
    reading = IdleReading(100.0, idle_j, servicing_j, 100.0)
    assert reading.shares == pytest.approx((idle_j / 100, servicing_j / 100))
    assert reading.fits_print == fits_print


def test_sweep_of_reads_selects_runs_of_reads(tmp_path: Path) -> None:
    assert _pair_case(PowerRuns(tmp_path), "none") == "none"
    assert _pair_case(PowerRuns(tmp_path, ("only reads",)), "none") == "reads: none"

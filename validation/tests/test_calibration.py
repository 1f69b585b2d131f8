"""Synthetic workloads meet published statistics, and docs/calibration.md is up to date."""

import pytest
import sledlab as sl

from validation import calibration, reference
from validation.markdown import section_difference
from validation.page import DOCUMENTS
from validation.simulator import Statistic, Target
from validation.simulator import calibration as study

pytestmark = pytest.mark.slow("generates hours of workloads")


@pytest.mark.parametrize("name", study.CALIBRATIONS)
def test_published_statistics_are_met(name: str) -> None:
    assert not [row for row in calibration.mean_rows(name) if row.verdict == "fail"]


def test_hplajw_is_burstier_than_cello() -> None:
    cello, hplajw = (
        {row.statistic.name: row.achieved for row in study.calibrate(n).rows} for n in calibration.HOURS
    )
    for window in ("dispersion at 1 s", "dispersion at 10 s"):
        assert hplajw[window] > cello[window]


@pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)
def test_statistics_of_ajw_are_those_of_trace() -> None:
    report = sl.read_trace(reference.ROOT / "traces" / "ajw.1week.srt").info()
    for key, value in study.AJW.items():
        statistic = study.STATISTICS[key]
        assert statistic.text(statistic.compute(report)) == statistic.text(value), key


def test_verdict_follows_target_and_tolerance() -> None:
    statistic = Statistic("size", "KB", 1, lambda report: report["size"])

    def verdict(achieved: float, target: Target | None) -> str:
        return study.StatisticRow(statistic, achieved, target).verdict

    published = Target(10, "Hong 2006")
    assert verdict(10 * (1 + 0.99 * study.TOLERANCE), published) == "pass"
    assert verdict(10 * (1 - 1.01 * study.TOLERANCE), published) == "fail"
    assert verdict(50, Target(10, "Hong 2006", "choice")) == "choice"
    assert [verdict(value, Target(10, "Hong 2006", "least")) for value in (9.9, 30)] == ["fail", "pass"]
    assert [verdict(value, Target(10, "Hong 2006", "most")) for value in (0, 10.1)] == ["pass", "fail"]
    assert verdict(50, None) == ""
    assert verdict(50, Target(10, "Hong 2006", "unfitted")) == "not fitted"
    assert [verdict(value, Target(10, "Hong 2006", tolerance=0.5)) for value in (14.9, 15.1)] == [
        "pass",
        "fail",
    ]


def test_snake_trace_runs_on_published_sleds() -> None:
    rows_by_name = {row.statistic.name: row for row in study.calibrate(calibration.DAY).rows}
    # At light load each busy period costs a start-up of 5e-5 J.
    assert rows_by_name["G3, 10x: start-up"].achieved == pytest.approx(
        5e-5 * rows_by_name["G3, 10x: start-ups"].achieved
    )
    # The second response is that of thousands of requests that wait for each other.
    assert rows_by_name["G3, 100x: response"].achieved > 20 * rows_by_name["G3, 10x: response"].achieved
    assert rows_by_name["G2, 10x, parks after 1 s: idle share"].verdict == "not fitted"
    assert "G3, 10x: start-ups" not in {row.statistic.name for row in study.calibrate("cello").rows}


def test_page_is_up_to_date(everything: bool) -> None:
    page = (DOCUMENTS / calibration.PAGE).read_text(encoding="utf-8")
    assert page.startswith(calibration.introduction())
    # Long traces are checked in a full run only.
    short_names = calibration.GENERATORS
    sections = [calibration.section(name) for name in (study.CALIBRATIONS if everything else short_names)]
    differences = [
        section_difference(page, section)
        for section in (*sections, *map(calibration.choices_section, short_names))
    ]
    assert not any(differences), f"{differences}; run: python -m validation.calibration"

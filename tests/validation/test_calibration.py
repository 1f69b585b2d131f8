"""The stand-ins meet what was published, and docs/calibration.md says so."""

import re

import pytest
from sledlab.calibration import CALIBRATIONS, TOLERANCE, Row, Statistic, Target, calibrate

from . import calibration
from .markdown import difference


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_published_statistics_are_met(name: str) -> None:
    for seed in (1, 2, 3) if name in calibration.HOURS else (1,):
        found = calibrate(name, seed)
        missed = [row for row in found.rows if row.verdict == "fail"]
        assert found.passes, missed


def test_hplajw_is_burstier_than_cello() -> None:
    cello, hplajw = (
        {row.statistic.name: row.achieved for row in calibrate(n).rows} for n in calibration.HOURS
    )
    for window in ("dispersion at 1 s", "dispersion at 10 s"):
        assert hplajw[window] > cello[window]


def test_verdicts() -> None:
    plain = Statistic("size", "KB", 1, lambda report: report["size"])

    def verdict(achieved: float, target: Target | None) -> str:
        return Row(plain, achieved, target).verdict

    published = Target(10, "000")
    assert verdict(10 * (1 + 0.99 * TOLERANCE), published) == "pass"
    assert verdict(10 * (1 - 1.01 * TOLERANCE), published) == "fail"
    assert verdict(50, Target(10, "000", "choice")) == "choice"
    assert [verdict(value, Target(10, "000", "least")) for value in (9.9, 30)] == ["fail", "pass"]
    assert verdict(50, None) == ""


def test_page_is_up_to_date(everything: bool) -> None:
    page = calibration.PAGE.read_text(encoding="utf-8")
    assert page.startswith(calibration.INTRODUCTION)
    # The long traces when everything is asked for.
    sections = [calibration.section(name) for name in (CALIBRATIONS if everything else calibration.HOURS)]
    for new in [*sections, *(calibration.choices(name) for name in calibration.HOURS)]:
        title = new.splitlines()[0]
        found = re.search(rf"^{re.escape(title)}\n.*?(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
        assert found, f"docs/calibration.md lacks: {title}"
        changed = difference(found[0].rstrip(), new.rstrip())
        assert changed is None, f"{title}, {changed}\nrun: python -m tests.validation.calibration"

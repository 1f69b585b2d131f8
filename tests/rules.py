"""Rules for all tests: a slow test gives a reason, and no test is skipped if `SLEDLAB_REQUIRE=1`.

A pytest plugin, registered in tests/conftest.py. The time limit in pyproject.toml guards against hangs only.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

REQUIRE = "SLEDLAB_REQUIRE"
REFERENCE = "SLEDLAB_REFERENCE"
SLOW = "slow"


class Rules:
    """Applies the rules in one pytest process."""

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Fail a skipped test if skips are forbidden."""
        report = yield
        if is_forbidden(report):
            refuse_skip(report)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Fail a skipped file if skips are forbidden."""
        report = yield
        if is_forbidden(report):
            refuse_skip(report)
        return report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse a `slow` mark without a reason."""
        for item in items:
            mark = item.get_closest_marker(SLOW)
            if mark and not (len(mark.args) == 1 and isinstance(mark.args[0], str) and mark.args[0]):
                raise pytest.UsageError(f'{item.nodeid}: give a reason: @pytest.mark.{SLOW}("reason")')


def is_forbidden(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Return whether a report is a forbidden skip.

    Expected failures are no skips. Skips for missing reference data are allowed if `SLEDLAB_REFERENCE=none`,
    because these data cannot be installed.
    """
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get(REQUIRE) != "1":
        return False
    return not (os.environ.get(REFERENCE) == "none" and REFERENCE in skip_reason(report))


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason of a skip."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure."""
    report.longrepr = f"{skip_reason(report)}\n{REQUIRE}=1 is set, so nothing may be skipped."
    report.outcome = "failed"

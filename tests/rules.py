"""Rules for all tests.

A slow test gives a reason, no test is skipped if `SLEDLAB_REQUIRE=1`, and tests leave no files behind. These
rules are pytest plugins that tests/conftest.py registers. The time limit in pyproject.toml guards against
hangs only.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Generator
from tempfile import TemporaryDirectory
from unittest import mock

import pytest

from tests.leftovers import LeftoverCheck

REQUIRE = "SLEDLAB_REQUIRE"
REFERENCE = "SLEDLAB_REFERENCE"
PAPERS = "SLEDLAB_PAPERS"
"""Folder of the texts of the papers, which are under copyright."""
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

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Remove the temporary files of an example in a docstring, which does not show the removal."""
        if not isinstance(item, pytest.DoctestItem):
            return (yield)
        with TemporaryDirectory() as directory, mock.patch.object(tempfile, "tempdir", directory):
            return (yield)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuse a `slow` mark without a reason."""
        for item in items:
            mark = item.get_closest_marker(SLOW)
            if mark and not (len(mark.args) == 1 and isinstance(mark.args[0], str) and mark.args[0]):
                raise pytest.UsageError(f'{item.nodeid}: give a reason: @pytest.mark.{SLOW}("reason")')


class NoLeftovers:
    """Fails the run if files remain in the temporary directory, the checkout or the home directory.

    Registered once for a run, not in the workers of pytest-xdist, which inherit the temporary directory. The
    directories of pytest's `tmp_path` stay outside of it: they are kept to explain failures.
    """

    def __init__(self, check: LeftoverCheck) -> None:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        # Dask leaves an empty directory if a process is killed, as in some tests.
        os.environ.setdefault("DASK_TEMPORARY_DIRECTORY", tempfile.gettempdir())
        os.environ.update(check.environment)
        tempfile.tempdir = str(check.temporary)
        self.check = check

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Report leftover files as an error of the run."""
        for each in gc.get_objects():
            if isinstance(each, TemporaryDirectory):  # removed at the exit of this process
                each.cleanup()
        leftover_paths = self.check.leftovers()
        self.check.close()
        if leftover_paths:
            text = "Tests left these files behind:\n" + "\n".join(leftover_paths)
            report = pytest.TestReport("leftovers", ("leftovers", None, ""), {}, "failed", text, "teardown")
            session.config.hook.pytest_runtest_logreport(report=report)
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def is_forbidden(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Return whether a report is a forbidden skip.

    Expected failures are no skips. Skips for missing reference data are allowed if `SLEDLAB_REFERENCE=none`,
    and those for missing texts of papers always, because these data cannot be installed.
    """
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get(REQUIRE) != "1":
        return False
    reason = skip_reason(report)
    return not (PAPERS in reason or (os.environ.get(REFERENCE) == "none" and REFERENCE in reason))


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason of a skip."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure."""
    report.longrepr = f"{skip_reason(report)}\n{REQUIRE}=1 is set, so nothing may be skipped."
    report.outcome = "failed"

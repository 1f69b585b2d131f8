"""Rules for all tests: none is slow without a reason, and none is skipped where all must run.

A plugin of pytest that tests/conftest.py registers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import Any

import pytest

try:
    import resource
except ImportError:  # on Windows
    resource = None

REQUIRE = "SLEDLAB_REQUIRE"
REFERENCE = "SLEDLAB_REFERENCE"
SLOW = "slow"
LIMIT_S = 10.0
"""Processor time of a test without the mark, at most: twice what it should take, as times vary so much."""
YARDSTICK_S = 0.11
"""Processor time of the yardstick on a machine without other load."""
YARDSTICKS = 5


def processor_s() -> float:
    """Processor time of this process, all its threads, and the children that it has waited for.

    On Windows without its children, whose time Windows does not report.
    """
    if resource is None:
        return time.process_time()
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def yardstick() -> float:
    """Processor time of a fixed piece of work: longer on a machine that is slow or has other load.

    The longest of several counts: load that slowed a test down may have paused since.
    """
    return max(fixed_work() for _ in range(YARDSTICKS))


def fixed_work() -> float:
    """Processor time of squaring numbers."""
    begun = time.thread_time()
    total = 0
    for number in range(1_400_000):
        total ^= number * number
    return time.thread_time() - begun


class Rules:
    """Applies the rules in one process of pytest."""

    def __init__(self, limit_s: float = LIMIT_S, yardstick_s: float = YARDSTICK_S) -> None:
        self.limit_s = limit_s
        self.yardstick_s = yardstick_s
        self.shared_s = 0.0
        """Processor time of fixtures that several tests share: the first test is not charged for them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """Measures the time of shared fixtures."""
        begun, within = processor_s(), self.shared_s
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.shared_s = within + processor_s() - begun

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Notes the time at which a test begins."""
        item.stash[BEGUN] = processor_s() - self.shared_s
        return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Fails a test that was skipped where none may be, or that took too long."""
        report = yield
        if forbidden(report):
            refuse_skip(report)
        if report.when == "call" and report.passed and not item.get_closest_marker(SLOW):
            used = processor_s() - self.shared_s - item.stash[BEGUN]
            if used > self.limit_s and used > self.limit_s * yardstick() / self.yardstick_s:
                report.outcome = "failed"
                report.longrepr = too_slow(used, self.limit_s)
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Fails a file that was skipped where none may be."""
        report = yield
        if forbidden(report):
            refuse_skip(report)
        return report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Refuses a test that is marked slow without a reason."""
        for item in items:
            mark = item.get_closest_marker(SLOW)
            if mark and not (len(mark.args) == 1 and isinstance(mark.args[0], str) and mark.args[0]):
                raise pytest.UsageError(f'{item.nodeid}: say why: @pytest.mark.{SLOW}("a reason")')


BEGUN = pytest.StashKey[float]()


def forbidden(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Whether a skip is forbidden; expected failures are not skips.

    Allowed are skips for reference data that a machine is declared not to have: nobody can install these.
    """
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get(REQUIRE) != "1":
        return False
    return not (os.environ.get(REFERENCE) == "none" and REFERENCE in reason(report))


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why something was skipped."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skip into a failure."""
    report.longrepr = f"{reason(report)}\n{REQUIRE}=1 is set, so nothing may be skipped."
    report.outcome = "failed"


def too_slow(used_s: float, limit_s: float) -> str:
    """The failure's text: the time, and what to do about it."""
    return (
        f"This test took {used_s:.1f} s of processor time; without a reason it may take {limit_s:g} s. "
        f'Let it do less, share its set-up in a fixture, or mark it: @pytest.mark.{SLOW}("why it takes long")'
    )

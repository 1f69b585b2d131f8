"""What all tests keep to: none is slow without a reason, and none is skipped where all must run.

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
"""Of processor time, for a test without the mark: twice what one should take, since times vary that much."""
YARDSTICK_S = 0.11
"""What a yardstick takes on a machine that has nothing else to do."""
YARDSTICKS = 5


def processor_s() -> float:
    """Processor time of this process, all its threads, and the children that it has waited for.

    On Windows without those, which it does not tell.
    """
    if resource is None:
        return time.process_time()
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def yardstick() -> float:
    """Processor time of a fixed piece of work: more on a machine that is slow, or busy with other things.

    Several times, of which the longest counts: what slowed a test down may have paused since.
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
    """Watches one process of pytest."""

    def __init__(self, limit_s: float = LIMIT_S, yardstick_s: float = YARDSTICK_S) -> None:
        self.limit_s = limit_s
        self.yardstick_s = yardstick_s
        self.shared_s = 0.0
        """Processor time of fixtures that several tests share: whoever comes first does not pay for them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        """Takes the time of shared fixtures."""
        begun, within = processor_s(), self.shared_s
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.shared_s = within + processor_s() - begun

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Notes where a test begins."""
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
        """Sees that everything slow has a reason."""
        for item in items:
            mark = item.get_closest_marker(SLOW)
            if mark and not (len(mark.args) == 1 and isinstance(mark.args[0], str) and mark.args[0]):
                raise pytest.UsageError(f'{item.nodeid}: say why: @pytest.mark.{SLOW}("a reason")')


BEGUN = pytest.StashKey[float]()


def forbidden(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """Whether something was skipped and must not be; expected failures are something else.

    So are comparisons with reference data that a machine is said not to have: nobody can install that.
    """
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get(REQUIRE) != "1":
        return False
    return not (os.environ.get(REFERENCE) == "none" and REFERENCE in reason(report))


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why something was skipped."""
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Makes a failure of a skip."""
    report.longrepr = f"{reason(report)}\n{REQUIRE}=1 is set, so nothing may be skipped."
    report.outcome = "failed"


def too_slow(used_s: float, limit_s: float) -> str:
    """What to do about it."""
    return (
        f"This test took {used_s:.1f} s of processor time; without a reason it may take {limit_s:g} s. "
        f'Let it do less, share its set-up in a fixture, or mark it: @pytest.mark.{SLOW}("why it takes long")'
    )

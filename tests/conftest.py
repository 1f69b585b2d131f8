"""Fixtures and helpers of the Python tests."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sledlab as sl
from sledlab.cli import run
from sledlab.display import DisplayedResult
from sledlab.study.executor import worker_choice

from tests.leftovers import LeftoverCheck
from tests.rules import NoLeftovers, Rules

THIRD_PARTY_TIERS = {"clients", "data", "web"}
"""Folders of tests that run other programs, which leave files of their own in the temporary directory."""

EVERYTHING = "everything"
"""Marks tests that take long; only `make validate` runs them."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--everything", action="store_true", help="run the long tests too")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Rules(), "rules")
    paths = [Path(each).as_posix() for each in config.args]
    runs_programs = any(f"tests/{tier}" in path for path in paths for tier in THIRD_PARTY_TIERS)
    if not hasattr(config, "workerinput") and not runs_programs:
        check = LeftoverCheck()
        config.add_cleanup(check.close)
        config.pluginmanager.register(NoLeftovers(check), "no-leftovers")
    # Data and records of jobs are kept in the tests' own cache, not in the user's.
    if getattr(config, "cache", None) is not None:
        os.environ["SLEDLAB_DATA"] = str(config.cache.mkdir("data"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--everything"):
        return
    long_tests = [item for item in items if item.get_closest_marker(EVERYTHING)]
    items[:] = [item for item in items if item not in long_tests]
    config.hook.pytest_deselected(items=long_tests)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print once, if the reference data are missing, what was compared instead."""
    skipped = terminalreporter.stats.get("skipped", [])
    if any("SLEDLAB_REFERENCE" in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(REFERENCE_NOTICE)


REFERENCE_NOTICE = (
    "Sleds and disks were compared with the recorded runs in validation/reference only; for the full "
    "reference data, set SLEDLAB_REFERENCE to its folder."
)

PROJECT = Path(__file__).parents[1]
SAMPLES = PROJECT / "sample" / "traces"

PEAK_KIB = "int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
"""Python code for the peak memory of its own process. `ru_maxrss` begins with that of the parent."""


@pytest.fixture(scope="session", autouse=True)
def children_get_default_signals() -> Iterator[None]:
    """Give child processes default signal dispositions, also if pytest runs under nohup or in the background.

    Children inherit ignored signals but not handlers: an empty handler ignores a signal in this process only.
    """
    end_signals = [getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM") if hasattr(signal, name)]
    ignored_signals = [number for number in end_signals if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored_signals:
        signal.signal(number, lambda *_: None)
    yield
    for number in ignored_signals:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(scope="session", autouse=True)
def studies_run_in_one_process() -> Iterator[None]:
    """Make one job the default of studies: starting processes takes longer than most studies of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_choice, "processors", lambda: 1)
        yield


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def assert_refused(self, message: str) -> None:
        """Assert that the command line was refused with this text in the error, which may be wrapped."""
        assert self.code == 2, self.err
        assert message in self.err.replace("\n", " ")
        assert self.out == ""
        assert "Traceback" not in self.err


@pytest.fixture
def sledlab(capfd: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Return a function that runs the command line in this process, and returns exit code and output."""

    def call(*arguments: object) -> Answer:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Answer(code, out, err)

    return call


@pytest.fixture
def refused() -> Callable[[str], AbstractContextManager[pytest.ExceptionInfo[sl.Error]]]:
    """Return a function that expects an error with a given text: `with refused("did you mean"): ...`."""
    return lambda message: pytest.raises(sl.Error, match=re.escape(message))


@pytest.fixture
def short_runs_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Execute short runs of studies in other processes, as long ones are."""
    monkeypatch.setattr("sledlab.study.bench.SHORT_RUN_OPERATIONS", 0)


@pytest.fixture
def without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep studies of this process from writing a page, which takes longer than a small study."""
    monkeypatch.setattr(DisplayedResult, "report", lambda _self, path: Path(path))


@pytest.fixture
def bank() -> Path:
    """The sample trace of a database."""
    return SAMPLES / "oltp-bank-a.csv.zst"


@pytest.fixture
def small_trace(tmp_path: Path) -> Path:
    """A trace of four operations, one of each kind."""
    path = tmp_path / "small.csv"
    path.write_text(
        "time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n900,W,8192,512\n950,F,0,0\n1800,T,0,4096\n"
    )
    return path

"""tests/leftovers.py: files that tests leave behind are errors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import leftovers
from tests.conftest import PROJECT
from tests.leftovers import LeftoverCheck

CONFTEST = """
import pathlib
from tests import leftovers
from tests.rules import NoLeftovers

leftovers.PATIENCE_S = 0
def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        here = pathlib.Path(__file__).parent
        check = leftovers.LeftoverCheck(here / "checkout", here / "home")
        config.pluginmanager.register(NoLeftovers(check))
"""
LEFTOVER_TEST = """
import pathlib, tempfile

def test_temporary_directory():
    tempfile.mkdtemp(prefix="planted-")
def test_checkout():
    pathlib.Path("checkout", "planted").touch()
def test_home():
    pathlib.Path("home", "sledlab-planted").touch()
"""
CLEAN = """
import tempfile

def test_clean(tmp_path):
    (tmp_path / "file").touch()
    tempfile.TemporaryDirectory().cleanup()
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_leftover_files_fail_the_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PROJECT), os.environ.get("PYTHONPATH", "")]))
    pytester.makeconftest(CONFTEST)
    pytester.mkdir("checkout")
    pytester.mkdir("home")
    clean = pytester.makepyfile(test_clean=CLEAN)
    leftover_test = pytester.makepyfile(test_planted=LEFTOVER_TEST)
    done = pytester.runpytest_subprocess("-n", workers, clean)
    assert (done.ret, done.parseoutcomes()) == (0, {"passed": 1})
    done = pytester.runpytest_subprocess("-n", workers, leftover_test)
    assert (done.ret, done.parseoutcomes()) == (1, {"passed": 3, "errors": 1})
    done.stdout.fnmatch_lines_random(["*/tests-*/planted-*", "*/checkout/planted", "*/home/sledlab-planted"])


def test_file_of_another_program_is_no_leftover(tmp_path: Path) -> None:
    (tmp_path / "procps").touch()
    (tmp_path / ".sledlab").touch()
    assert list(leftovers.home_names(tmp_path)) == [tmp_path / ".sledlab"]


def test_output_of_tools_is_no_leftover(tmp_path: Path) -> None:
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    (checkout / "target").mkdir(parents=True)
    (home / ".cache").mkdir(parents=True)
    check = LeftoverCheck(checkout, home)
    (checkout / "target" / "built").touch()
    (home / ".cache" / "matplotlib").mkdir()
    try:
        assert check.leftovers() == []
    finally:
        check.close()

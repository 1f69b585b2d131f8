"""The rules that tests keep (tests/rules.py), and the helper by which they skip (tests/require.py)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests import require
from tests.require import PROGRAMS, missing_packages, need

CONFTEST = """
from tests.rules import Rules
def pytest_configure(config):
    config.addinivalue_line("markers", "slow(reason): takes long")
    config.pluginmanager.register(Rules(limit_s=0.2, yardstick_s={yardstick_s}))
"""
WORK = """
import pytest, subprocess, sys, time
def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
"""
WITHOUT = ("xdist", "cacheprovider", "hypothesispytest", "pytester")


@pytest.fixture
def outcomes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Runs tests under the rules, with a limit of 0.2 s, and gives how they ended and what was printed."""

    def run(tests: str, require: str = "", yardstick_s: float = 1e3) -> tuple[dict[str, int], str]:
        monkeypatch.setenv("SLEDLAB_REQUIRE", require)
        pytester.makeconftest(CONFTEST.format(yardstick_s=yardstick_s))
        pytester.makepyfile(WORK + tests)
        done = pytester.runpytest_inprocess(*(f"-pno:{plugin}" for plugin in WITHOUT), "-rA")
        return done.parseoutcomes(), f"{done.stdout}{done.stderr}"

    return run


def test_work_beyond_the_limit_needs_a_mark(outcomes):
    found, out = outcomes("""
def test_works(): work(0.5)
def test_waits(): time.sleep(0.5)
@pytest.mark.slow("it works")
def test_marked(): work(0.5)
""")
    assert found == {"passed": 2, "failed": 1}
    assert 'mark it: @pytest.mark.slow("why it takes long")' in out


def test_children_and_own_fixtures_count_shared_ones_do_not(outcomes):
    found, out = outcomes("""
@pytest.fixture
def own(): work(0.5)
@pytest.fixture(scope="module")
def deeper(): work(0.3)
@pytest.fixture(scope="module")
def shared(deeper): work(0.3)
def test_own(own): pass
def test_shared(shared): pass
def test_child(): subprocess.run([sys.executable, "-c", "sum(n * n for n in range(10_000_000))"])
""")
    assert found == {"passed": 1, "failed": 2}
    assert "PASSED" in next(line for line in out.splitlines() if line.endswith("::test_shared"))


def test_a_slow_machine_fails_nobody(outcomes):
    found, _ = outcomes("def test_works(): work(0.5)", yardstick_s=1e-3)
    assert found == {"passed": 1}


@pytest.mark.parametrize("mark", ["slow", 'slow("")'])
def test_a_mark_needs_a_reason(outcomes, mark):
    found, out = outcomes(f"@pytest.mark.{mark}\ndef test_marked(): pass")
    assert "passed" not in found
    assert "say why" in out


SKIPS = """
def test_inside(): pytest.skip("no fio")
@pytest.mark.skipif(True, reason="no runs")
def test_outside(): pass
@pytest.mark.xfail
def test_expected(): assert False
"""


def test_skips_are_failures_where_all_is_required(outcomes):
    found, _ = outcomes(SKIPS)
    assert found == {"skipped": 2, "xfailed": 1}
    found, out = outcomes(SKIPS, require="1")
    assert found == {"failed": 1, "errors": 1, "xfailed": 1}
    assert "no fio" in out
    assert "no runs" in out
    assert "SLEDLAB_REQUIRE=1 is set, so nothing may be skipped" in out


def test_what_nobody_can_install_may_be_missing(outcomes, monkeypatch):
    skips = 'def test_it(): pytest.skip("no reference runs in none (set SLEDLAB_REFERENCE)")'
    monkeypatch.setenv("SLEDLAB_REFERENCE", "none")
    assert outcomes(skips, require="1")[0] == {"skipped": 1}
    monkeypatch.setenv("SLEDLAB_REFERENCE", "elsewhere")
    assert outcomes(skips, require="1")[0] == {"failed": 1}


def test_so_are_files_that_are_skipped(outcomes):
    file = 'pytest.importorskip("no_such_library")\ndef test_it(): pass'
    found, _ = outcomes(file)
    assert found == {"skipped": 1}
    found, out = outcomes(file, require="1")
    assert found == {"errors": 1}
    assert "no_such_library" in out


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match="fio is not installed: apt-get install fio"):
        need("fio")
    with pytest.raises(pytest.skip.Exception, match="no_such_library is not installed: make setup"):
        need("no_such_library")
    assert need("polars") == "polars"
    assert "xz-utils" in missing_packages()
    assert set(missing_packages()) == {one for packages in PROGRAMS.values() for one in packages.split()}


def test_packages_are_told_before_anything_is_installed():
    bare = subprocess.run(
        [sys.executable, "-I", "-S", require.__file__], capture_output=True, text=True, check=True
    )
    assert bare.stdout.split() == missing_packages()

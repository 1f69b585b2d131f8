"""The rules of tests (tests/rules.py), and the helper by which they skip (tests/require.py)."""

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
    config.pluginmanager.register(Rules())
"""
DISABLED_PLUGINS = ("xdist", "cacheprovider", "hypothesispytest", "pytester")


@pytest.fixture
def outcomes(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run tests under the rules and return the number of tests by outcome, and the output."""

    def run(tests: str, require: str = "") -> tuple[dict[str, int], str]:
        monkeypatch.setenv("SLEDLAB_REQUIRE", require)
        pytester.makeconftest(CONFTEST)
        pytester.makepyfile("import pytest\n" + tests)
        done = pytester.runpytest_inprocess(*(f"-pno:{plugin}" for plugin in DISABLED_PLUGINS), "-rA")
        return done.parseoutcomes(), f"{done.stdout}{done.stderr}"

    return run


@pytest.mark.parametrize("mark", ["slow", 'slow("")'])
def test_slow_mark_without_reason_is_refused(outcomes, mark):
    counts, printed = outcomes(f"@pytest.mark.{mark}\ndef test_marked(): pass")
    assert "passed" not in counts
    assert "give a reason" in printed


SKIPS = """
def test_inside(): pytest.skip("no fio")
@pytest.mark.skipif(True, reason="no runs")
def test_outside(): pass
@pytest.mark.xfail
def test_expected(): assert False
"""


def test_skips_fail_if_everything_is_required(outcomes):
    counts, _ = outcomes(SKIPS)
    assert counts == {"skipped": 2, "xfailed": 1}
    counts, printed = outcomes(SKIPS, require="1")
    assert counts == {"failed": 1, "errors": 1, "xfailed": 1}
    assert "no fio" in printed
    assert "no runs" in printed
    assert "SLEDLAB_REQUIRE=1 is set, so nothing may be skipped" in printed


def test_reference_data_may_be_missing(outcomes, monkeypatch):
    skips = 'def test_it(): pytest.skip("no reference runs in none (set SLEDLAB_REFERENCE)")'
    monkeypatch.setenv("SLEDLAB_REFERENCE", "none")
    assert outcomes(skips, require="1")[0] == {"skipped": 1}
    monkeypatch.setenv("SLEDLAB_REFERENCE", "elsewhere")
    assert outcomes(skips, require="1")[0] == {"failed": 1}


def test_texts_of_papers_may_be_missing(outcomes):
    skips = 'def test_it(): pytest.skip("no text of lin in none (set SLEDLAB_PAPERS)")'
    assert outcomes(skips, require="1")[0] == {"skipped": 1}


def test_skipped_files_fail_if_everything_is_required(outcomes):
    test_source = 'pytest.importorskip("no_such_library")\ndef test_it(): pass'
    counts, _ = outcomes(test_source)
    assert counts == {"skipped": 1}
    counts, printed = outcomes(test_source, require="1")
    assert counts == {"errors": 1}
    assert "no_such_library" in printed


def test_missing_programs_and_libraries_are_named(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match="fio is not installed: apt-get install fio"):
        need("fio")
    with pytest.raises(pytest.skip.Exception, match="no_such_library is not installed: make setup"):
        need("no_such_library")
    assert need("polars") == "polars"
    assert "xz-utils" in missing_packages()
    assert set(missing_packages()) == {
        package for packages in PROGRAMS.values() for package in packages.split()
    }


def test_packages_are_listed_before_installation():
    completed = subprocess.run(
        [sys.executable, "-I", "-S", require.__file__], capture_output=True, text=True, check=True
    )
    assert completed.stdout.split() == missing_packages()

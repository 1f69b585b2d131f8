"""`tools/advisories.py`: known vulnerabilities fail the check, missing tools and databases are reported."""

import json
import sys
from pathlib import Path

import pytest

from tools.advisories import main


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Replaces the programs on the path by scripts with given output and exit code."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(name, *, out="", err="", code=0):
        script = tmp_path / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.stdout.write({out!r})\nsys.stderr.write({err!r})\n"
            f"sys.exit({code})\n"
        )
        script.chmod(0o700)

    return write


def audit(*packages):
    return json.dumps({"dependencies": list(packages), "fixes": []})


CLEAN = {"name": "rich", "version": "15.0", "vulns": []}
AFFECTED = {"name": "jinja2", "version": "2.0", "vulns": [{"id": "PYSEC-2014-8"}]}
SKIPPED = {"name": "click", "skip_reason": "Dependency not found on PyPI"}


def test_missing_tools_are_reported(programs, capsys):
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "not checked: advisories of crates: cargo-deny is not installed"
    assert lines[1] == "not checked: advisories of packages in requirements.lock: pip-audit is not installed"


def test_unreachable_databases_are_reported(programs, capsys):
    programs("cargo-deny", err="[ERROR] failed to fetch advisory database https://...\n", code=1)
    programs("pip-audit", out=audit(CLEAN, SKIPPED))
    assert main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "not checked: advisories of crates: the database of RustSec is not reachable"
    assert lines[1].startswith("not checked: advisories of 1 of 2 packages in requirements.lock: ")


def test_timeouts_are_reported(programs, capsys, monkeypatch):
    programs("cargo-deny")
    programs("pip-audit", out=audit(CLEAN))
    monkeypatch.setattr("tools.advisories.TIMEOUT_S", 0)
    assert main() == 0
    assert capsys.readouterr().out.count("not checked") == 3


def test_failed_audit_is_reported(programs, capsys):
    programs("cargo-deny")
    programs("pip-audit", err="ConnectionError: no route\n", code=1)
    assert main() == 0
    expected = "not checked: advisories of packages in requirements.lock: ConnectionError: no route"
    assert expected in capsys.readouterr().out


def test_clean_dependencies_pass_silently(programs, capsys):
    programs("cargo-deny")
    programs("pip-audit", out=audit(CLEAN))
    assert (main(), capsys.readouterr().out) == (0, "")


def test_vulnerable_crate_fails(programs, capsys):
    programs("cargo-deny", err="error[vulnerability]: RUSTSEC-2026-0001\n", code=1)
    programs("pip-audit", out=audit(CLEAN))
    assert main() == 1
    assert "RUSTSEC-2026-0001" in capsys.readouterr().out


def test_vulnerable_package_fails(programs, capsys):
    programs("cargo-deny")
    programs("pip-audit", out=audit(CLEAN, AFFECTED), code=1)
    assert main() == 1
    assert "requirements.lock: jinja2 2.0: PYSEC-2014-8" in capsys.readouterr().out


def test_lint_checks_advisories():
    text = (Path(__file__).parents[2] / "Makefile").read_text()
    assert "-m tools.advisories" in text.split("\nlint:")[1].split("\n\n")[0]

"""The sources of the page pass the type check, and their pure functions are tested without a browser."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"


def npm(*arguments: str) -> str:
    """Run a script of the page's package, and return its output; fail if the script fails."""
    program = shutil.which("npm")
    if program is None or not (WEB / "node_modules" / "esbuild").exists():
        pytest.skip("the page's packages are not there: make web")
    completed = subprocess.run(
        [program, *arguments],
        cwd=WEB,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CI": "1"},
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


@pytest.mark.slow("the compiler of TypeScript reads all of it")
def test_types_agree() -> None:
    npm("run", "check")


def test_typescript_unit_tests_pass() -> None:
    assert "# fail 0" in npm("test")


def test_modules_are_short() -> None:
    lines_by_long_module = {
        path.name: lines
        for path in (WEB / "page").rglob("*.ts")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert lines_by_long_module == {}

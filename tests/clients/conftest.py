"""Fixtures of tests with real programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a program in a folder of its own, and returns its output; it must not fail."""

    def call(*command: object, **options: object) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        assert done.returncode == 0, f"{command[0]}: {done.stderr}{done.stdout}"
        return str(done.stdout)

    return call


@pytest.fixture
def sledlab_program() -> tuple[str, ...]:
    """The command line in a process of its own, as a shell starts it."""
    return (sys.executable, "-m", "sledlab")

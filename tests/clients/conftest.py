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
    """Return a function that runs a program in a new directory and returns its output; it must succeed."""

    def call(*command: object, **options: object) -> str:
        completed = subprocess.run(
            [str(part) for part in command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            **options,  # type: ignore[call-overload]
        )
        assert completed.returncode == 0, f"{command[0]}: {completed.stderr}{completed.stdout}"
        return str(completed.stdout)

    return call


@pytest.fixture
def sledlab_program() -> tuple[str, ...]:
    """The command line in a process of its own, as a shell starts it."""
    return (sys.executable, "-m", "sledlab")

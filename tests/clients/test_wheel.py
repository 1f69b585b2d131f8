"""The wheel works in an environment of its own, away from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.require import need

PROJECT = Path(__file__).parents[2]


@pytest.mark.slow("builds the wheel and installs it with all that it needs")
def test_the_wheel_in_a_clean_environment(tmp_path: Path) -> None:
    need("cargo")
    nothing_of_here = {
        name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
    }

    def run(*command: object, cwd: Path = tmp_path) -> str:
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=nothing_of_here,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(sys.executable, "-m", "maturin", "build", "--release", "--locked", "--out", tmp_path, cwd=PROJECT)
    (wheel,) = tmp_path.glob("sledlab-*-cp311-abi3-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "clean")
    programs = tmp_path / "clean" / "bin"
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--constraint", PROJECT / "requirements.lock", wheel)

    assert run(programs / "sledlab", "--version").startswith("sledlab")
    run_it = (
        programs / "sledlab",
        "simulate",
        "--device",
        "mems-g2",
        "--workload",
        "uniform",
        "--limit",
        10_000,
    )
    assert json.loads(run(*run_it, "--json"))["requests"] == 10_000
    run(*run_it, "--out", "run")
    assert (tmp_path / "run" / "report.html").stat().st_size > 0

"""tools/rust.py: what `make demo` and `make test` do about Rust."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def run_setup(tmp_path: Path):
    """Runs the script in a checkout of its own, with these tools on the PATH and nothing to download from."""
    checkout, tools = tmp_path / "checkout", tmp_path / "tools"
    (checkout / "tools").mkdir(parents=True)
    tools.mkdir()
    shutil.copy(PROJECT / "Cargo.toml", checkout)
    shutil.copy(PROJECT / "tools" / "rust.py", checkout / "tools")

    def run(**answers: str) -> subprocess.CompletedProcess[str]:
        for name, answer in answers.items():
            tool = tools / name
            tool.write_text(f"#!/bin/sh\necho '{answer}'\n")
            tool.chmod(0o755)
        nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tools)}
        return subprocess.run(
            [sys.executable, "tools/rust.py"],
            cwd=checkout,
            env={**os.environ, **nowhere, "PATH": str(tools)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_new_rust_is_used_in_silence(run_setup):
    done = run_setup(cc="", cargo="cargo 1.99.0 (abc 2030-01-01)", rustc="rustc 1.99.0 (abc 2030-01-01)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "rust", [{}, {"cargo": "cargo 1.63.0", "rustc": "rustc 1.63.0"}, {"cargo": "cargo 1.99.0"}]
)
def test_missing_rust_without_download_prints_one_line(run_setup, rust):
    done = run_setup(cc="", **rust)
    assert done.returncode == 2
    assert done.stdout.count("\n") == 1
    assert done.stderr.count("\n") == 1
    assert "install it with rustup, or on Debian with apt-get install cargo-web rustc-web" in done.stderr


def test_missing_compiler_prints_one_line(run_setup):
    done = run_setup()
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "Rust needs a C compiler to link with: on Debian, apt-get install build-essential\n"

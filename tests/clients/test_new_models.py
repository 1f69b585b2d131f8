"""A scheduler and a replacement policy as CONTRIBUTING.md adds them, built and tested by cargo."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.contributing.test_patches import PROJECT, patched


@pytest.mark.slow("builds the models anew, with a scheduler and a replacement policy more")
def test_a_new_scheduler_and_a_new_replacement_policy(tmp_path: Path) -> None:
    tree = patched(tmp_path / "tree", "scheduler", "replacement")
    # Dependencies are there already, from the project's own tests.
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(PROJECT / "target")),
    }

    def tests(*words: str) -> str:
        command = ["cargo", "test", "--locked", "--package", "sledlab-models", *words]
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    assert "test result: ok" in tests("--lib", "replacement")
    assert "test result: ok" in tests("--test", "schedulers", "serve")

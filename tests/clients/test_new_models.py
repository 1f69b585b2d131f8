"""A scheduler, a replacement policy and a device as CONTRIBUTING.md adds them, built and tested by cargo."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.contributing.test_patches import PROJECT, copy_with_patches

ENVIRONMENT = {
    **os.environ,
    "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(PROJECT / "target")),
}
"""Dependencies are reused from the project's own tests."""

DEVICE = 'kind = "constant"\nname = "mine"\naccess_us = 250\n'
"""Room for 125,000 blocks; there is no preset of this kind."""

UNIFORM = ("--workload", "uniform", "--limit", "300", "--set", "workload.mean_interarrival_ms=2")


@pytest.fixture(scope="module")
def patched_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the three patches."""
    return copy_with_patches(tmp_path_factory.mktemp("new") / "tree", "scheduler", "replacement", "device")


def cargo(patched_tree: Path, *arguments: str) -> str:
    command = ["cargo", *arguments]
    completed = subprocess.run(
        command, cwd=patched_tree, capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert completed.returncode == 0, completed.stdout[-3000:] + completed.stderr[-3000:]
    return completed.stdout


@pytest.fixture(scope="module")
def sledlab(patched_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The command line of that project, in a folder with a file of the new device."""
    cargo(patched_tree, "build", "--locked", "--package", "sledlab-python")
    target_directory = Path(ENVIRONMENT["CARGO_TARGET_DIR"], "debug")
    library = next(
        file for file in target_directory.glob("*_native.*") if file.suffix in (".so", ".dylib", ".dll")
    )
    shutil.copy2(library, patched_tree / "python" / "sledlab" / "_native.abi3.so")
    working_directory = tmp_path_factory.mktemp("runs")
    (working_directory / "mine.toml").write_text(DEVICE)
    environment = {**os.environ, "PYTHONPATH": str(patched_tree / "python")}

    def call(*arguments: object) -> str:
        command = [sys.executable, "-m", "sledlab", *map(str, arguments)]
        completed = subprocess.run(
            command, cwd=working_directory, capture_output=True, text=True, env=environment, check=False
        )
        assert completed.returncode == 0, completed.stdout + completed.stderr
        return completed.stdout

    return call


@pytest.mark.slow("builds the models anew, with a scheduler, a replacement policy and a device more")
def test_new_models_pass_conformance_tests(patched_tree: Path) -> None:
    for model in ("scheduler::smallest::", "replacement::mru::", "device::constant::"):
        output = cargo(
            patched_tree, "test", "--locked", "--package", "sledlab-models", "--test", "conformance", model
        )
        assert f"test {model}" in output
        assert "test result: ok" in output


def is_energy_complete(summary: dict[str, Any]) -> bool:
    energy_by_part = dict(summary["energy_j"])
    total = energy_by_part.pop("total")
    return total > 0 and sum(energy_by_part.values()) == pytest.approx(total, rel=1e-12)


@pytest.mark.slow("builds the extension anew, with a device more, and runs it")
def test_new_device_is_listed_and_simulated(sledlab: Callable[..., str]) -> None:
    assert "access_us" in sledlab("show", "device", "mine.toml")
    summary = json.loads(sledlab("simulate", "--device", "mine.toml", *UNIFORM, "--json", "--out", "alone"))
    assert summary["requests"] == 300
    assert summary["time_by_part_ms"]["transfer"] == pytest.approx(0.25)
    assert is_energy_complete(summary)
    printed = sledlab("simulate", "alone/experiment.toml", "--out", "again")
    assert "mine" in printed
    comparison = sledlab("compare", "--device", "mine.toml,mems-g2", *UNIFORM, "--set", "replay.outside=wrap")
    assert "mine" in comparison
    assert "mems-g2" in comparison


@pytest.mark.slow("as above")
def test_new_device_works_in_every_system(sledlab: Callable[..., str]) -> None:
    front = ("--front", "mine.toml", "--set", "hybrid.front_mb=0")
    hybrid = ("--device", "mobile-disk", "--hybrid", "caching-disk", *front)
    summary = json.loads(sledlab("simulate", *hybrid, *UNIFORM, "--json"))
    assert summary["config"]["front"]["kind"] == "constant"
    assert summary["hybrid"]["front"]["writes"] > 0
    assert is_energy_complete(summary)
    stripe = ("--device", "mine.toml", "--system", "stripe", "--set", "system.devices=4")
    assert is_energy_complete(json.loads(sledlab("simulate", *stripe, *UNIFORM, "--json")))
    record = PROJECT / "sample" / "work" / "scan.work"
    cluster = json.loads(sledlab("smart", "replay", record, "--device", "mine.toml", "--json"))
    assert cluster["config"]["device"]["access_us"] == 250.0
    assert cluster["elapsed_s"] > 0

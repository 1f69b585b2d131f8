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
"""Dependencies are there already, from the project's own tests."""

DEVICE = 'kind = "constant"\nname = "mine"\naccess_us = 250\n'
"""Room for 125,000 blocks; there is no preset of this kind."""

UNIFORM = ("--workload", "uniform", "--limit", "300", "--set", "workload.mean_interarrival_ms=2")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with all of them."""
    return copy_with_patches(tmp_path_factory.mktemp("new") / "tree", "scheduler", "replacement", "device")


def cargo(tree: Path, *text: str) -> str:
    command = ["cargo", *text]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def sledlab(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """The command line of that project, in a folder with a file of the new device."""
    cargo(tree, "build", "--locked", "--package", "sledlab-python")
    built = Path(ENVIRONMENT["CARGO_TARGET_DIR"], "debug")
    library = next(file for file in built.glob("*_native.*") if file.suffix in (".so", ".dylib", ".dll"))
    shutil.copy2(library, tree / "python" / "sledlab" / "_native.abi3.so")
    place = tmp_path_factory.mktemp("runs")
    (place / "mine.toml").write_text(DEVICE)
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}

    def call(*text: object) -> str:
        command = [sys.executable, "-m", "sledlab", *map(str, text)]
        done = subprocess.run(
            command, cwd=place, capture_output=True, text=True, env=environment, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


@pytest.mark.slow("builds the models anew, with a scheduler, a replacement policy and a device more")
def test_new_models_pass_conformance_tests(tree: Path) -> None:
    for model in ("scheduler::smallest::", "replacement::mru::", "device::constant::"):
        output = cargo(
            tree, "test", "--locked", "--package", "sledlab-models", "--test", "conformance", model
        )
        assert f"test {model}" in output
        assert "test result: ok" in output


def is_energy_complete(result: dict[str, Any]) -> bool:
    energy = dict(result["energy_j"])
    total = energy.pop("total")
    return total > 0 and sum(energy.values()) == pytest.approx(total, rel=1e-12)


@pytest.mark.slow("builds the extension anew, with a device more, and runs it")
def test_new_device_is_listed_and_simulated(sledlab: Callable[..., str]) -> None:
    assert "access_us" in sledlab("show", "device", "mine.toml")
    result = json.loads(sledlab("simulate", "--device", "mine.toml", *UNIFORM, "--json", "--out", "alone"))
    assert result["requests"] == 300
    assert result["time_by_part_ms"]["transfer"] == pytest.approx(0.25)
    assert is_energy_complete(result)
    page = sledlab("simulate", "alone/experiment.toml", "--out", "again")
    assert "mine" in page
    compared = sledlab("compare", "--device", "mine.toml,mems-g2", *UNIFORM, "--set", "replay.outside=wrap")
    assert "mine" in compared
    assert "mems-g2" in compared


@pytest.mark.slow("as above")
def test_a_new_device_stands_wherever_devices_do(sledlab: Callable[..., str]) -> None:
    front = ("--front", "mine.toml", "--set", "hybrid.front_mb=0")
    hybrid = ("--device", "mobile-disk", "--hybrid", "caching-disk", *front)
    result = json.loads(sledlab("simulate", *hybrid, *UNIFORM, "--json"))
    assert result["config"]["front"]["kind"] == "constant"
    assert result["hybrid"]["front"]["writes"] > 0
    assert is_energy_complete(result)
    stripe = ("--device", "mine.toml", "--system", "stripe", "--set", "system.devices=4")
    assert is_energy_complete(json.loads(sledlab("simulate", *stripe, *UNIFORM, "--json")))
    record = PROJECT / "sample" / "work" / "scan.work"
    cluster = json.loads(sledlab("smart", "replay", record, "--device", "mine.toml", "--json"))
    assert cluster["config"]["device"]["access_us"] == 250.0
    assert cluster["elapsed_s"] > 0

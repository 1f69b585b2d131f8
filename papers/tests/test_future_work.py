"""Experiments on the future work of Chiu 2004: they run, and their files have commands and citations."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import sledlab as sl

from sledlab_papers.paths import EXPERIMENTS
from sledlab_papers.runs import PlannedExperiment
from sledlab_papers.simulator import command_line
from sledlab_papers.smart import future_work
from sledlab_papers.smart.future_work_plan import QUERIES
from sledlab_papers.smart.published_times import DISK, DISK_HOST

NAMES = sorted({planned.experiment for planned in future_work.FUTURE_EXPERIMENTS})


def small_options(planned: PlannedExperiment) -> list[str]:
    """Options with which an experiment takes about a second."""
    tables = tomllib.loads((EXPERIMENTS / f"{planned.experiment}.toml").read_text(encoding="utf-8"))
    has_mining = "apriori-cd" in tables["study"].get("job", ()) and "--job" not in planned.options
    settings = ["scale_factor=0.002", *(["transactions_per_node=100"] if has_mining else [])]
    return [
        "--node-count",
        "4",
        "--parallel",
        "1",
        *(word for each in settings for word in ("--job-set", each)),
    ]


@pytest.mark.slow("replays each job on every device")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("skip_pages")
def test_experiment_runs(name: str, tmp_path: Path) -> None:
    options = ["--query", "q3"] if name == QUERIES else []
    file = str(EXPERIMENTS / f"{name}.toml")
    assert (
        command_line(
            ["smart", file, *small_options(PlannedExperiment(name)), *options, "--out", str(tmp_path)]
        )
        == 0
    )
    assert (tmp_path / "runs.csv").exists()


@pytest.mark.parametrize("name", NAMES)
def test_experiment_file_has_command_and_citation(name: str) -> None:
    text = (EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8")
    assert f"sledlab smart {name} --out DIR" in text
    assert re.match(r"# Chiu 2004, section", text)


def test_all_experiments_have_the_disk_of_the_set() -> None:
    disk = DISK + DISK_HOST
    devices_by_name = {
        file.stem: tomllib.loads(file.read_text(encoding="utf-8"))["study"]["device"]
        for file in EXPERIMENTS.glob("chiu2004-*.toml")
    }
    disks = {each for devices in devices_by_name.values() for each in devices if each.startswith(DISK)}
    assert disks == {disk}


def test_places_of_runs_differ() -> None:
    assert len({planned.place for planned in future_work.FUTURE_EXPERIMENTS}) == len(
        future_work.FUTURE_EXPERIMENTS
    )


def test_scan_sends_results_to_the_client_only() -> None:
    scan = sl.record("scan", 4, scale_factor=0.002)
    sort = sl.record("sort", 4, scale_factor=0.002)
    assert scan.traffic[:, :-1].sum() == 0 < scan.traffic[:, -1].sum()
    assert scan.traffic[:, -1].sum() < 0.03 * sum(scan.files["lineitem"])
    assert sort.traffic[:, :-1].sum() > 0

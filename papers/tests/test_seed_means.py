"""Means over seeds of systems with MEMS in front of a disk."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest

from sledlab_papers.hybrid.names import ALL, CELLO, STAND_INS
from sledlab_papers.hybrid.singles import settings_of_set
from sledlab_papers.hybrid.systems import CACHING_DISK, SIZES, HybridRuns, SeedMean, kind_of_size
from sledlab_papers.simulator import calibration

KIND = kind_of_size(256, 8)


@pytest.fixture
def runs(tmp_path: Path) -> HybridRuns:
    """Results of figure 5 with one system and two seeds, the second of which is overloaded."""
    directory = tmp_path / f"{SIZES}-{CELLO}"
    directory.mkdir()
    columns = {
        "scheduler": "fcfs",
        "speedup": 1.0,
        "hybrid.kind": KIND,
        "seed": [1, 2],
        "mean_ms": [2.0, 4.0],
        "saturated": [False, True],
        "hybrid_reads": [10, 10],
        "hybrid_read_hits": [5, 9],
    }
    polars.DataFrame(columns).write_csv(directory / "runs.csv")
    return HybridRuns(tmp_path)


def test_grid_has_means_over_seeds(runs: HybridRuns) -> None:
    mean = runs.grid(CELLO)[256, 8]
    assert (mean.mean_ms, mean.read_hits) == (3.0, 0.7)
    assert mean.spread == pytest.approx(2 / 3)


def test_one_overloaded_seed_makes_system_overloaded(runs: HybridRuns) -> None:
    assert runs.grid(CELLO)[256, 8].saturated


def test_change_is_relative_to_the_same_seeds(runs: HybridRuns) -> None:
    directory = runs.directory / f"{CACHING_DISK}-{CELLO}"
    directory.mkdir()
    columns = {"scheduler": "fcfs", "techniques": ALL, "speedup": 1.0, "seed": [1, 2], "mean_ms": [4.0, 9.0]}
    polars.DataFrame(columns).write_csv(directory / "runs.csv")
    first_seed = SeedMean(runs.grid(CELLO)[256, 8].runs[:1])
    assert runs.change_on_same_seeds(first_seed, CELLO, ALL) == pytest.approx(-0.5)


def test_single_runs_have_the_settings_of_the_set() -> None:
    settings = settings_of_set(CELLO)
    assert settings["cache.destage"] == "demand"
    parameters = calibration.CALIBRATIONS[STAND_INS[CELLO]].parameters
    assert {f"workload.{name}": value for name, value in parameters.items()}.items() <= settings.items()
    assert not [key for key in settings if key.startswith(("hybrid.", "study."))]

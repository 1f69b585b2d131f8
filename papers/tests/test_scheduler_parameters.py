"""Load curves of figure 9 of Hong 2006 with other parameters of schedulers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars
import pytest

from sledlab_papers.runs import LoadCurves
from sledlab_papers.scheduling.plan import FIRST_SEED, PARAMETERS, SchedulingRuns

FIGURE = "hong2006-figure-9"
BASE = {("sptf", 1.0): 1.0, ("asptf", 1.0): 2.0, ("zsptf-pyramid", 1.0): 3.0, ("sptf", 60.0): 9.0}
OTHERS = {
    ("asptf:weight=2", 1.0): 4.0,
    ("asptf:weight=20", 1.0): 5.0,
    ("zsptf-pyramid:threshold=4", 1.0): 6.0,
}


def write_curves(directory: Path, means: Mapping[tuple[str, float], float]) -> None:
    """Write the mean responses of schedulers on cello, and the rate at which each reaches 10 ms."""
    directory.mkdir()
    shared_columns = {"workload.kind": "cello", "saturated": False, "level_ms": 10.0, "reached": "yes"}
    rows = [
        {
            "scheduler": name,
            "speedup": speedup,
            "mean_ms": mean_ms,
            "arrival_rate_iops": 100 * mean_ms,
            **shared_columns,
        }
        for (name, speedup), mean_ms in means.items()
    ]
    table = polars.DataFrame(rows)
    table.write_csv(directory / "curves.csv")
    table.unique("scheduler", keep="first").write_csv(directory / "throughput.csv")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of figure 9: one seed, and other parameters at one of its loads."""
    write_curves(tmp_path / f"{FIGURE}{FIRST_SEED}", BASE)
    write_curves(tmp_path / PARAMETERS["cello"].place, OTHERS)
    return tmp_path


def load_curves(results: Path, mark: str) -> LoadCurves:
    return SchedulingRuns(results, (mark,)).load_curves(FIGURE, "cello")


def test_mark_selects_parameter_of_one_scheduler(results: Path) -> None:
    curves = load_curves(results, "asptf weight=20")
    assert {name: curves.value(name, 1.0) for name in curves.schedulers} == {
        "sptf": 1.0,
        "asptf": 5.0,
        "zsptf-pyramid": 3.0,
    }
    assert curves.gains("asptf", "sptf", ("moderate",)) == pytest.approx({10.0: 4.0})


def test_loads_without_other_parameters_are_omitted(results: Path) -> None:
    assert load_curves(results, "zsptf-pyramid threshold=4").speedups == [1.0]

"""Every function that takes a trace also takes a path, a frame or a mapping, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sledlab as sl

COLUMNS: dict[str, list[Any]] = {
    "time_us": [0, 20_000, 5_000_000, 5_010_000],
    "op": ["R", "W", "R", "R"],
    "offset_bytes": [0, 65536, 0, 131072],
    "length_bytes": [4096] * 4,
}
SHORT_STUDY = {"limit": 4, "parallel": 1}

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "simulate": lambda source: sl.simulate(source, "mems-g2").response_time.mean,
    "hit_ratios": lambda source: sl.hit_ratios(source, cache_mb=0.14).to_dict(),
    "survey": sl.survey,
    "merge_volumes": lambda source: sl.merge_volumes([source], [8]).frame().rows(),
    "Volume": lambda source: sl.Volume("v", source).trace.frame().rows(),
    "compare": lambda source: (
        sl.compare(source, "mems-g2", scheduler=["fcfs"], speedup=[1], **SHORT_STUDY)
        .runs["mean_ms"]
        .to_list()
    ),
    "side_by_side": lambda source: (
        sl.side_by_side(source, ["mems-g2", "mems-g3"], **SHORT_STUDY).runs["mean_ms"].to_list()
    ),
    "power_study": lambda source: repr(
        sl.power_study(
            source, "mems-g2", power=["never"], strategy=["immediate"], load=[1.0], **SHORT_STUDY
        ).rows
    ),
    "hybrid_study": lambda source: repr(
        sl.hybrid_study(source, configuration=["mcd-all"], mems_mb=[8.0], segment_kb=[64], **SHORT_STUDY).rows
    ),
    "tune_hybrid": lambda source: repr(sl.tune_hybrid(source, budget=8.0, **SHORT_STUDY).rows),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_do_not_depend_on_the_source(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    trace = sl.trace(COLUMNS)
    trace.write(path)
    expected = FUNCTIONS[name](trace)
    for source in (path, str(path), sl.read_trace(path), COLUMNS, pl.DataFrame(COLUMNS)):
        assert FUNCTIONS[name](source) == expected, type(source)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_sources_are_refused(name: str, refused: Callable[[str], Any]) -> None:
    with refused("cannot make a trace of float"):
        FUNCTIONS[name](1.5)
    with refused("`time_us` is missing"):
        FUNCTIONS[name]({})


@pytest.mark.parametrize("name", ["hit_ratios", "survey", "merge_volumes", "Volume"])
def test_workloads_are_no_traces(name: str, refused: Callable[[str], Any]) -> None:
    with refused("`uniform` is a workload, and a trace is required"):
        FUNCTIONS[name](sl.workload("uniform"))


def test_addresses_of_workloads_are_not_scaled(refused: Callable[..., Any]) -> None:
    with refused("the addresses of the workload `uniform` cannot be scaled"):
        sl.simulate(sl.workload("uniform"), "mems-g2", settings={"replay.outside": "scale"})

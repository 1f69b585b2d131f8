"""Clusters in subspaces: those planted are found, and counts are those of a recount."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sledlab as sl
from sledlab.job.data.boxes import PlantedBoxes
from sledlab.job.record import record
from sledlab.job.units import Bins, Units, clusters, join_units, merge_windows

ExpectedError = Callable[[str], AbstractContextManager[pytest.ExceptionInfo[sl.Error]]]

FEW_RECORDS = 200_000
ALL_RECORDS = 4_281_782


def find_clusters(
    path: Path, nodes: int = 4, records: int = FEW_RECORDS, **settings: Any
) -> tuple[Any, sl.Work]:
    """Run the job, and return its answer and its record."""
    answer = path / "mafia.json"
    work = record("mafia", node_count=nodes, answer=answer, records=records, **settings)
    return json.loads(answer.read_text()), work


def assert_planted_clusters(answer: Any, data: PlantedBoxes, seed: int) -> None:
    """Check that each planted subspace is found as one cluster about its box, and none of more dimensions."""
    boxes_by_dimensions = {tuple(each["dims"]): each for each in data.planted_clusters(seed)}
    assert len(boxes_by_dimensions) == 5
    five_dimensional = [each for each in answer["clusters"] if len(each["dims"]) >= 5]
    assert len(five_dimensional) == 5
    assert {tuple(each["dims"]) for each in five_dimensional} == boxes_by_dimensions.keys()
    assert len(answer["dense"]) == 5
    for each in five_dimensional:
        box = boxes_by_dimensions[tuple(each["dims"])]
        (unit,) = each["units"]
        assert np.array(unit) == pytest.approx(np.array([box["lows"], box["highs"]]).T, abs=0.2)
        assert each["records"] == pytest.approx(0.18 * data.records, rel=0.05)


def assert_counts(answer: Any, data: PlantedBoxes, seed: int, windows: int = 1000) -> None:
    """Check that every dense unit has as many records as the windows of its bins."""
    shared = data.files(1, seed)["records"]
    masks: dict[tuple[int, int], Any] = {}
    for level in answer["dense"]:
        for pairs, count in level:
            for dimension, bin_ in pairs:
                if (dimension, bin_) not in masks:
                    column = shared.array[:, dimension].astype(np.float64)
                    window = np.minimum((column * (windows / 100.0)).astype(int), windows - 1)
                    low, high = (
                        round(each * windows / 100) for each in answer["bins"][dimension][bin_ : bin_ + 2]
                    )
                    masks[dimension, bin_] = np.packbits((window >= low) & (window < high))
            packed_mask = np.bitwise_and.reduce([masks[tuple(pair)] for pair in pairs])
            assert int(np.bitwise_count(packed_mask).sum()) == count


@pytest.mark.parametrize("seed", [1, 2])
def test_planted_clusters_are_found(tmp_path: Path, seed: int) -> None:
    data = PlantedBoxes(records=FEW_RECORDS)
    answer, work = find_clusters(tmp_path, seed=seed)
    assert_planted_clusters(answer, data, seed)
    assert_counts(answer, data, seed)
    read_bytes_by_phase = {each["name"]: each["read_bytes"] for each in work.description["phases"]}
    assert read_bytes_by_phase == {
        "histogram": 80 * FEW_RECORDS,
        **{f"pass {each}": 80 * FEW_RECORDS for each in range(2, 6)},
        "clusters": 0,
    }
    assert work.description["phases"][0]["operations"] == {"window": 20 * FEW_RECORDS}


@pytest.mark.everything
@pytest.mark.slow("342 MB of records of ten seeds")
@pytest.mark.parametrize("seed", range(1, 11))
def test_planted_clusters_are_found_at_published_size(tmp_path: Path, seed: int) -> None:
    data = PlantedBoxes()
    try:
        answer, _ = find_clusters(tmp_path, nodes=32, records=ALL_RECORDS, seed=seed)
        assert_planted_clusters(answer, data, seed)
        assert_counts(answer, data, seed)
    finally:
        data.path(seed).unlink(missing_ok=True)


def test_nodes_and_memory_do_not_change_the_answer(tmp_path: Path) -> None:
    answer, work = find_clusters(tmp_path)
    for nodes in (1, 3, 8):
        assert find_clusters(tmp_path, nodes)[0] == answer
    tight_answer, tight = find_clusters(tmp_path, memory_mb=1)
    assert tight_answer == answer
    assert tight.description["answer"] == work.description["answer"]
    assert tight.description["phases"] == work.description["phases"]


def test_a_dimension_without_structure_is_cut_evenly(tmp_path: Path) -> None:
    answer, _ = find_clusters(
        tmp_path, records=20_000, windows=100, beta=0.9, equal_bins=4, dims=6, clusters=1
    )
    assert [0.0, 25.0, 50.0, 75.0, 100.0] in answer["bins"]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("windows", 0),
        ("windows", 65_536),
        ("equal_bins", 0),
        ("equal_bins", 2000),
        ("beta", 1.5),
        ("alpha", 0.0),
        ("low", 100.0),
    ],
)
def test_parameters_that_make_no_sense_are_refused(
    tmp_path: Path, refused: ExpectedError, setting: str, value: float
) -> None:
    with refused("help: use "):
        find_clusters(tmp_path, records=1000, **{setting: value})


def test_values_out_of_range_are_refused(tmp_path: Path, refused: ExpectedError) -> None:
    with refused("outside of its range 0 to 50"):
        find_clusters(tmp_path, records=1000, high=50.0)


def test_records_that_cannot_be_made_are_refused(tmp_path: Path, refused: ExpectedError) -> None:
    for setting in ("records", "dims"):
        with refused(f"`{setting}` cannot be -1"):
            find_clusters(tmp_path, **{"records": 1000, setting: -1})
    with refused("clusters"):
        find_clusters(tmp_path, records=1000, dims=5)


def test_windows_of_similar_counts_merge_to_bins() -> None:
    assert merge_windows([100, 100, 100], 0.0) == [3]
    assert merge_windows([0, 0, 10, 10, 0], 0.5) == [2, 4, 5]
    assert merge_windows([10], 0.5) == [1]
    bins = Bins.from_histogram(
        np.array([[9, 1, 1, 9], [5, 5, 5, 5]]), beta=0.35, equal_bins=2, low=-1.0, high=1.0
    )
    assert bins.ends == [[1, 3, 4], [2, 4]]
    assert bins.window_bins.tolist() == [[0, 1, 1, 2], [0, 0, 1, 1]]
    assert bins.counts(np.array([[9, 1, 1, 9], [5, 5, 5, 5]])).tolist() == [9, 2, 9, 0, 10, 10, 0, 0]
    assert bins.edges(0) == [-1.0, -0.5, 0.5, 1.0]


def test_units_join_if_they_share_all_but_one() -> None:
    windows = 10
    singles, pair_count = join_units(np.array([[1], [2], [15], [27]]), windows)
    assert pair_count == 6
    assert singles.tolist() == [[1, 15], [1, 27], [2, 15], [2, 27], [15, 27]]
    doubles, pair_count = join_units(np.array([[1, 15], [1, 27], [15, 27], [2, 38]]), windows)
    assert pair_count == 3
    assert doubles.tolist() == [[1, 15, 27]]
    rng = np.random.default_rng(1)
    units = np.unique(np.sort(rng.choice(30, (60, 3)), axis=1), axis=0)
    units = np.array([unit for unit in units.tolist() if len({code // windows for code in unit}) == 3])
    expected_joins = {
        tuple(sorted({*first, *second}))
        for first in units.tolist()
        for second in units.tolist()
        if len({*first, *second}) == 4 and len({code // windows for code in {*first, *second}}) == 4
    }
    assert {tuple(each) for each in join_units(units, windows)[0].tolist()} == expected_joins


def test_units_that_share_a_face_are_one_cluster() -> None:
    windows = 10
    single_units = Units(np.array([[9], [10], [11], [30], [50]]), np.array([5, 6, 7, 8, 9], np.uint64))
    pair_units = Units(np.array([[30, 50]]), np.array([4], np.uint64))
    # Bin 9 of dimension 0 is no neighbor of bin 0 of dimension 1, though its code is.
    assert clusters([single_units, pair_units], windows) == [{(30, 50): 4}, {(9,): 5}, {(10,): 6, (11,): 7}]

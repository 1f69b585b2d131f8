"""Kernels and generators of data mining: the border, and counts against numpy."""

import json
from itertools import combinations

import numpy as np
import pytest
from sledlab import Error, _native


def baskets(blocks: int = 1, seed: int = 1, **params: float) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and items of transactions."""
    quest = _native.Quest(seed, **params)
    chunks = [quest.block(index) for index in range(blocks)]
    lengths = np.frombuffer(b"".join(one for one, _ in chunks), np.uint32)
    items = np.frombuffer(b"".join(one for _, one in chunks), np.uint32)
    return np.concatenate([[0], lengths.cumsum()]).astype(np.uint64), items


def records(seed: int = 1, count: int = 4096) -> np.ndarray:
    return np.frombuffer(_native.Boxes(seed).block(0, count), np.float32).reshape(count, 20)


def window_bins(rows: np.ndarray) -> np.ndarray:
    """Bins of ten windows in a hundred."""
    return rows.astype(np.int64) // 10


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_hash_tree_counts_as_numpy_does(length):
    offsets, items = baskets(universe=40)
    is_in_transaction = np.zeros((len(offsets) - 1, 40), bool)
    is_in_transaction[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets).astype(int)), items] = True
    candidates = np.array(list(combinations(range(0, 40, 2), length)), np.uint32)
    tree = _native.HashTree(candidates, length)
    assert len(tree) == len(candidates)
    counts, visits, checks = tree.count(offsets, items, threads=1)
    numpy_counts = [is_in_transaction[:, candidate].all(axis=1).sum() for candidate in candidates]
    assert np.frombuffer(counts, np.uint64).tolist() == numpy_counts
    assert visits > 0
    assert checks > 0
    assert tree.count(offsets, items, threads=2) == (counts, visits, checks)


def test_counts_and_operations_add_up_over_blocks():
    offsets, items = baskets(universe=40)
    tree = _native.HashTree(np.array(list(combinations(range(40), 2)), np.uint32), 2)
    all_counts = tree.count(offsets, items)
    block_counts = [tree.count(offsets[:1001], items), tree.count(offsets[1000:], items)]
    assert sum(np.frombuffer(block[0], np.uint64) for block in block_counts).tolist() == list(
        np.frombuffer(all_counts[0], np.uint64)
    )
    assert tuple(map(sum, zip(*(block[1:] for block in block_counts), strict=True))) == all_counts[1:]


def test_windows_and_units_are_counted_as_numpy_does():
    rows = records()
    lows, highs = np.zeros(20), np.full(20, 100.0)
    histogram = _native.window_histogram(rows, 20, 100, lows, highs, threads=1)
    assert histogram == _native.window_histogram(rows, 20, 100, lows, highs, threads=2)
    expected = [np.histogram(rows[:, dim].astype(int), bins=100, range=(0, 100))[0] for dim in range(20)]
    assert np.frombuffer(histogram, np.uint64).reshape(20, 100).tolist() == np.array(expected).tolist()

    units = np.array(
        [[a, x, b, y] for a, b in [(0, 1), (0, 7), (3, 19)] for x in range(10) for y in range(10)]
    )
    bin_of_window = np.tile(np.arange(100) // 10, 20).astype(np.uint16)
    counter = _native.UnitCounter(20, 100, lows, highs, bin_of_window, units.astype(np.uint32), 2)
    assert len(counter) == 300
    counts, lookups, probes, comparisons = counter.count(rows, threads=1)
    assert counter.count(rows, threads=2) == (counts, lookups, probes, comparisons)
    bins = window_bins(rows)
    expected = [int(((bins[:, a] == x) & (bins[:, b] == y)).sum()) for a, x, b, y in units]
    assert np.frombuffer(counts, np.uint64).tolist() == expected
    assert lookups == 5 * len(rows)
    assert probes > 0
    # The second bin of a unit is only compared where the first is the record's.
    assert comparisons == sum(len(rows) + int((bins[:, a] == x).sum()) for a, x, _, _ in units)


def test_blocks_depend_on_seed_and_index_only():
    quest = _native.Quest(3)
    assert quest.block(7) == _native.Quest(3).block(7, _native.Quest.BLOCK)
    assert quest.block(7) != quest.block(8)
    assert quest.block(7)[1].startswith(quest.block(7, 10)[1])
    boxes = _native.Boxes(3)
    assert boxes.block(7) == _native.Boxes(3).block(7, _native.Boxes.BLOCK)
    assert boxes.block(7).startswith(boxes.block(7, 10))


def test_planted_boxes_are_full():
    rows = records()
    for box in json.loads(_native.Boxes(1).clusters()):
        is_inside = (rows[:, box["dims"]] >= box["lows"]) & (rows[:, box["dims"]] < box["highs"])
        assert is_inside.all(axis=1).mean() == pytest.approx(0.18, abs=0.03)
    assert rows.min() >= 0
    assert rows.max() < _native.Boxes.RANGE


PAIR = np.array([1, 2], np.uint32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: _native.HashTree([1, 2], 2), "candidates: no array"),
        (lambda: _native.HashTree(np.array([1, 2]), 2), "candidates: values of another type"),
        (lambda: _native.HashTree(np.zeros((4, 4), np.uint32)[:, ::2], 2), "not one behind the other"),
        (lambda: _native.HashTree(PAIR[::-1].copy(), 2), "candidate 0 do not increase"),
        (lambda: _native.HashTree(PAIR, 0), "candidates of 0 items"),
        (lambda: _native.HashTree(PAIR, 2).count(np.array([0, 3], np.uint64), PAIR), "ends at item 3"),
        (
            lambda: _native.window_histogram(np.float32([np.nan]), 1, 4, np.zeros(1), np.ones(1)),
            "record 0 has NaN",
        ),
        (
            lambda: _native.UnitCounter(1, 1, np.zeros(1), np.ones(1), np.zeros(1, np.uint16), PAIR, 1),
            "dimension 1",
        ),
        (lambda: _native.Quest(1, universe=10), "universe of 10"),
        (lambda: _native.Quest(1).block(0, 4097), "count 4097 exceeds the block size"),
        (lambda: _native.Boxes(1, box_share=0.9), "no room for 5 clusters"),
    ],
)
def test_invalid_input_is_an_error(call, message):
    with pytest.raises(Error, match=message):
        call()

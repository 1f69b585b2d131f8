"""The highest load that each device sustains, found by `compare` with `find_max_load`."""

import pytest
import sledlab as sl

from tests.cached_runs import cached_lines

SLOW = "ram:access_us=10000:bus_mb_s=1000000"
"""Serves a request in 10 ms."""

STRIPE = """
[device]
kind = "ram"
access_us = 10000.0
bus_mb_s = 1000000.0

[system]
kind = "stripe"
devices = 2
unit_blocks = 8
"""


def regular_trace(count: int = 2000) -> sl.Trace:
    """Requests of 4 KB every 100 ms, at addresses one after another."""
    return sl.trace(
        {
            "time_us": [index * 100_000.0 for index in range(count)],
            "op": ["R"] * count,
            "offset_bytes": [index * 4096 for index in range(count)],
            "length_bytes": [4096] * count,
        }
    )


def search(*devices, source=None, **options) -> sl.SideBySide:
    source = regular_trace() if source is None else source
    return sl.compare(source, [*devices], find_max_load=True, parallel=1, **options)


def test_limit_is_the_service_rate(tmp_path):
    (tmp_path / "two.toml").write_text(STRIPE)
    loads = search(SLOW, tmp_path / "two.toml").tables["max_loads"]
    for limit, row in zip((10, 20), loads.iter_rows(named=True), strict=True):
        assert row["speedup"] <= 1.03 * limit  # a queue that hardly grows is no overload
        assert limit <= row["overloaded_speedup"] <= 1.06 * row["speedup"]
        assert row["arrival_rate_iops"] == pytest.approx(10 * row["speedup"], rel=1e-3)


def test_overloaded_trace_is_slowed_down():
    result = search(SLOW, speedup=[40])
    (row,) = result.tables["max_loads"].iter_rows(named=True)
    assert row["speedup"] == pytest.approx(10, rel=0.06)
    assert "keeps up to" in str(result)


@pytest.mark.usefixtures("without_pages")
def test_answer_names_the_limits(tmp_path):
    result = search(SLOW, "ram", goal="p99=50ms", out=tmp_path)
    (slow, _) = result.tables["max_loads"]["speedup"]
    assert f"times on {SLOW} ({10 * slow:.3g} requests/s)" in result.answer
    assert f"×{slow:.3g}" in str(result)
    assert sl.open(tmp_path).answer == result.answer


def test_device_that_is_never_overloaded_has_no_limit():
    result = search(SLOW, source=regular_trace(10))
    assert result.tables["max_loads"]["overloaded_speedup"].to_list() == [None]
    assert ">×65,536" in str(result)


@pytest.mark.usefixtures("without_pages")
def test_runs_of_the_search_are_cached(tmp_path):
    first = search(SLOW, out=tmp_path)
    lines = cached_lines(tmp_path)
    assert search(SLOW, out=tmp_path).tables["max_loads"].equals(first.tables["max_loads"])
    assert cached_lines(tmp_path) == lines
    again = sl.side_by_side(regular_trace(), study=tmp_path / "study.toml", parallel=1)
    assert again.answer == first.answer


def test_closed_replay_has_no_limit(refused):
    with refused("no load is too high in a closed replay"):
        search(SLOW, replay="closed:1")


def test_share_of_a_search_is_refused(refused, tmp_path):
    with refused("`--share` cannot be combined with `--find-max-load`"):
        search(SLOW, out=tmp_path, share="1/2")

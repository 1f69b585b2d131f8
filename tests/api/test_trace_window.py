"""The part of a trace that an experiment replays: `trace.from_s` and `trace.until_s`."""

from __future__ import annotations

from pathlib import Path

import pytest
import sledlab as sl

WINDOW = {"trace.from_s": 10, "trace.until_s": 20}


HEADER = "time_us,op,offset_bytes,length_bytes"


def write_trace(path: Path, seconds: range) -> Path:
    """Write a trace of one request a second, which begins at the first of some seconds."""
    lines = (f"{(second - seconds[0]) * 1_000_000},R,{second * 999_936},4096" for second in seconds)
    path.write_text("\n".join([HEADER, *lines, ""]))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A trace of 40 s, and its part from 10 to 20 s."""
    return write_trace(tmp_path / "whole.csv", range(40)), write_trace(tmp_path / "part.csv", range(10, 20))


def test_window_replays_slice_of_trace(files: tuple[Path, Path]) -> None:
    whole, part = files
    sliced = sl.simulate(part, "mems-g2")
    assert sliced.count == 10
    parquet = whole.with_suffix(".parquet")
    sl.read_trace(whole).write(parquet)
    for source in (whole, parquet):
        windowed = sl.simulate(source, "mems-g2", settings=WINDOW)
        assert windowed.response_time == sliced.response_time
        trace = sl.read_trace(source, from_s=10, until_s=20)
        assert len(trace) == 10
        assert sl.simulate(trace, "mems-g2").response_time == sliced.response_time


def test_window_scales_by_its_own_addresses(files: tuple[Path, Path]) -> None:
    whole, part = files
    sliced = sl.simulate(part, "mems-g2", outside="scale")
    windowed = sl.simulate(whole, "mems-g2", outside="scale", settings=WINDOW)
    assert windowed.response_time == sliced.response_time


def test_studies_replay_each_window(files: tuple[Path, Path], tmp_path: Path) -> None:
    whole, part = files
    runs = sl.compare(
        whole, "mems-g2", scheduler="fcfs", speedup=1, vary={"trace.until_s": [10, 20]}, out=tmp_path / "out"
    )
    assert runs.runs.sort("trace.until_s")["requests"].to_list() == [10, 20]
    windowed, sliced = (
        sl.compare(source, "mems-g2", scheduler=["fcfs", "sptf"], settings=settings).runs
        for source, settings in ((whole, WINDOW), (part, {}))
    )
    for column in ("requests", "mean_ms", "arrival_rate_iops"):
        assert windowed[column].to_list() == sliced[column].to_list()


def test_result_cache_distinguishes_windows(files: tuple[Path, Path], tmp_path: Path) -> None:
    whole, _ = files
    counts = []
    for until_s in (10, 20, 10):
        study = sl.compare(
            whole,
            "mems-g2",
            scheduler="fcfs",
            speedup=1,
            settings={"trace.until_s": until_s},
            out=tmp_path / "out",
        )
        counts += study.runs["requests"].to_list()
    assert counts == [10, 20, 10]


def test_empty_window_is_refused(files: tuple[Path, Path]) -> None:
    with pytest.raises(sl.Error, match="the window from 20 to 10 s of the trace is empty"):
        sl.simulate(files[0], "mems-g2", settings={"trace.from_s": 20, "trace.until_s": 10})
    with pytest.raises(sl.Error, match="0 or more"):
        sl.read_trace(files[0], from_s=-1)

"""Columns of tables are read by their type and unit, whichever library made them, or refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sledlab as sl
from pyarrow import parquet

Data = dict[str, Any]

PUBLISHED = Path(__file__).parents[1] / "published_traces"
INSTANT = np.datetime64("2024-05-06T07:08:09.123456789")
HALF_HOUR = dt.timezone(dt.timedelta(minutes=30))
MIDNIGHT = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


def columns(times: Any, **others: Any) -> Data:
    """Columns of a trace with two requests."""
    return {"time_us": times, "op": ["R", "W"], "offset_bytes": [0, 512], "length_bytes": [512, 512]} | others


def arrivals_ns(trace: sl.Trace) -> list[int]:
    """Exact arrivals of the requests, in ns."""
    source, arrivals = trace.open(), []
    while (chunk := source.next_chunk()) is not None:
        arrivals += np.frombuffer(chunk[0], "<u8").tolist()
    return arrivals


TIMES = {
    "i1": (np.array([0, 100], "i1"), [0, 100_000]),
    "u8": (np.array([1, 2**52], "u8"), [1000, 2**52 * 1000]),
    "big endian": (np.array([1, 2], ">i4"), [1000, 2000]),
    "f4": (np.array([0, 0.5], "f4"), [0, 500]),
    "f8": (np.array([1.7e15, 1.7e15 + 1.25]), [1_700_000_000_000_000_000, 1_700_000_000_000_001_250]),
    "integers": ([3, 10**15], [3000, 10**18]),
    "floats": ([0, 0.5], [0, 500]),
    "decimals": ([Decimal("0.500"), Decimal("900.2506")], [500, 900_251]),
    "large decimals": ([Decimal(0), Decimal("8999999999999999.123")], [0, 8_999_999_999_999_999_123]),
    "timedelta": ([dt.timedelta(0), dt.timedelta(seconds=0.9)], [0, 900_000_000]),
    "timedelta64": ([np.timedelta64(1, "ms"), np.timedelta64(1, "s")], [1_000_000, 1_000_000_000]),
    "Timedelta": ([pd.Timedelta(1, "ns"), pd.Timedelta(1, "s")], [1, 1_000_000_000]),
    "m8[ns]": (np.array([7, 8], "m8[ns]"), [7, 8]),
    "m8[us]": (np.array([7, 8], "m8[us]"), [7_000, 8_000]),
    "m8[ms]": (np.array([7, 8], "m8[ms]"), [7_000_000, 8_000_000]),
    "m8[s]": (np.array([7, 8], "m8[s]"), [7_000_000_000, 8_000_000_000]),
    "m8[m]": (np.array([0, 1], "m8[m]"), [0, 60_000_000_000]),
    "m8[h]": (np.array([0, 1], "m8[h]"), [0, 3_600_000_000_000]),
    "m8[D]": (np.array([0, 1], "m8[D]"), [0, 86_400_000_000_000]),
    "m8[W]": (np.array([0, 1], "m8[W]"), [0, 604_800_000_000_000]),
    "M8[ns]": (INSTANT + np.array([5, 6], "m8[ns]"), [0, 1]),
    "M8[us]": (np.array([5, 6], "M8[us]"), [0, 1_000]),
    "M8[ms]": (np.array([5, 6], "M8[ms]"), [0, 1_000_000]),
    "M8[s]": (np.array([5, 6], "M8[s]"), [0, 1_000_000_000]),
    "M8[D]": (np.array([5, 6], "M8[D]"), [0, 86_400_000_000_000]),
    "M8[M]": (np.array([0, 1], "M8[M]"), [0, 31 * 86_400_000_000_000]),
    "datetime64": ([np.datetime64("2024-01-01"), INSTANT], [0, 10_912_089_123_456_789]),
    "datetime": ([dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 0, 0, 1)], [0, 1_000_000_000]),
    "before 1970": ([dt.datetime(1900, 1, 1), dt.datetime(1970, 1, 2)], [0, 25_568 * 86_400_000_000_000]),
    "time zones": ([MIDNIGHT, MIDNIGHT.astimezone(HALF_HOUR) + dt.timedelta(seconds=1)], [0, 1_000_000_000]),
    "Timestamp": ([pd.Timestamp(INSTANT), pd.Timestamp(INSTANT + 1)], [0, 1]),
    "Timestamp with zone": (
        [pd.Timestamp(INSTANT, tz="Europe/Berlin"), pd.Timestamp(INSTANT + 1, tz="Europe/Berlin")],
        [0, 1],
    ),
    "dates": ([dt.date(2024, 2, 28), dt.date(2024, 3, 1)], [0, 2 * 86_400_000_000_000]),
    "times of day": ([dt.time(10), dt.time(10, 0, 0, 5)], [0, 5_000]),
}
"""Times and the arrivals in ns that they stand for."""

REFUSED = {
    "strings": (["0", "1"], "`time_us` is of type String"),
    "booleans": ([False, True], "`time_us` is of type Boolean"),
    "bytes": ([b"0", b"1"], "`time_us` is of type Binary"),
    "lists": ([[0], [1, 2]], "`time_us`"),
    "two dimensions": (np.zeros((2, 2)), "`time_us` is of type Array"),
    "complex": (np.array([0j, 1j]), "`time_us` is of type Object"),
    "mixed": ([0, dt.timedelta(1)], "`time_us` cannot be read"),
    "zones and none": (
        [MIDNIGHT, dt.datetime(2024, 1, 1)],
        "some dates have a time zone and others have none",
    ),
    "m8[M]": (np.array([0, 1], "m8[M]"), "no fixed length"),
    "long m8[s]": (np.array([0, 2**62], "m8[s]"), "too large"),
    "long m8[ms]": (np.array([0, 2**62], "m8[ms]"), "table:2: time_us: the duration is not a time from 0"),
    "long u8": (np.array([0, 2**63], "u8"), "table:2: time_us: 9223372036854775808 is not a time from 0"),
    "long decimals": ([Decimal(0), Decimal(10**20)], "table:2: time_us: 100000000000000000000 is not a time"),
    "far dates": ([dt.datetime(2024, 1, 1), dt.datetime(3000, 1, 1)], "table:2: time_us: the date is not in"),
    "negative durations": ([dt.timedelta(seconds=-1)] * 2, "table:1: time_us: -1000000 is not a time from 0"),
    "none": ([0, None], "table:2: time_us: the value is missing"),
    "no instant": ([INSTANT, None], "table:2: time_us: the value is missing"),
    "midnight": ([dt.time(23, 59), dt.time(0, 1)], "table:2: time_us: the time of day starts again"),
    "decreasing dates": ([INSTANT + 1, INSTANT], "table:2: the request arrives"),
}
"""Times that are refused, and parts of the errors."""


@pytest.mark.parametrize("kind", TIMES)
def test_times_are_exact_by_type_and_unit(kind: str, tmp_path: Path) -> None:
    times, expected_ns = TIMES[kind]
    trace = sl.trace(columns(times), start="zero")
    assert arrivals_ns(trace) == expected_ns
    assert arrivals_ns(sl.trace(pd.DataFrame(columns(times)), start="zero")) == expected_ns
    frame = trace.opener.table  # type: ignore[attr-defined]
    assert arrivals_ns(sl.trace(frame.to_arrow(), start="zero")) == expected_ns
    frame.write_parquet(tmp_path / "trace.parquet")
    for sort_window in (0, 4):
        file_trace = sl.read_trace(tmp_path / "trace.parquet", sort_window=sort_window, start="zero")
        assert arrivals_ns(file_trace) == expected_ns
        from_first_request = sl.read_trace(tmp_path / "trace.parquet", sort_window=sort_window)
        assert arrivals_ns(from_first_request) == [0, expected_ns[1] - expected_ns[0]]


@pytest.mark.parametrize("kind", REFUSED)
def test_other_times_are_refused(kind: str, refused: Callable[..., Any]) -> None:
    times, message = REFUSED[kind]
    with refused(message):
        arrivals_ns(sl.trace(columns(times)))


def test_refusal_of_a_type_has_file_and_remedy(tmp_path: Path) -> None:
    pl.DataFrame(columns(["0", "1"])).write_parquet(tmp_path / "text.parquet")
    with pytest.raises(sl.Error) as caught:
        sl.read_trace(tmp_path / "text.parquet")
    assert str(caught.value) == (
        f"{tmp_path / 'text.parquet'}: the column `time_us` is of type String\n"
        "  help: give integers, floats or decimals in microseconds, a Duration, a Datetime, a Date or a Time"
    )


def test_pandas_writes_durations_and_dates(tmp_path: Path) -> None:
    seconds = pd.to_timedelta([0, 0.9], unit="s")
    for times in (seconds, pd.Timestamp("1969-12-31 23:59:59.5", tz="UTC") + seconds):
        pd.DataFrame(columns(times)).to_parquet(tmp_path / "trace.parquet")
        assert arrivals_ns(sl.read_trace(tmp_path / "trace.parquet")) == [0, 900_000_000]


@pytest.mark.parametrize(
    "arrow_type", [pa.duration("s"), pa.timestamp("s", "Asia/Kolkata"), pa.time32("s"), pa.date64()]
)
def test_arrow_types_keep_their_unit(arrow_type: Any, tmp_path: Path) -> None:
    table = pa.table(columns(pa.array([0, 86_400_000 if arrow_type == pa.date64() else 86_399], arrow_type)))
    expected_ns = [0, 86_400_000_000_000 if arrow_type == pa.date64() else 86_399_000_000_000]
    assert arrivals_ns(sl.trace(table)) == expected_ns
    parquet.write_table(table, tmp_path / "trace.parquet")
    assert arrivals_ns(sl.read_trace(tmp_path / "trace.parquet")) == expected_ns
    arrow = table.to_pandas(types_mapper=pd.ArrowDtype)
    assert arrivals_ns(sl.trace(arrow)) == expected_ns


@pytest.mark.parametrize(
    ("first", "second", "expected_ns"),
    [
        ("0.5", "900.25", [500, 900_250]),
        ("1::HUGEINT", "2::HUGEINT", [1000, 2000]),
        ("TIME '10:00:00'", "TIME '10:00:00.5'", [0, 500_000_000]),
        (
            "TIMESTAMPTZ '1960-01-01 00:00:00+02'",
            "TIMESTAMPTZ '1960-01-01 00:00:00+01'",
            [0, 3_600_000_000_000],
        ),
    ],
)
def test_duckdb_types_are_read(first: str, second: str, expected_ns: list[int], tmp_path: Path) -> None:
    other_columns = "'read' as op, 0 as offset_bytes, 512.0 as length_bytes"
    query = f"select unnest([{first}, {second}]) as time_us, {other_columns}"
    duckdb.sql(f"copy ({query}) to '{tmp_path}/trace.parquet'")
    assert arrivals_ns(sl.read_trace(tmp_path / "trace.parquet", start="zero")) == expected_ns


@pytest.mark.parametrize("name", ["decimal-times", "time-as-duration-ns"])
def test_published_cases_are_read(name: str) -> None:
    arrivals_by_name = {
        "decimal-times": [500, 900_250],
        "time-as-duration-ns": [0, 900_000_000, 1_000_000_000],
    }
    assert arrivals_ns(sl.read_trace(PUBLISHED / f"{name}.parquet", start="zero")) == arrivals_by_name[name]


def test_parts_with_different_units_are_one_trace(tmp_path: Path) -> None:
    volume = tmp_path / "volume=a"
    volume.mkdir()
    pl.DataFrame(columns(np.array([0, 1000], "m8[ms]"))).write_parquet(volume / "1.parquet")
    pl.DataFrame(columns([2_000_000, 2_000_001])).write_parquet(volume / "2.parquet")
    (whole_volume,) = sl.read_volumes(tmp_path)
    assert arrivals_ns(whole_volume.trace) == [0, 1_000_000_000, 2_000_000_000, 2_000_001_000]
    pl.DataFrame(columns(np.array([3, 4], "M8[us]"))).write_parquet(volume / "3.parquet")
    (whole_volume,) = sl.read_volumes(tmp_path)
    with pytest.raises(sl.Error, match="times are dates, and those of the rows before are counted"):
        arrivals_ns(whole_volume.trace)


@pytest.mark.parametrize(
    "op",
    [
        ["r", "w"],
        ["Read", "WRITE"],
        ["rd", "wr"],
        [b"R", b"w"],
        np.array(["R", "write"]),
        pd.Series(["read", "W"], dtype="category"),
        pl.Series(["R", "W"], dtype=pl.Enum(["R", "W"])),
    ],
    ids=str,
)
def test_operations_are_letters_or_words(op: Any) -> None:
    assert sl.trace(columns([0, 1], op=op)).frame()["op"].to_list() == ["R", "W"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"op": [0, 1]}, "`op` is of type Int64"),
        ({"op": ["R", None]}, "table:2: op: the value is missing"),
        ({"op": ["R", "X"]}, "table:2: op: unknown operation `X`"),
        ({"op": ["erase", "R"]}, "table:1: op: unknown operation `erase`"),
        ({"offset_bytes": ["0", "512"]}, "`offset_bytes` is of type String"),
        ({"offset_bytes": [dt.timedelta(1)] * 2}, "`offset_bytes` is of type Duration"),
        (
            {"offset_bytes": np.array([0, 2**63], "u8")},
            "table:2: offset_bytes: 9223372036854775808 is too large",
        ),
        ({"length_bytes": [True, True]}, "`length_bytes` is of type Boolean"),
        ({"length_bytes": [512, 0.5]}, "table:2: length_bytes: 0.5 is not a whole number"),
        (
            {"length_bytes": [Decimal("512"), Decimal("0.5")]},
            "table:2: length_bytes: 0.5 is not a whole number",
        ),
        ({"length_bytes": [512, float("nan")]}, "table:2: length_bytes: the value is missing"),
        ({"length_bytes": [float("inf"), 512]}, "table:1: length_bytes: inf is not a whole number"),
        ({"device": [0, None]}, "table:2: device: the value is missing"),
        ({"device": [MIDNIGHT] * 2}, "`device` is of type Datetime"),
        ({"metadata": ["a", "b"]}, "`metadata` is of type String"),
        ({"metadata": [0, 2]}, "table:2: metadata: 2 is neither 0 nor 1"),
    ],
    ids=str,
)
def test_other_columns_are_checked(changes: Data, message: str, refused: Callable[..., Any]) -> None:
    with refused(message):
        sl.trace(columns([0, 1], **changes)).frame()


def test_whole_decimals_and_floats_are_integers() -> None:
    data = columns(
        [0, 1], offset_bytes=[Decimal("512.0")] * 2, length_bytes=[512.0, 600.0], device=[1.0, 0.0]
    )
    assert sl.trace(data).frame()["length_bytes"].to_list() == [512, 600]


def test_booleans_mark_metadata() -> None:
    assert sl.trace(columns([0, 1], metadata=[False, True])).frame()["metadata"].to_list() == [0, 1]


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame], ids=lambda make: make.__module__)
def test_flushes_need_no_range(make: Callable[[Data], Any]) -> None:
    data = columns([0, 1], op=["F", "W"], offset_bytes=[None, 512], length_bytes=[None, 512])
    assert sl.trace(make(data)).frame()["op"].to_list() == ["F", "W"]
    data["offset_bytes"] = [None, None]
    with pytest.raises(sl.Error, match="table:2: offset_bytes: the value is missing"):
        sl.trace(make(data)).frame()


def test_requests_of_length_zero_are_omitted() -> None:
    assert len(sl.trace(columns([0, 1], length_bytes=[0, 512]))) == 1
    with pytest.raises(sl.Error, match="the trace holds no requests: omitted 2 requests of length 0"):
        sl.trace(columns([0, 1], length_bytes=[0, 0])).info()


def test_other_columns_may_have_any_type(tmp_path: Path) -> None:
    other_columns = {"note": [object(), object()], "period": pd.period_range("2024", periods=2, freq="D")}
    assert len(sl.trace(pd.DataFrame(columns([0, 1], **other_columns)))) == 2
    pl.DataFrame(columns([0, 1], note=[[1], [2]])).write_parquet(tmp_path / "more.parquet")
    assert len(sl.read_trace(tmp_path / "more.parquet")) == 2

"""`trace merge` and `trace slice`: clocks, names of devices, selections and repetitions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl

PUBLISHED = Path(__file__).parents[1] / "published_traces"
MSR = [PUBLISHED / "merge-msr-disk-0.csv", PUBLISHED / "merge-msr-disk-1-starts-60-s-later.csv"]
DISKS = PUBLISHED / "disk-3-is-second-to-appear.csv"


def trace_rows(file, *columns):
    frame = sl.read_trace(file, start="zero").frame()
    return frame.select(columns or ("time_us", "device")).rows()


def merge(sledlab, tmp_path, files, *options):
    out = tmp_path / "merged.csv"
    answer = sledlab("trace", "merge", *files, "--save", out, "--device-column", *options)
    assert answer.code == 0, answer.err
    return out, answer.err


def test_files_with_dates_keep_their_distance(sledlab, tmp_path):
    expected_rows = [(0.0, 0), (1e7, 0), (6e7, 1), (7e7, 1)]
    for files in (MSR, MSR[::-1]):
        out, err = merge(sledlab, tmp_path, files, "--keep-devices")
        assert trace_rows(out) == expected_rows
        assert "no dates" not in err


def test_clocks_of_different_formats_agree(sledlab, tmp_path):
    instant_s = 1_700_000_000
    unix = tmp_path / "unix.csv"
    unix.write_text(f"{instant_s},0,8,0,7\n{instant_s + 1},8,8,1,7\n")
    windows = tmp_path / "windows.csv"
    windows.write_text(f"{(instant_s + 11_644_473_600 + 2) * 10**7},h,0,Read,0,512,1\n")
    columns = {"op": ["R"], "offset_bytes": [0], "length_bytes": [512]}
    dates = pl.Series("time_us", [(instant_s + 3) * 1000]).cast(pl.Datetime("ms"))
    pl.DataFrame({"time_us": dates, **columns}).write_parquet(tmp_path / "dates.parquet")
    out, _ = merge(sledlab, tmp_path, [unix, windows, tmp_path / "dates.parquet"])
    assert [time for time, _ in trace_rows(out)] == [0.0, 1e6, 2e6, 3e6]
    fleet = tmp_path / "fleet"
    fleet.mkdir()
    for file in (unix, windows, tmp_path / "dates.parquet"):
        file.rename(fleet / file.name)
    starts_us = {each.name: each.trace.frame()["time_us"][0] for each in sl.read_volumes(fleet)}
    assert starts_us == {"unix": 0.0, "windows": 2e6, "dates": 3e6}


def test_files_without_dates_begin_together_with_note(sledlab, tmp_path):
    first, second = tmp_path / "a.spc", tmp_path / "b.spc"
    first.write_text("0,0,512,r,5.0\n")
    second.write_text("0,0,512,r,7.5\n")
    out, err = merge(sledlab, tmp_path, [first, second])
    assert [time for time, _ in trace_rows(out)] == [0.0, 2.5e6]
    assert "no dates" in err
    assert "same instant" in err
    out, err = merge(sledlab, tmp_path, [MSR[0], second])
    assert "b.spc: no dates" in err
    assert [time for time, _ in trace_rows(out)] == [0.0, 0.0, 1e7]


def test_devices_are_joined_by_name(sledlab, tmp_path):
    first, second = tmp_path / "a.spc", tmp_path / "b.spc"
    first.write_text("3,0,512,r,0.0\n1,0,512,r,0.1\n")
    second.write_text("1,8,512,r,0.2\n3,8,512,r,0.3\n")
    out, _ = merge(sledlab, tmp_path, [first, second], "--keep-devices")
    assert trace_rows(out, "device", "offset_bytes") == [(3, 0), (1, 0), (1, 4096), (3, 4096)]
    out, err = merge(sledlab, tmp_path, [first, second])
    assert [device for (device,) in trace_rows(out, "device")] == [0, 1, 2, 3]
    assert "0 is 1:3" in err
    assert "2 is 2:1" in err


def test_traces_in_sequence_start_after_the_one_before(sledlab, tmp_path):
    out, _ = merge(sledlab, tmp_path, MSR, "--in-sequence")
    assert [time for time, _ in trace_rows(out)] == [0.0, 1e7, 2e7, 3e7]


def test_standard_input_is_merged(tmp_path):
    out = tmp_path / "m.csv"
    command = [sys.executable, "-m", "sledlab", "trace", "merge", "-", str(MSR[1]), "--save", str(out)]
    subprocess.run([*command, "--device-column"], input=MSR[0].read_bytes(), check=True)
    assert len(trace_rows(out)) == 4


def slice_rows(sledlab, tmp_path, file, *options):
    out = tmp_path / "cut.csv"
    answer = sledlab("trace", "slice", file, out, *options)
    assert answer.code == 0, answer.err
    return trace_rows(out, "time_us", "op", "offset_bytes")


@pytest.mark.parametrize("name", ["3", "srv_3"])
def test_slice_selects_devices_by_name(sledlab, tmp_path, name):
    expected_rows = [(1e6, "W", 4096), (3e6, "R", 12288), (5e6, "W", 20480)]
    assert slice_rows(sledlab, tmp_path, DISKS, "--device", name) == expected_rows


def test_slice_selects_operations(sledlab, tmp_path):
    writes = slice_rows(sledlab, tmp_path, DISKS, "--device", "srv_3", "--only", "writes")
    assert [offset for _, _, offset in writes] == [4096, 20480]
    assert (
        len(
            slice_rows(
                sledlab, tmp_path, DISKS, "--device", "0,1,2", "--device", "3", "--only", "R,w", "--place"
            )
        )
        == 6
    )
    sledlab("trace", "slice", DISKS, tmp_path / "x.csv", "--only", "erases").assert_refused(
        "no kind of operation"
    )


def test_devices_that_are_missing_are_listed(sledlab, tmp_path):
    answer = sledlab("trace", "slice", DISKS, tmp_path / "x.csv", "--device", "7")
    answer.assert_refused("no request is for the device `7`")
    assert "srv_0, srv_3, srv_1, srv_2" in answer.err
    assert not (tmp_path / "x.csv").exists()


def test_slice_selects_times_of_day_and_dates(sledlab, tmp_path):
    start_s = 1_700_000_000  # 2023-11-14 22:13:20 UTC
    hours = tmp_path / "hours.csv"
    hours.write_text("".join(f"{start_s + 900 * n},{8 * n},8,0,1\n" for n in range(12)))
    evening = slice_rows(sledlab, tmp_path, hours, "--from", "23:00", "--until", "00:00")
    assert [offset // 4096 for _, _, offset in evening] == [4, 5, 6, 7]
    assert slice_rows(sledlab, tmp_path, hours, "--from", "0:50:00.5")[0][2] // 4096 == 11
    by_date = slice_rows(sledlab, tmp_path, hours, "--from", "2023-11-15", "--until", "2023-11-15T00:30")
    assert [offset // 4096 for _, _, offset in by_date] == [8, 9]
    by_seconds = slice_rows(sledlab, tmp_path, hours, "--from", "900", "--until", "2000")
    assert [offset // 4096 for _, _, offset in by_seconds] == [1, 2]
    app = tmp_path / "app.csv"
    app.write_text("0,R,0,512\n")
    sledlab("trace", "slice", app, tmp_path / "x.csv", "--from", "10:00").assert_refused("have no date")
    sledlab("trace", "slice", hours, tmp_path / "x.csv", "--from", "noon").assert_refused("no point in time")


def test_slice_repeats_and_scales(sledlab, tmp_path):
    app = tmp_path / "app.csv"
    app.write_text("0,R,0,512\n100,W,4096,512\n")
    assert slice_rows(sledlab, tmp_path, app, "--repeat", 3) == [
        (100.0 * n, "RW"[n % 2], 4096 * (n % 2)) for n in range(6)
    ]
    assert slice_rows(sledlab, tmp_path, app, "--scale-addresses", "0.5")[1] == (100.0, "W", 2048)


def test_columns_are_an_option_of_every_reader(sledlab, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("when,verb,sector,bytes\n1700000000.5,READ,8,4096\n1700000001,write,16,512\n")
    columns = "time=when:s,op=verb,offset=sector:sectors,length=bytes"
    info = json.loads(sledlab("trace", "info", log, "--columns", columns, "--json").out)
    assert (info["reads"], info["writes"], info["span_s"]) == (1, 1, 0.5)
    answer = sledlab("simulate", "--device", "mems-g2", "--trace", log, "--columns", columns, "--json")
    assert json.loads(answer.out)["config"]["trace"]["columns"] == columns
    mapping = {"time": "when:s", "op": "verb", "offset": "sector:sectors", "length": "bytes"}
    assert sl.read_trace(log, columns=mapping).frame()["offset_bytes"].to_list() == [4096, 8192]
    assert sl.simulate(sl.read_trace(log, columns=mapping), "mems-g2").count == 2
    without_columns = sledlab("trace", "info", log)
    without_columns.assert_refused("unknown table with the columns when, verb, sector, bytes")


def test_notes_reach_runs_studies_and_traces(sledlab, tmp_path):
    file = PUBLISHED / "msr-request-of-length-0.csv"
    note = "omitted 1 request of length 0"
    assert sl.read_trace(file).notes() == [note]
    assert sl.read_trace(file).info()["notes"] == [note]
    answer = sledlab("simulate", "--device", "mems-g2", "--trace", file, "--out", tmp_path / "run")
    assert note in answer.out
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["trace_notes"] == [note]
    assert note in sledlab("compare", "--device", "mems-g2", "--trace", file, "--scheduler", "fcfs,sptf").out
    assert note in sledlab("trace", "convert", file, tmp_path / "x.csv").err


def test_start_zero_keeps_times(sledlab, tmp_path):
    app = tmp_path / "app.csv"
    app.write_text("1800000000,R,0,512\n1800000100,W,4096,512\n")
    arguments = ("simulate", "--device", "mems-g2", "--trace", app, "--json")
    assert json.loads(sledlab(*arguments).out)["elapsed_s"] < 1
    assert json.loads(sledlab(*arguments, "--start", "zero").out)["elapsed_s"] > 1800


def test_converted_traces_keep_names_of_devices(sledlab, tmp_path):
    sledlab("trace", "convert", DISKS, tmp_path / "same.csv", "--to", "msr")
    assert [device["name"] for device in sl.read_trace(tmp_path / "same.csv").info()["devices"]] == [
        "srv_0",
        "srv_3",
        "srv_1",
        "srv_2",
    ]
    units = tmp_path / "units.spc"
    units.write_text("3,0,512,r,0.0\n1,0,512,r,0.1\n")
    for name in ("x.spc", "x.txt"):
        sledlab("trace", "convert", units, tmp_path / name)
        names = [device["name"] for device in sl.read_trace(tmp_path / name).info()["devices"]]
        assert sorted(names) == ["1", "3"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_whole_seconds_are_spread_in_every_format(sledlab, tmp_path, suffix):
    file = tmp_path / f"stamps.{suffix}"
    times_us = [1_000_000 * (n // 8) for n in range(40)]
    columns = {"time_us": times_us, "op": ["R"] * 40, "offset_bytes": [0] * 40, "length_bytes": [512] * 40}
    sl.trace(columns).write(file)
    assert "--spread 1" in sl.read_trace(file).notes()[0]
    spread = sl.read_trace(file, spread_s=1)
    assert spread.notes() == []
    assert spread.frame()["time_us"].n_unique() == 40
    sledlab("trace", "info", file, "--spread", "-1").assert_refused("expected a number, 0 or more")


def test_columns_and_another_format_exclude_each_other(sledlab, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("0,R,0,512\n")
    options = ("--columns", "time=1,op=2,offset=3,length=4", "--format", "csv")
    sledlab("trace", "info", log, *options).assert_refused("exclude each other")

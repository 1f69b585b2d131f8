"""Traces of many volumes split: no request is lost, and no file is incomplete or outside the directory."""

import os
import signal
import subprocess
import sys
import time

import polars
import pyarrow as pa
import pytest
import sledlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from sledlab.cli import run
from sledlab.traces import splitting

from tests.conftest import PEAK_KIB

START_US = 1_577_808_000_000_000

trace_rows = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.sampled_from("RW"),
        st.integers(0, 5000),
        st.integers(1, 64),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=200,
)


def alibaba_trace(rows):
    """Lines of a trace of Alibaba, whose volumes are the first column."""
    now_us, lines = START_US, []
    for volume, op, first, blocks, gap in rows:
        now_us += gap
        lines.append(f"{volume},{op},{first * 512},{blocks * 512},{now_us}\n")
    return "".join(lines)


def concatenate(volumes):
    """All requests, with the names of their volumes."""
    frames = [each.trace.frame().with_columns(volume=polars.lit(each.name)) for each in volumes]
    return polars.concat(frames).drop("device")


@pytest.mark.slow("tries many traces")
@settings(max_examples=30, deadline=None)
@given(trace_rows, st.integers(1, 3))
def test_split_volumes_are_the_trace(tmp_path_factory, rows, file_count):
    directory = tmp_path_factory.mktemp("split")
    lines = alibaba_trace(rows).splitlines(keepends=True)
    size = -(-len(lines) // file_count)
    parts = [lines[begin : begin + size] for begin in range(0, len(lines), size)]
    days = [directory / f"day-{number}.csv" for number in range(len(parts))]
    for day, part in zip(days, parts, strict=True):
        day.write_text("".join(part))
    volumes = sl.split_volumes(days, directory / "fleet")
    (directory / "all.csv").write_text("".join(lines))
    frame = sl.read_trace(directory / "all.csv").frame()
    names = [str(row[0]) for row in rows]
    frame_with_volumes = frame.drop("device").with_columns(volume=polars.Series(names))
    split_frame = concatenate(volumes)
    assert split_frame.height == len(rows)
    for name in set(names):
        volume_rows = frame_with_volumes.filter(volume=name)
        assert split_frame.filter(volume=name).select(volume_rows.columns).equals(volume_rows)
    merged = sl.merge_volumes(volumes, [0] * len(volumes)).frame()["time_us"]
    assert merged.equals(frame["time_us"])


def test_each_format_names_its_volumes(tmp_path):
    texts = {
        "msr": (b"128166372003061629,usr,0,Read,0,4096,1\n128166372003061630,proj,12,Write,0,512,1\n"),
        "tencent": b"1538323200,10,8,0,1283\n1538323200,20,8,1,99\n",
        "spc": b"0,20941264,8192,W,0.551706\n1,20939840,8192,R,0.554041\n",
        "csv": b"time_us,op,offset_bytes,length_bytes,device\n0,R,0,512,7\n5,W,0,512,300\n",
    }
    names_by_format = {
        "msr": ["proj_12", "usr_0"],
        "tencent": ["1283", "99"],
        "spc": ["0", "1"],
        "csv": ["300", "7"],
    }
    for form, text in texts.items():
        (tmp_path / form).write_bytes(text)
        volumes = sl.split_volumes(tmp_path / form, tmp_path / f"{form}-fleet")
        assert [each.name for each in volumes] == names_by_format[form]
        assert sum(each.trace.frame().height for each in volumes) == 2


HOSTILE_NAMES = [
    "a,b",
    'say "no"',
    "../../up",
    "/etc/passwd",
    ".",
    "..",
    "volume=x",
    "CON",
    "grün",
    "a\nb",
    "%2F",
    " ",
]


def one_row_per_volume(names):
    """A Parquet table with a volume for each name."""
    count = len(names)
    return pa.table(
        {
            "time_us": range(count),
            "op": ["R"] * count,
            "offset_bytes": [0] * count,
            "length_bytes": [512] * count,
            "volume": names,
        }
    )


def test_hostile_names_stay_in_the_directory(tmp_path):
    parquet.write_table(one_row_per_volume(HOSTILE_NAMES), tmp_path / "day.parquet")
    volumes = sl.split_volumes(tmp_path / "day.parquet", tmp_path / "here" / "fleet")
    assert sorted(HOSTILE_NAMES) == [each.name for each in volumes]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["day.parquet", "here"]
    assert [each.name for each in (tmp_path / "here").iterdir()] == ["fleet"]
    assert len(list((tmp_path / "here" / "fleet").iterdir())) == len(HOSTILE_NAMES)
    assert all(each.trace.frame().height == 1 for each in volumes)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=8, unique=True))
def test_any_text_names_a_volume(tmp_path_factory, names):
    directory = tmp_path_factory.mktemp("names")
    parquet.write_table(one_row_per_volume(names), directory / "day.parquet")
    volumes = sl.split_volumes(directory / "day.parquet", directory / "fleet")
    assert sorted(names) == [each.name for each in volumes]
    assert sorted(each.name for each in directory.iterdir()) == ["day.parquet", "fleet"]


@pytest.mark.parametrize(
    ("names", "message"),
    [([""], "has no name"), (["x" * 300], "too long"), ([None], "value is missing")],
)
def test_invalid_volume_names_are_refused(tmp_path, names, message):
    parquet.write_table(one_row_per_volume(["fine", *names]), tmp_path / "day.parquet")
    with pytest.raises(sl.Error, match=message):
        sl.split_volumes(tmp_path / "day.parquet", tmp_path / "fleet")
    assert [each.name for each in tmp_path.iterdir()] == ["day.parquet"]


def test_trims_flushes_and_metadata_survive(tmp_path):
    text = "time_us,op,offset_bytes,length_bytes,device,metadata\n"
    text += "0,R,512,600,3,1\n1.5,T,1024,1048576,3,0\n2,F,0,0,3,0\n3,W,0,512,4,1\n"
    (tmp_path / "all.csv").write_text(text)
    volumes = sl.split_volumes(tmp_path / "all.csv", tmp_path / "fleet")
    rows = [row[:4] + row[5:] for each in volumes for row in each.trace.frame().rows()]
    assert rows == [
        (0.0, "R", 512, 600, 1),
        (1.5, "T", 1024, 1048576, 0),
        (2.0, "F", 0, 0, 0),
        (3.0, "W", 0, 512, 1),
    ]


def test_dates_of_days_share_one_clock(tmp_path):
    for day in (1, 2):
        dates = [f"2024-01-0{day} 23:59:59", f"2024-01-0{day} 23:59:59.000001"]
        times = polars.Series(dates).str.to_datetime(time_unit="ns", strict=False)
        table = polars.from_arrow(one_row_per_volume(["a", "b"])).with_columns(time_us=times)
        table.write_parquet(tmp_path / f"day-{day}.parquet")
    days = [tmp_path / "day-1.parquet", tmp_path / "day-2.parquet"]
    volumes = sl.split_volumes(days, tmp_path / "fleet")
    assert [each.trace.frame()["time_us"].to_list() for each in volumes] == [[0, 86.4e9], [1, 86.4e9 + 1]]
    with pytest.raises(sl.Error, match=r"before the first"):
        sl.split_volumes(days[::-1], tmp_path / "reversed")
    parquet.write_table(one_row_per_volume(["a", "b"]), tmp_path / "numbers.parquet")
    with pytest.raises(
        sl.Error, match="times are counted from the start of the trace, and those of the files"
    ):
        sl.split_volumes([days[0], tmp_path / "numbers.parquet"], tmp_path / "mixed")


def test_unordered_days_are_errors(tmp_path):
    (tmp_path / "day-1.csv").write_text(alibaba_trace([(1, "R", 0, 1, 0)]))
    (tmp_path / "day-2.csv").write_text(alibaba_trace([(1, "R", 0, 1, 10)]))
    with pytest.raises(sl.Error, match=r"before the first"):
        sl.split_volumes([tmp_path / "day-2.csv", tmp_path / "day-1.csv"], tmp_path / "fleet")
    (tmp_path / "other.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,512\n")
    with pytest.raises(sl.Error, match="different formats"):
        sl.split_volumes([tmp_path / "day-1.csv", tmp_path / "other.csv"], tmp_path / "fleet")


def test_existing_files_are_kept(tmp_path):
    (tmp_path / "day.csv").write_text(alibaba_trace([(1, "R", 0, 1, 0)]))
    (tmp_path / "fleet").mkdir()
    (tmp_path / "fleet" / "mine").write_text("kept")
    assert run(["fleet", "split", f"{tmp_path}/day.csv", "--out", f"{tmp_path}/fleet", "-q"]) == 2
    assert (tmp_path / "fleet" / "mine").read_text() == "kept"
    (tmp_path / "fleet" / "mine").unlink()
    assert run(["fleet", "split", f"{tmp_path}/day.csv", "--out", f"{tmp_path}/fleet", "-q"]) == 0
    assert [each.name for each in sl.read_volumes(tmp_path / "fleet")] == ["1"]


def test_writer_buffers_few_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(splitting, "BLOCK_RECORDS", 16)
    monkeypatch.setattr(splitting, "MAX_BUFFERED_REQUESTS", 64)
    monkeypatch.setattr(splitting, "GROUP_ROWS", 32)
    rows = [(n % 5 * 128 + n % 2, "RW"[n % 2], n, 1 + n % 9, 1) for n in range(3000)]
    (tmp_path / "day.csv").write_text(alibaba_trace(rows))
    volumes = sl.split_volumes(tmp_path / "day.csv", tmp_path / "fleet")
    frame = sl.read_trace(tmp_path / "day.csv").frame().drop("device")
    for each in volumes:
        volume_rows = frame.filter(polars.Series([str(row[0]) == each.name for row in rows]))
        assert each.trace.frame().select(volume_rows.columns).equals(volume_rows)


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
@pytest.mark.slow("splits a trace of 100,000 requests twice, in separate processes")
def test_killed_split_leaves_no_partial_fleet(tmp_path):
    rows = [(n % 300, "W", n, 8, 1) for n in range(100_000)]
    (tmp_path / "day.csv").write_text(alibaba_trace(rows))
    command = [sys.executable, "-m", "sledlab", "fleet", "split", f"{tmp_path}/day.csv", "--out"]
    with subprocess.Popen([*command, f"{tmp_path}/fleet", "-q"]) as process:
        while not any(each.name.startswith(".part-") for each in tmp_path.iterdir()):
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "fleet").exists()
    assert subprocess.run([*command, f"{tmp_path}/fleet", "-q"], check=False).returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["day.csv", "fleet"]
    assert len(sl.read_volumes(tmp_path / "fleet")) == 300


@pytest.mark.slow("writes 4,000 files")
def test_thousands_of_volumes_need_little_memory(tmp_path):
    text = "".join(f"{n * 7919 % 4_000},W,{n * 512},512,{START_US + n}\n" for n in range(8_000))
    (tmp_path / "day.csv").write_text(text)
    code = (
        "import resource, sledlab as sl\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400))\n"
        f"volumes = sl.split_volumes({str(tmp_path / 'day.csv')!r}, {str(tmp_path / 'fleet')!r})\n"
        f"print(len(volumes), {PEAK_KIB} // 1024)\n"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, peak_mib = map(int, completed.stdout.split())
    assert count == 4_000
    assert peak_mib < 300


def test_too_many_volumes_are_rejected(tmp_path):
    count = 2**16 + 1
    (tmp_path / "day.csv").write_text("".join(f"{n},R,0,512,{START_US + n}\n" for n in range(count)))
    with pytest.raises(sl.Error, match="more than 65536 devices"):
        sl.split_volumes(tmp_path / "day.csv", tmp_path / "fleet")
    parquet.write_table(one_row_per_volume([str(n) for n in range(count)]), tmp_path / "day.parquet")
    with pytest.raises(sl.Error, match="more than 65,536 volumes"):
        sl.split_volumes(tmp_path / "day.parquet", tmp_path / "fleet")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["day.csv", "day.parquet"]

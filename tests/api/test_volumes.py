"""Volumes of fleets: where they are read from, their survey, and merging."""

import datetime
import functools
import http.server
import pickle
import threading
from collections import Counter

import fsspec
import polars
import pytest
import sledlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from sledlab.cli import run
from sledlab.traces.openers import TextTrace

HEADER = "time_us,op,offset_bytes,length_bytes\n"

requests = st.lists(
    st.tuples(
        st.integers(0, 200_000_000), st.sampled_from("RWTF"), st.integers(0, 10_000), st.integers(1, 100)
    ),
    min_size=1,
    max_size=60,
)


def trace_from_rows(rows):
    """Requests as columns of a trace, in order of arrival."""
    rows = sorted(rows, key=lambda row: row[0])
    times_us, ops, firsts, blocks = (list(column) for column in zip(*rows, strict=True))
    are_flushes = [op == "F" for op in ops]
    return sl.trace(
        {
            "time_us": times_us,
            "op": ops,
            "offset_bytes": [
                0 if is_flush else each * 512 for is_flush, each in zip(are_flushes, firsts, strict=True)
            ],
            "length_bytes": [
                0 if is_flush else each * 512 for is_flush, each in zip(are_flushes, blocks, strict=True)
            ],
        }
    )


@pytest.fixture
def directory(tmp_path):
    """A directory of three volumes in three formats."""
    (tmp_path / "b.csv").write_text(HEADER + "0,R,0,4096\n100,W,4096,512\n")
    sl.trace({"time_us": [50], "op": ["W"], "offset_bytes": [0], "length_bytes": [512]}).write(
        tmp_path / "a.parquet"
    )
    sl.read_trace(tmp_path / "b.csv").write(tmp_path / "c.csv.zst")
    (tmp_path / "_notes").write_text("not a volume")
    return tmp_path


def test_a_directory_holds_a_volume_in_each_file(directory):
    volumes = sl.read_volumes(directory)
    assert [each.name for each in volumes] == ["a", "b", "c"]
    assert [each.trace.frame().height for each in volumes] == [1, 2, 2]


def test_invalid_places_are_errors(directory, tmp_path):
    with pytest.raises(sl.Error, match="is one file") as caught:
        sl.read_volumes(directory / "b.csv")
    assert "fleet split" in caught.value.remedy
    with pytest.raises(sl.Error, match="no directory"):
        sl.read_volumes(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(sl.Error, match="holds no traces"):
        sl.read_volumes(tmp_path / "empty")
    (directory / "a.csv").write_text(HEADER)
    with pytest.raises(sl.Error, match="two traces of the volume `a`"):
        sl.read_volumes(directory)


def test_files_share_one_wall_clock(tmp_path):
    (tmp_path / "late.csv").write_text("128166372003061629,usr,0,Read,0,4096,1\n")
    (tmp_path / "early.csv").write_text("128166372001061629,usr,1,Write,512,4096,1\n")
    times_by_volume = {each.name: each.trace.frame()["time_us"][0] for each in sl.read_volumes(tmp_path)}
    assert times_by_volume == {"early": 0, "late": 200_000}


def write_parquet(path, times):
    """A volume with a request at each time."""
    path.parent.mkdir(exist_ok=True)
    row_count = len(times)
    columns = {"op": ["R"] * row_count, "offset_bytes": [0] * row_count, "length_bytes": [512] * row_count}
    polars.DataFrame({"time_us": times, **columns}).write_parquet(path)


@pytest.mark.parametrize("path_format", ["{}.parquet", "volume={}/part-0.parquet"])
@pytest.mark.parametrize("year", [1900, 2024])
def test_dates_of_volumes_share_one_clock(tmp_path, path_format, year):
    first = datetime.datetime(year, 1, 1, tzinfo=datetime.UTC)
    second = datetime.timedelta(seconds=1)
    write_parquet(tmp_path / path_format.format("late"), [first + second, first + 3 * second])
    write_parquet(tmp_path / path_format.format("early"), [first, first + second])
    volumes = sl.read_volumes(tmp_path)
    assert [each.name for each in volumes] == ["early", "late"]
    assert [each.trace.frame()["time_us"].to_list() for each in volumes] == [[0, 1e6], [1e6, 3e6]]
    identities = {each.trace.opener.identity() for each in volumes}
    write_parquet(tmp_path / path_format.format("first"), [first - second])
    volumes_later = sl.read_volumes(tmp_path)
    assert volumes_later[2].trace.frame()["time_us"].to_list() == [2e6, 4e6]
    assert identities.isdisjoint(each.trace.opener.identity() for each in volumes_later)


def test_times_of_day_of_volumes_share_one_clock(tmp_path):
    write_parquet(tmp_path / "a.parquet", [datetime.time(10), datetime.time(11)])
    write_parquet(tmp_path / "b.parquet", [datetime.time(9)])
    assert [each.trace.frame()["time_us"][0] for each in sl.read_volumes(tmp_path)] == [3.6e9, 0]


def test_dates_share_the_clock_of_text_formats(tmp_path):
    (tmp_path / "text.csv").write_text("12,R,0,4096,1577808000000000\n")
    epoch = datetime.datetime(1970, 1, 1)
    write_parquet(tmp_path / "dates.parquet", [epoch + datetime.timedelta(microseconds=1577808000000250)])
    times_by_volume = {each.name: each.trace.frame()["time_us"][0] for each in sl.read_volumes(tmp_path)}
    assert times_by_volume == {"text": 0, "dates": 250}
    write_parquet(tmp_path / "dates.parquet", [epoch - datetime.timedelta(days=1)])
    with pytest.raises(sl.Error, match=r"`dates` and `text` share no clock: .* 50 years apart"):
        sl.read_volumes(tmp_path)
    (tmp_path / "text.csv").write_text("0,0,65536,r,0.5\n")  # SPC counts from the start of the recording
    write_parquet(tmp_path / "dates.parquet", [epoch + datetime.timedelta(days=10_000)])
    with pytest.raises(sl.Error, match=r"share no clock: the times of the second count from no date"):
        sl.read_volumes(tmp_path)


@pytest.mark.parametrize("path_format", ["{}.parquet", "volume={}/part-0.parquet"])
def test_volumes_without_a_common_clock_are_refused(tmp_path, path_format):
    write_parquet(tmp_path / path_format.format("a"), [datetime.time(10)])
    write_parquet(tmp_path / path_format.format("b"), [datetime.date(2024, 1, 1)])
    with pytest.raises(sl.Error, match=r"`b` and `a` share no clock|not in all volumes"):
        [sl.survey(volume) for volume in sl.read_volumes(tmp_path)]


def test_dates_after_a_volume_without_dates_are_refused(tmp_path):
    write_parquet(tmp_path / "volume=a" / "1.parquet", [0])
    write_parquet(tmp_path / "volume=b" / "1.parquet", [datetime.date(2024, 1, 1)])
    first, second = sl.read_volumes(tmp_path)
    assert sl.survey(first).requests == 1
    with pytest.raises(sl.Error, match="times are dates here, but not in all volumes"):
        sl.survey(second)


def test_volumes_are_made_of_paths_and_tables(directory):
    table = sl.read_trace(directory / "b.csv").frame()
    for source in (directory / "b.csv", str(directory / "b.csv"), table, sl.Volume("b", table)):
        assert sl.survey(source).requests == 2
        assert len(sl.merge_volumes([source, source], [0, 100])) == 4
    for source in (5, None, sl.workload("uniform")):
        with pytest.raises(sl.Error, match="trace"):
            sl.survey(source)


@pytest.mark.parametrize("line", ["{t},{name},3,Read,0,4096,1\n", "{name},R,0,4096,{t}\n"])
def test_volumes_with_named_devices_share_one_device(tmp_path, line):
    for number, name in enumerate(("12", "7")):
        text = "".join(line.format(t=10**15 + 10**6 * each + number, name=name) for each in range(5))
        (tmp_path / f"{name}.csv").write_text(text)
    merged = sl.merge_volumes(sl.read_volumes(tmp_path), [0, 1000])
    assert sorted(merged.frame()["offset_bytes"].to_list()) == [0] * 5 + [512_000] * 5
    assert set(merged.frame()["device"]) == {0}
    assert sl.simulate(merged, "mems-g2").count == 10


def test_damaged_volume_is_named_and_skipped(directory):
    compressed = (directory / "c.csv.zst").read_bytes()
    (directory / "cut-off.csv.zst").write_bytes(compressed[: len(compressed) // 2])
    (directory / "torn.parquet").write_bytes((directory / "a.parquet").read_bytes()[:-20])
    (directory / "hollow.csv").write_text("")
    volumes = {each.name: each for each in sl.read_volumes(directory)}
    assert sl.survey(volumes.pop("a")).requests == 1
    for name in ("cut-off", "torn", "hollow"):
        with pytest.raises(sl.Error) as caught:
            sl.survey(volumes.pop(name))
        assert name in str(caught.value)
    assert [sl.survey(each).requests for each in volumes.values()] == [2, 2]


def test_a_file_of_several_volumes_is_no_volume(tmp_path):
    (tmp_path / "both.csv").write_text("12,R,0,4096,1577808000000000\n138,W,8192,512,1577808000000250\n")
    with pytest.raises(sl.Error, match="`both` holds several volumes"):
        sl.survey(sl.read_volumes(tmp_path)[0])


def test_samples_are_a_fleet():
    names = [each.name for each in sl.read_volumes("sample:")]
    assert "mail-a" in names
    assert len(names) >= 4
    assert names == sorted(names)


@settings(max_examples=40, deadline=None)
@given(requests)
def test_survey_equals_a_plain_loop(rows):
    trace = trace_from_rows(rows)
    survey = sl.survey(sl.Volume("v", trace))
    table = trace.frame().rows(named=True)
    accesses = [row for row in table if row["op"] in "RW"]
    requests_by_minute = Counter(int(row["time_us"] // 60e6) for row in accesses)
    assert survey.requests == len(accesses)
    assert survey.reads == sum(row["op"] == "R" for row in accesses)
    assert survey.read_bytes == sum(row["length_bytes"] for row in accesses if row["op"] == "R")
    assert survey.written_bytes == sum(row["length_bytes"] for row in accesses if row["op"] == "W")
    assert survey.end_blocks == max((row["offset_bytes"] + row["length_bytes"]) // 512 for row in table)
    assert survey.first_s == pytest.approx(table[0]["time_us"] / 1e6)
    assert survey.last_s == pytest.approx(table[-1]["time_us"] / 1e6)
    assert survey.busiest_minute_iops == max(requests_by_minute.values(), default=0) / 60


@settings(max_examples=25, deadline=None)
@given(st.lists(requests, min_size=1, max_size=4))
def test_merge_equals_merge_of_shifted_volumes(tmp_path_factory, rows_by_volume):
    directory = tmp_path_factory.mktemp("merge")
    offsets = [20_000 * number for number in range(len(rows_by_volume))]
    volumes = [sl.Volume(str(number), trace_from_rows(rows)) for number, rows in enumerate(rows_by_volume)]
    for volume, offset in zip(volumes, offsets, strict=True):
        volume.trace.write(directory / f"{volume.name}.csv")
        arguments = [
            "trace",
            "slice",
            f"{directory}/{volume.name}.csv",
            f"{directory}/{volume.name}-moved.csv",
            "-q",
        ]
        assert run([*arguments, "--shift", str(offset), "--keep-times"]) == 0
    files = [f"{directory}/{volume.name}-moved.csv" for volume in volumes]
    assert run(["trace", "merge", *files, "--keep-devices", "--save", f"{directory}/merged.csv", "-q"]) == 0
    merged = pickle.loads(pickle.dumps(sl.merge_volumes(volumes, offsets)))
    assert merged.frame().equals(sl.read_trace(directory / "merged.csv").frame())


def test_merge_requires_an_offset_per_volume():
    two_volumes = sl.read_volumes("cloud:volumes=2,requests=100")
    with pytest.raises(sl.Error, match="2 volumes have 1 offsets"):
        sl.merge_volumes(two_volumes, [0])


def test_volumes_in_memory_equal_volumes_in_files(directory):
    store = fsspec.filesystem("memory")
    for file in directory.iterdir():
        store.pipe(f"/fleet/{file.name}", file.read_bytes())
    volumes = sl.read_volumes("memory://fleet")
    local_volumes = sl.read_volumes(directory)
    assert [each.name for each in volumes] == ["a", "b", "c"]
    assert all(
        remote.trace.frame().equals(local.trace.frame())
        for remote, local in zip(volumes, local_volumes, strict=True)
    )
    assert "memory" in pickle.loads(pickle.dumps(volumes[1])).trace.opener.path
    with pytest.raises(sl.Error, match="memory://elsewhere"):
        sl.read_volumes("memory://elsewhere")
    store.rm("/fleet", recursive=True)


def test_dates_in_memory_share_one_clock(tmp_path):
    first = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    store = fsspec.filesystem("memory")
    for number, name in enumerate(["volume=a", "volume=b"]):
        write_parquet(tmp_path / name / "1.parquet", [first + datetime.timedelta(seconds=number)])
        store.pipe(f"/dated/{name}/1.parquet", (tmp_path / name / "1.parquet").read_bytes())
    volumes = sl.read_volumes("memory://dated")
    assert [each.trace.frame()["time_us"].to_list() for each in volumes] == [[0], [1e6]]
    store.rm("/dated", recursive=True)


@pytest.fixture
def server(tmp_path):
    """A directory, and the address at which a web server serves it."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    root = tmp_path / "served"
    root.mkdir()
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root)))
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield root, f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_traces_on_a_web_server_are_read(server):
    root, address = server
    (root / "a.csv").write_text(HEADER + "".join(f"{n},R,{n * 512},512\n" for n in range(100_000)))
    opener = TextTrace(f"{address}/a.csv")
    frame = sl.Trace("a", "csv", opener).frame()
    assert frame.equals(sl.read_trace(root / "a.csv").frame())
    assert [each.name for each in sl.read_volumes(f"{address}/")] == ["a"]


def test_unknown_fsspec_protocol_is_an_error():
    with pytest.raises(sl.Error, match="cannot be read"):
        sl.read_volumes("nosuchstore://bucket")


def test_identities_follow_contents(directory):
    identities_before = {each.name: each.trace.opener.identity() for each in sl.read_volumes(directory)}
    (directory / "b.csv").write_text(HEADER + "0,R,0,4096\n")
    identities_after = {each.name: each.trace.opener.identity() for each in sl.read_volumes(directory)}
    assert {name for name in identities_before if identities_before[name] != identities_after[name]} == {"b"}

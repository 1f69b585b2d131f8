"""`sledlab trace`: info, head, convert, slice, merge, generate."""

import gzip

import polars as pl
import pytest

HEADER = "time_us,op,offset_bytes,length_bytes\n"


def test_info_of_the_sample(sledlab, bank):
    info = sledlab("trace", "info", bank, "--json").json
    assert (info["reads"], info["writes"], info["flushes"]) == (52483, 78939, 29203)
    assert info["span_s"] == pytest.approx(420, abs=0.1)
    printed = sledlab("trace", "info", bank).out
    assert "52,483 reads" in printed
    assert "working set" in printed


def test_head_prints_the_first_requests(sledlab, small_trace):
    rows = sledlab("trace", "head", small_trace, "-n", 2, "--json").json
    assert [row["op"] for row in rows] == ["R", "W"]
    assert rows[1] == {"time_us": 900, "op": "W", "offset_bytes": 8192, "length_bytes": 512, "device": 0}
    assert "8192" in sledlab("trace", "head", small_trace).out


@pytest.mark.parametrize("name", ["copy.csv", "copy.csv.gz", "copy.csv.zst", "copy.parquet"])
def test_converting_back_restores_the_trace(sledlab, small_trace, tmp_path, name):
    copy, converted_back = tmp_path / name, tmp_path / "back.csv"
    assert sledlab("trace", "convert", small_trace, copy).code == 0
    assert sledlab("trace", "convert", copy, converted_back).code == 0
    assert converted_back.read_text() == small_trace.read_text()


def test_disksim_format_refuses_flushes(sledlab, small_trace, tmp_path):
    out = tmp_path / "out.txt"
    answer = sledlab("trace", "convert", small_trace, out)
    assert answer.code == 2
    assert "--media-only" in answer.err or "flush" in answer.err
    assert sledlab("trace", "convert", small_trace, out, "--media-only").code == 0
    assert sledlab("trace", "info", out, "--json").json["format"] == "disksim-ascii"


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.txt", "out.parquet"])
def test_trims_and_flushes_can_be_omitted(sledlab, small_trace, tmp_path, name):
    out = tmp_path / name
    answer = sledlab("trace", "convert", small_trace, out, "--media-only")
    assert answer.err == f"wrote 2 requests to {out}\n"
    assert [row["op"] for row in sledlab("trace", "head", out, "--json").json] == ["R", "W"]


@pytest.mark.parametrize(
    ("name", "arguments", "format"),
    [
        ("out.iolog", (), "fio-iolog"),
        ("out.iolog.gz", (), "fio-iolog"),
        ("out.spc", ("--media-only",), "spc"),
        ("out.csv", ("--to", "msr", "--media-only"), "msr"),
        ("out.log", ("--to", "fio-iolog"), "fio-iolog"),
    ],
)
def test_trace_is_converted_for_other_tools(sledlab, small_trace, tmp_path, name, arguments, format):
    out = tmp_path / name
    assert sledlab("trace", "convert", small_trace, out, *arguments).code == 0
    info = sledlab("trace", "info", out, "--json").json
    assert info["format"] == format
    source = sledlab("trace", "info", small_trace, "--json").json
    for key in ("reads", "writes", "bytes_read", "bytes_written", "written_reuse"):
        assert info[key] == source[key]


def test_help_lists_formats_to_write(sledlab):
    printed = " ".join(sledlab("trace", "convert", "--help").out.split())
    assert "csv, disksim-ascii, fio-iolog, msr, oracle-general, spc, parquet" in printed


def test_info_shows_gaps_and_reads_of_written_data(sledlab, tmp_path):
    # Of three reads, one has all its blocks written before; of 13.5 s, gaps above 1 s take 13 s.
    trace = tmp_path / "gaps.csv"
    rows = ["0,W,0,8192", "500000,R,4096,4096", "3500000,R,4096,8192", "13500000,R,16384,4096"]
    trace.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *rows, ""]))
    info = sledlab("trace", "info", trace, "--json").json
    gaps = info["arrival_gaps"]
    assert gaps["longest_s"] == 10
    assert [(row["longer_than_s"], row["count"]) for row in gaps["long"]] == [(0.1, 3), (1, 2), (10, 0)]
    assert gaps["long"][1]["time_share"] == pytest.approx(13 / 13.5)
    written = info["written_reuse"]
    assert written["read_share"] == pytest.approx(1 / 3)
    assert [row["read_share"] for row in written["caches"]] == pytest.approx([1 / 3] * 3)
    # Six accesses use four 4 KiB blocks.
    assert info["unlimited_hit_ratio"] == pytest.approx(2 / 6)
    printed = sledlab("trace", "info", trace).out
    assert "gaps above 1 s" in printed
    assert ["unlimited", "33", "%", "33", "%"] in [line.split() for line in printed.splitlines()]


def test_info_without_reads_has_no_share_of_them(sledlab, tmp_path):
    trace = tmp_path / "writes.csv"
    trace.write_text("time_us,op,offset_bytes,length_bytes\n0,W,0,4096\n")
    info = sledlab("trace", "info", trace, "--json").json
    assert info["written_reuse"]["read_share"] is None
    assert all(row["read_share"] is None for row in info["written_reuse"]["caches"])
    assert info["arrival_gaps"]["longest_s"] is None
    assert sledlab("trace", "info", trace).code == 0


def test_unknown_format_error_lists_formats(sledlab, small_trace, tmp_path):
    answer = sledlab("trace", "convert", small_trace, tmp_path / "out.doc")
    answer.assert_refused("csv, disksim-ascii, fio-iolog, msr, oracle-general, spc, parquet")
    assert "ends in .csv, .txt, .iolog, .oraclegeneral, .spc, .parquet" in answer.err
    answer = sledlab("trace", "convert", small_trace, tmp_path / "out", "--to", "parqet")
    answer.assert_refused("did you mean `parquet`?")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.zst", "out.parquet"])
def test_file_is_replaced_atomically(sledlab, small_trace, tmp_path, name):
    out, bad = tmp_path / name, tmp_path / "bad.csv"
    out.write_text("what was there")
    bad.write_text(HEADER + "0,R,0,512\n" * 70_000 + "5,R,eight,512\n")
    names_before = {path.name for path in tmp_path.iterdir()}
    sledlab("trace", "merge", small_trace, small_trace, "--save", out).assert_refused("--device-column")
    sledlab("trace", "convert", bad, out).assert_refused("bad.csv:70002:5")
    assert out.read_text() == "what was there"
    assert {path.name for path in tmp_path.iterdir()} == names_before
    assert sledlab("trace", "merge", small_trace, small_trace, "--save", out, "--device-column").code == 0
    assert sledlab("trace", "info", out, "--json").json["requests"] == 8
    assert {path.name for path in tmp_path.iterdir()} == names_before


def test_creation_error_uses_the_given_name(sledlab, small_trace, tmp_path):
    out = tmp_path / "a" / "out.csv"
    sledlab("trace", "convert", small_trace, out).assert_refused(str(out.parent))
    answer = sledlab("trace", "merge", small_trace, small_trace, "--save", tmp_path / "out.csv")
    assert f"error: {tmp_path / 'out.csv'}: " in answer.err
    assert ".part-" not in answer.err


def test_trace_can_be_written_to_special_files(sledlab, small_trace):
    assert sledlab("trace", "convert", small_trace, "/dev/null", "--to", "csv").code == 0
    assert sledlab("trace", "convert", small_trace, "-", "--to", "csv").out == small_trace.read_text()


def test_parquet_has_the_columns_of_a_trace(sledlab, small_trace, tmp_path):
    out = tmp_path / "out.parquet"
    sledlab("trace", "convert", small_trace, out)
    frame = pl.read_parquet(out)
    assert frame.columns == ["time_us", "op", "offset_bytes", "length_bytes"]
    assert frame.rows()[1] == (900, "W", 8192, 512)
    summary = sledlab("simulate", "--device", "mems-g2", "--trace", out, "--json").json
    assert summary["requests"] == 2
    assert summary["config"]["trace"]["format"] == "parquet"


@pytest.mark.usefixtures("without_pages")
def test_parquet_runs_again_from_its_experiment(sledlab, small_trace, tmp_path):
    parquet, first, second = tmp_path / "t.parquet", tmp_path / "1", tmp_path / "2"
    sledlab("trace", "convert", small_trace, parquet)
    assert sledlab("simulate", "--device", "mems-g2", "--trace", parquet, "--out", first).code == 0
    assert sledlab("simulate", first / "experiment.toml", "--out", second).code == 0
    assert (first / "summary.json").read_bytes() == (second / "summary.json").read_bytes()


def test_slice_cuts_shifts_and_speeds_up(sledlab, tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(HEADER + "".join(f"{i * 1000},R,{i * 4096},512\n" for i in range(100)))
    window = ("trace", "slice", source, out, "--from", 0.01, "--until", 0.02)
    assert sledlab(*window).code == 0
    assert out.read_text().splitlines()[1] == "0,R,40960,512"
    assert len(out.read_text().splitlines()) == 11
    sledlab(*window, "--keep-times", "--limit", 1)
    assert out.read_text() == HEADER + "10000,R,40960,512\n"
    sledlab("trace", "slice", source, out, "--range", "80:96", "--shift", -80, "--speedup", 2)
    assert out.read_text() == HEADER + "5000,R,0,512\n5500,R,4096,512\n"


def test_fit_scales_to_a_device(sledlab, tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(HEADER + f"0,R,0,512\n10,R,{10 * 2**40},512\n")
    assert sledlab("simulate", "--device", "mems-g2", "--trace", source).code == 2
    assert sledlab("trace", "slice", source, out, "--fit", "mems-g2").code == 0
    assert sledlab("simulate", "--device", "mems-g2", "--trace", out, "--json").json["requests"] == 2


@pytest.mark.parametrize("name", ["far.csv", "far.parquet"])
def test_out_of_range_requests_agree_across_formats(sledlab, tmp_path, name):
    source, path = tmp_path / "in.csv", tmp_path / name
    source.write_text(HEADER + f"0,R,0,512\n10,R,{10 * 2**40},512\n")
    sledlab("trace", "convert", source, path)
    replay = ("simulate", "--device", "mems-g2", "--trace", path, "--json", "--outside")
    assert "--outside wrap, clip or scale" in sledlab(*replay, "reject").err
    assert [sledlab(*replay, outside).json["requests"] for outside in ("wrap", "clip", "scale")] == [2, 1, 2]


@pytest.mark.parametrize("name", ["two.csv", "two.parquet"])
def test_several_devices_are_treated_alike_in_all_formats(sledlab, tmp_path, name):
    source, path = tmp_path / "in.csv", tmp_path / name
    source.write_text("time_us,op,offset_bytes,length_bytes,device\n0,R,0,512,0\n10,R,0,512,1\n")
    assert sledlab("trace", "convert", source, path, "--device-column").code == 0
    replay = ("simulate", "--device", "mems-g2", "--trace", path, "--json")
    assert sledlab(*replay).code == 2
    for devices in ("place", "overlay"):
        assert sledlab(*replay, "--set", f"trace.devices={devices}").json["requests"] == 2


def test_merge_keeps_order_and_places_devices(sledlab, tmp_path):
    one, two, out = tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "out.csv"
    one.write_text(HEADER + "0,R,0,512\n20,R,512,512\n")
    two.write_text(HEADER + "10,W,0,512\n")
    assert sledlab("trace", "merge", one, two, "--save", out, "--place").code == 0
    assert out.read_text() == HEADER + "0,R,0,512\n10,W,1024,512\n20,R,512,512\n"
    assert sledlab("trace", "merge", one, one, "--save", one).code == 2


def test_generate_is_seeded(sledlab, tmp_path):
    a, b, c = (tmp_path / f"{name}.csv" for name in "abc")
    for path, seed in ((a, 7), (b, 7), (c, 8)):
        assert sledlab("trace", "generate", "uniform", path, "--limit", 50, "--seed", seed).code == 0
    assert a.read_bytes() == b.read_bytes() != c.read_bytes()
    assert sledlab("trace", "generate", "uniform", a, "--set", "workload.blokcs=3").code == 2


@pytest.mark.parametrize(
    ("contents", "location"),
    [
        (b"", "bad.csv"),
        (b"\x00\x01\x02" * 100, "bad.csv"),
        (HEADER.encode() + b"0,R,0\n", "bad.csv:2"),
        (HEADER.encode() + b"-5,R,0,512\n", "bad.csv:2:1"),
        (HEADER.encode() + b"nan,R,0,512\n", "bad.csv:2:1"),
        (HEADER.encode() + b"0,R,0,0\n", "omitted 1 request of length 0"),
        (HEADER.encode() + b"0,X,0,512\n", "bad.csv:2:3"),
        (HEADER.encode() + b"0,R,99999999999999999999,512\n", "bad.csv:2:5"),
        (HEADER.encode() + b"9,R,0,512\n5,R,0,512\n", "bad.csv:3"),
        (gzip.compress(HEADER.encode() + b"0,R,0,512\n" * 1000, mtime=0)[:-20], "bad.csv"),
    ],
)
def test_invalid_traces_are_reported_with_location(sledlab, tmp_path, contents, location):
    path = tmp_path / "bad.csv"
    path.write_bytes(contents)
    for command in (("trace", "info", path), ("simulate", "--device", "mems-g2", "--trace", path)):
        sledlab(*command).assert_refused(location)


def test_unsorted_traces_can_be_sorted(sledlab, tmp_path):
    path = tmp_path / "late.csv"
    path.write_text(HEADER + "9,R,0,512\n5,R,0,512\n")
    assert "--sort" in sledlab("trace", "info", path).err
    assert sledlab("trace", "info", path, "--sort", 10, "--json").json["requests"] == 2
    answer = sledlab("simulate", "--device", "mems-g2", "--trace", path, "--sort", 10, "--json")
    assert answer.json["requests"] == 2


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"time_us": [0], "op": ["R"], "offset_bytes": [0]}, "`length_bytes` is missing"),
        (
            {
                "time_us": [0.0, float("nan")],
                "op": ["R", "R"],
                "offset_bytes": [0, 0],
                "length_bytes": [512, 512],
            },
            ":2",
        ),
        ({"time_us": [0, None], "op": ["R", "R"], "offset_bytes": [0, 0], "length_bytes": [512, 512]}, ":2"),
        ({"time_us": [0], "op": ["erase"], "offset_bytes": [0], "length_bytes": [512]}, "unknown operation"),
        ({"time_us": ["x"], "op": ["R"], "offset_bytes": [0], "length_bytes": [512]}, "time_us"),
        ({"time_us": [0], "op": ["R"], "offset_bytes": [-512], "length_bytes": [512]}, "negative"),
    ],
)
def test_invalid_parquet_is_an_error(sledlab, tmp_path, frame, message):
    path = tmp_path / "bad.parquet"
    pl.DataFrame(frame).write_parquet(path)
    sledlab("simulate", "--device", "mems-g2", "--trace", path).assert_refused(message)


def test_truncated_parquet_is_an_error(sledlab, tmp_path):
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1" + bytes(50))
    assert sledlab("trace", "info", path).code == 2


def test_parquet_keeps_requested_bytes_and_metadata(sledlab, tmp_path):
    table, parquet, back = (tmp_path / name for name in ("t.csv", "t.parquet", "back.csv"))
    table.write_text(
        "time_us,op,offset_bytes,length_bytes,device,metadata\n0,R,0,4096,0,0\n5,W,512,200,0,1\n"
    )
    sledlab("trace", "convert", table, parquet)
    frame = pl.read_parquet(parquet)
    assert frame["length_bytes"].to_list() == [4096, 200]
    assert frame["metadata"].to_list() == [0, 1]
    sledlab("trace", "convert", parquet, back)
    assert back.read_text() == table.read_text()


def test_info_counts_data_and_cylinders_by_hour(sledlab, tmp_path):
    # A column of mems-g2 has 2,700 blocks: requests begin in columns 0, 1 and 3, later in 1.
    trace = tmp_path / "hours.csv"
    rows = ["0,W,0,4096", "1000,R,1384448,4096", "2000,R,4149248,4096", "7200000000,R,1384448,4096"]
    trace.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *rows, ""]))
    command = ("trace", "info", trace, "--device", "mems-g2")
    info = sledlab(*command, "--json").json
    assert info["address_span_bytes"] == 4153344
    assert info["hours"] == [
        {
            "from_s": 0,
            "requests": 3,
            "working_set_bytes": 12288,
            "address_span_bytes": 4153344,
            "cylinders": 3,
        },
        {
            "from_s": 7200,
            "requests": 1,
            "working_set_bytes": 4096,
            "address_span_bytes": 4096,
            "cylinders": 1,
        },
    ]
    assert ["7,200", "1", "0.00410", "0.00410", "1"] in [
        line.split() for line in sledlab(*command).out.splitlines()
    ]
    assert sledlab("trace", "info", trace, "--json").json["hours"][0]["cylinders"] is None


def test_info_has_reuse_distances_up_to_largest_cache(sledlab, tmp_path):
    # The block at 0 is read again after one other, then written at once.
    trace = tmp_path / "reuse.csv"
    rows = ["0,R,0,4096", "1,R,4096,4096", "2,R,0,4096", "3,W,0,4096"]
    trace.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *rows, ""]))
    figure = tmp_path / "reuse.svg"
    command = ("trace", "info", trace, "--cache-mb", "1,3")
    info = sledlab(*command, "--save", figure, "--json").json
    assert [row["cache_mb"] for row in info["cache_hits"]] == [1, 3]
    assert [row["cache_mb"] for row in info["written_reuse"]["caches"]] == [1, 3]
    read, write = (info["reuse_distances"][kind] for kind in ("read", "write"))
    assert [row["max_kb"] for row in read["bins"]] == [2**power for power in range(2, 12)]
    assert [row["share"] for row in read["bins"][:3]] == pytest.approx([0, 1 / 3, 0])
    assert (read["first_share"], read["farther_share"]) == pytest.approx((2 / 3, 0))
    assert (write["accesses"], write["bins"][0]["share"], write["first_share"]) == (1, 1, 0)
    assert "reads" in figure.read_text(encoding="utf-8")
    assert "reuse distance" in sledlab(*command).out
    sledlab(*command, "--save", "reuse.doc").assert_refused(".pdf, .svg, .png")
    sledlab("trace", "info", trace, "--cache-mb", "3,1").assert_refused("ascending order")

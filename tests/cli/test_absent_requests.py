"""Statistics of requests that a trace does not have are missing in all outputs, without a sentence."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.show.emulation import status_text, table, verdict

KINDS = {"reads": ("R" * 60, "write"), "writes": ("W" * 60, "read"), "one": ("R", "write")}
"""Traces by name: their operations, and the kind of request that they lack."""

DEVICE = ("--device", "mems-g2")


@pytest.fixture
def trace_file(tmp_path, request):
    """The file of the trace that the parameter `kind` names."""
    return write_trace(tmp_path / "trace.csv", KINDS[request.getfixturevalue("kind")][0])


def write_trace(path: Path, operations: str) -> Path:
    lines = [f"{n * 20_000},{op},{n * 7919 % 1000 * 4096},4096" for n, op in enumerate(operations)]
    path.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *lines]) + "\n")
    return path


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def assert_missing(frame: pl.DataFrame, absent: str) -> None:
    """Assert that columns of the absent kind are of a number and all null."""
    column = frame[f"{absent}_mean_ms"]
    assert column.dtype == pl.Float64
    assert column.null_count() == frame.height
    other = {"read": "write", "write": "read"}[absent]
    assert frame[f"{other}_mean_ms"].null_count() == 0


def assert_tables_match(directory: Path, table: str, absent: str) -> None:
    """Assert that a table misses the statistics of the absent kind in Parquet and in CSV."""
    assert_missing(pl.read_parquet(directory / f"{table}.parquet"), absent)
    cells = pl.read_csv(directory / f"{table}.csv", infer_schema=False)[f"{absent}_mean_ms"]
    assert cells.null_count() == len(cells)


@pytest.mark.parametrize("kind", KINDS)
def test_simulate_omits_absent_kind(sledlab, tmp_path, trace_file, kind):
    absent = KINDS[kind][1]
    answer = sledlab("simulate", *DEVICE, "--trace", trace_file, "--out", tmp_path / "run")
    assert answer.code == 0, answer.err
    present = {"read": "write", "write": "read"}[absent]
    saved = json.loads((tmp_path / "run" / "summary.json").read_text())
    for summary in (saved, sledlab("simulate", *DEVICE, "--trace", trace_file, "--json").json):
        assert (summary[absent]["requests"], summary[absent]["bytes"]) == (0, 0)
        assert summary[absent]["request_energy_uj"] is None
        assert set(summary[absent]["response_time_ms"].values()) == {None}
        assert set(summary[absent]["response_time_ms"]) == set(summary[present]["response_time_ms"])
        assert None not in summary[present]["response_time_ms"].values()
        assert summary[present]["request_energy_uj"] > 0
        assert summary["response_time_ms"]["ci95_half_width"] is None
    column = {"read": -2, "write": -1}[absent]
    mean_cells = next(line.split() for line in answer.out.splitlines() if line.split()[:1] == ["mean"])
    assert mean_cells[column] == "–"
    latex = (tmp_path / "run" / "tables.tex").read_text()
    row = next(line for line in latex.splitlines() if line.startswith("  mean &"))
    assert re.split(r" & ", row.removesuffix(r" \\"))[column] == "--"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page[page.index(">99.9 % within<") :])
    assert cells[1:4][column] == "–"
    result = sl.simulate(sl.read_trace(trace_file), "mems-g2")
    assert getattr(result, absent).response_time.p99 is None
    assert (result.response_time.std == 0) == (kind == "one")


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("kind", KINDS)
def test_compare_omits_absent_kind(sledlab, tmp_path, trace_file, kind):
    absent = KINDS[kind][1]
    arguments = ("compare", *DEVICE, "--trace", trace_file, "--scheduler", "fcfs,sptf", "--parallel", 1)
    answer = sledlab(*arguments, "--speedup", "1", "--out", tmp_path / "study")
    assert answer.code == 0, answer.err
    assert "Reads" not in answer.out
    assert "Writes" not in answer.out
    for name in ("runs", "curves"):
        assert_tables_match(tmp_path / "study", name, absent)
    result = sledlab(*arguments, "--speedup", "1", "--json").json
    assert all(row[f"{absent}_mean_ms"] is None for row in result["runs"])


@pytest.mark.parametrize("kind", KINDS)
def test_power_omits_absent_kind(sledlab, tmp_path, trace_file, kind):
    absent = KINDS[kind][1]
    arguments = (
        "power",
        *DEVICE,
        "--trace",
        trace_file,
        "--timeout",
        "0,5",
        "--startup",
        "0,1",
        "--load",
        "1",
    )
    answer = sledlab(*arguments, "--parallel", 1, "--out", tmp_path / "study")
    assert answer.code == 0, answer.err
    energies = pl.read_parquet(tmp_path / "study" / "request_energy.parquet")[f"{absent}_energy_uj"]
    assert (energies.dtype, energies.null_count()) == (pl.Float64, len(energies))
    page = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    assert f"serving a {absent}" in page
    idle_periods = pl.read_parquet(tmp_path / "study" / "break_even.parquet")
    # A single request has no idle period before or after it.
    assert (idle_periods["longest_idle_ms"].null_count() == 1) == (kind == "one")


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("kind", KINDS)
def test_hybrid_omits_absent_kind(sledlab, tmp_path, trace_file, kind):
    absent = KINDS[kind][1]
    arguments = ("--mems-mb", "64", "--segment-kb", "8", "--price-ratio", "none", "--parallel", 1)
    answer = sledlab("hybrid", "--trace", trace_file, *arguments, "--out", tmp_path / "study")
    assert answer.code == 0, answer.err
    rows = pl.read_parquet(tmp_path / "study" / "configurations.parquet")
    assert_missing(rows, absent)
    assert rows[f"mems_{absent}_hits"].null_count() == rows.height
    hit_ratios = pl.read_parquet(tmp_path / "study" / "hits.parquet")
    assert hit_ratios[f"{absent}_hit_ratio"].null_count() == hit_ratios.height
    assert hit_ratios["hit_ratio"].null_count() == 0


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("kind", KINDS)
def test_fleet_omits_absent_kind(sledlab, tmp_path, kind):
    operations, absent = KINDS[kind]
    (tmp_path / "volumes").mkdir()
    write_trace(tmp_path / "volumes" / "a.csv", operations)
    write_trace(tmp_path / "volumes" / "flushes.csv", "FFF")
    arguments = ("fleet", tmp_path / "volumes", *DEVICE, "--parallel", 1, "--out", tmp_path / "study")
    answer = sledlab(*arguments)
    assert answer.code == 0, answer.err
    assert_tables_match(tmp_path / "study", "devices", absent)
    failed = pl.read_parquet(tmp_path / "study" / "failed.parquet")
    assert failed.rows() == [("flushes", "it holds no reads and no writes")]


@pytest.mark.parametrize("kind", KINDS)
def test_trace_info_omits_absent_kind(sledlab, trace_file, kind):
    absent = KINDS[kind][1]
    result = sledlab("trace", "info", trace_file, "--json").json
    sizes = dict(result["sizes"][absent])
    assert sizes.pop("requests") == 0
    assert set(sizes.values()) == {None}
    writes = {"overwrite_ratio", "hot_50_write_share"}
    assert {result[name] is None for name in writes} == {absent == "write"}
    assert {value is None for value in result["interarrival_ms"].values()} == {kind == "one"}
    printed = sledlab("trace", "info", trace_file).out
    assert ("overwritten –" in one_line(printed)) == (absent == "write")
    assert ("between arrivals, mean –" in one_line(printed)) == (kind == "one")


def test_trace_info_of_flushes_has_counts_only(sledlab, tmp_path):
    path = write_trace(tmp_path / "flushes.csv", "FTF")
    result = sledlab("trace", "info", path, "--json").json
    assert (result["requests"], result["reads"], result["writes"]) == (3, 0, 0)
    assert result["read_share"] is result["highest_start_block"] is None
    assert {row["hit_ratio"] for row in result["cache_hits"]} == {None}
    assert set(result["sequentiality"].values()) == {None}
    assert "overwritten" not in sledlab("trace", "info", path).out


@pytest.mark.parametrize("kind", KINDS)
def test_hit_ratios_omit_absent_kind(sledlab, trace_file, kind):
    absent = KINDS[kind][1]
    hits = sledlab("trace", "hits", trace_file, "--replacement", "lru", "--json").json["hits"]
    assert {row[f"{absent}_hit_ratio"] for row in hits} == {None}
    frame = sl.hit_ratios(sl.read_trace(trace_file), replacement="lru").frame
    assert frame[f"{absent}_hit_ratio"].null_count() == frame.height
    assert frame.schema["read_hit_ratio"] == frame.schema["write_hit_ratio"] == pl.Float64


def test_hit_ratios_of_flushes_are_missing(sledlab, tmp_path):
    path = write_trace(tmp_path / "flushes.csv", "FTF")
    arguments = ("trace", "hits", path, "--replacement", "lru", "--cache-mb", "1")
    assert {row["hit_ratio"] for row in sledlab(*arguments, "--json").json["hits"]} == {None}
    assert sledlab(*arguments).out.split()[-1] == "–"


@pytest.mark.parametrize("command", ["simulate", "compare", "power", "hybrid"])
def test_flushes_alone_are_refused(sledlab, tmp_path, command):
    path = write_trace(tmp_path / "flushes.csv", "FFF")
    device = () if command == "hybrid" else DEVICE
    sledlab(command, *device, "--trace", path).assert_refused("no read")


def test_emulation_without_replies_has_no_lateness():
    with sl.serve("mems-g2") as server:
        status = server.status()
    emulation = server.emulation
    result = json.loads(emulation.to_json())
    assert set(result["lateness_us"].values()) == set(result["within"].values()) == {None}
    assert emulation.kept_time
    assert "unknown" in verdict(emulation)
    assert [row[2] for row in table(emulation).rows[:8]] == ["–"] * 8
    assert status["response_mean_ms"] is None
    assert "response – ms" in " ".join(status_text(status, "mems-g2"))

"""`sledlab simulate`: its options, its JSON, its files, its mistakes."""

import html
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl

UNIFORM = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 2000)

SUMMARY_KEYS = """
requests elapsed_s response_time_ms read write queue_time_ms service_time_ms positioning_time_ms
throughput_iops throughput_mb_s utilization queue_length energy_j startups saturated wall_s
config version seed checksum
"""


def test_json_is_one_object_with_everything_promised(sledlab):
    answer = sledlab(*UNIFORM, "--json")
    assert (answer.code, answer.err) == (0, "")
    result = answer.json
    assert set(result) >= set(SUMMARY_KEYS.split())
    assert set(result["response_time_ms"]) >= {
        "mean",
        "std",
        "scv",
        "p50",
        "p90",
        "p95",
        "p99",
        "p999",
        "max",
    }
    assert set(result["energy_j"]) == {"total", "seek", "access", "idle", "inactive", "startup"}
    assert set(result["queue_length"]) == {"mean", "max"}
    assert result["requests"] == 2000 == result["read"]["requests"] + result["write"]["requests"]
    for part in ("queue_time_ms", "service_time_ms", "positioning_time_ms"):
        assert result[part]["mean"] > 0
    energy = result["energy_j"]
    assert energy["total"] == pytest.approx(sum(value for name, value in energy.items() if name != "total"))


def test_human_output_ends_in_the_answer(sledlab):
    answer = sledlab(*UNIFORM)
    assert answer.code == 0
    assert "mems-g2 under FCFS answered 2,000 requests in" in answer.out


def manifest_without_times(directory):
    manifest = json.loads((directory / "sledlab.json").read_text(encoding="utf-8"))
    del manifest["digests"]["timing.json"]
    return manifest


@pytest.mark.slow("draws two pages")
def test_out_directory_reproduces_the_same_bytes(sledlab, tmp_path, bank):
    first, second = tmp_path / "first", tmp_path / "second"
    trace = ("simulate", "--device", "mems-g2", "--trace", bank, "--scheduler", "sptf", "--speedup", 3)
    assert sledlab(*trace, "--limit", 20000, "--out", first).code == 0
    assert sledlab("simulate", first / "experiment.toml", "--out", second).code == 0
    files = {path.name for path in first.iterdir()}
    assert files == {
        "summary.json",
        "requests.parquet",
        "timeline.parquet",
        "timing.json",
        "experiment.toml",
        "outcome.json",
        "report.html",
        "sledlab.json",
        "tables.tex",
    }
    for name in files - {"timing.json", "sledlab.json"}:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    assert manifest_without_times(first) == manifest_without_times(second)
    assert str(tmp_path) not in (first / "experiment.toml").read_text()
    assert "wall_s" not in (first / "summary.json").read_text()
    assert (first / "tables.tex").read_text().count(r"\begin{tabular}") > 0
    assert "tables.tex" in json.loads((first / "sledlab.json").read_text())["files"]
    assert json.loads((first / "timing.json").read_text())["wall_s"] > 0


@pytest.mark.usefixtures("without_pages")
@pytest.mark.usefixtures("without_pages")
def test_changed_run_names_the_results_it_replaces(sledlab, tmp_path):
    command = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 50, "--out", tmp_path)
    replaced = "replaced: uniform on mems-g2 under FCFS, with other settings"
    for more, expected in (((), False), ((), False), (("--scheduler", "sptf"), True)):
        assert (replaced in sledlab(*command, *more).out) == expected, more


def test_options_override_the_experiment_file(sledlab, tmp_path):
    assert sledlab(*UNIFORM, "--out", tmp_path).code == 0
    file = tmp_path / "experiment.toml"
    result = sledlab("simulate", file, "--limit", 500, "--set", "device.active_tips=3200", "--json").json
    assert result["requests"] == 500
    assert result["config"]["device"]["active_tips"] == 3200


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_requests_table(sledlab, tmp_path, suffix):
    path = tmp_path / f"requests.{suffix}"
    result = sledlab(*UNIFORM, "--requests", path, "--json").json
    frame = pl.read_parquet(path) if suffix == "parquet" else pl.read_csv(path)
    expected = ["id", "arrival_ns", "start_ns", "completion_ns", "lbn", "blocks", "op", "response_ns"]
    assert frame.columns[:8] == expected
    assert frame.height == 2000
    assert frame["response_ns"].mean() / 1e6 == pytest.approx(result["response_time_ms"]["mean"])
    assert (frame["completion_ns"] - frame["arrival_ns"] == frame["response_ns"]).all()
    assert set(frame["op"]) == {"R", "W"}


@pytest.mark.parametrize("still", [(), ("--static",)])
def test_report_needs_nothing_from_elsewhere(sledlab, tmp_path, still):
    sledlab(*UNIFORM, "--out", tmp_path, *still)
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg" if still else "<figure") == 6
    markup = re.sub("<script>.*?</script>", "", page, flags=re.DOTALL)
    for outside in ("<script" if still else "<script src", "<link", "src=", "@import", "url(http", "fetch("):
        assert outside not in (markup if "src" in outside else page)
    script = "'none'" if still else "'sha256-"
    policy = html.unescape(re.search('Security-Policy" content="([^"]*)"', page)[1])
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert f"script-src {script}" in policy


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("simulate",), "no device was given"),
        (("simulate", "--device", "mems-g2"), "no trace and no workload"),
        (("simulate", "--device", "mems-g4", "--workload", "uniform"), "did you mean"),
        (("simulate", "--device", "mems-g2", "--workload", "unifrom"), "did you mean `uniform`"),
        (("simulate", "--device", "mems-g2", "--trace", "missing.csv"), "missing.csv"),
        (("simulate", "--device", "missing.toml", "--workload", "uniform"), "missing.toml"),
        (("simulate", "missing.toml"), "missing.toml"),
        ((*UNIFORM, "--trace", "x.csv"), "both --trace and --workload"),
        ((*UNIFORM, "--scheduler", "sptff"), "did you mean `sptf`"),
        ((*UNIFORM, "--set", "device.activ_tips=1"), "did you mean `device.active_tips`"),
        ((*UNIFORM, "--set", "device.active_tips"), "has no value"),
        ((*UNIFORM, "--set", "devise.active_tips=1"), "did you mean"),
        ((*UNIFORM, "--set", "device.active_tips=0"), "device.active_tips"),
        ((*UNIFORM, "--replay", "closed"), "closed:8"),
        ((*UNIFORM, "--replay", "closed:8", "--speedup", 2), "speed"),
        ((*UNIFORM, "--speedup", "nan"), "speedup"),
        ((*UNIFORM, "--speedup", "x"), "`--speedup`: `x` is not a number"),
        ((*UNIFORM, "--warmup", 2000), "warm"),
        ((*UNIFORM, "--requests", "requests.xls"), ".parquet or .csv"),
        ((*UNIFORM, "--requests", "/nowhere/at/all.csv"), "/nowhere/at"),
        ((*UNIFORM, "--out", "/proc/nothing"), "/proc/nothing"),
        ((*UNIFORM, "--devcie", "x"), "--device"),
        (("simulat",), "did you mean `simulate`"),
    ],
)
def test_invalid_input_exits_with_code_2(sledlab, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    sledlab(*arguments).assert_refused(says)


def test_a_mistake_leaves_nothing_behind(sledlab, tmp_path):
    out, table = tmp_path / "run", tmp_path / "requests.csv"
    sledlab(*UNIFORM, "--scheduler", "sptff", "--out", out).assert_refused("did you mean `sptf`")
    assert not out.exists()
    late = tmp_path / "late.csv"
    lines = "".join(f"{i},R,0,512\n" for i in range(200_000))
    late.write_text(f"time_us,op,offset_bytes,length_bytes\n{lines}5,R,0,512\n")
    table.write_text("what was there")
    replay = ("simulate", "--device", "mems-g2", "--trace", late, "--requests", table, "--out", out)
    sledlab(*replay).assert_refused("late.csv:200002")
    assert table.read_text() == "what was there"
    assert list(out.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"late.csv", "requests.csv", "run"}


def test_models_are_options(sledlab):
    disk = ("simulate", "--device", "atlas-10k", "--workload", "cello", "--limit", 200, "--json")
    result = sledlab(*disk, "--hybrid", "write-buffer", "--front", "mems-g3").json["config"]
    assert result["hybrid"]["kind"] == "write-buffer"
    assert result["front"]["name"] == "mems-g3"
    result = sledlab(*disk, "--system", "mirror", "--set", "system.devices=2", "--cache", "write-back").json[
        "config"
    ]
    assert (result["system"]["kind"], result["system"]["devices"]) == ("mirror", 2)
    assert result["cache"]["kind"] == "write-back"


def test_invalid_experiment_file_is_reported_with_line(sledlab, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text("[device]\npreset = 'mems-g2\n")
    sledlab("simulate", path).assert_refused("wrong.toml:2")


def test_standard_input():
    lines = b"time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n500,R,40960,4096\n"
    command = [sys.executable, "-m", "sledlab", "simulate", "--device", "mems-g2", "--trace", "-", "--json"]
    done = subprocess.run(command, input=lines, capture_output=True, check=True)
    assert json.loads(done.stdout)["requests"] == 2


@pytest.mark.slow("three million requests, twice")
def test_pipe_receives_only_json_and_terminal_a_bar():
    command = [sys.executable, "-m", "sledlab", *map(str, UNIFORM[:-1]), "3000000", "--json"]
    piped = subprocess.run(command, capture_output=True, check=True)
    assert piped.stderr == b""
    outer, inner = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=inner)
    os.close(inner)
    seen = b""
    try:
        while chunk := os.read(outer, 65536):
            seen += chunk
    except OSError:
        pass
    out, _ = process.communicate()
    assert json.loads(out)["requests"] == 3_000_000
    assert b"simulating" in seen


def test_interrupt_keeps_partial_results(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "sledlab", *map(str, UNIFORM[:-1]), "1000000000", "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(out.glob(".part-*-requests.parquet")) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert b"Traceback" not in err
    summary = json.loads((out / "summary.json").read_text())
    assert summary["interrupted"]
    assert not list(out.glob(".part-*"))
    assert pl.read_parquet(out / "requests.parquet", columns=["id"]).height == summary["requests"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["simulate", "--help"],
        ["trace", "convert", "--help"],
        ["simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", "100", "--json"],
    ],
    ids=" ".join,
)
def test_heavy_libraries_are_imported_on_demand(tmp_path, arguments):
    script = (
        f"import sys; from sledlab.cli import run; run({arguments});"
        "heavy = {'numpy', 'polars', 'pyarrow', 'matplotlib', 'jinja2', 'rich'} & set(sys.modules);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(tmp_path), check=False)
    assert done.returncode == 0, done.stderr


MIXED_TRACE = "time_us,op,offset_bytes,length_bytes\n" + "".join(
    f"{1000 * n},{op},{4096 * n if op != 'F' else 0},{4096 if op != 'F' else 0}\n"
    for n, op in enumerate("FRFTWFFRRF")
)
"""Ten operations, four of them requests."""


@pytest.mark.parametrize(
    ("arguments", "issued", "requests"),
    [
        (("--limit", 2), 5, 2),
        (("--limit", 4), 9, 4),
        (("--limit", 5), 10, 4),
        (("--limit", 0), 10, 4),
        (("--operations", 5), 5, 2),
        (("--operations", 6), 6, 2),
        (("--operations", 0), 10, 4),
        (("--operations", 4, "--limit", 2), 4, 1),
        (("--operations", 8, "--limit", 2), 5, 2),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_limit_counts_requests_and_operations_count_all(
    sledlab, tmp_path, arguments, issued, requests, kind
):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED_TRACE)
    if kind == "parquet":
        sl.read_trace(path).write(path := tmp_path / "mixed.parquet")
    result = sledlab("simulate", "--device", "ram", "--trace", path, *arguments, "--json").json
    assert (result["operations"]["issued"], result["requests"]) == (issued, requests)


def test_study_rate_is_that_of_limited_requests(sledlab, tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED_TRACE)
    race = (
        "compare",
        "--device",
        "ram",
        "--trace",
        path,
        "--scheduler",
        "fcfs",
        "--speedup",
        1,
        "--parallel",
        1,
    )
    for options, rate in ((("--limit", 2), 2 / 4e-3), (("--operations", 4), 1 / 3e-3), ((), 4 / 9e-3)):
        (run,) = sledlab(*race, *options, "--json").json["runs"]
        assert run["arrival_rate_iops"] == pytest.approx(rate), options
    in_memory = sl.read_trace(path).frame()
    for options, rate in (({"limit": 2}, 2 / 4e-3), ({"operations": 4, "limit": 9}, 1 / 3e-3)):
        result = sl.compare(in_memory, "ram", scheduler="fcfs", speedup=1, parallel=1, **options)
        assert result.tables["runs"]["arrival_rate_iops"].to_list() == pytest.approx([rate])


def test_slice_limits_count_requests(sledlab, tmp_path):
    path, part = tmp_path / "mixed.csv", tmp_path / "part.csv"
    path.write_text(MIXED_TRACE)
    assert sledlab("trace", "slice", path, part, "--limit", 2).code == 0
    assert [line.split(",")[1] for line in part.read_text().splitlines()[1:]] == list("FRFTW")
    assert len(sledlab("trace", "head", path, "-n", 4, "--json").json) == 4


@pytest.mark.parametrize(("word", "requests"), [("1e3", 1000), ("2k", 2000), ("0.001M", 1000)])
def test_numbers_may_be_short(sledlab, word, requests):
    assert sledlab(*UNIFORM[:-1], word, "--json").json["requests"] == requests


@pytest.mark.parametrize("word", ["1.5", "1K", "k", "1e", "nan", "M"])
def test_malformed_number_is_refused(sledlab, word):
    sledlab(*UNIFORM[:-1], word, "--json").assert_refused("is not a whole number")


@pytest.mark.parametrize("word", ["inf", "1e999", "9223372036854775808"])
def test_number_beyond_64_bits_is_refused(sledlab, word):
    sledlab(*UNIFORM[:-1], word, "--json").assert_refused("give a whole number below 2^63")

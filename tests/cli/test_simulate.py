"""`sledlab simulate`: options, JSON, files, errors."""

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

SIMULATE_UNIFORM = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 2000)

SUMMARY_KEYS = """
requests elapsed_s response_time_ms read write queue_time_ms service_time_ms positioning_time_ms
throughput_iops throughput_mb_s utilization queue_length energy_j startups saturated wall_s
config version seed checksum
"""


def test_json_is_one_object_with_everything_promised(sledlab):
    answer = sledlab(*SIMULATE_UNIFORM, "--json")
    assert (answer.code, answer.err) == (0, "")
    summary = answer.json
    assert set(summary) >= set(SUMMARY_KEYS.split())
    assert set(summary["response_time_ms"]) >= {
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
    assert set(summary["energy_j"]) == {"total", "seek", "access", "idle", "inactive", "startup"}
    assert set(summary["queue_length"]) == {"mean", "max"}
    assert summary["requests"] == 2000 == summary["read"]["requests"] + summary["write"]["requests"]
    for part in ("queue_time_ms", "service_time_ms", "positioning_time_ms"):
        assert summary[part]["mean"] > 0
    energy_j = summary["energy_j"]
    assert energy_j["total"] == pytest.approx(
        sum(value for name, value in energy_j.items() if name != "total")
    )


def test_human_output_ends_in_the_answer(sledlab):
    answer = sledlab(*SIMULATE_UNIFORM)
    assert answer.code == 0
    assert "mems-g2 under FCFS answered 2,000 requests in" in answer.out


def manifest_without_times(directory):
    manifest = json.loads((directory / "sledlab.json").read_text(encoding="utf-8"))
    del manifest["digests"]["timing.json"]
    return manifest


@pytest.mark.slow("draws two pages")
def test_out_directory_reproduces_the_same_bytes(sledlab, tmp_path, bank):
    first, second = tmp_path / "first", tmp_path / "second"
    arguments = ("simulate", "--device", "mems-g2", "--trace", bank, "--scheduler", "sptf", "--speedup", 3)
    assert sledlab(*arguments, "--limit", 20000, "--out", first).code == 0
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
def test_changed_run_names_the_results_it_replaces(sledlab, tmp_path):
    command = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 50, "--out", tmp_path)
    sentence = "replaced: uniform on mems-g2 under FCFS, with other settings"
    for options, is_replaced in (((), False), ((), False), (("--scheduler", "sptf"), True)):
        assert (sentence in sledlab(*command, *options).out) == is_replaced, options


def test_options_override_the_experiment_file(sledlab, tmp_path):
    assert sledlab(*SIMULATE_UNIFORM, "--out", tmp_path).code == 0
    file = tmp_path / "experiment.toml"
    summary = sledlab("simulate", file, "--limit", 500, "--set", "device.active_tips=3200", "--json").json
    assert summary["requests"] == 500
    assert summary["config"]["device"]["active_tips"] == 3200


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_request_table_is_written_in_order(sledlab, tmp_path, suffix):
    path = tmp_path / f"requests.{suffix}"
    summary = sledlab(*SIMULATE_UNIFORM, "--requests", path, "--json").json
    frame = pl.read_parquet(path) if suffix == "parquet" else pl.read_csv(path)
    first_columns = ["id", "arrival_ns", "start_ns", "completion_ns", "lbn", "blocks", "op", "response_ns"]
    assert frame.columns[:8] == first_columns
    assert frame.height == 2000
    assert frame["response_ns"].mean() / 1e6 == pytest.approx(summary["response_time_ms"]["mean"])
    assert (frame["completion_ns"] - frame["arrival_ns"] == frame["response_ns"]).all()
    assert set(frame["op"]) == {"R", "W"}


@pytest.mark.parametrize("static_option", [(), ("--static",)])
def test_report_needs_nothing_from_elsewhere(sledlab, tmp_path, static_option):
    sledlab(*SIMULATE_UNIFORM, "--out", tmp_path, *static_option)
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg" if static_option else "<figure") == 6
    markup = re.sub("<script>.*?</script>", "", page, flags=re.DOTALL)
    for reference in (
        "<script" if static_option else "<script src",
        "<link",
        "src=",
        "@import",
        "url(http",
        "fetch(",
    ):
        assert reference not in (markup if "src" in reference else page)
    script_source = "'none'" if static_option else "'sha256-"
    policy = html.unescape(re.search('Security-Policy" content="([^"]*)"', page)[1])
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert f"script-src {script_source}" in policy


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate",), "no device was given"),
        (("simulate", "--device", "mems-g2"), "no trace and no workload"),
        (("simulate", "--device", "mems-g4", "--workload", "uniform"), "did you mean"),
        (("simulate", "--device", "mems-g2", "--workload", "unifrom"), "did you mean `uniform`"),
        (("simulate", "--device", "mems-g2", "--trace", "missing.csv"), "missing.csv"),
        (("simulate", "--device", "missing.toml", "--workload", "uniform"), "missing.toml"),
        (("simulate", "missing.toml"), "missing.toml"),
        ((*SIMULATE_UNIFORM, "--trace", "x.csv"), "both --trace and --workload"),
        ((*SIMULATE_UNIFORM, "--scheduler", "sptff"), "did you mean `sptf`"),
        ((*SIMULATE_UNIFORM, "--set", "device.activ_tips=1"), "did you mean `device.active_tips`"),
        ((*SIMULATE_UNIFORM, "--set", "device.active_tips"), "has no value"),
        ((*SIMULATE_UNIFORM, "--set", "devise.active_tips=1"), "did you mean"),
        ((*SIMULATE_UNIFORM, "--set", "device.active_tips=0"), "device.active_tips"),
        ((*SIMULATE_UNIFORM, "--replay", "closed"), "closed:8"),
        ((*SIMULATE_UNIFORM, "--replay", "closed:8", "--speedup", 2), "speed"),
        ((*SIMULATE_UNIFORM, "--speedup", "nan"), "speedup"),
        ((*SIMULATE_UNIFORM, "--speedup", "x"), "`--speedup`: `x` is not a number"),
        ((*SIMULATE_UNIFORM, "--warmup", 2000), "warm"),
        ((*SIMULATE_UNIFORM, "--requests", "requests.xls"), ".parquet or .csv"),
        ((*SIMULATE_UNIFORM, "--requests", "/nowhere/at/all.csv"), "/nowhere/at"),
        ((*SIMULATE_UNIFORM, "--out", "/proc/nothing"), "/proc/nothing"),
        ((*SIMULATE_UNIFORM, "--devcie", "x"), "--device"),
        (("simulat",), "did you mean `simulate`"),
    ],
)
def test_invalid_input_exits_with_code_2(sledlab, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    sledlab(*arguments).assert_refused(message)


def test_a_mistake_leaves_nothing_behind(sledlab, tmp_path):
    out, table = tmp_path / "run", tmp_path / "requests.csv"
    sledlab(*SIMULATE_UNIFORM, "--scheduler", "sptff", "--out", out).assert_refused("did you mean `sptf`")
    assert not out.exists()
    unordered_trace = tmp_path / "late.csv"
    lines = "".join(f"{i},R,0,512\n" for i in range(200_000))
    unordered_trace.write_text(f"time_us,op,offset_bytes,length_bytes\n{lines}5,R,0,512\n")
    table.write_text("what was there")
    arguments = (
        "simulate",
        "--device",
        "mems-g2",
        "--trace",
        unordered_trace,
        "--requests",
        table,
        "--out",
        out,
    )
    sledlab(*arguments).assert_refused("late.csv:200002")
    assert table.read_text() == "what was there"
    assert list(out.iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"late.csv", "requests.csv", "run"}


def test_models_are_options(sledlab):
    arguments = ("simulate", "--device", "atlas-10k", "--workload", "cello", "--limit", 200, "--json")
    config = sledlab(*arguments, "--hybrid", "write-buffer", "--front", "mems-g3").json["config"]
    assert config["hybrid"]["kind"] == "write-buffer"
    assert config["front"]["name"] == "mems-g3"
    config = sledlab(
        *arguments, "--system", "mirror", "--set", "system.devices=2", "--cache", "write-back"
    ).json["config"]
    assert (config["system"]["kind"], config["system"]["devices"]) == ("mirror", 2)
    assert config["cache"]["kind"] == "write-back"


def test_invalid_experiment_file_is_reported_with_line(sledlab, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text("[device]\npreset = 'mems-g2\n")
    sledlab("simulate", path).assert_refused("wrong.toml:2")


def test_trace_is_read_from_standard_input():
    lines = b"time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n500,R,40960,4096\n"
    command = [sys.executable, "-m", "sledlab", "simulate", "--device", "mems-g2", "--trace", "-", "--json"]
    completed = subprocess.run(command, input=lines, capture_output=True, check=True)
    assert json.loads(completed.stdout)["requests"] == 2


@pytest.mark.slow("three million requests, twice")
def test_pipe_receives_only_json_and_terminal_a_bar():
    command = [sys.executable, "-m", "sledlab", *map(str, SIMULATE_UNIFORM[:-1]), "3000000", "--json"]
    piped = subprocess.run(command, capture_output=True, check=True)
    assert piped.stderr == b""
    outer, inner = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=inner)
    os.close(inner)
    terminal_output = b""
    try:
        while chunk := os.read(outer, 65536):
            terminal_output += chunk
    except OSError:
        pass
    out, _ = process.communicate()
    assert json.loads(out)["requests"] == 3_000_000
    assert b"simulating" in terminal_output


def test_interrupt_keeps_partial_results(tmp_path):
    out = tmp_path / "run"
    command = [
        sys.executable,
        "-m",
        "sledlab",
        *map(str, SIMULATE_UNIFORM[:-1]),
        "1000000000",
        "--out",
        str(out),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not list(out.glob(".part-*-requests.parquet")) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert b"Traceback" not in stderr
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
    completed = subprocess.run(command, capture_output=True, text=True, cwd=Path(tmp_path), check=False)
    assert completed.returncode == 0, completed.stderr


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
    summary = sledlab("simulate", "--device", "ram", "--trace", path, *arguments, "--json").json
    assert (summary["operations"]["issued"], summary["requests"]) == (issued, requests)


def test_study_rate_is_that_of_limited_requests(sledlab, tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text(MIXED_TRACE)
    arguments = (
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
    for options, rate_iops in ((("--limit", 2), 2 / 4e-3), (("--operations", 4), 1 / 3e-3), ((), 4 / 9e-3)):
        (run,) = sledlab(*arguments, *options, "--json").json["runs"]
        assert run["arrival_rate_iops"] == pytest.approx(rate_iops), options
    in_memory = sl.read_trace(path).frame()
    for options, rate_iops in (({"limit": 2}, 2 / 4e-3), ({"operations": 4, "limit": 9}, 1 / 3e-3)):
        result = sl.compare(in_memory, "ram", scheduler="fcfs", speedup=1, parallel=1, **options)
        assert result.tables["runs"]["arrival_rate_iops"].to_list() == pytest.approx([rate_iops])


def test_slice_limits_count_requests(sledlab, tmp_path):
    path, part = tmp_path / "mixed.csv", tmp_path / "part.csv"
    path.write_text(MIXED_TRACE)
    assert sledlab("trace", "slice", path, part, "--limit", 2).code == 0
    assert [line.split(",")[1] for line in part.read_text().splitlines()[1:]] == list("FRFTW")
    assert len(sledlab("trace", "head", path, "-n", 4, "--json").json) == 4


@pytest.mark.parametrize(("number", "requests"), [("1e3", 1000), ("2k", 2000), ("0.001M", 1000)])
def test_numbers_may_be_short(sledlab, number, requests):
    assert sledlab(*SIMULATE_UNIFORM[:-1], number, "--json").json["requests"] == requests


@pytest.mark.parametrize("number", ["1.5", "1K", "k", "1e", "nan", "M"])
def test_malformed_number_is_refused(sledlab, number):
    sledlab(*SIMULATE_UNIFORM[:-1], number, "--json").assert_refused("is not a whole number")


@pytest.mark.parametrize("number", ["inf", "1e999", "9223372036854775808"])
def test_number_beyond_64_bits_is_refused(sledlab, number):
    sledlab(*SIMULATE_UNIFORM[:-1], number, "--json").assert_refused("give a whole number below 2^63")


def test_tables_are_saved_as_markdown(sledlab, tmp_path):
    file = tmp_path / "table.md"
    answer = sledlab(*SIMULATE_UNIFORM, "--save", file, "--json")
    assert answer.json["requests"] == 2000
    assert "| mean | ms |" in file.read_text(encoding="utf-8")
    sledlab(*SIMULATE_UNIFORM, "--save", tmp_path / "table.txt").assert_refused(
        "use a name that ends in .md or"
    )
    race = ("compare", *SIMULATE_UNIFORM[1:], "--scheduler", "fcfs", "--speedup", 1, "--parallel", 1)
    assert sledlab(*race, "--save", tmp_path / "race.tex").code == 0
    assert "tabular" in (tmp_path / "race.tex").read_text(encoding="utf-8")

"""`sledlab compare`: options, files, resuming, determinism, errors."""

import json
import os
import signal
import subprocess
import sys
import time

import polars as pl
import pytest
import sledlab as sl
from sledlab.study.result_cache import format_line

from tests.cached_runs import cached_lines, write_cached_lines

COMPARE_UNIFORM = ("compare", "--device", "mems-g2", "--workload", "uniform")
COMPARE_UNIFORM = (*COMPARE_UNIFORM, "--set", "workload.blocks=1", "--limit", 1500)
SMALL_COMPARISON = (*COMPARE_UNIFORM, "--scheduler", "fcfs,sptf", "--speedup", "1,1.4")

DETERMINISTIC_FILES = (
    *("runs.parquet", "runs.csv", "curves.parquet", "curves.csv", "throughput.parquet", "throughput.csv"),
    *("study.toml", "summary.json"),
)


def test_comparison_prints_table_and_answer(sledlab, tmp_path):
    answer = sledlab(*SMALL_COMPARISON, "--out", tmp_path / "race", "--parallel", 1)
    assert (answer.code, answer.err) == (0, "")
    assert "uniform on mems-g2  FCFS against SPTF" in answer.out
    assert "At 1.4 times the original rate, SPTF answers in" in " ".join(answer.out.split())


@pytest.mark.usefixtures("without_pages")
def test_wall_clock_times_of_reused_runs_are_kept_apart(sledlab, tmp_path):
    measured, resumed = tmp_path / "measured", tmp_path / "resumed"
    assert sledlab(*SMALL_COMPARISON, "--parallel", 1, "--out", measured).code == 0
    record = json.loads(cached_lines(measured)[0])
    del record["check"]
    record["timing"]["wall_s"] = 1234.5
    resumed.mkdir()
    write_cached_lines(resumed, format_line(record))
    assert sledlab(*SMALL_COMPARISON, "--parallel", 1, "--out", resumed).code == 0
    assert "1234.5" in (resumed / "decision_cost.csv").read_text()
    assert "decision_ns" in (resumed / "decision_cost.csv").read_text()
    assert "wall_s" not in (resumed / "runs.csv").read_text()


@pytest.mark.usefixtures("without_pages")
def test_additional_runs_reuse_the_cache(sledlab, tmp_path):
    assert sledlab(*SMALL_COMPARISON, "--parallel", 1, "--out", tmp_path).code == 0
    lines_before = cached_lines(tmp_path)
    assert (
        sledlab(
            *COMPARE_UNIFORM,
            "--scheduler",
            "fcfs,sptf,sptf-exhaustive",
            "--speedup",
            "1,1.4",
            "--out",
            tmp_path,
        ).code
        == 0
    )
    lines_after = cached_lines(tmp_path)
    assert set(lines_before) < set(lines_after)
    assert len(lines_after) == 6
    assert sledlab(*SMALL_COMPARISON, "--seed", 2, "--parallel", 1, "--out", tmp_path).code == 0
    assert len(cached_lines(tmp_path)) == 10


@pytest.mark.usefixtures("without_pages")
def test_a_changed_trace_runs_again(sledlab, tmp_path, small_trace):
    arguments = (
        "compare",
        "--device",
        "mems-g2",
        "--trace",
        small_trace,
        "--scheduler",
        "fcfs",
        "--speedup",
        1,
    )
    assert sledlab(*arguments, "--out", tmp_path / "race").code == 0
    small_trace.write_text(small_trace.read_text() + "2000,R,0,4096\n")
    assert sledlab(*arguments, "--out", tmp_path / "race").code == 0
    assert pl.read_parquet(tmp_path / "race" / "runs.parquet")["requests"].to_list() == [3]


def test_experiment_file_with_study_is_compared(sledlab, tmp_path):
    file = tmp_path / "race.toml"
    file.write_text(
        "seed = 3\n[workload]\nkind = 'uniform'\n[replay]\nlimit = 400\n[device]\npreset = 'mems-g2'\n"
        "[scheduler]\nkind = 'sptf-exhaustive'\n"
        "[study]\nscheduler = ['fcfs', 'sptf']\nspeedup = [1, 2]\nseed = '3..4'\n"
        "vary = {'device.active_tips' = [1280, 3200]}\n"
    )
    result = sledlab("compare", file, "--parallel", 1, "--json").json
    assert len(result["runs"]) == 16
    assert {row["seed"] for row in result["runs"]} == {3, 4}
    assert {row["device.active_tips"] for row in result["runs"]} == {1280, 3200}
    arguments = (
        "--scheduler",
        "fcfs",
        "--speedup",
        4,
        "--seed",
        "1",
        "--vary",
        "replay.warmup=0,100",
        "--overload",
        "drain",
    )
    overridden = sledlab("compare", file, *arguments, "--parallel", 1, "--json").json
    assert [(row["speedup"], row["replay.warmup"], row["requests"]) for row in overridden["runs"]] == [
        (4.0, 0, 400),
        (4.0, 100, 300),
    ]


def test_text_settings_may_vary(sledlab):
    vary = ("--vary", "device.direction=free,up", "--scheduler", "sptf", "--speedup", 1)
    result = sledlab(*COMPARE_UNIFORM, *vary, "--parallel", 1, "--json").json
    assert [row["device.direction"] for row in result["runs"]] == ["free", "up"]
    assert result["runs"][0]["mean_ms"] < result["runs"][1]["mean_ms"]


FCFS = ("--scheduler", "fcfs", "--speedup", 1)
TWO_KEYS = ("--vary", "device.active_tips=1280,3200", "--vary", "device.spring_factor=0,0.75")


@pytest.mark.usefixtures("without_pages")
def test_repeated_vary_gives_a_study_that_repeats(sledlab, tmp_path):
    arguments = (*COMPARE_UNIFORM[:-1], 300, *FCFS, *TWO_KEYS, "--seed", "1..2", "--parallel", 1)
    first, shared, repeated = (tmp_path / name for name in ("first", "shared", "again"))
    answer = sledlab(*arguments, "--out", first)
    assert answer.code == 0
    assert "device.active_tips = 1,280 and device.spring_factor = 0.75 are best" in " ".join(
        answer.out.split()
    )
    runs = pl.read_csv(first / "runs.csv")
    assert runs.height == 2 * 2 * 2
    assert runs.columns[2:4] == ["device.active_tips", "device.spring_factor"]
    assert sledlab("compare", first / "study.toml", "--parallel", 1, "--out", repeated).code == 0
    for share in ("1/2", "2/2"):
        assert sledlab(*arguments, "--out", shared, "--share", share).code == 0
    for name in DETERMINISTIC_FILES:
        assert (
            (first / name).read_bytes() == (repeated / name).read_bytes() == (shared / name).read_bytes()
        ), name


@pytest.mark.usefixtures("without_pages")
def test_study_with_another_varied_key_resumes(sledlab, tmp_path):
    arguments = (
        *COMPARE_UNIFORM[:-1],
        300,
        *FCFS,
        "--vary",
        "device.active_tips=1280,3200",
        "--parallel",
        1,
        "--out",
        tmp_path,
    )
    assert sledlab(*arguments).code == 0
    lines_before = cached_lines(tmp_path)
    assert sledlab(*arguments, "--vary", "device.spring_factor=0,0.75").code == 0
    assert len(lines_before) == 2
    assert cached_lines(tmp_path)[:2] == lines_before
    assert len(cached_lines(tmp_path)) == 4  # 0.75 is the default and is not run again


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.usefixtures("without_pages")
def test_failing_run_is_named_and_others_are_cached(sledlab, tmp_path, jobs):
    trace = tmp_path / "late.csv"
    lines = [f"{1000 * i},R,{4096 * i},4096" for i in range(200)] + ["7,R,0,4096"]
    trace.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *lines, ""]))
    arguments = (
        "compare",
        "--device",
        "mems-g2",
        "--trace",
        trace,
        "--scheduler",
        "fcfs,sptf",
        "--speedup",
        "1,2",
    )
    vary = ("--vary", "replay.limit=100,0")
    answer = sledlab(*arguments, *vary, "--parallel", jobs, "--out", tmp_path / "race")
    assert answer.code == 2
    assert "at speed-up 2, replay.limit = 0, seed 1: " in answer.err
    assert "late.csv:202" in answer.err
    assert "Traceback" not in answer.err
    assert len(cached_lines(tmp_path / "race")) >= 1
    assert not (tmp_path / "race" / "runs.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare",), "no device was given"),
        ((*COMPARE_UNIFORM, "--scheduler", "fcfs,sptff"), "did you mean `sptf`"),
        ((*COMPARE_UNIFORM, "--scheduler", ","), "no schedulers"),
        ((*COMPARE_UNIFORM, "--speedup", "1,x"), "`x` is not a number"),
        ((*COMPARE_UNIFORM, "--speedup", "1,-2"), "not a speed-up"),
        ((*COMPARE_UNIFORM, "--vary", "device.sleds"), "has no value"),
        ((*COMPARE_UNIFORM, "--vary", "device.sledz=1,4"), "did you mean `device.sleds`"),
        (
            (*COMPARE_UNIFORM, "--vary", "device.sleds=1", "--vary", "device.sleds=2,4"),
            "use --vary device.sleds=1,2,4",
        ),
        (("compare", "missing.toml"), "missing.toml"),
        (("compare", "wrong.toml"), "did you mean `speedup`"),
        (("compare", "broken.toml"), "broken.toml:3"),
    ],
)
def test_invalid_input_exits_with_code_2(sledlab, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.toml").write_text("[study]\nspeedups = [1]\n")
    (tmp_path / "broken.toml").write_text("[study]\nspeedup = [1\n[device]\n")
    sledlab(*arguments).assert_refused(message)


def test_seeds_for_a_trace_are_refused(sledlab, small_trace):
    answer = sledlab("compare", "--device", "mems-g2", "--trace", small_trace, "--seed", "1..3")
    answer.assert_refused("no result depends on the seed")


def test_scripts_need_no_guard(tmp_path):
    script = tmp_path / "race.py"
    script.write_text(
        "import sledlab as sl\n"
        "uniform = sl.workload('uniform')\n"
        "found = sl.compare(uniform, 'mems-g2', scheduler='fcfs', speedup=[1, 2], limit=30_000, parallel=2)\n"
        "print(found.runs.height)\n"
    )
    completed = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert completed.stdout == "2\n", completed.stderr


def test_varied_models_are_checked_with_their_settings(sledlab):
    options = ("--set", "system.devices=2", "--vary", "system.kind=stripe,mirror", "--speedup", 1)
    result = sledlab(*COMPARE_UNIFORM, "--scheduler", "fcfs", *options, "--parallel", 1, "--json").json
    assert [row["system.kind"] for row in result["runs"]] == ["mirror", "stripe"]
    sledlab(*COMPARE_UNIFORM, "--scheduler", "fcfs", "--vary", "system.kind=single,mirorr").assert_refused(
        "system.kind = mirorr: "
    )


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow("600 small runs")), 2])
def test_interrupt_ends_small_runs_within_a_second(tmp_path, jobs):
    out = tmp_path / "race"
    arguments = (
        "--scheduler",
        "fcfs,sptf",
        "--speedup",
        "0.1,0.2,0.3",
        "--seed",
        "1..300",
        "--out",
        out,
        "--parallel",
        jobs,
    )
    command = [sys.executable, "-m", "sledlab", *map(str, (*COMPARE_UNIFORM[:-1], 200, *arguments))]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while not len(cached_lines(out)) >= 2 and process.poll() is None:
        time.sleep(0.05)
    interrupted_at_s = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert b"Traceback" not in stderr
    assert time.monotonic() - interrupted_at_s < 2  # 1 s, and as much for a busy machine
    assert 2 <= len(cached_lines(out)) < 1800


def test_interrupt_while_results_are_written_reports_saved_runs(sledlab, tmp_path, monkeypatch):
    def interrupt(_self, _directory):
        raise KeyboardInterrupt

    monkeypatch.setattr(sl.Comparison, "write", interrupt)
    arguments = ("compare", "--device", "mems-g2", "--workload", "uniform", "--limit", 50, "--speedup", "1,2")
    answer = sledlab(*arguments, "--scheduler", "fcfs", "--parallel", 1, "--out", tmp_path)
    assert answer.code == 130
    assert answer.err.endswith(
        f"interrupted: 2 of 2 runs are saved in {tmp_path}; the same command continues\n"
    )

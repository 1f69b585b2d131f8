"""The study of jobs on storage nodes: its runs, its answers, and resuming."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars
import pytest
import sledlab as sl
from sledlab.cli import run

from tests.cached_runs import cached_bytes, cached_lines, files, write_cached_lines

SAMPLES = Path(__file__).parents[2] / "sample" / "work"
SCAN, SORT, JOIN = (str(SAMPLES / f"{name}.work") for name in ("scan", "sort", "join"))

FILES = (
    "runs.csv",
    "runs.parquet",
    "phases.csv",
    "phases.parquet",
    "summary.json",
    "study.toml",
    "report.html",
    "tables.tex",
    "outcome.json",
)


@pytest.fixture(scope="module")
def study() -> sl.SmartStudy:
    return sl.smart_study(
        [SCAN, JOIN], ["mems-g2", "hp-c2490a"], page_kb=[8, 32], at=["nodes", "host"], parallel=1
    )


def test_every_combination_is_replayed_once(study: sl.SmartStudy) -> None:
    runs = study.tables["runs"]
    keys = ["job", "nodes", "device", "network", "page_kb", "at"]
    assert runs.height == 2 * 2 * 2 * 2 == runs.unique(keys).height
    assert set(runs["job"]) == {"scan", "join"}
    assert set(runs["network"]) == {"fast-ethernet"}


def test_parts_add_up_and_phases_to_the_job(study: sl.SmartStudy) -> None:
    parts = ["compute_s", "store_s", "network_s", "waiting_s"]
    for name in ("runs", "phases"):
        table = study.tables[name]
        sums = table.select(polars.sum_horizontal(parts)).to_series()
        assert (sums - table["elapsed_s"]).abs().max() < 1e-9
    keys = ["job", "device", "page_kb", "at"]
    totals = study.tables["phases"].group_by(keys).agg(polars.col("elapsed_s").sum()).sort(keys)
    assert (totals["elapsed_s"] - study.tables["runs"].sort(keys)["elapsed_s"]).abs().max() < 1e-9


def test_sampled_runs_have_their_sampling_error(tmp_path: Path) -> None:
    inner = {"file": "inner", "per_block_of": "outer"}
    sizes = {"outer": 8_000_000, "inner": 16_000_000}
    lines = [
        {"work": 1, "job": "nested", "nodes": 1, "files": sizes},
        {"phase": "nested", "node": 0, "reads": [{"file": "outer"}, inner]},
    ]
    nested = tmp_path / "nested.work"
    nested.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for exact in (False, True):
        settings = {"node.block_kb": 64, "cluster.exact": exact}
        table = sl.smart_study([nested], ["ram"], parallel=1, settings=settings).tables["runs"]
        error = sl.replay(nested, "ram", settings=settings).sampling_error
        assert table["sampling_error"].item() == error
        assert (error > 0) is (table["simulated_share"].item() < 1) is not exact


def test_a_run_is_that_of_replay(study: sl.SmartStudy) -> None:
    settings = {"node.page_kb": 32}
    replayed = sl.replay(JOIN, "hp-c2490a", at="host", settings=settings)
    row = study.tables["runs"].filter(
        polars.col("job") == "join",
        polars.col("device") == "hp-c2490a",
        polars.col("page_kb") == 32,
        polars.col("at") == "host",
    )
    assert row["elapsed_s"].item() == replayed.elapsed_s
    assert row["bottleneck"].item() == replayed.bottleneck.what
    assert row["energy_j"].item() == replayed.energy.total


def test_the_answer_compares_devices(study: sl.SmartStudy) -> None:
    answer = study.answer
    assert "`scan` on 4 nodes, " in answer
    assert "is fastest with mems-g2" in answer
    assert "times as fast as hp-c2490a" in answer
    for kind in ("times", "phases", "scaling"):
        assert study.plot(kind).axes
    with pytest.raises(sl.Error, match="did you mean `times`"):
        study.plot("time")


@pytest.mark.slow("runs the study three times, once from half a line")
def test_interrupted_study_resumes_with_same_bytes(tmp_path: Path) -> None:
    options = {"network": ["fast-ethernet", "hub"], "parallel": 1}
    uninterrupted, stopped = tmp_path / "whole", tmp_path / "stopped"
    sl.smart_study(SORT, ["mems-g1", "mems-g3"], out=uninterrupted, **options)
    stopped.mkdir()
    lines = cached_lines(uninterrupted)
    # Killed in the middle of writing the second run.
    write_cached_lines(stopped, f"{lines[0]}\n{lines[1][: len(lines[1]) // 2]}")
    sl.smart_study(SORT, ["mems-g1", "mems-g3"], out=stopped, **options)
    from_file = tmp_path / "again"
    sl.smart_study(study=uninterrupted / "study.toml", out=from_file, parallel=2)
    for name in FILES:
        assert (uninterrupted / name).read_bytes() == (stopped / name).read_bytes(), name
        assert (uninterrupted / name).read_bytes() == (from_file / name).read_bytes(), name


@pytest.mark.slow("runs the study three times, once to be killed")
@pytest.mark.parametrize("count", [0, 3])
def test_killed_study_resumes_with_same_bytes(count: int, tmp_path: Path) -> None:
    arguments = [
        "smart",
        "--job",
        "sort",
        "--node-count",
        "2,3",
        "--job-set",
        "scale_factor=0.001",
        "--parallel",
        "2",
    ]
    arguments += ["--device", "mems-g1,mems-g3,hp-c2490a", "--out"]
    assert run([*arguments, str(tmp_path / "whole")]) == 0
    killed = tmp_path / "killed"
    command = [sys.executable, "-m", "sledlab", *arguments, str(tmp_path / "killed")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        while process.poll() is None and cached_bytes(killed).count(b"\n") < count:
            time.sleep(0.001)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    for cache_file in files(killed):  # as if cut in the middle of a letter, too
        cache_file.write_bytes(cache_file.read_bytes() + b'{"key": "\xc3')
    assert run([*arguments, str(tmp_path / "killed")]) == 0
    for name in FILES:
        contents = [(tmp_path / directory / name).read_bytes() for directory in ("whole", "killed")]
        assert contents[0] == contents[1], name


def test_command_prints_and_draws_the_bottleneck(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["smart", "--work", SCAN, "--device", "mems-g2,ram", "--page-kb", "16", "--parallel", "1"]
    assert run([*arguments, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "bottleneck" in printed
    page = (tmp_path / "report.html").read_text()
    assert "Bottlenecks" in page
    assert page.count("<figure") == 2


@pytest.mark.usefixtures("without_pages")
def test_jobs_are_recorded_and_replayed_by_size(tmp_path: Path) -> None:
    options = {
        "job": ["scan", "sort"],
        "node_count": [2, 3],
        "job_settings": ["scale_factor=0.001", "buffer_kb=16"],
    }
    study = sl.smart_study(device="mems-g2", parallel=1, out=tmp_path, **options)
    assert study.tables["runs"].select("job", "nodes").rows() == [
        (job, nodes) for job in ("scan", "sort") for nodes in (2, 3)
    ]
    record = sl.record("sort", 3, scale_factor=0.001, buffer_kb=16)
    replayed = sl.replay(record, "mems-g2", what_if=False)
    row = study.tables["runs"].filter(polars.col("job") == "sort", polars.col("nodes") == 3)
    assert row["elapsed_s"].item() == replayed.elapsed_s
    again = sl.smart_study(study=tmp_path / "study.toml", parallel=1)
    assert again.tables["runs"].equals(study.tables["runs"])
    assert again.toml == study.toml


@pytest.mark.usefixtures("without_pages")
def test_queries_are_recorded_and_replayed_by_size(tmp_path: Path) -> None:
    options = {"query": ["q10", "q6"], "node_count": [2, 3], "job_settings": ["scale_factor=0.01"]}
    study = sl.smart_study(device="mems-g2", parallel=1, out=tmp_path, **options)
    runs = study.tables["runs"]
    assert runs.select("job", "nodes").rows() == [(q, n) for q in ("q6", "q10") for n in (2, 3)]
    replayed = sl.replay(sl.record_query("q10", 3, scale_factor=0.01), "mems-g2", what_if=False)
    row = runs.filter(polars.col("job") == "q10", polars.col("nodes") == 3)
    assert row["elapsed_s"].item() == replayed.elapsed_s
    assert "`q10` on 3 nodes" in study.answer
    again = sl.smart_study(study=tmp_path / "study.toml", parallel=1)
    assert again.tables["runs"].equals(runs)
    assert again.toml == study.toml


def test_queries_run_on_user_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables, sql = tmp_path / "tables", tmp_path / "mine.sql"
    tables.mkdir()
    polars.DataFrame({"id": range(100_000)}).write_parquet(tables / "numbers.parquet")
    sql.write_text("SELECT id % 10, count(*) FROM numbers GROUP BY ALL")
    study = sl.smart_study(device="mems-g2", query=sql, tables=tables, node_count=[1, 2, 4], parallel=1)
    assert study.tables["runs"].select("job", "nodes").rows() == [("mine", n) for n in (1, 2, 4)]
    arguments = [
        "smart",
        "--query",
        str(sql),
        "--tables",
        str(tables),
        "--node-count",
        "1,2,4",
        "--device",
        "mems-g2",
    ]
    assert run([*arguments, "--parallel", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == study.answer
    deadline_s = study.tables["runs"]["elapsed_s"].to_list()[1]
    result = sl.smart_size(
        device="mems-g2", query=sql, tables=tables, node_count="1..4", deadline=deadline_s, threads=1
    )
    assert result.job == "mine"
    assert result.smallest == {"mems-g2": 2}


def test_query_tpch_stands_for_all_queries() -> None:
    study = sl.smart_study(
        device="ram", query="tpch", node_count=4, job_settings=["scale_factor=0.01"], parallel=1
    )
    assert study.tables["runs"]["job"].to_list() == [f"q{number}" for number in range(1, 23)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "mems-g2"], "neither a job nor a work record was given"),
        (["--job", "srot", "--device", "mems-g2"], "did you mean `sort`?"),
        (["--job", "sort", "--node-count", "2.5", "--device", "mems-g2"], "`2.5` is not a number of nodes"),
        (
            ["--job", "sort,mafia", "--job-set", "scale_facto=1", "--device", "mems-g2"],
            "did you mean `scale_factor`?",
        ),
        (["--job", "sort", "--job-set", "scale_factor", "--device", "mems-g2"], "has no value"),
        (["--query", "q23", "--device", "ram"], "unknown query `q23`"),
        (["--query", "q1", "--job-set", "scale_facto=1", "--device", "ram"], "did you mean `scale_factor`?"),
        (["--query", "q1", "--tables", "nowhere", "--device", "ram"], "no tables in `nowhere`"),
        (
            ["--query", "q1", "--tables", "nowhere", "--job-set", "scale_factor=1", "--device", "ram"],
            "tables of your own have no settings",
        ),
        (["--job", "sort", "--tables", "nowhere", "--device", "ram"], "`--tables` are a query's"),
        (["--work", SCAN], "no device was given"),
        (["--work", f"{SCAN},{SCAN}", "--device", "mems-g2"], "two records are of `scan` on 4 nodes"),
        (["--work", SCAN, "--device", "mems-g2,mems-g2"], "the device `mems-g2` was given twice"),
        (["--work", SCAN, "--device", "mems-g9"], "unknown device"),
        (["--work", SCAN, "--device", "ram", "--network", "hubb"], "did you mean `hub`?"),
        (["--work", SCAN, "--device", "ram", "--at", "moon"], "unknown place of work `moon`"),
        (["--work", SCAN, "--device", "ram", "--page-kb", "0.5"], "`0.5` is not a page size in KB"),
        (["--work", "nowhere.work", "--device", "ram"], "nowhere.work"),
    ],
)
def test_invalid_input_is_an_error(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["smart", *arguments, "--parallel", "1"]) == 2
    assert message in capsys.readouterr().err

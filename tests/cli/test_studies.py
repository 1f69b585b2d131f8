"""What all studies on the command line share.

The outcome equals that in Python, a study file repeats the results, an interrupted study resumes, and wrong
input is refused.
"""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sledlab.model.settings import document
from sledlab.results import STUDY

from tests.cached_runs import cached_lines, write_cached_lines
from tests.keys import RUN_STUDY, STUDIES, study_file

COMMANDS = {"side-by-side": ("compare",), "tune": ("hybrid", "tune")}
"""Commands of studies whose command is not their kind."""

SEEDED = ("compare", "side-by-side", "hybrid", "power")
"""Studies of requests, with an option for several seeds."""

LONG_STUDIES = {
    "compare": (
        *("--device", "mems-g2", "--workload", "uniform", "--limit", 1_000_000, "--scheduler", "fcfs,sptf"),
        *("--speedup", ",".join(f"{step / 20}" for step in range(1, 13))),
    ),
    "hybrid": ("--workload", "cello", "--limit", 400_000),
    "power": (
        *("--device", "mems-g2", "--workload", "uniform", "--limit", 1_000_000),
        *("--set", "workload.mean_interarrival_ms=20"),
    ),
}
"""Options of studies that take minutes."""

TIMED_RESULTS = {"runs", "decision_cost.csv", "decision_cost.parquet", "timing.json", "sledlab.json"}
"""Names of results that hold wall-clock times, or hashes of these."""


def without_timing(data: dict[str, Any]) -> dict[str, Any]:
    """Return an outcome as plain data, without wall-clock times."""
    untimed = {name: value for name, value in data.items() if name != "decision_cost"}
    return untimed | {"tables": without_timing(untimed["tables"])} if "tables" in untimed else untimed


def untimed_names(directory: Path) -> set[str]:
    """Return the names of results that do not depend on wall-clock times."""
    return {path.name for path in directory.iterdir()} - TIMED_RESULTS


def assert_same_results(first: Path, second: Path) -> None:
    """Compare all results that do not depend on wall-clock times."""
    for name in untimed_names(first):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


@pytest.fixture
def study_toml(kind: str, tmp_path: Path) -> Path:
    """A small study of a kind."""
    file = tmp_path / "small.toml"
    file.write_text(document(study_file(kind)))
    return file


@pytest.mark.parametrize("kind", STUDIES)
def test_json_is_the_outcome_in_python(sledlab, kind, study_toml):
    command = COMMANDS.get(kind, (kind,))
    answer = sledlab(*command, study_toml, "--parallel", 1, "--json")
    assert answer.code == 0, answer.err
    outcome = RUN_STUDY[kind](study=study_toml, parallel=1)
    assert without_timing(answer.json) == without_timing(json.loads(json.dumps(outcome.to_dict())))


@pytest.mark.usefixtures("without_pages", "short_runs_in_processes")
@pytest.mark.parametrize("kind", STUDIES)
def test_study_file_repeats_the_results_in_processes(sledlab, kind, study_toml, tmp_path):
    command = COMMANDS.get(kind, (kind,))
    seeds = "3..4" if kind in SEEDED else 3
    first, second = tmp_path / "first", tmp_path / "second"
    answer = sledlab(*command, study_toml, "--seed", seeds, "--parallel", 1, "--out", first)
    assert answer.code == 0, answer.err
    assert f"report: {first}" in answer.out.replace("\n", "")
    assert sledlab(*command, first / STUDY, "--parallel", 2, "--out", second).code == 0
    assert {STUDY, "summary.json", "tables.tex"} <= untimed_names(first)
    assert_same_results(first, second)
    assert str(tmp_path) not in (first / STUDY).read_text()


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("kind", STUDIES)
def test_interrupted_study_resumes(sledlab, kind, study_toml, tmp_path):
    command = (*COMMANDS.get(kind, (kind,)), study_toml, "--parallel", 1, "--out")
    whole, interrupted = tmp_path / "whole", tmp_path / "part"
    assert sledlab(*command, whole).code == 0
    lines = cached_lines(whole)
    interrupted.mkdir()
    # Half of the runs, and another that is cut off as if its writer was killed.
    complete = lines[: len(lines) // 2]
    write_cached_lines(interrupted, "".join(f"{line}\n" for line in complete) + lines[-1][:40])
    assert sledlab(*command, interrupted).code == 0
    assert len(cached_lines(interrupted)) == len(lines)
    assert set(complete) <= set(cached_lines(interrupted))
    assert_same_results(whole, interrupted)


@pytest.mark.slow("works in processes of its own until it is interrupted")
@pytest.mark.parametrize("kind", LONG_STUDIES)
def test_interrupt_keeps_completed_runs(kind, tmp_path):
    arguments = (kind, *LONG_STUDIES[kind], "--out", tmp_path, "--parallel", 2)
    command = [sys.executable, "-m", "sledlab", *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not len(cached_lines(tmp_path)) >= 2 and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert b"Traceback" not in stderr
    message = re.search(r"interrupted: (\d+) of (\d+) runs are saved in (\S+);", stderr.decode())
    assert message is not None, stderr
    assert (int(message[1]), message[3]) == (len(cached_lines(tmp_path)), str(tmp_path))
    assert 2 <= int(message[1]) < int(message[2])
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--trace", "missing.csv"), "missing.csv"),
        (("--trace", "-"), "read only once"),
        (("--out", "/proc/nothing"), "/proc/nothing"),
        (("--seed", "1..0"), "`1..0` is not a range"),
        (("--parallel", 0), "not a number of runs"),
    ],
)
@pytest.mark.parametrize("kind", SEEDED)
def test_invalid_input_exits_with_code_2(sledlab, kind, study_toml, monkeypatch, tmp_path, options, message):
    monkeypatch.chdir(tmp_path)
    sledlab(*COMMANDS.get(kind, (kind,)), study_toml, *options).assert_refused(message)


@pytest.mark.parametrize("command", LONG_STUDIES)
def test_missing_source_is_refused(sledlab, command):
    sledlab(command, "--device", "mems-g2").assert_refused("no trace")

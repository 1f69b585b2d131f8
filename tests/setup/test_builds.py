"""The comparisons with another commit: of builds, and of what users wait for."""

from __future__ import annotations

import importlib
import json
import subprocess
import tomllib
from pathlib import Path

import pytest
import sledlab as sl

BENCHES = Path(__file__).parents[2] / "validation" / "benches"


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The benchmark, which builds nothing here and keeps what it finds elsewhere."""
    monkeypatch.syspath_prepend(BENCHES)
    module = importlib.import_module("builds")
    monkeypatch.setattr(importlib.import_module("result_files"), "RUNS", tmp_path)
    monkeypatch.setattr(module, "BUILD_CACHE", tmp_path)
    monkeypatch.setattr(module, "commit_hash", lambda base: f"commit {base}")
    monkeypatch.setattr(module, "build_commit", Path)
    monkeypatch.setattr(module, "build_checkout", lambda: Path("here"))
    return module


def fake_runs(builds, monkeypatch, here) -> None:
    """The base takes a second, but for one run that was disturbed; `here` says what this build takes."""
    turns = {}

    def seconds(extension: Path, name: str) -> float:
        turn = turns[extension, name] = turns.get((extension, name), 0) + 1
        if extension != Path("here"):
            return 9.0 if turn == 2 else 1.0
        return here(name, turn)

    monkeypatch.setattr(builds, "seconds", seconds)


def test_a_slowdown_fails(builds, monkeypatch, tmp_path, capsys):
    fake_runs(builds, monkeypatch, lambda name, turn: 1.06 if "SPTF" in name else 1.04)
    assert builds.main(["--base", "REV"]) == 1
    assert "slower than 1.05 times" in (out := capsys.readouterr().out)
    assert out.splitlines()[-1].endswith(": open, SPTF, mems-g2")
    cached = json.loads((tmp_path / "builds.json").read_text())
    assert [row["value"] for row in cached["rows"]] == [
        1.06 if "SPTF" in n else 1.04 for n in builds.WORKLOADS
    ]
    assert cached["base"] == "commit REV"
    assert builds.main(["--base", "REV", "--limit", "1.02"]) == 1
    assert builds.main(["--base", "REV", "--limit", "1.07"]) == 0


def test_disturbed_run_does_not_fail(builds, monkeypatch):
    fake_runs(builds, monkeypatch, lambda name, turn: 5.0 if turn in (1, 4, 7) else 1.0)
    assert builds.main(["--base", "REV"]) == 0


def test_builds_take_turns(builds, monkeypatch):
    timed_builds = []
    builds.measure_timings(lambda which, name: timed_builds.append((name, which)) or 1.0)
    builds_of_first = [which for name, which in timed_builds if name == "open, FCFS, mems-g2"]
    assert builds_of_first[:4] == ["base", "here", "here", "base"]
    assert builds_of_first.count("base") == builds_of_first.count("here") == builds.RUNS == 7


def test_its_workloads_are_experiments(builds, tmp_path):
    for name in builds.WORKLOADS:
        text = builds.experiment_text(name, requests=100)
        assert tomllib.loads(text)["workload"]["requests"] == 100
        (tmp_path / "workload.toml").write_text(text)
        assert sl.run(tmp_path / "workload.toml").count == 100


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(BENCHES)
    return importlib.import_module("waits")


def test_options_of_older_commits_have_their_names(waits, monkeypatch, tmp_path):
    def run_older(package: Path, words: str, place: Path) -> float:
        if "--scheduler " in words:
            raise subprocess.CalledProcessError(2, words)
        return 1.0

    words = "compare --scheduler fcfs,sptf --speedup 1,2"
    monkeypatch.setattr(waits, "run_command", run_older)
    assert waits.accepted_words(tmp_path, words, tmp_path) == "compare --schedulers fcfs,sptf --speedups 1,2"
    monkeypatch.setattr(waits, "run_command", lambda *_: 1.0)
    assert waits.accepted_words(tmp_path, words, tmp_path) == words


def test_scheduler_in_python_is_sptf_and_is_timed(waits, monkeypatch, tmp_path):
    (tmp_path / "nearest.py").write_text(waits.SCHEDULER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    ours, sptf, fcfs = (
        sl.simulate(
            sl.workload("uniform"), "mems-g2", scheduler=name, replay="closed:20", limit=waits.DECISIONS + 20
        ).response_time.mean
        for name in ("nearest:Nearest", "sptf", "fcfs")
    )
    # Of requests with equal times, `sptf` prefers the one that is nearer in x.
    assert ours == pytest.approx(sptf, rel=0.02)
    assert ours < fcfs * 0.9
    assert 0 < float((tmp_path / "decision_s").read_text()) < 1

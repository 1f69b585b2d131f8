"""Directories that many processes share, cached runs of other directories, and failed runs."""

import dataclasses
import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.studies.compare import STUDY
from sledlab.study.executor.worker_choice import Share
from sledlab.study.measure import MeasuredRun
from sledlab.study.result_cache import ResultCache, files

from tests.cached_runs import cached_lines

pytestmark = pytest.mark.usefixtures("without_pages")

WRITER = """
import sys
from pathlib import Path
from sledlab.study.result_cache import ResultCache
from sledlab.study.measure import MeasuredRun
from sledlab.study.plan import RunSpec
with ResultCache(Path(sys.argv[1]), dict) as cache:
    for number in range(int(sys.argv[3])):
        cache.add(f"{sys.argv[2]}{number}", RunSpec("", (), number), MeasuredRun({"x": "y" * 300}, {}))
"""

LINES = 5000


def test_two_writers_in_one_directory_tear_no_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [subprocess.Popen([*command, name, str(LINES)]) for name in "ab"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while any(writer.poll() is None for writer in writers):
            with ResultCache(tmp_path, dict):  # a concurrent reader, which repairs nothing
                pass
        assert [writer.returncode for writer in writers] == [0, 0]
        with ResultCache(tmp_path, dict) as cached:
            assert len(cached.known) == 2 * LINES
    assert len(files(tmp_path)) == 2
    assert all(json.loads(line)["row"] == {"x": "y" * 300} for line in cached_lines(tmp_path))


def race(trace: object = None, **options: object) -> sl.Comparison:
    defaults = {"scheduler": ["fcfs"], "speedup": [1, 2], "limit": 200, "parallel": 1, **options}
    return sl.compare(trace or sl.workload("uniform"), "mems-g2", **defaults)


def test_runs_of_another_directory_are_taken_and_kept(tmp_path: Path, refused) -> None:
    race(out=tmp_path / "first")
    race(out=tmp_path / "second", speedup=[1, 2, 3], reuse=tmp_path / "first")
    assert set(cached_lines(tmp_path / "first")) < set(cached_lines(tmp_path / "second"))
    assert len(cached_lines(tmp_path / "second")) == 3
    with refused("no cached runs in"):
        race(reuse=[tmp_path / "nowhere"])


def test_replace_removes_only_cached_runs(tmp_path: Path) -> None:
    race(out=tmp_path)
    (tmp_path / "runs" / "mine.txt").write_text("mine")
    race(out=tmp_path, replace=True, speedup=[3])
    assert len(cached_lines(tmp_path)) == 1
    assert (tmp_path / "runs" / "mine.txt").read_text() == "mine"


def test_shares_never_overlap() -> None:
    positions_by_share = [
        [position for position in range(1001) if Share(number, 8).contains(position)]
        for number in range(1, 9)
    ]
    assert sorted(position for share in positions_by_share for position in share) == list(range(1001))
    assert {len(share) for share in positions_by_share} == {125, 126}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": "1/2"}, "needs a directory"),
        ({"share": "3/2", "out": "x"}, "`3/2` is not a share"),
        ({"share": "0/2", "out": "x"}, "`0/2` is not a share"),
        ({"share": "half", "out": "x"}, "`half` is not a share"),
        ({"share": "1/2", "out": "x", "replace": True}, "cannot be combined with `--replace`"),
        (
            {"share": "1/2", "out": "x", "parallel": None, "cluster": "tcp://x:1"},
            "cannot be combined with `--share`",
        ),
        ({"cluster": "tcp://x:1"}, "`--cluster` cannot be combined with `--parallel`"),
        ({"executor": object()}, "`executor` cannot be combined with `--parallel`"),
        ({"executor": object(), "parallel": None}, "`object` is not an executor"),
        ({"send_trace": True}, "requires a cluster"),
        ({"cluster": "nowhere.json", "parallel": None}, "there is no scheduler file `nowhere.json`"),
    ],
)  # fmt: skip
def test_contradictions_are_rejected_before_the_run(tmp_path, monkeypatch, refused, options, message) -> None:
    monkeypatch.chdir(tmp_path)
    with refused(message):
        race(**options)


def test_tuning_cannot_be_shared(tmp_path: Path, refused) -> None:
    with refused("what runs next depends on all that ran before"):
        sl.tune_hybrid(sl.workload("cello"), budget=8, limit=500, share="1/2", out=tmp_path)


def test_command_line_lists_missing_shares(sledlab, tmp_path: Path) -> None:
    workload = ("--workload", "uniform", "--limit", 100, "--speedup", "1,2,3,4", "--scheduler", "fcfs")
    command = ("compare", "--device", "mems-g2", *workload, "--parallel", 1, "--out", tmp_path)
    answer = sledlab(*command, "--share", "1/2")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("share 1/2: ")
    assert "the same command without --share" in answer.out
    assert not (tmp_path / "runs.csv").exists()
    listed = sledlab(*command, "--share", "1/2", "--json").json
    assert listed["done"] == 0
    lines_before = cached_lines(tmp_path)
    assert len(lines_before) + listed["missing"] == listed["total"] == 4
    assert sledlab(*command).code == 0
    assert len(cached_lines(tmp_path)) == 4
    assert set(lines_before) < set(cached_lines(tmp_path))


@pytest.fixture
def unordered_trace(tmp_path: Path) -> Path:
    """A trace whose last line comes before the others."""
    lines = [f"{1000 * i},R,{4096 * i},4096" for i in range(200)] + ["7,R,0,4096", ""]
    path = tmp_path / "late.csv"
    path.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *lines]))
    return path


LIMIT_AXIS = {"vary": {"replay.limit": [100, 0, 150]}, "limit": None}


@pytest.mark.parametrize("jobs", [1, 2])
def test_failed_runs_are_recorded_and_others_continue(
    unordered_trace: Path, tmp_path: Path, jobs: int
) -> None:
    with pytest.raises(sl.Error) as caught:
        race(unordered_trace, out=tmp_path / "race", parallel=jobs, **LIMIT_AXIS)
    assert "2 of 6 runs failed: " in caught.value.message
    # Both runs are named, and the first again with its error.
    assert caught.value.message.count("replay.limit = 0") == 3
    assert caught.value.place.line == 202
    lines = [json.loads(line) for line in cached_lines(tmp_path / "race")]
    failed_runs = [line for line in lines if "error" in line]
    assert (len(lines), len(failed_runs)) == (6, 2)
    assert all("late.csv:202" in line["error"] and line["run"]["replay.limit"] == "0" for line in failed_runs)
    unordered_trace.write_text(
        unordered_trace.read_text().replace("7,R", "300000,R")
    )  # repaired: no cached run is of this trace
    assert race(unordered_trace, out=tmp_path / "race", parallel=1, **LIMIT_AXIS).runs.height == 6


def test_runs_that_failed_run_again(unordered_trace: Path, tmp_path: Path) -> None:
    for line_count in (6, 8):  # the two that failed, and no other
        with pytest.raises(sl.Error):
            race(unordered_trace, out=tmp_path / "race", **LIMIT_AXIS)
        assert len(cached_lines(tmp_path / "race")) == line_count


def test_study_concludes_despite_failed_runs(unordered_trace: Path, tmp_path: Path) -> None:
    concluded = {}

    def conclude(plan, result):
        concluded.update(plan=plan, results=result)
        cases = [case for case in plan.cases if plan.specs_of(case)[0] in result]
        return STUDY.conclude(dataclasses.replace(plan, cases=cases), result)

    study = dataclasses.replace(STUDY, despite_failures=True, conclude=conclude)
    options = {"scheduler": ["fcfs"], "speedup": [1, 2], "parallel": 1, "vary": LIMIT_AXIS["vary"]}
    result = study.run(sl.read_trace(unordered_trace), "mems-g2", options, out=tmp_path / "race")
    assert result.runs.height == 4
    assert {dict(spec.settings)["replay.limit"] for spec in concluded["plan"].failed} == {"0"}
    assert all("late.csv:202" in options for options in concluded["plan"].failed.values())
    assert len(concluded["results"]) == 4
    assert isinstance(next(iter(concluded["results"].values())), MeasuredRun)

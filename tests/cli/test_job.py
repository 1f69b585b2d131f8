"""`sledlab job` and `sledlab smart record` as people use them."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import Answer

Sledlab = Callable[..., Answer]
KMEANS = str(Path(__file__).parents[2] / "examples" / "jobs" / "kmeans.py")


def test_jobs_are_listed_and_shown(sledlab: Sledlab) -> None:
    jobs = sledlab("list", "job", "--json").json
    names = ["scan", "sort", "join", "q1", "q3", "q6", "apriori-cd", "apriori-hd", "mafia"]
    assert [entry["name"] for entry in jobs] == names
    for entry in jobs:
        assert entry["name"] in sledlab("list", "job").out
        job = sledlab("show", "job", entry["name"], "--json").json
        assert all(spec["meaning"] for specs in job["parameters"].values() for spec in specs)
        assert "Change them with --job-set" in sledlab("show", "job", entry["name"]).out
    assert "clusters" in sledlab("show", "job", KMEANS).out
    answer = sledlab("show", "job", "srot")
    assert answer.code == 2
    assert "did you mean `sort`" in answer.err


def test_a_sort_is_recorded_replayed_and_reported(sledlab: Sledlab, tmp_path: Path) -> None:
    work, answer, out = tmp_path / "sort.work", tmp_path / "sorted.parquet", tmp_path / "run"
    arguments = ["--job", "sort", "--node-count", "4", "--scale-factor", "0.01"]
    recorded = sledlab("smart", "record", *arguments, "--work", str(work), "--answer", str(answer))
    assert recorded.code == 0, recorded.err
    assert "sort on 4 nodes reads 32.3 MB" in recorded.out
    assert f"record: {work}" in recorded.out
    assert f"answer: {answer}" in recorded.out
    assert pl.read_parquet(answer).height == 60_175
    work_data = sledlab("smart", "record", *arguments, "--json").json
    assert work_data["parameters"]["scale_factor"] == 0.01
    assert work_data["answer"].startswith("sha256:")
    replayed = sledlab("smart", "replay", str(work), "--device", "mems-g2", "--out", str(out))
    assert replayed.code == 0, replayed.err
    assert (out / "report.html").exists()


def test_user_job_runs_with_mpi_and_replays(sledlab: Sledlab, tmp_path: Path) -> None:
    contents = []
    for mpi in ([], ["--mpi", "--again"]):
        work, answer = tmp_path / f"{len(mpi)}.work", tmp_path / f"{len(mpi)}.json"
        files = ["--work", str(work), "--answer", str(answer)]
        recorded = sledlab(
            "smart", "record", "--job", KMEANS, "--node-count", "3", *mpi, *files, "--job-set", "rounds=4"
        )
        assert recorded.code == 0, recorded.err
        contents.append((work.read_bytes(), answer.read_bytes()))
    assert contents[0] == contents[1]
    means = sorted([round(value) for value in mean] for mean in json.loads(contents[0][1]))
    assert means == [[0, 0], [0, 9], [9, 0], [9, 9]]
    unpriced = sledlab("smart", "replay", str(tmp_path / "0.work"), "--device", "mems-g2")
    assert unpriced.code == 2
    assert "node.cycles.distance" in unpriced.err
    replayed = sledlab(
        "smart",
        "replay",
        str(tmp_path / "0.work"),
        "--device",
        "mems-g2",
        "--set",
        "node.cycles.distance=40",
        "--json",
    )
    assert replayed.json["elapsed_s"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--job", "srot"], "did you mean `sort`"),
        (["--job", "sort", "--job-set", "buffer=3"], "did you mean `buffer_kb`"),
        (["--job", "sort", "--job-set", "node_count=3"], "`node_count` is set by --node-count"),
        (["--job", "sort", "--job-set", "buffer_kb"], "has no value"),
        (["--job", "sort", "--node-count", "0"], "`--node-count`: `0` is out of range"),
        (["--job", "mafia", "--scale-factor", "2"], "unknown setting `scale_factor`"),
        (["--job", "sort", "--data", "tpcc"], "did you mean `tpch`"),
        (["--job", "sort", "--data", "boxes"], "unknown file `lineitem`"),
        (["--job", "sort", "--work", "/no/such/place/a.work"], "there is no directory"),
        (["--job", "absent.py"], "cannot read the job"),
    ],
)
def test_invalid_options_are_refused(arguments: list[str], message: str, sledlab: Sledlab) -> None:
    answer = sledlab("smart", "record", *arguments)
    assert answer.code == 2
    assert message in answer.err

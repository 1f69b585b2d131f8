"""Jobs with failed nodes: their data is read from copies, and the answer is the same."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sledlab as sl
from sledlab.job import lockstep
from sledlab.job.copies import shares
from sledlab.job.files import Baskets, Rows, SharedFile, TableRows, Transactions
from sledlab.job.node import Node
from sledlab.job.task import JobTask, run_lockstep, task

NODES = 8
TABLE_SETTINGS = {"scale_factor": 0.002}
BASKET_SETTINGS = {"transactions_per_node": 250}
JOBS = {
    "scan": {**TABLE_SETTINGS, "where": "l_quantity < 24"},
    "sort": TABLE_SETTINGS,
    "join": TABLE_SETTINGS,
    "apriori-cd": BASKET_SETTINGS,
    "apriori-hd": BASKET_SETTINGS,
}


def silent(what: str, share: float | None) -> None:
    """Ignore progress."""


def record_text(task_of_job: JobTask) -> bytes:
    """Run a job without a file for its answer, and return the text of its record."""
    texts: list[bytes] = []
    run_lockstep(task_of_job, None, silent, texts.append)
    return texts[0]


def prepared_task(job: str) -> JobTask:
    """A job with its data prepared."""
    prepared = task(job, nodes=NODES, memory_mb=0.05, seed=1, data="", measured=False, settings=JOBS[job])
    assert prepared.data is not None
    prepared.data.prepare(NODES, 1, silent)
    return prepared


@pytest.mark.parametrize("redundancy", ["mirror", "chained"])
@pytest.mark.parametrize("job", JOBS)
def test_failed_node_does_not_change_answers_or_records(job: str, redundancy: str) -> None:
    healthy = prepared_task(job)
    healthy_record = record_text(healthy)
    assert json.loads(healthy_record.partition(b"\n")[0])["answer"].startswith("sha256:")
    for failed in (0, 3, NODES - 1):
        failing = replace(healthy, shares=shares(redundancy, NODES, [failed]))
        # The record holds a hash of the answer.
        assert record_text(failing) == healthy_record, failed


@pytest.mark.parametrize(("redundancy", "failed"), [("mirror", [0, 3, 5]), ("chained", [0, 2, 5])])
def test_several_nodes_may_fail_without_data_loss(redundancy: str, failed: list[int]) -> None:
    healthy = prepared_task("sort")
    failing = replace(healthy, shares=shares(redundancy, NODES, failed))
    assert record_text(failing) == record_text(healthy)


def test_failed_node_stores_nothing(tmp_path: Path) -> None:
    failing = replace(prepared_task("sort"), shares=shares("chained", NODES, [3]))
    nodes = [failing.node(number, tmp_path) for number in range(NODES)]
    lockstep.run("sort", failing.job.function, nodes, failing.parameters, lambda phase, done: None)
    # A node has a directory for what it writes and for copies: node 0 those of node 7, node 3 nothing.
    assert sorted(each.name for each in tmp_path.iterdir()) == [f"node-{n}" for n in range(NODES) if n != 3]
    owners = {path.name.partition("-")[0] for path in (tmp_path / "node-4").iterdir()}
    assert owners == {"3", "4"}


def test_copies_outlive_their_source(tmp_path: Path) -> None:
    for failed, expected_rows in ((1, [10, 11, 12, 13]), (0, [10, -1, -1, -1])):
        source = np.array([10, 11, 12, 13])
        node = Node(1, 4, tmp_path / str(failed), memory=64, share=shares("chained", 4, [failed])[1])
        node.add_files({"numbers": Rows(source, 8)})
        source[1:] = -1
        node.phase("read")
        # Where node 0 has failed, node 1 does a third of its own share, and node 2 the rest on the copy.
        rows = np.concatenate(list(node.read("numbers")))
        assert rows.tolist() == (expected_rows if failed == 1 else [10, 11, 12, 13])


def tables() -> list[SharedFile]:
    """A file of each kind, with 100 rows."""
    numbers = np.arange(100)
    structured = np.array([(n, n / 2, b"x") for n in range(100)], dtype="i8,f4,S1")
    offsets = np.cumsum([0, *(n % 5 for n in range(100))]).astype(np.uint64)
    items = np.arange(int(offsets[-1]), dtype=np.uint32)
    return [
        TableRows({"a": numbers, "b": numbers.astype("S3")}, 0, 100, 40),
        Rows(structured, 13),
        Baskets(Transactions(offsets, items), 0, 100),
    ]


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_rows_arrive_in_order_from_any_holder(kind: int, tmp_path: Path) -> None:
    shared_file = tables()[kind]
    for number in range(4):
        part = shared_file.part(number, 4)
        for failed in range(4):
            share = shares("chained", 4, [failed])[number]
            node = Node(number, 4, tmp_path / str(failed), memory=1, share=share)
            node.add_files({"file": part})
            file = node.file("file")
            for start in range(0, 26, 5):
                for stop in range(start, part.rows + 1, 4):
                    copied_rows, source_rows = file.span(start, stop, ()), part.span(start, stop, ())
                    if isinstance(source_rows, Transactions):
                        assert (copied_rows.offsets == source_rows.offsets).all()
                        copied_rows, source_rows = copied_rows.items, source_rows.items
                    assert copied_rows.dtype == source_rows.dtype
                    assert copied_rows.tobytes() == source_rows.tobytes()
                    assert file.row_bytes(start, stop) == part.row_bytes(start, stop)


def test_record_repeats_the_job_with_equal_result(tmp_path: Path) -> None:
    settings = {"scale_factor": 0.002}
    for name, options in (("all", {}), ("some", {"redundancy": "chained", "failed": 2})):
        sl.record("sort", 4, work=tmp_path / name, answer=tmp_path / f"{name}.parquet", **options, **settings)
    assert (tmp_path / "all").read_bytes() == (tmp_path / "some").read_bytes()
    assert (tmp_path / "all.parquet").read_bytes() == (tmp_path / "some.parquet").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"failed": 1}, "the share of node 1 is lost: no node holds a copy"),
        ({"redundancy": "mirror", "failed": [2, 3]}, "the shares of nodes 2 and 3 are lost"),
        ({"redundancy": "chained", "failed": [0, 1]}, "the share of node 0 is lost: the node with the copy"),
        ({"redundancy": "chained", "failed": 4}, "there is no node 4"),
        ({"redundancy": "chained", "failed": -1}, "there is no node -1"),
        ({"redundancy": "raid"}, "expected one of none, mirror, chained"),
        ({"redundancy": "chained", "mpi": True}, "for jobs in one process"),
    ],
)
def test_losses_and_invalid_options_are_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(sl.Error, match=message):
        sl.record("scan", 4, scale_factor=0.002, **options)


def test_replay_reports_failures_and_rebuilds() -> None:
    work = Path(__file__).parents[2] / "sample" / "work" / "sort.work"
    options = {"cluster.redundancy": "chained", "cluster.failed": 2}

    def replay(**more: object) -> sl.ClusterResult:
        settings = options | {f"cluster.{key}": value for key, value in more.items()}
        return sl.replay(work, "mems-g2", what_if=False, settings=settings)

    healthy = sl.replay(work, "mems-g2", what_if=False)
    assert healthy.failure is None
    assert "failure" not in healthy.summary
    failing = replay(failed_at_s=2, rebuild_mb_s=1)
    assert failing.failure is not None
    rebuild = failing.failure["rebuild"]
    # The data of node 2, and that of node 1, whose copy node 2 has.
    assert rebuild["bytes"] == 2 * sl.work(work).files["lineitem"][2]
    assert failing.failure["phase"] == "re-distribution"
    assert failing.elapsed_s > healthy.elapsed_s
    assert failing.traffic.shape == (5, 6)
    assert failing.traffic[:, 4].sum() == rebuild["job_bytes"]
    printed = str(failing)
    assert "Node 2 fails at 2.00 s, by phase `re-distribution`" in " ".join(printed.split())
    assert "sort on 4 nodes takes" in printed
    assert "are rebuilt on a spare" in " ".join(printed.split())
    with pytest.raises(sl.Error, match="without copies"):
        sl.replay(work, "mems-g2", settings={"cluster.redundancy": "mirror"}, goal="job.goal")

"""The interface of jobs: supersteps, records and errors, in one process and under MPI."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab.job.data.baskets import MarketBaskets
from sledlab.job.data.boxes import PlantedBoxes

DATA = """
import numpy as np

def data(number, nodes, seed):
    return {"numbers": np.arange(100 * number, 100 * number + 100)}
"""

WriteJob = Callable[..., str]


@pytest.fixture
def job(tmp_path: Path) -> WriteJob:
    """Return a function that writes a job `work` with a given body to a file."""

    def write(body: str, parameters: str = "", name: str = "work") -> str:
        path = tmp_path / f"{name}.py"
        indented = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
        path.write_text(f"{DATA}\ndef {name}(node{parameters}):\n{indented}\n")
        return str(path)

    return write


def answer_with_mpi_too(path: str, nodes: int, tmp_path: Path) -> object:
    """The answer of a job; answer and record must be the same in one process and under MPI."""
    contents = []
    for mpi in (False, True):
        work, answer = tmp_path / f"{mpi}.work", tmp_path / f"{mpi}.json"
        sl.record(path, nodes, again=True, mpi=mpi, work=work, answer=answer)
        contents.append((work.read_bytes(), answer.read_bytes()))
    assert contents[0] == contents[1]
    return json.loads(contents[0][1])


def test_superstep_results_match_their_definitions(job: WriteJob, tmp_path: Path) -> None:
    path = job(
        """
        node.phase("all")
        me = node.number
        results = {"all_gather": (yield node.all_gather([me]))}
        results["gather"] = yield node.gather(me, root=1)
        results["broadcast"] = yield node.broadcast({"from": me}, root=2)
        results["reduce"] = yield node.reduce(me + 1)
        results["all_reduce"] = (yield node.all_reduce(np.array([me, 1]))).tolist()
        results["max"] = yield node.all_reduce(me, max)
        results["exchange"] = {str(k): v for k, v in (yield node.exchange({(me + 1) % 3: me * 10})).items()}
        rows = np.arange(6) + 10 * me
        results["rows"] = (yield node.exchange(node.split(rows, rows % 3))).tolist()
        yield node.barrier()
        if me < 2:
            results["some"] = yield node.all_gather(me, among=[0, 1])
        return results
        """
    )
    results = answer_with_mpi_too(path, 3, tmp_path)
    assert isinstance(results, list)
    for number, node_results in enumerate(results):
        assert node_results["all_gather"] == [[0], [1], [2]]
        assert node_results["gather"] == ([0, 1, 2] if number == 1 else None)
        assert node_results["broadcast"] == {"from": 2}
        assert node_results["reduce"] == (6 if number == 0 else None)
        assert node_results["all_reduce"] == [3, 3]
        assert node_results["max"] == 2
        assert node_results["exchange"] == {str((number - 1) % 3): (number - 1) % 3 * 10}
        assert node_results["rows"] == [
            n + 10 * sender for sender in range(3) for n in range(6) if (n + 10 * sender) % 3 == number
        ]
        assert node_results.get("some") == ([0, 1] if number < 2 else None)


def test_groups_advance_independently(job: WriteJob, tmp_path: Path) -> None:
    path = job(
        """
        node.phase("rounds")
        half = range(2) if node.number < 2 else range(2, 4)
        total = 0
        for _ in range(3 if node.number < 2 else 1):
            total += yield node.all_reduce(1, among=half)
        return (yield node.all_gather(total))
        """
    )
    assert answer_with_mpi_too(path, 4, tmp_path) == [[6, 6, 2, 2]] * 4


def test_received_data_is_read_only(job: WriteJob, tmp_path: Path) -> None:
    path = job(
        """
        node.phase("share")
        mine = [node.number]
        theirs = yield node.all_gather(mine)
        theirs[0].append(99)
        mine.append(7)
        array = np.zeros(2)
        received = yield node.exchange({0: array})
        array += 1
        gathered = yield node.all_gather(theirs[0])
        return [gathered, [part.tolist() for part in received.values()]]
        """
    )
    assert answer_with_mpi_too(path, 2, tmp_path) == [
        [[[0, 99], [0, 99]], [[0, 0], [0, 0]]],
        [[[0, 99], [0, 99]], []],
    ]


def test_record_describes_its_operations(job: WriteJob) -> None:
    path = job(
        """
        node.phase("copy")
        for rows in node.read("numbers"):
            node.write("copy", rows, width=100)
            node.count_operations(tuple=len(rows), my_kind=3)
            node.answer(rows[:10])
        node.record_memory(1000)
        yield node.exchange(node.split(rows, np.zeros(len(rows), int)), width=50)
        """
    )
    work = sl.record(path, 2, again=True)
    assert work.files == {"numbers": [800, 800], "copy": [10_000, 10_000]}
    row = work.phases.row(0, named=True)
    assert (row["read_bytes"], row["written_bytes"]) == (1600, 20_000)
    assert row["sent_bytes"] == 2 * 80 + 100 * 50
    assert {kind: row[kind] for kind in work.kinds} == {
        "tuple": 200,
        "my-kind": 6,
        "pack": 120,
        "unpack": 100,
    }
    assert work.traffic.tolist() == [[0, 0, 80], [5000, 0, 80]]


def test_repeated_read_is_another_access(job: WriteJob, tmp_path: Path) -> None:
    path = job(
        """
        node.phase("first")
        reader = node.open("numbers")
        for _ in range(3):
            reader.rows(0, 40)
        node.phase("second")
        reader.rows(90, 100)
        yield node.barrier()
        """
    )
    sl.record(path, 1, work=tmp_path / "a.work")
    steps = [json.loads(line) for line in (tmp_path / "a.work").read_text().splitlines()[1:]]
    read_bytes = [[access.get("bytes", 800) for access in step["reads"]] for step in steps if "reads" in step]
    assert read_bytes == [[800, 160], [80]]


MISTAKES = {
    "no such node": ("yield node.exchange({5: 1})", "there is no node 5", "0 to 2"),
    "no such node of rows": (
        "yield node.exchange(node.split(np.arange(2), np.array([0, 3])))",
        "there is no node 3",
        "",
    ),
    "no such file": ('next(node.read("nmbers")); yield node.barrier()', "unknown file `nmbers`", "numbers"),
    "past the end": (
        'node.open("numbers").rows(0, 101); yield node.barrier()',
        "rows 0 to 101 of `numbers`",
        "100",
    ),
    "too much memory": (
        "node.record_memory(1 << 40); yield node.barrier()",
        "1,099,511,627,776 bytes",
        "--memory-mb",
    ),
    "not yielded": ("node.barrier(); yield node.barrier()", "was not yielded", "yield node.exchange"),
    "not yielded at the end": (
        "yield node.barrier(); node.barrier()",
        "was not yielded",
        "yield node.exchange",
    ),
    "yields something else": ("yield 3", "the job yielded int", "all_gather"),
    "yields nothing": ("yield", "the job yielded NoneType", "all_gather"),
    "an exception": ('yield node.barrier(); {}["x"]', "KeyError: 'x'", ""),
    "a phase again": (
        'node.phase("b"); node.phase("go"); yield node.barrier()',
        "the phase `go` already ended",
        "pass 1",
    ),
    "a column": ('node.open("numbers", ["a"]).rows(0, 1); yield node.barrier()', "node 0 in phase `go`", ""),
    "overwritten data": (
        'node.write("numbers", np.arange(3)); yield node.barrier()',
        "`numbers` is part of the data",
        "",
    ),
    "negative counts": (
        "node.count_operations(tuple=-1); yield node.barrier()",
        "-1 operations `tuple`",
        "from 0",
    ),
    "a fraction of an operation": (
        "node.count_operations(tuple=1.5); yield node.barrier()",
        "1.5 operations `tuple`",
        "whole number",
    ),
    "less than an operation": (
        "node.count_operations(x=0.9); yield node.barrier()",
        "0.9 operations `x`",
        "whole number",
    ),
    "no number of operations": (
        "node.count_operations(x=np.nan); yield node.barrier()",
        "nan operations `x`",
        "whole",
    ),
    "a word as operations": (
        "node.count_operations(x='5'); yield node.barrier()",
        "5 operations `x`",
        "whole number",
    ),
    "a fraction of a byte": ("node.record_memory(0.5); yield node.barrier()", "0.5 bytes of memory", "whole"),
    "a fraction of a byte sent": (
        "yield node.exchange({1: np.arange(3)}, width=1.5)",
        "1.5 bytes of a row",
        "whole number",
    ),
    "a fraction of a byte answered": (
        "node.answer(np.arange(3), width=2.5); yield node.barrier()",
        "2.5 bytes of a row",
        "whole number",
    ),
    "a fraction of a byte written": (
        'node.write("new", np.arange(3), width=1.5); yield node.barrier()',
        "1.5 bytes of a row",
        "whole number",
    ),
    "a fraction of a run": (
        'node.open("numbers", order="merge", runs=1.5); yield node.barrier()',
        "1.5 runs cannot",
        "whole number",
    ),
    "an unknown order": (
        'node.open("numbers", order="rndom"); yield node.barrier()',
        "unknown order `rndom`",
        "random",
    ),
    "not taking part": (
        "yield node.all_gather(1, among=[1])",
        "is not in `among` of the superstep that it starts",
        "among",
    ),
    "an unknown size": ("yield node.all_gather(object())", "size of a object", "arrays"),
    "an answer that cannot be saved": (
        "yield node.barrier(); return object()",
        "answer cannot be saved",
        "node.file",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_errors_have_location_and_remedy(mistake: tuple[str, str, str], job: WriteJob) -> None:
    body, message, remedy = mistake
    path = job(f'node.phase("go")\n{body}')
    with pytest.raises(sl.Error) as caught:
        sl.record(path, 3, again=True)
    error = str(caught.value)
    assert message in error
    assert remedy in error
    if "answer" not in message:
        assert "job `work` failed on node 0 in phase `" in error
        assert "work.py:9" in error
    if "answer" not in message and "not yielded" not in message:
        assert caught.value.place is not None
        assert caught.value.place.line == 9


DEADLOCKS = {
    "one ends before": ("if node.number: yield node.barrier()", "for node 0, which ended"),
    "different supersteps": (
        "yield node.barrier() if node.number else node.all_gather(1)",
        "node 0 in all-gather in phase `go` (work.py:9) for nodes 1 and 2, which yielded another superstep",
    ),
    "different phases": (
        'node.phase(f"p {node.number}"); yield node.barrier()',
        "node 0 in barrier in phase `p 0`",
    ),
    "different roots": ("yield node.gather(1, root=node.number)", "deadlocked"),
    "what cannot be added": (
        "yield node.all_reduce({} if node.number else 1)",
        "cannot combine values: TypeError",
    ),
    "rows of different kinds": (
        "yield node.exchange(node.split(np.zeros(1, 'S3,i4' if node.number else 'i4'), np.zeros(1, int)))",
        "failed on node 0 in phase `go`: ",
    ),
    "rows and others": (
        "yield node.exchange({} if node.number else node.split(np.arange(2), np.zeros(2, int)))",
        "some nodes exchange rows and others not",
    ),
}


@pytest.mark.parametrize("deadlock", DEADLOCKS.values(), ids=DEADLOCKS.keys())
def test_deadlocks_are_errors(deadlock: tuple[str, str], job: WriteJob) -> None:
    body, message = deadlock
    with pytest.raises(sl.Error, match=r".") as caught:
        sl.record(job(f'node.phase("go")\n{body}'), 3, again=True)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name", ["one ends before", "what cannot be added", "rows of different kinds", "rows and others"]
)
def test_deadlocks_are_errors_under_mpi(name: str, job: WriteJob) -> None:
    body, message = DEADLOCKS[name]
    with pytest.raises(sl.Error, match=r".") as caught:
        sl.record(job(f'node.phase("go")\n{body}'), 3, again=True, mpi=True)
    assert message in str(caught.value)


def test_phases_must_not_contradict_each_other(job: WriteJob) -> None:
    path = job(
        """
        for name in ("a", "b") if node.number else ("b", "a"):
            node.phase(name)
            node.count_operations(tuple=1)
        node.phase("end")
        yield node.barrier()
        """
    )
    with pytest.raises(sl.Error, match="phases `b`, `a` in different orders"):
        sl.record(path, 2, again=True)


def test_node_without_a_phase_is_idle_in_it(job: WriteJob) -> None:
    path = job(
        """
        node.phase("first")
        node.count_operations(tuple=1)
        if node.number == 1:
            node.phase("second")
            node.count_operations(tuple=1)
        node.phase("third")
        yield node.barrier()
        """
    )
    assert sl.record(path, 3, again=True).phases["phase"].to_list() == ["first", "second", "third"]


def test_invalid_job_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    for source, message in (
        ("def mine(node:\n", "the job is not Python"),
        ("import nothing_of_this_name\n", "cannot be imported: ModuleNotFoundError"),
        (DATA, "has none"),
        (DATA + "def a(node):\n    yield\ndef b(node):\n    yield\n", "has `a`, `b`"),
        ("def mine(node):\n    yield\n", "has no data"),
        (
            DATA + "def mine(node, size):\n    yield\n",
            "the parameter `size` of the job `mine` needs a default",
        ),
        (
            "def data(number):\n    pass\ndef mine(node):\n    yield\n",
            "the data of node 0 cannot be generated",
        ),
    ):
        path.write_text(source)
        with pytest.raises(sl.Error) as caught:
            sl.record(path, 2)
        assert message in str(caught.value)
    with pytest.raises(sl.Error, match="cannot read the job"):
        sl.record(tmp_path / "absent.py")


def test_settings_are_converted_to_their_type(job: WriteJob) -> None:
    path = job(
        "node.phase('x')\nyield node.barrier()\nreturn [count, share, name, fast]",
        ", count=1, share=0.5, name='a', fast=False",
    )
    for settings, message in (
        ({"cuont": "2"}, "did you mean `count`"),
        ({"count": "2.5"}, "`count` is a whole number"),
        ({"share": "much"}, "`share` is a number"),
        ({"fast": "yes"}, "`fast` is true or false"),
    ):
        with pytest.raises(sl.Error, match=message):
            sl.record(path, **settings)
    work = sl.record(path, 1, count="2", share=1, name="b", fast="true")
    assert {**work.parameters, "memory_mb": 62.0} == {
        "count": 2,
        "share": 1.0,
        "name": "b",
        "fast": True,
        "memory_mb": 62.0,
    }


@pytest.mark.parametrize("death", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_killed_rank_ends_the_run_without_leftovers(
    death: str, job: WriteJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = job(f"node.phase('x')\nimport os\nif node.number == 1:\n    {death}\nyield node.barrier()")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(sl.Error, match="a rank of the job ended before the job did"):
        sl.record(path, 3, again=True, mpi=True)
    assert [each for each in tmp_path.iterdir() if each.name.startswith("sledlab-")] == []


def test_error_on_one_rank_is_reported_once(job: WriteJob) -> None:
    path = job("node.phase('x')\nif node.number == 2:\n    [][1]\nyield node.barrier()")
    with pytest.raises(sl.Error, match="failed on node 2 in phase `x`: IndexError") as caught:
        sl.record(path, 3, again=True, mpi=True)
    assert caught.value.place is not None
    assert caught.value.place.line == 10


@pytest.mark.parametrize("name", ["no such node", "past the end"])
def test_invalid_input_is_an_error_under_mpi(name: str, job: WriteJob) -> None:
    body, message, _ = MISTAKES[name]
    with pytest.raises(sl.Error, match="failed on node 0 in phase `go`") as caught:
        sl.record(job(f'node.phase("go")\n{body}'), 3, again=True, mpi=True)
    assert message in str(caught.value)


def test_missing_mpi_launcher_is_reported(job: WriteJob) -> None:
    with pytest.raises(sl.Error, match="the MPI launcher `no-such-mpiexec`"):
        sl.record(
            job("node.phase('x')\nyield node.barrier()"), 2, again=True, mpi=True, mpiexec="no-such-mpiexec"
        )


def test_answers_are_written(job: WriteJob, tmp_path: Path) -> None:
    job_with_rows = job(
        "node.phase('x')\nyield node.barrier()\nreturn np.array([node.number, 5])", name="rows"
    )
    sl.record(job_with_rows, 2, answer=tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet")["value"].to_list() == [0, 5, 1, 5]
    job_without_answer = job("node.phase('x')\nyield node.barrier()", name="none")
    for path, file, message in (
        (job_with_rows, "rows.json", "use a name that ends in .parquet"),
        (job_without_answer, "a.json", "returns no answer"),
    ):
        with pytest.raises(sl.Error, match=message):
            sl.record(path, 2, answer=tmp_path / file)


@pytest.mark.parametrize("mpi", [False, True])
def test_answer_of_nan_is_refused_record_kept(mpi: bool, job: WriteJob, tmp_path: Path) -> None:
    run_marks, answer = tmp_path / "ran", tmp_path / "a.json"
    path = job(
        f"""
        node.phase("x")
        with open({str(run_marks)!r}, "a") as file:
            file.write("x")
        yield node.barrier()
        return [1, float("nan")]
        """
    )
    with pytest.raises(sl.Error, match="JSON, which has no NaN"):
        sl.record(path, 2, answer=answer, mpi=mpi)
    assert not answer.exists()
    assert sl.record(path, 2).phases["phase"].to_list() == ["x"]
    assert run_marks.read_text() == "xx"


def test_measured_time_is_counted_and_marked(job: WriteJob) -> None:
    path = job(
        """
        node.phase("work")
        total = sum(number * number for number in range(200_000))
        node.count_operations(tuple=5)
        yield node.exchange(node.split(np.arange(4), np.arange(4) % 2))
        """
    )
    work = sl.record(path, 2, measured=True)
    assert work.parameters["measured"] is True
    assert sorted(work.kinds) == ["measured-ns", "pack", "unpack"]
    assert work.phases["measured-ns"][0] > 2_000_000
    assert "not reproducible" in " ".join(str(work).split())
    result = sl.replay(work, "mems-g2", what_if=False)
    assert result.components_s["compute"] == pytest.approx(work.phases["measured-ns"][0] / 1e9, rel=1e-3)


def test_record_of_an_unchanged_job_is_reused(job: WriteJob, tmp_path: Path) -> None:
    run_marks = tmp_path / "ran"
    path = job(
        f"""
        node.phase("x")
        with open({str(run_marks)!r}, "a") as file:
            file.write("x")
        node.count_operations(tuple=1)
        yield node.barrier()
        """
    )
    first = sl.record(path, 1, work=tmp_path / "a.work")
    second = sl.record(path, 1, work=tmp_path / "b.work")
    assert run_marks.read_text() == "x"
    assert (tmp_path / "a.work").read_bytes() == (tmp_path / "b.work").read_bytes()
    assert first.phases.equals(second.phases)
    sl.record(path, 1, seed=2)
    assert run_marks.read_text() == "xx"
    sl.record(path, 1, again=True)
    assert run_marks.read_text() == "xxx"
    Path(path).write_text(Path(path).read_text() + "# changed\n")
    sl.record(path, 1)
    assert run_marks.read_text() == "xxxx"


def test_changed_data_of_a_job_are_recorded_again(job: WriteJob, tmp_path: Path) -> None:
    points, path = tmp_path / "points.npy", tmp_path / "reader.py"
    path.write_text(
        dedent(
            f"""
            import numpy as np

            def data(number, nodes, seed):
                return {{"points": np.load({str(points)!r})}}

            def reader(node):
                node.phase("read")
                for rows in node.read("points"):
                    node.count_operations(tuple=len(rows))
                yield node.barrier()
            """
        )
    )
    for row_count in (1000, 100_000, 1000):
        np.save(points, np.arange(row_count))
        assert sl.record(path, 2).phases["read_bytes"].sum() == 2 * 8 * row_count


@pytest.mark.parametrize(("job", "data_class"), [("apriori-cd", MarketBaskets), ("mafia", PlantedBoxes)])
def test_data_of_another_generator_are_made_again(
    job: str, data_class: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLEDLAB_DATA", str(tmp_path))
    size_parameter = "transactions" if data_class is MarketBaskets else "records"
    for name in ("old", "new"):
        monkeypatch.setattr(data_class, "generator", lambda *_, name=name: name)
        sl.record(job, 2, **{size_parameter: 2000})
    assert len([*tmp_path.glob("*/*-seed-1-*")]) == len([*tmp_path.glob("records/*")]) == 2


def test_nodes_have_separate_random_numbers(job: WriteJob, tmp_path: Path) -> None:
    path = job("node.phase('x')\nyield node.barrier()\nreturn float(node.random.random())")
    answers = []
    for seed in (1, 2):
        sl.record(path, 2, seed=seed, answer=tmp_path / "a.json")
        answers += json.loads((tmp_path / "a.json").read_text())
    assert len(set(answers)) == 4
    assert np.all(np.array(answers) < 1)


def test_whole_floats_and_numpy_counts_are_recorded(job: WriteJob) -> None:
    path = job(
        """
        node.phase("go")
        node.count_operations(tuple=2.0, item=np.int32(3), bin=np.float32(4))
        node.answer(np.arange(3), width=np.int64(5))
        node.record_memory(8.0)
        yield node.barrier()
        """
    )
    work = sl.record(path, 1, again=True)
    row = work.phases.row(0, named=True)
    assert {kind: row[kind] for kind in work.kinds} == {"tuple": 2, "item": 3, "bin": 4, "pack": 3}
    assert row["sent_bytes"] == 15

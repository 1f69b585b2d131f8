"""Results that are opened again from their directory."""

import json
import sys
import warnings
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.display import find_presentation
from sledlab.errors import Notice
from sledlab.study.result_cache import ResultCache

from tests.cached_runs import cached_lines
from validation.benches.journal import READ, Client

UNIFORM = sl.workload("uniform")
SCAN = str(Path(__file__).parents[2] / "sample" / "work" / "scan.work")
SHORT_RUN = {"limit": 200, "parallel": 1}

WRITERS = {
    "simulate": lambda **options: sl.simulate(UNIFORM, "mems-g2", limit=300, **options),
    "replay": lambda **options: sl.replay(SCAN, "mems-g2", **options),
    "compare": lambda **options: sl.compare(
        UNIFORM, "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1, 1.4], seed="1..2",
        vary={"device.spring_factor": [0, 0.4]}, **SHORT_RUN, **options,
    ),
    "side-by-side": lambda **options: sl.compare(UNIFORM, ["mems-g2", "mems-g3"], **SHORT_RUN, **options),
    "power": lambda **options: sl.power_study(
        UNIFORM, "mems-g2", load=[1], timeout_ms=[0, 10], **SHORT_RUN, **options
    ),
    "hybrid": lambda **options: sl.hybrid_study(
        sl.workload("cello"), mems_mb=[64], segment_kb=[8], price_ratio=[4], replacement=["lru", "fifo"],
        **SHORT_RUN, **options,
    ),
    "tune": lambda **options: sl.tune_hybrid(
        sl.workload("cello"), budget=16, segment_kb=[8, 64], replacement="lru", **SHORT_RUN, **options
    ),
    "smart": lambda **options: sl.smart_study(
        SCAN, ["mems-g1", "mems-g3"], network=["hub"], parallel=1, **options
    ),
    "size": lambda **options: sl.smart_size(
        "sort", ["mems-g3", "ram"], until="store", node_count="2..4", job_settings=["scale_factor=0.001"],
        **options,
    ),
    "fleet": lambda **options: sl.fleet(
        "cloud:volumes=3,requests=300,footprint_gb=0.1", ["mems-g2", "ram"], goal="p99=20ms", parallel=1,
        **options,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRITERS)
def test_opened_results_equal_the_originals(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original = WRITERS[kind](out="out")
    opened = sl.open("out")
    assert type(opened) is type(original)
    assert repr(opened) == repr(original)
    assert opened.to_dict() == original.to_dict()
    assert opened.latex() == original.latex()
    report = Path("out/report.html")
    page = find_presentation(opened).page(opened, path=report)
    assert page == report.read_text("utf-8")
    assert opened.as_file == original.as_file
    for name, table in getattr(original, "tables", {}).items():
        assert opened.tables[name].equals(table), name
    assert len(opened.plot().axes) == len(original.plot().axes)


def test_opened_run_has_its_requests(tmp_path):
    original = WRITERS["simulate"](out=tmp_path)
    assert sl.open(tmp_path).requests.equals(original.requests)


def test_names_of_files_fit_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("trace.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n900,W,4096,4096\n")
    sl.simulate("trace.csv", "mems-g2", out="run")
    sl.compare("trace.csv", "mems-g2", scheduler="fcfs", speedup=[1], parallel=1, out="race")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir("below")
    assert "../trace.csv" in sl.open("../run").experiment
    assert "../trace.csv" in sl.open("../race").toml


def test_opening_runs_and_imports_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("lifo.py").write_text(
        "class Lifo(list):\n    push = list.append\n    def pop(self, now_ns, device):\n"
        "        return list.pop(self)\n"
    )
    Path("trace.csv").write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n900,W,4096,4096\n")
    run = sl.simulate("trace.csv", "mems-g2", scheduler="lifo:Lifo", out="run")
    race = sl.compare("trace.csv", "mems-g2", scheduler=["fcfs", "lifo:Lifo"], parallel=1, out="race")
    sys.modules.pop("lifo", None)
    Path("lifo.py").write_text("raise SystemExit('imported')\n")
    Path("trace.csv").unlink()
    for opened, original in ((sl.open("run"), run), (sl.open("race"), race)):
        assert repr(opened) == repr(original)
        assert opened.report("page.html").exists()
        assert opened.plot().axes
    assert "lifo" not in sys.modules


def test_opened_run_of_a_server_has_its_lateness(tmp_path):
    socket = tmp_path / "socket"
    with sl.serve("mems-g2", out=tmp_path / "out", socket=socket) as server, Client(socket) as client:
        for number in range(8):
            client.send_request(READ, number, 4096 * number)
            assert client.read_reply() == number
            client.receive(4096)
    opened = sl.open(tmp_path / "out")
    assert repr(opened) == repr(server.result)
    assert opened.emulation.to_dict() == server.emulation.to_dict()
    assert opened.emulation.frame().equals(server.emulation.frame())


def interrupt_study(out: Path) -> None:
    with pytest.raises(sl.IncompleteStudy):
        sl.compare(
            UNIFORM,
            "mems-g2",
            scheduler=["fcfs", "sptf"],
            speedup=[1, 1.4],
            share="1/4",
            overload="drain",
            out=out,
            **SHORT_RUN,
        )


def test_unfinished_study_gives_its_saved_runs(tmp_path, refused):
    interrupt_study(tmp_path)
    partial = sl.open(tmp_path)
    assert isinstance(partial, sl.PartialStudy)
    assert (partial.saved_runs, partial.total) == (1, 4)
    assert partial.answer.startswith("1 of 4 runs of this study is saved;")
    assert partial.runs.select("scheduler", "speedup", "seed", "requests").row(0)[2:] == (1, 200)
    assert "mean (ms)" in repr(partial)
    assert partial.report(tmp_path / "page.html").exists()
    assert partial.to_dict()["saved"] == 1
    with refused("1 of 4 runs are saved"):
        partial.plot()
    complete = sl.compare(
        UNIFORM, "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1, 1.4], out=tmp_path, **SHORT_RUN
    )
    assert repr(sl.open(tmp_path)) == repr(complete)
    assert not (tmp_path / "unfinished.json").exists()


def test_unfinished_fleet_gives_its_saved_runs(tmp_path, monkeypatch):
    add, calls = ResultCache.add, iter(range(2))

    def add_then_interrupt(*arguments: object) -> None:
        add(*arguments)
        if next(calls) == 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ResultCache, "add", add_then_interrupt)
        with pytest.raises(KeyboardInterrupt):
            WRITERS["fleet"](out=tmp_path)
    assert sl.open(tmp_path).saved_runs == 2


def test_finished_study_warns_of_a_later_interrupted_run(tmp_path):
    sl.compare(UNIFORM, "mems-g2", scheduler="fcfs", speedup=[1], out=tmp_path, **SHORT_RUN)
    interrupt_study(tmp_path)
    with pytest.warns(Notice, match="of 4 runs are saved"):
        assert sl.open(tmp_path).schedulers == ("fcfs",)


def test_study_interrupted_after_its_outcome_is_finished(tmp_path, monkeypatch, recwarn):
    monkeypatch.setattr("sledlab.display.DisplayedResult.report", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        sl.compare(UNIFORM, "mems-g2", scheduler="fcfs", speedup=[1], out=tmp_path, **SHORT_RUN)
    assert (tmp_path / "unfinished.json").exists()
    assert sl.open(tmp_path).schedulers == ("fcfs",)
    assert not list(recwarn)


def test_study_without_saved_runs_is_empty(tmp_path, monkeypatch):
    monkeypatch.setattr("sledlab.study.bench.Bench._run", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        WRITERS["compare"](out=tmp_path)
    assert sl.open(tmp_path).answer.startswith("0 of 16 runs of this study are saved")
    assert sl.open(tmp_path).runs.equals(pl.DataFrame())


STUDIES = [kind for kind in WRITERS if kind not in ("simulate", "replay", "size")]

BUSY = sl.workload("uniform", mean_interarrival_ms=0.001)
OVERLOADED = {
    "compare": lambda **options: sl.compare(
        BUSY, "mems-g2", scheduler="fcfs", speedup=[1], overload="drain", **SHORT_RUN, **options
    ),
    "power": lambda **options: sl.power_study(BUSY, "mems-g2", load=[1], **SHORT_RUN, **options),
    "hybrid": lambda **options: sl.hybrid_study(
        sl.workload("cello"), mems_mb=[64], segment_kb=[8], speedup=1e6, **SHORT_RUN, **options
    ),
    # Response times sum to 231 days, more nanoseconds than a float has integers.
    "fleet": lambda **options: sl.fleet(
        burst(options["out"] / "volumes"), "hp-c2490a", placement="one-each", parallel=1, **options
    ),
}
"""Studies whose queues grow."""


def burst(folder: Path) -> Path:
    """Return a folder of two volumes, one with 50,000 reads at once."""
    header = "time_us,op,offset_bytes,length_bytes\n"
    read_lines = "".join(f"0,R,{7919 * i % 50_000 * 4096},4096\n" for i in range(50_000))
    folder.mkdir(exist_ok=True)
    (folder / "burst.csv").write_text(header + read_lines)
    (folder / "calm.csv").write_text(header + "0,R,0,4096\n1000000,R,4096,4096\n")
    return folder


@pytest.mark.parametrize("kind", [*STUDIES, *(f"overloaded {kind}" for kind in OVERLOADED)])
@pytest.mark.usefixtures("without_pages")
def test_resumed_study_repeats_no_run(kind, tmp_path, monkeypatch):
    study = OVERLOADED[kind.removeprefix("overloaded ")] if " " in kind else WRITERS[kind]
    first = study(out=tmp_path)
    run_lines = cached_lines(tmp_path)
    assert run_lines
    monkeypatch.setattr("sledlab.study.executor.measured.make_task", None)  # no run can begin
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert study(out=tmp_path).to_dict() == first.to_dict()
    assert cached_lines(tmp_path) == run_lines


@pytest.mark.usefixtures("without_pages")
def test_equal_runs_of_a_study_execute_once(tmp_path):
    sl.power_study(UNIFORM, "mems-g2", load=[1], **SHORT_RUN, out=tmp_path)
    keys = [json.loads(line)["key"] for line in cached_lines(tmp_path)]
    assert len(keys) == len({*keys}) > 10


READ_FILES = {
    "simulate": ("outcome.json", "summary.json", "timing.json", "timeline.parquet"),
    "replay": ("outcome.json", "summary.json", "phases.parquet"),
    "compare": ("outcome.json", "timing.json"),
}
"""Files from which results are opened. Default: the outcome."""


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.usefixtures("without_pages")
def test_changed_values_and_bytes_are_damage(kind, tmp_path, refused):
    WRITERS[kind](out=tmp_path)
    for path in (tmp_path / name for name in READ_FILES.get(kind, ("outcome.json",))):
        intact_bytes = path.read_bytes()
        for position in range(0, len(intact_bytes), len(intact_bytes) // 20 + 1):
            path.write_bytes(
                intact_bytes[:position] + bytes([intact_bytes[position] ^ 1]) + intact_bytes[position + 1 :]
            )
            with refused(f"`{path}` is damaged"):
                sl.open(tmp_path)
        if path.suffix == ".json":
            path.write_bytes(intact_bytes.replace(b"\n", b"\r\n"))
            sl.open(tmp_path)
        path.unlink()
        path.symlink_to("/dev/zero")
        with refused(f"cannot read `{path}`: not a regular file"):
            sl.open(tmp_path)
        path.unlink()
        path.write_bytes(intact_bytes)
    assert sl.open(tmp_path)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_directories_that_cannot_be_opened_are_refused(tmp_path, refused):
    with refused("does not exist"):
        sl.open(tmp_path / "nowhere")
    with refused("holds no results of sledlab"):
        sl.open(tmp_path)
    WRITERS["simulate"](out=tmp_path / "below")
    with refused("give one of the directories in it: below"):
        sl.open(tmp_path)
    (tmp_path / "kind").mkdir()
    (tmp_path / "kind" / "sledlab.json").write_text('{"format": 1, "kind": "drive", "files": []}')
    with refused("holds results of `drive`, which cannot be opened"):
        sl.open(tmp_path / "kind")
    (tmp_path / "file").touch()
    with refused("is not a directory"):
        sl.open(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("outcome.json", "{"),
        ("outcome.json", '{"rows": {"runs": [{}]}}'),
        ("study.toml", "["),
        ("sledlab.json", "[]"),
    ],
)
def test_damaged_files_of_a_study_are_named(name, text, tmp_path, refused):
    sl.compare(UNIFORM, "mems-g2", scheduler="fcfs", speedup=[1], out=tmp_path, **SHORT_RUN)
    (tmp_path / name).write_text(text)
    with refused(f"`{tmp_path / name}` is damaged"):
        sl.open(tmp_path)


@pytest.mark.parametrize(
    "name", ["outcome.json", "summary.json", "timing.json", "timeline.parquet", "experiment.toml"]
)
def test_missing_and_damaged_run_files_are_named(name, tmp_path, refused):
    WRITERS["simulate"](out=tmp_path)
    (tmp_path / name).write_text("{")
    with refused(f"`{tmp_path / name}` is damaged"):
        sl.open(tmp_path)
    (tmp_path / name).unlink()
    with refused(f"`{tmp_path / name}` is missing"):
        sl.open(tmp_path)


def test_newer_version_is_named(tmp_path, refused):
    WRITERS["simulate"](out=tmp_path)
    manifest = json.loads((tmp_path / "sledlab.json").read_text())
    (tmp_path / "sledlab.json").write_text(json.dumps({**manifest, "format": 2}))
    with refused("a newer version of sledlab wrote"):
        sl.open(tmp_path)


def test_opening_changes_nothing(tmp_path):
    interrupt_study(tmp_path)
    path = next((tmp_path / "runs").glob("*.jsonl"))
    path.write_text(path.read_text() + "damaged\n")
    bytes_before = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        assert sl.open(tmp_path).saved_runs == 1
    assert path.read_bytes() == bytes_before

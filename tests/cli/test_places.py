"""Files that name files: they can be moved together, and used from anywhere."""

import json
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.lazy import load_object
from sledlab.runs.file_names import AXES, map_file_names, relative_name
from sledlab.runs.options import declared_options
from sledlab.studies import LIST

from tests.conftest import SAMPLES

WORK = SAMPLES.parent / "work"
TRACE = "time_us,op,offset_bytes,length_bytes\n" + "".join(
    f"{700 * n},{'RWRRF'[n % 5]},{n * 7919 % 90000 * 512},4096\n" for n in range(200)
)

pytestmark = pytest.mark.usefixtures("without_pages")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A working directory with one file of each kind."""
    home = tmp_path / "project"
    (home / "data").mkdir(parents=True)
    (home / "data" / "app.csv").write_text(TRACE)
    (home / "data" / "sort.work").write_bytes((WORK / "sort.work").read_bytes())
    presets = Path(sl.__file__).parents[2] / "presets"
    (home / "mine.toml").write_text((presets / "devices/mems-g3.toml").read_text())
    (home / "node.toml").write_text((presets / "nodes/smart-2003.toml").read_text())
    (home / "net.toml").write_text('kind = "switch"\n')
    (home / "prices.toml").write_text("[node]\nnode = 10.0\n[device]\nmine = 5.0\n[network]\nnet = 1.0\n")
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def move_project(project, monkeypatch):
    """Return a function that moves the project, changes to the root directory and returns its new place."""

    def go() -> Path:
        moved = project.rename(project.with_name("moved"))
        monkeypatch.chdir("/")
        return moved

    return go


def remove_file_names(summary: dict) -> dict:
    config = {table: keys for table, keys in summary["config"].items() if table not in ("trace", "work")}
    return {**summary, "config": config, "wall_s": 0}


def test_saved_run_runs_again_from_any_directory(sledlab, project, move_project):
    arguments = ("simulate", "--device", "mine.toml", "--trace", "data/app.csv", "--out", "runs/first")
    assert sledlab(*arguments).code == 0
    toml = (project / "runs/first/experiment.toml").read_text()
    assert 'file = "../../data/app.csv"' in toml
    assert str(project) not in toml
    # In the same directory, the same bytes, however the files are named.
    assert sledlab("simulate", "runs/first/experiment.toml", "--out", "runs/second").code == 0
    for name in ("experiment.toml", "summary.json"):
        assert (project / "runs/first" / name).read_bytes() == (project / "runs/second" / name).read_bytes()
    first_summary = json.loads((project / "runs/first/summary.json").read_text())
    repeated = sledlab("simulate", move_project() / "runs/first/experiment.toml", "--json")
    assert repeated.code == 0, repeated.err
    assert remove_file_names(repeated.json) == remove_file_names({**first_summary, "wall_s": 0})


def test_experiment_files_are_relative_to_it(sledlab, project, move_project):
    (project / "mine.experiment.toml").write_text(
        'device = "mine.toml"\nhybrid = "caching-disk"\n[front]\npreset = "mine.toml"\nsleds = 1\n'
        '[trace]\nfile = "data/app.csv"\n[replay]\noutside = "wrap"\n'
    )
    moved = move_project()
    answer = sledlab("simulate", moved / "mine.experiment.toml", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["config"]["device"]["name"] == answer.json["config"]["front"]["name"] == "mine"
    assert answer.json["config"]["trace"]["file"] == str(moved / "data/app.csv")


def test_directory_of_file_precedes_working_directory(sledlab, project):
    (project / "app.csv").write_text(TRACE)
    experiment = project / "data" / "e.toml"
    experiment.write_text('device = "mems-g2"\n[trace]\nfile = "app.csv"\n')
    summary = sledlab("simulate", experiment, "--json").json
    assert summary["config"]["trace"]["file"] == str(project / "data/app.csv")
    experiment.write_text('device = "mine.toml"\n[trace]\nfile = "app.csv"\n')
    assert sledlab("simulate", experiment, "--json").json["config"]["device"]["name"] == "mine"
    # Paths on the command line are relative to the working directory.
    summary = sledlab("simulate", experiment, "--trace", "app.csv", "--json").json
    assert summary["config"]["trace"]["file"] == "app.csv"


def test_saved_comparison_runs_again_from_any_directory(sledlab, project, move_project):
    arguments = ("--trace", "data/app.csv", "--scheduler", "fcfs,sptf", "--speedup", "1,2", "--parallel", 1)
    assert sledlab("compare", "--device", "mine.toml", *arguments, "--out", "race").code == 0
    assert sledlab("compare", "race/study.toml", "--parallel", 1, "--out", "again").code == 0
    for name in ("study.toml", "runs.csv", "summary.json"):
        assert (project / "race" / name).read_bytes() == (project / "again" / name).read_bytes()
    runs = (project / "race/runs.csv").read_bytes()
    moved = move_project()
    assert sledlab("compare", moved / "race/study.toml", "--parallel", 1, "--out", moved / "third").code == 0
    assert (moved / "third/runs.csv").read_bytes() == runs


def test_side_by_side_runs_again_from_any_directory(sledlab, project, move_project):
    (project / "data/b.csv").write_text(TRACE)
    arguments = (
        "--device",
        "mems-g3,mine.toml:sleds=1",
        "--trace",
        "data/app.csv,data/b.csv",
        "--parallel",
        1,
    )
    assert sledlab("compare", *arguments, "--out", "race").code == 0
    runs = (project / "race/runs.csv").read_bytes()
    moved = move_project()
    answer = sledlab("compare", moved / "race/study.toml", "--parallel", 1, "--out", moved / "again")
    assert answer.code == 0, answer.err
    assert (moved / "again/runs.csv").read_bytes() == runs


def test_a_key_that_varies_names_files(sledlab, project, move_project):
    (project / "study.toml").write_text(
        'device = "mems-g2"\n[trace]\nfile = "data/app.csv"\n[study]\nkind = "compare"\n'
        'scheduler = ["fcfs"]\nspeedup = [1]\n[study.vary]\n"device.preset" = ["mine.toml", "mems-g2"]\n'
    )
    answer = sledlab("compare", move_project() / "study.toml", "--parallel", 1, "--json")
    assert answer.code == 0, answer.err


def test_a_cluster_runs_again_from_anywhere(sledlab, project, move_project):
    arguments = ("--device", "mine.toml", "--node", "node.toml", "--network", "net.toml", "--no-what-if")
    assert sledlab("smart", "replay", "data/sort.work", *arguments, "--out", "run").code == 0
    assert 'file = "../data/sort.work"' in (project / "run/experiment.toml").read_text()
    (project / "own.toml").write_text(
        'device = "mems-g2"\nnode = "node.toml"\nnetwork = "net.toml"\n[work]\nfile = "data/sort.work"\n'
        '[[group]]\nnodes = [0]\ndevice = "mine.toml"\nnode = "node.toml"\n'
    )
    first_summary = json.loads((project / "run/summary.json").read_text())
    moved = move_project()
    repeated = sledlab("smart", "replay", moved / "run/experiment.toml", "--no-what-if", "--json")
    assert repeated.code == 0, repeated.err
    assert remove_file_names(repeated.json) == remove_file_names(first_summary)
    assert sledlab("smart", "replay", moved / "own.toml", "--no-what-if", "--json").code == 0


def test_cluster_study_runs_again_from_any_directory(sledlab, project, move_project):
    arguments = ("--work", "data/sort.work", "--device", "mine.toml", "--network", "net.toml")
    more_arguments = ("--node", "node.toml", "--price", "prices.toml", "--parallel", 1)
    answer = sledlab("smart", *arguments, *more_arguments, "--out", "study")
    assert answer.code == 0, answer.err
    runs = (project / "study/runs.csv").read_bytes()
    moved = move_project()
    answer = sledlab("smart", moved / "study/study.toml", "--parallel", 1, "--out", moved / "again")
    assert answer.code == 0, answer.err
    assert (moved / "again/runs.csv").read_bytes() == runs


def test_file_names_are_relative_to_result_directory(project, tmp_path):
    assert relative_name("data/app.csv", project / "runs" / "first") == "../../data/app.csv"
    for name in ("", "-", "nowhere.csv", str(project / "data/app.csv")):
        assert relative_name(name, project / "runs") == name
    # `..` leads out of where the link leads to.
    (tmp_path / "far" / "away").mkdir(parents=True)
    (project / "link").symlink_to(tmp_path / "far" / "away")
    file = project / "link" / relative_name("data/app.csv", project / "link")
    assert file.samefile(project / "data/app.csv")


def test_every_axis_with_files_belongs_to_a_study():
    axes = {name for each in LIST for name in load_object(f"sledlab.studies.{each.folder}:STUDY").axes}
    assert set(AXES) <= axes | set(declared_options(load_object("sledlab.studies.smart:STUDY").options))


def test_other_values_of_a_study_stay_unchanged():
    tables = {
        "study": {"scheduler": ["sptf", "zsptf:grid=40x4"], "kind": "compare"},
        "scheduler": "a.toml",
        "seed": 1,
    }
    assert map_file_names(tables, str.upper) == tables


def test_sample_names_and_colons_stay_unchanged(project):
    (project / "sample").mkdir()
    (project / "data" / "a:b.csv").write_text(TRACE)
    tables = {"trace": {"file": "sample:mail-a"}, "study": {"kind": "compare", "trace": ["data/a:b.csv"]}}
    renamed = map_file_names(tables, lambda name: relative_name(name, project / "runs"))
    assert renamed == {**tables, "study": {"kind": "compare", "trace": ["../data/a:b.csv"]}}

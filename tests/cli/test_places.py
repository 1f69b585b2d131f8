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
    """A directory with one file of each kind, in which the user stands."""
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
def elsewhere(project, monkeypatch):
    """Moves the project, stands at the root, and gives its new place."""

    def go() -> Path:
        new = project.rename(project.with_name("moved"))
        monkeypatch.chdir("/")
        return new

    return go


def remove_file_names(summary: dict) -> dict:
    config = {table: keys for table, keys in summary["config"].items() if table not in ("trace", "work")}
    return {**summary, "config": config, "wall_s": 0}


def test_saved_run_runs_again_from_any_directory(sledlab, project, elsewhere):
    out = ("simulate", "--device", "mine.toml", "--trace", "data/app.csv", "--out", "runs/first")
    assert sledlab(*out).code == 0
    text = (project / "runs/first/experiment.toml").read_text()
    assert 'file = "../../data/app.csv"' in text
    assert str(project) not in text
    # In the same place: the same bytes, whichever way it is named.
    assert sledlab("simulate", "runs/first/experiment.toml", "--out", "runs/second").code == 0
    for name in ("experiment.toml", "summary.json"):
        assert (project / "runs/first" / name).read_bytes() == (project / "runs/second" / name).read_bytes()
    first = json.loads((project / "runs/first/summary.json").read_text())
    again = sledlab("simulate", elsewhere() / "runs/first/experiment.toml", "--json")
    assert again.code == 0, again.err
    assert remove_file_names(again.json) == remove_file_names({**first, "wall_s": 0})


def test_experiment_files_are_relative_to_it(sledlab, project, elsewhere):
    (project / "mine.experiment.toml").write_text(
        'device = "mine.toml"\nhybrid = "caching-disk"\n[front]\npreset = "mine.toml"\nsleds = 1\n'
        '[trace]\nfile = "data/app.csv"\n[replay]\noutside = "wrap"\n'
    )
    new = elsewhere()
    answer = sledlab("simulate", new / "mine.experiment.toml", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["config"]["device"]["name"] == answer.json["config"]["front"]["name"] == "mine"
    assert answer.json["config"]["trace"]["file"] == str(new / "data/app.csv")


def test_directory_of_file_precedes_working_directory(sledlab, project):
    (project / "app.csv").write_text(TRACE)
    experiment = project / "data" / "e.toml"
    experiment.write_text('device = "mems-g2"\n[trace]\nfile = "app.csv"\n')
    result = sledlab("simulate", experiment, "--json").json
    assert result["config"]["trace"]["file"] == str(project / "data/app.csv")
    experiment.write_text('device = "mine.toml"\n[trace]\nfile = "app.csv"\n')
    assert sledlab("simulate", experiment, "--json").json["config"]["device"]["name"] == "mine"
    # Paths on the command line are relative to the working directory.
    result = sledlab("simulate", experiment, "--trace", "app.csv", "--json").json
    assert result["config"]["trace"]["file"] == "app.csv"


def test_saved_comparison_runs_again_from_any_directory(sledlab, project, elsewhere):
    arguments = ("--trace", "data/app.csv", "--scheduler", "fcfs,sptf", "--speedup", "1,2", "--parallel", 1)
    assert sledlab("compare", "--device", "mine.toml", *arguments, "--out", "race").code == 0
    assert sledlab("compare", "race/study.toml", "--parallel", 1, "--out", "again").code == 0
    for name in ("study.toml", "runs.csv", "summary.json"):
        assert (project / "race" / name).read_bytes() == (project / "again" / name).read_bytes()
    runs = (project / "race/runs.csv").read_bytes()
    new = elsewhere()
    assert sledlab("compare", new / "race/study.toml", "--parallel", 1, "--out", new / "third").code == 0
    assert (new / "third/runs.csv").read_bytes() == runs


def test_devices_and_traces_side_by_side(sledlab, project, elsewhere):
    (project / "data/b.csv").write_text(TRACE)
    several = ("--device", "mems-g3,mine.toml:sleds=1", "--trace", "data/app.csv,data/b.csv", "--parallel", 1)
    assert sledlab("compare", *several, "--out", "race").code == 0
    runs = (project / "race/runs.csv").read_bytes()
    new = elsewhere()
    answer = sledlab("compare", new / "race/study.toml", "--parallel", 1, "--out", new / "again")
    assert answer.code == 0, answer.err
    assert (new / "again/runs.csv").read_bytes() == runs


def test_a_key_that_varies_names_files(sledlab, project, elsewhere):
    (project / "study.toml").write_text(
        'device = "mems-g2"\n[trace]\nfile = "data/app.csv"\n[study]\nkind = "compare"\n'
        'scheduler = ["fcfs"]\nspeedup = [1]\n[study.vary]\n"device.preset" = ["mine.toml", "mems-g2"]\n'
    )
    answer = sledlab("compare", elsewhere() / "study.toml", "--parallel", 1, "--json")
    assert answer.code == 0, answer.err


def test_a_cluster_runs_again_from_anywhere(sledlab, project, elsewhere):
    arguments = ("--device", "mine.toml", "--node", "node.toml", "--network", "net.toml", "--no-what-if")
    assert sledlab("smart", "replay", "data/sort.work", *arguments, "--out", "run").code == 0
    assert 'file = "../data/sort.work"' in (project / "run/experiment.toml").read_text()
    (project / "own.toml").write_text(
        'device = "mems-g2"\nnode = "node.toml"\nnetwork = "net.toml"\n[work]\nfile = "data/sort.work"\n'
        '[[group]]\nnodes = [0]\ndevice = "mine.toml"\nnode = "node.toml"\n'
    )
    first = json.loads((project / "run/summary.json").read_text())
    new = elsewhere()
    again = sledlab("smart", "replay", new / "run/experiment.toml", "--no-what-if", "--json")
    assert again.code == 0, again.err
    assert remove_file_names(again.json) == remove_file_names(first)
    assert sledlab("smart", "replay", new / "own.toml", "--no-what-if", "--json").code == 0


def test_cluster_study_runs_again_from_any_directory(sledlab, project, elsewhere):
    arguments = ("--work", "data/sort.work", "--device", "mine.toml", "--network", "net.toml")
    money = ("--node", "node.toml", "--price", "prices.toml", "--parallel", 1)
    answer = sledlab("smart", *arguments, *money, "--out", "study")
    assert answer.code == 0, answer.err
    runs = (project / "study/runs.csv").read_bytes()
    new = elsewhere()
    answer = sledlab("smart", new / "study/study.toml", "--parallel", 1, "--out", new / "again")
    assert answer.code == 0, answer.err
    assert (new / "again/runs.csv").read_bytes() == runs


def test_file_names_are_relative_to_result_directory(project, tmp_path):
    assert relative_name("data/app.csv", project / "runs" / "first") == "../../data/app.csv"
    for cached in ("", "-", "nowhere.csv", str(project / "data/app.csv")):
        assert relative_name(cached, project / "runs") == cached
    # `..` leads out of where the link leads to.
    (tmp_path / "far" / "away").mkdir(parents=True)
    (project / "link").symlink_to(tmp_path / "far" / "away")
    result = project / "link" / relative_name("data/app.csv", project / "link")
    assert result.samefile(project / "data/app.csv")


def test_every_axis_with_files_belongs_to_a_study():
    axes = {name for each in LIST for name in load_object(f"sledlab.studies.{each.folder}:STUDY").axes}
    assert set(AXES) <= axes | set(declared_options(load_object("sledlab.studies.smart:STUDY").options))


def test_other_texts_of_a_study_stay():
    options = {
        "study": {"scheduler": ["sptf", "zsptf:grid=40x4"], "kind": "compare"},
        "scheduler": "a.toml",
        "seed": 1,
    }
    assert map_file_names(options, str.upper) == options


def test_sample_names_and_colons_stay_unchanged(project):
    (project / "sample").mkdir()
    (project / "data" / "a:b.csv").write_text(TRACE)
    options = {"trace": {"file": "sample:mail-a"}, "study": {"kind": "compare", "trace": ["data/a:b.csv"]}}
    result = map_file_names(options, lambda name: relative_name(name, project / "runs"))
    assert result == {**options, "study": {"kind": "compare", "trace": ["../data/a:b.csv"]}}

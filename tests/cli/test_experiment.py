"""`sledlab experiment`: experiments by name, from any directory."""

import re
import tomllib

import click
import pytest
import sledlab as sl
from sledlab.cli import cli
from sledlab.cli.experiment import bound, command_of
from sledlab.model.experiment import FOLDERS, files, names, study_of

FILES = [files()[name] for name in names()]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A directory with nothing in it."""
    monkeypatch.chdir(tmp_path)


def test_every_experiment_is_listed_with_a_line_and_its_study(sledlab):
    found = sledlab("experiment", "list", "--json").json
    assert [entry["name"] for entry in found] == [file.stem for file in FILES] == list(sl.experiment)
    for entry in found:
        assert 20 <= len(entry["meaning"]) <= 115, entry
        assert entry["meaning"].endswith((".", "?")), entry
        assert command_of(click.Context(cli), entry["study"]).callback is not None
    assert {entry["study"] for entry in found} == {
        "compare",
        "side-by-side",
        "smart",
        "simulate",
        "device seek-map",
    }
    assert "why-not-an-ssd" in sledlab("experiment", "list").out


def test_the_package_has_the_files_themselves():
    assert all(folder.is_dir() for folder in FOLDERS)
    for file in FILES:
        assert sl.experiment.text(file.stem) == file.read_text(encoding="utf-8")


def test_show_prints_the_file_or_what_it_says(sledlab):
    name = "paper-002-figure-2"
    assert sledlab("experiment", "show", name, "--toml").out == sl.experiment.text(name)
    shown = sledlab("experiment", "show", name)
    assert "mean response over the scaling factor" in shown.out
    assert "study.speedups" in shown.out
    assert sledlab("experiment", "show", name, "--json").json["device"]["layout"] == "y-sequential"


@pytest.mark.usefixtures("without_pages")
def test_run_takes_the_options_of_its_study(sledlab, tmp_path):
    short = ("--limit", 60, "--set", "replay.warmup=0", "--speedups", "1", "--seeds", 1, "--jobs", 1)
    assert sledlab("experiment", "run", "paper-002-figure-4", *short, "--out", "race").code == 0
    assert (tmp_path / "race" / "points.csv").exists()
    by_study = sledlab("compare", "paper-002-figure-4", *short, "--json").json["points"]
    by_name = ("experiment", "run", "paper-002-figure-4", *short, "--json")
    assert sledlab(*by_name).json["points"] == by_study
    assert "--what-if" not in sledlab("experiment", "run", "paper-002-figure-4", "--help").out
    assert sledlab("experiment", "run", "race/study.toml", "--jobs", 1, "--json").json["points"] == by_study


def test_what_sweeps_nothing_runs_too(sledlab):
    assert (
        sledlab("experiment", "run", "paper-002-starvation", "--limit", 50, "--json").json["requests"] == 50
    )
    assert "regions" in sledlab("experiment", "run", "paper-000-figure-4", "--json").json
    assert sledlab("device", "seek-map", "paper-000-figure-4", "--json").json["regions"]
    said = ("--limit", 20, "--workloads", "uniform", "--speedups", 1, "--jobs", 1)
    assert sledlab("experiment", "run", "why-not-an-ssd", *said).code == 0


def test_names_work_where_files_do_in_python():
    race = sl.compare(
        study="paper-002-figure-4",
        limit=50,
        speedups=[1],
        seeds=1,
        jobs=1,
        schedulers=["sptf"],
        settings={"replay.warmup": 0},
    )
    assert race.points.height == 1
    assert sl.run("paper-002-starvation").count == 20000


def test_an_unknown_name_suggests_the_nearest(sledlab):
    for command in (("compare",), ("simulate",), ("experiment", "run"), ("experiment", "show"), ("power",)):
        sledlab(*command, "paper-002-figur-2").assert_refused("did you mean `paper-002-figure-2`?")
    sledlab("compare", "nothing-like-it-at-all").assert_refused("sledlab experiment list")
    with pytest.raises(sl.Error, match="did you mean `paper-002-figure-2`"):
        sl.experiment.show("paper-2-figure-2")


def test_a_file_that_exists_or_looks_like_one_wins(sledlab, tmp_path):
    mine = tmp_path / "raid5-failure"
    mine.write_text("seed = 1\ndevice = 'mems-g2'\n[workload]\nkind = 'uniform'\n[replay]\nlimit = 7\n")
    assert sledlab("simulate", "raid5-failure", "--json").json["requests"] == 7
    mine.unlink()
    for word in ("./raid5-failure", "raid5-failure.toml"):
        sledlab("compare", word).assert_refused("No such file")


@pytest.mark.parametrize("name", names())
def test_every_experiment_has_a_command_and_names_it(name):
    text = sl.experiment.text(name)
    assert bound(click.Context(cli), name).callback is not None
    runner = study_of(tomllib.loads(text)).replace("side-by-side", "compare")
    assert re.search(rf"^#   sledlab {runner} {name}( |$)", text, re.MULTILINE)

"""Experiments by name, from any directory."""

import re
import tomllib

import click
import pytest
import sledlab as sl
from sledlab.cli import cli
from sledlab.cli.show import command_name
from sledlab.model.experiment import FOLDERS, files, names, study_kind

FILES = [files()[name] for name in names()]


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    """Work in an empty directory."""
    monkeypatch.chdir(tmp_path)


def test_experiment_list_shows_description_and_study(sledlab):
    result = sledlab("list", "experiment", "--json").json
    assert [entry["name"] for entry in result] == [file.stem for file in FILES] == list(sl.experiment)
    for entry in result:
        assert 20 <= len(entry["meaning"]) <= 115, entry
        assert entry["meaning"].endswith((".", "?")), entry
        assert command_name(entry["study"]).split()[0] in cli.list_commands(click.Context(cli))
    assert {entry["study"] for entry in result} == {
        "compare",
        "side-by-side",
        "smart",
        "simulate",
        "device seek-map",
    }
    assert "why-not-an-ssd" in sledlab("list", "experiment").out


def test_package_contains_the_experiment_files():
    assert all(folder.is_dir() for folder in FOLDERS)
    for file in FILES:
        assert sl.experiment.text(file.stem) == file.read_text(encoding="utf-8")


def test_show_prints_file_or_description(sledlab):
    name = "lee2009-figure-2"
    assert sledlab("show", "experiment", name, "--toml").out == sl.experiment.text(name)
    answer = sledlab("show", "experiment", name)
    assert "mean response over the scaling factor" in answer.out
    assert "study.speedup" in answer.out
    assert sledlab("show", "experiment", name, "--json").json["device"]["layout"] == "y-sequential"


def test_study_of_an_experiment_accepts_its_name(sledlab):
    options = ("--limit", 60, "--set", "replay.warmup=0", "--speedup", "1", "--seed", "1", "--parallel", 1)
    by_name = sledlab("compare", "lee2009-figure-4", *options, "--json").json["runs"]
    by_file = sledlab("compare", files()["lee2009-figure-4"], *options, "--json").json["runs"]
    assert by_name == by_file


def test_experiment_without_study_accepts_its_name(sledlab):
    assert sledlab("simulate", "lee2009-starvation", "--limit", 50, "--json").json["requests"] == 50
    assert sledlab("device", "seek-map", "hong2006-figure-4", "--json").json["regions"]


def test_python_accepts_experiment_names_as_files():
    race = sl.compare(
        study="lee2009-figure-4",
        limit=50,
        speedup=[1],
        seed=1,
        parallel=1,
        scheduler=["sptf"],
        settings={"replay.warmup": 0},
    )
    assert race.runs.height == 1
    assert sl.run("lee2009-starvation").count == 20000


def test_an_unknown_name_suggests_the_nearest(sledlab):
    for command in (("compare",), ("simulate",), ("show", "experiment"), ("power",)):
        sledlab(*command, "lee2009-figur-2").assert_refused("did you mean `lee2009-figure-2`?")
    sledlab("compare", "nothing-like-it-at-all").assert_refused("sledlab list experiment")
    with pytest.raises(sl.Error, match="did you mean `lee2009-figure-2`"):
        sl.experiment.show("paper-2-figure-2")


def test_file_takes_precedence_over_experiment_name(sledlab, tmp_path):
    file = tmp_path / "raid5-failure"
    file.write_text("seed = 1\ndevice = 'mems-g2'\n[workload]\nkind = 'uniform'\n[replay]\nlimit = 7\n")
    assert sledlab("simulate", "raid5-failure", "--json").json["requests"] == 7
    file.unlink()
    for name in ("./raid5-failure", "raid5-failure.toml"):
        sledlab("compare", name).assert_refused("No such file")


@pytest.mark.parametrize("name", names())
def test_every_experiment_has_a_command_and_names_it(name):
    text = sl.experiment.text(name)
    runner = command_name(study_kind(tomllib.loads(text)))
    assert re.search(rf"^#   sledlab {runner} {name}( |$)", text, re.MULTILINE)

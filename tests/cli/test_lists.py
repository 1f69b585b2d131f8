"""Lists of devices, schedulers, workloads and other models, and what `show` prints of them."""

from pathlib import Path

import click
import numpy as np
import pytest
import sledlab as sl
from sledlab.cli import cli

PRESETS = sorted(file.stem for file in (Path(__file__).parents[2] / "presets" / "devices").glob("*.toml"))


def test_preset_devices_are_listed(sledlab):
    assert sorted(entry["name"] for entry in sledlab("list", "device", "--json").json) == PRESETS
    assert "mems-g3-disksim" in sledlab("list", "device").out


@pytest.mark.parametrize("name", PRESETS)
def test_a_shown_device_is_a_device_file(sledlab, tmp_path, name):
    file = tmp_path / "mine.toml"
    file.write_text(sledlab("show", "device", name, "--toml").out)
    parameters = sledlab("show", "device", name, "--json").json
    reread = sledlab("show", "device", file, "--json").json
    assert {**reread, "name": name} == parameters
    assert parameters["capacity_blocks"] > 0
    keys = {"mems": "active_tips", "disk": "idle_state", "ssd": "program_us", "ram": "access_us"}
    assert keys[parameters["kind"]] in sledlab("show", "device", name).out


def test_settings_change_a_shown_device(sledlab):
    assert (
        sledlab("show", "device", "mems-g2", "--set", "device.active_tips=640", "--json").json["active_tips"]
        == 640
    )
    assert sledlab("show", "device", "mems-g2", "--set", "scheduler.kind=sptf").code == 2


def test_shown_device_notes_tips_without_data(sledlab):
    note = "note: 1,280 of 6,400 tips of a sled belong to no group and hold no data"
    for tips, is_noted in ((1280, False), (2560, True)):
        printed = sledlab("show", "device", "mems-g2", "--set", f"device.active_tips={tips}").out
        assert (note in printed.replace("\n", " ")) == is_noted, tips


def test_schedulers_and_workloads_are_listed_and_shown(sledlab):
    assert {"fcfs", "sptf", "sptf-exhaustive"} <= {
        entry["name"] for entry in sledlab("list", "scheduler", "--json").json
    }
    assert "shortest positioning" in sledlab("show", "scheduler", "sptf").out
    assert "read_share" in sledlab("show", "workload", "uniform").out
    for kind in ("scheduler", "workload", "device"):
        assert sledlab("show", kind, "nothing-like-it").code == 2


@pytest.mark.parametrize(
    ("kind", "names", "parameter"),
    [
        ("cache", {"none", "write-back"}, "capacity_blocks"),
        ("merge", {"none", "pairs", "chains"}, "among"),
        ("system", {"single", "stripe", "mirror", "raid5"}, "devices"),
    ],
)
def test_wrappers_of_devices_are_listed(sledlab, kind, names, parameter):
    """Needs an extension whose catalog has sections `caches`, `merges` and `systems`."""
    entries_by_name = {entry["name"]: entry for entry in sledlab("list", kind, "--json").json}
    assert names <= set(entries_by_name) == set(getattr(sl, kind))
    parameters = {spec["name"] for entry in entries_by_name.values() for spec in entry["parameters"]}
    assert parameter in parameters
    for name, entry in entries_by_name.items():
        assert entry["meaning"] in " ".join(sledlab("show", kind, name).out.split())
    similar_to = sorted(names - {"none", "single"})[0]
    sledlab("show", kind, f"{similar_to}x").assert_refused(similar_to)


def test_version_option_prints_the_version(sledlab):
    assert sledlab("-V").out == sledlab("--version").out == f"sledlab, version {sl.__version__}\n"


def test_seek_map_is_saved_in_every_format(sledlab, tmp_path):
    result = sledlab("device", "seek-map", "mems-g2", "--json").json
    assert [region["threshold_ms"] for region in result["regions"]] == [0.3, 0.325, 0.35, 0.4]
    assert all(region["aspect"] > 4 for region in result["regions"])
    for suffix in ("png", "svg", "html", "csv", "npz"):
        path = tmp_path / f"map.{suffix}"
        assert sledlab("device", "seek-map", "mems-g2", "--save", path).code == 0
        assert path.stat().st_size > 1000
    ms = np.load(tmp_path / "map.npz")["ms"]
    table = np.loadtxt(tmp_path / "map.csv", delimiter=",", skiprows=1)
    assert np.allclose(table[:, 2], ms.ravel(), atol=1e-6)
    for options in (("--from", "a"), ("--from", "9999,0"), ("--out", "map.doc")):
        assert sledlab("device", "seek-map", "mems-g2", *options).code == 2


def test_device_is_read_from_experiment_or_study_file(sledlab, tmp_path):
    text = "seed = 1\n\n[device]\npreset = 'mems-g2'\nactive_tips = 640\n"
    for name, study_table in (("experiment.toml", ""), ("study.toml", "\n[study]\nkind = 'compare'\n")):
        file = tmp_path / name
        file.write_text(text + study_table)
        assert sledlab("show", "device", file, "--json").json["active_tips"] == 640
        file.write_text(text + study_table + "[device\n")
        sledlab("show", "device", file).assert_refused(f"{file}:")


def test_import_error_names_the_cause(sledlab, tmp_path):
    path = tmp_path / "empty.parv"
    path.write_text("disksim_global Global {\n}\n")
    sledlab("device", "import", path).assert_refused("empty.parv")


def test_every_command_has_help(sledlab):
    def walk(command, words):
        assert sledlab(*words, "--help").code == 0
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                walk(command.get_command(context, name), (*words, name))

    walk(cli, ())


def commands(group=cli, words=()):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


def test_commands_with_pages_accept_static():
    accepts_static = {}
    for words, command in commands():
        options = {param.name: getattr(param, "help", None) or "" for param in command.params}
        help_texts = options.get("out", "") + options.get("save", "")
        if "report" in help_texts or "html" in help_texts:
            accepts_static[" ".join(words)] = any("--static" in param.opts for param in command.params)
    del accepts_static["view"]  # nothing but a program
    assert {"simulate", "compare", "power", "smart replay", "serve", "diff", "device seek-map"} <= set(
        accepts_static
    )
    assert [name for name, is_accepted in accepts_static.items() if not is_accepted] == []

"""`sledlab device`, `scheduler`, `workload`: what there is."""

from pathlib import Path

import click
import numpy as np
import pytest
import sledlab as sl
from sledlab.cli import cli

PRESETS = sorted(file.stem for file in (Path(__file__).parents[2] / "presets" / "devices").glob("*.toml"))


def test_devices(sledlab):
    assert sorted(entry["name"] for entry in sledlab("list", "device", "--json").json) == PRESETS
    assert "mems-g3-disksim" in sledlab("list", "device").out


@pytest.mark.parametrize("name", PRESETS)
def test_a_shown_device_is_a_device_file(sledlab, tmp_path, name):
    file = tmp_path / "mine.toml"
    file.write_text(sledlab("show", "device", name, "--toml").out)
    shown = sledlab("show", "device", name, "--json").json
    again = sledlab("show", "device", file, "--json").json
    assert {**again, "name": name} == shown
    assert shown["capacity_blocks"] > 0
    keys = {"mems": "active_tips", "disk": "idle_state", "ssd": "program_us", "ram": "access_us"}
    assert keys[shown["kind"]] in sledlab("show", "device", name).out


def test_settings_change_a_shown_device(sledlab):
    assert (
        sledlab("show", "device", "mems-g2", "--set", "device.active_tips=640", "--json").json["active_tips"]
        == 640
    )
    assert sledlab("show", "device", "mems-g2", "--set", "scheduler.kind=sptf").code == 2


def test_shown_device_notes_tips_without_data(sledlab):
    note = "note: 1,280 of 6,400 tips of a sled belong to no group and hold no data"
    for tips, expected in ((1280, False), (2560, True)):
        shown = sledlab("show", "device", "mems-g2", "--set", f"device.active_tips={tips}").out
        assert (note in shown.replace("\n", " ")) == expected, tips


def test_schedulers_and_workloads(sledlab):
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
    result = {entry["name"]: entry for entry in sledlab("list", kind, "--json").json}
    assert names <= set(result) == set(getattr(sl, kind))
    parameters = {spec["name"] for entry in result.values() for spec in entry["parameters"]}
    assert parameter in parameters
    for name, entry in result.items():
        assert entry["meaning"] in " ".join(sledlab("show", kind, name).out.split())
    near = sorted(names - {"none", "single"})[0]
    sledlab("show", kind, f"{near}x").assert_refused(near)


def test_version(sledlab):
    assert sledlab("-V").out == sledlab("--version").out == f"sledlab, version {sl.__version__}\n"


def test_seek_map(sledlab, tmp_path):
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
    for wrong in (("--from", "a"), ("--from", "9999,0"), ("--out", "map.doc")):
        assert sledlab("device", "seek-map", "mems-g2", *wrong).code == 2


def test_device_is_read_from_experiment_or_study_file(sledlab, tmp_path):
    text = "seed = 1\n\n[device]\npreset = 'mems-g2'\nactive_tips = 640\n"
    for name, more in (("experiment.toml", ""), ("study.toml", "\n[study]\nkind = 'compare'\n")):
        file = tmp_path / name
        file.write_text(text + more)
        assert sledlab("show", "device", file, "--json").json["active_tips"] == 640
        file.write_text(text + more + "[device\n")
        sledlab("show", "device", file).assert_refused(f"{file}:")


def test_import_error_names_the_cause(sledlab, tmp_path):
    path = tmp_path / "empty.parv"
    path.write_text("disksim_global Global {\n}\n")
    sledlab("device", "import", path).assert_refused("empty.parv")


def test_every_command_has_help(sledlab):
    def walk(command, path):
        assert sledlab(*path, "--help").code == 0
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                walk(command.get_command(context, name), (*path, name))

    walk(cli, ())


def commands(group=cli, path=()):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def test_commands_with_pages_accept_static():
    pages = {}
    for path, command in commands():
        options = {param.name: getattr(param, "help", None) or "" for param in command.params}
        out = options.get("out", "") + options.get("save", "")
        if "report" in out or "html" in out:
            pages[" ".join(path)] = any("--static" in param.opts for param in command.params)
    del pages["view"]  # nothing but a program
    assert {"simulate", "compare", "power", "smart replay", "serve", "diff", "device seek-map"} <= set(pages)
    assert [name for name, can in pages.items() if not can] == []

"""Experiment files of older versions are read, or get a message that says what to change."""

import tomllib

import pytest
import sledlab as sl
from sledlab._native import device_text
from sledlab.errors import Notice
from sledlab.model.catalogue import entries
from sledlab.model.older import DEVICE, SCHEDULERS, today
from sledlab.runs.compose import read

DISK = """
[device]
preset = 'atlas-10k'
{key} = {value}
[workload]
kind = 'uniform'
[replay]
limit = 20
"""

SAID = {
    "appends_writes": ("false", "none"),
    "write_back": ("'never'", False),
    "keeps_requested": ("'never'", True),
}
"""Old values, and what they are today."""


@pytest.mark.parametrize("older", DEVICE, ids=lambda older: older.key)
def test_every_older_key_is_read_or_refused_with_a_remedy(older, tmp_path, refused):
    value, now = SAID.get(older.key, ("1", None))
    file = tmp_path / "experiment.toml"
    file.write_text(DISK.format(key=older.key, value=value))
    if older.remedy:
        with refused("no such key any more") as caught:
            read(file)
        assert "zones" in caught.value.remedy
        return
    device = tomllib.loads(read(file).said())["device"]
    assert older.key not in device
    assert device.get(older.now) == now
    if older.now:
        assert tomllib.loads(read(file).to_toml())["device"][older.now] == now
    assert sl.run(file).count == 20


def test_every_new_name_is_a_parameter_and_no_old_one_is():
    (disk,) = (kind for kind in entries("device_kinds") if kind.name == "disk")
    names = {spec.name for spec in disk.parameters}
    assert {older.now for older in DEVICE if older.now} <= names
    assert not {older.key for older in DEVICE} & names


@pytest.mark.parametrize("name", SCHEDULERS)
def test_older_names_of_schedulers_are_read_with_a_note(name, tmp_path):
    file = tmp_path / "experiment.toml"
    file.write_text(DISK.format(key="startup_ms", value="0.0") + f"[scheduler]\nkind = '{name}'\n")
    with pytest.warns(Notice, match=f"`{name}` is called `{SCHEDULERS[name]}` now"):
        assert tomllib.loads(read(file).to_toml())["scheduler"]["kind"] == SCHEDULERS[name]


def test_an_older_comparison_runs(sledlab, tmp_path):
    file = tmp_path / "compare.toml"
    file.write_text(
        "seed = 1\n[compare]\nschedulers = ['fcfs', 'sptf']\nspeedups = [1]\nseeds = 1\n"
        "[device]\npreset = 'mems-g2'\n[workload]\nkind = 'uniform'\n[replay]\nlimit = 50\n"
    )
    found = sledlab("compare", file, "--jobs", 1, "--json").json
    assert [point["scheduler"] for point in found["points"]] == ["fcfs", "sptf"]


def test_groups_of_a_cluster_are_looked_at_too():
    text = "[[group]]\nnodes = [0]\n[group.device]\npreset = 'atlas-10k'\nwrite_back = 'mixed'\n"
    assert tomllib.loads(today(text))["group"][0]["device"] == {"preset": "atlas-10k", "buffers_writes": True}


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("write_back = 'never'", "`buffers_writes = false`"),
        ("appends_writes = false", '`appended_writes = "none"`'),
        ("zero_latency_writes = true", "leave it out: it changed nothing"),
        ("cylinders = 1000", "describe the disk by `zones"),
    ],
)
def test_an_older_device_file_is_refused_with_what_to_write_now(sledlab, tmp_path, line, remedy):
    file = tmp_path / "mine.toml"
    file.write_text(f"{line}\n{device_text('atlas-10k')}")
    answer = sledlab("simulate", "--device", file, "--workload", "uniform", "--limit", 10)
    answer.assert_refused("mine.toml:1: unknown key `device.")
    assert remedy in " ".join(answer.err.split())

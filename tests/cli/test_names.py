"""Names of models ignore case, and results spell them as the lists do."""

import json

import pytest
import sledlab as sl


@pytest.mark.parametrize(
    "line",
    [
        "simulate --device MEMS-G2 --workload Uniform --scheduler SPTF --power Never --cache None",
        "simulate --device Mems-g2 --workload UNIFORM --set scheduler.kind=SPTF --set replay.outside=Wrap",
        "simulate --device ATLAS-10K --front MEMS-G2 --hybrid Caching-Disk --workload uniform",
    ],
)
def test_names_ignore_case(sledlab, line):
    mixed, lower = (
        sledlab(*arguments.split(), "--limit", "50", "--json").json for arguments in (line, line.lower())
    )
    assert mixed["config"] == lower["config"]
    assert mixed["checksum"] == lower["checksum"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "device", "MEMS-G2"),
        ("show", "scheduler", "Sptf"),
        ("show", "network", "IDEAL"),
        ("show", "job", "SORT"),
        ("list", "Device"),
        ("trace", "hits", "sample:kv-a-60s", "--policies", "LRU"),
    ],
)
def test_commands_ignore_case_of_names(sledlab, arguments):
    assert sledlab(*arguments).out == sledlab(*arguments[:-1], arguments[-1].lower()).out


def test_studies_spell_names_as_listed():
    race = sl.compare(
        sl.workload("UNIFORM"), "MEMS-G2", scheduler=["FCFS", "Sptf"], speedup=[1], limit=50, parallel=1
    )
    assert sorted(race.runs["scheduler"]) == ["fcfs", "sptf"]
    assert 'preset = "mems-g2"' in race.toml


def test_all_names_are_in_lower_case():
    for catalog in (sl.device, sl.scheduler, sl.power, sl.workload, sl.node, sl.network, sl.replacement):
        assert all(name == name.lower() for name in catalog)


def test_unknown_name_of_a_kind_lists_its_devices(sledlab):
    sledlab("simulate", "--device", "SSD", "--workload", "uniform").assert_refused(
        "devices of kind ssd: ssd-tlc"
    )


@pytest.fixture
def two_disks(tmp_path):
    file = tmp_path / "two.csv"
    file.write_text("100,usr,0,Read,0,4096,5\n200,web,0,Write,8192,512,5\n300,usr,0,Read,0,4096,5\n")
    return file


def test_trace_info_counts_the_requests_of_each_device(sledlab, two_disks):
    devices = json.loads(sledlab("trace", "info", str(two_disks), "--json").out)["devices"]
    assert devices == [
        {"device": 0, "requests": 2, "name": "usr_0"},
        {"device": 1, "requests": 1, "name": "web_0"},
    ]
    assert "web_0" in sledlab("trace", "info", str(two_disks)).out


def test_run_of_several_devices_names_them(sledlab, two_disks):
    answer = sledlab("simulate", "--device", "mems-g2", "--trace", str(two_disks))
    answer.assert_refused("the trace has several devices: usr_0, web_0")


def test_chosen_model_has_its_parameters_as_attributes():
    choice = sl.device("mems-g2", sleds=4)
    assert (choice.sleds, choice.active_tips) == (4, 1280)
    assert "active_tips" in dir(choice)
    with pytest.raises(AttributeError, match="no parameter `tips_active`"):
        _ = choice.tips_active

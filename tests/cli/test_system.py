"""`[system]` on the command line, in Python and in an experiment's file; memory as a device."""

import pytest
import sledlab as sl

UNIFORM = ("--device", "mems-g2", "--workload", "uniform", "--limit", 200, "--json")


def system(kind: str, devices: int) -> tuple[str, ...]:
    return ("--set", f"system.kind={kind}", "--set", f"system.devices={devices}")


@pytest.mark.parametrize("kind", ["concatenation", "stripe", "mirror", "raid5"])
def test_devices_are_put_together(sledlab, kind):
    found = sledlab("simulate", *UNIFORM, *system(kind, 4)).json
    assert found["config"]["system"] == {"kind": kind, "devices": 4, "unit_blocks": 128, "bus": "own"}
    assert found["requests"] == 200
    assert sum(found["state_time_s"].values()) == pytest.approx(4 * found["elapsed_s"])


def test_what_cannot_be_is_refused(sledlab):
    answer = sledlab("simulate", *UNIFORM, *system("raid5", 2))
    assert answer.code == 2
    assert "system.devices = 2 is too few for a raid5" in answer.err
    assert "choose at least 3 devices" in answer.err
    assert "did you mean `system`?" in sledlab("simulate", *UNIFORM, "--set", "sysltem.kind=stripe").err


def test_a_complete_experiment_runs_again(sledlab, tmp_path):
    out = tmp_path / "run"
    assert sledlab("simulate", *UNIFORM, *system("stripe", 3), "--out", out).code == 0
    (file,) = out.glob("*.toml")
    settings = {"system.kind": "stripe", "system.devices": 3}
    first = sl.simulate(sl.workload("uniform"), device="mems-g2", limit=200, settings=settings)
    again = sledlab("simulate", file, "--json").json
    assert again["response_time_ms"] == first.summary["response_time_ms"]


def test_systems_and_memory_are_compared():
    kinds = ["stripe", "mirror"]
    found = sl.compare(
        sl.workload("uniform"),
        device="ram",
        schedulers=["fcfs"],
        limit=100,
        jobs=1,
        vary={"system.kind": kinds},
        settings={"system.kind": "stripe", "system.devices": 2},
    )
    assert {row["system.kind"] for row in found.points.to_dicts()} == set(kinds)


def test_disks_share_a_bus_and_others_do_not(sledlab):
    shared = ("--set", "system.bus=shared")
    disks = ("--device", "hp-c2247a", "--workload", "uniform", "--limit", 200, "--json", *system("stripe", 4))
    own = sledlab("simulate", *disks).json["response_time_ms"]["mean"]
    assert sledlab("simulate", *disks, *shared).json["response_time_ms"]["mean"] > own
    answer = sledlab("simulate", *UNIFORM, *system("stripe", 2), *shared)
    assert answer.code == 2
    assert "a device of kind `mems` has a bus of its own" in answer.err


def test_a_deep_disk_hides_overheads_and_takes_no_merged_requests(sledlab):
    disk = ("simulate", "--device", "cheetah-9lp", "--workload", "uniform", "--limit", 200, "--json")
    deep = ("--set", "device.queue_depth=16")
    plain = sledlab(*disk).json["response_time_ms"]["mean"]
    assert sledlab(*disk, *deep).json["response_time_ms"]["mean"] < plain
    answer = sledlab(*disk, *deep, "--merge", "chains")
    assert answer.code == 2
    assert "requests cannot be merged" in answer.err

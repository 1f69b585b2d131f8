"""`[system]` on the command line, in Python and in an experiment's file; memory as a device."""

import pytest
import sledlab as sl
from sledlab.model.catalog import CATALOGS

UNIFORM = ("--device", "mems-g2", "--workload", "uniform", "--limit", 200, "--json")


def system_options(kind: str, devices: int) -> tuple[str, ...]:
    return ("--set", f"system.kind={kind}", "--set", f"system.devices={devices}")


@pytest.mark.parametrize("kind", ["concatenation", "stripe", "mirror", "raid5"])
def test_devices_are_combined(sledlab, kind):
    summary = sledlab("simulate", *UNIFORM, *system_options(kind, 4)).json
    no_failure = {"failed": "none", "failed_at_s": 0.0, "rebuild_mb_s": 0.0}
    assert summary["config"]["system"] == {
        "kind": kind,
        "devices": 4,
        "unit_blocks": 128,
        "bus": "own",
        **no_failure,
        "start": "ready",
    }
    assert "faults" not in summary
    assert summary["requests"] == 200
    assert sum(summary["state_time_s"].values()) == pytest.approx(4 * summary["elapsed_s"])


def test_invalid_settings_are_refused(sledlab):
    answer = sledlab("simulate", *UNIFORM, *system_options("raid5", 2))
    assert answer.code == 2
    assert "system.devices = 2 is too few for a raid5" in answer.err
    assert "choose at least 3 devices" in answer.err
    assert "did you mean `system`?" in sledlab("simulate", *UNIFORM, "--set", "sysltem.kind=stripe").err


@pytest.mark.usefixtures("without_pages")
def test_a_complete_experiment_runs_again(sledlab, tmp_path):
    out = tmp_path / "run"
    assert sledlab("simulate", *UNIFORM, *system_options("stripe", 3), "--out", out).code == 0
    (file,) = out.glob("*.toml")
    settings = {"system.kind": "stripe", "system.devices": 3}
    first = sl.simulate(sl.workload("uniform"), device="mems-g2", limit=200, settings=settings)
    summary = sledlab("simulate", file, "--json").json
    assert summary["response_time_ms"] == first.summary["response_time_ms"]


def test_systems_and_memory_are_compared():
    kinds = ["stripe", "mirror"]
    result = sl.compare(
        sl.workload("uniform"),
        device="ram",
        scheduler=["fcfs"],
        limit=100,
        parallel=1,
        vary={"system.kind": kinds},
        settings={"system.kind": "stripe", "system.devices": 2},
    )
    assert {row["system.kind"] for row in result.runs.to_dicts()} == set(kinds)


def test_only_disks_share_a_bus(sledlab):
    shared = ("--set", "system.bus=shared")
    disks = (
        "--device",
        "hp-c2247a",
        "--workload",
        "uniform",
        "--limit",
        200,
        "--json",
        *system_options("stripe", 4),
    )
    own_bus_ms = sledlab("simulate", *disks).json["response_time_ms"]["mean"]
    assert sledlab("simulate", *disks, *shared).json["response_time_ms"]["mean"] > own_bus_ms
    answer = sledlab("simulate", *UNIFORM, *system_options("stripe", 2), *shared)
    assert answer.code == 2
    assert "a device of kind `mems` cannot share a bus" in answer.err


def test_disk_queue_hides_overheads_and_refuses_merging(sledlab):
    disk = ("simulate", "--device", "cheetah-9lp", "--workload", "uniform", "--limit", 200, "--json")
    queue_option = ("--set", "device.queue_depth=16")
    unqueued_ms = sledlab(*disk).json["response_time_ms"]["mean"]
    assert sledlab(*disk, *queue_option).json["response_time_ms"]["mean"] < unqueued_ms
    answer = sledlab(*disk, *queue_option, "--merge", "chains")
    assert answer.code == 2
    assert "requests cannot be merged" in answer.err


DEGRADED_RAID5 = (*UNIFORM[:-1], *system_options("raid5", 4), "--set", "system.failed=0")
RAM = ("--device", "ram", "--set", "device.capacity_mb=16")
REBUILT = (*RAM, *DEGRADED_RAID5[2:], "--set", "system.rebuild_mb_s=50")


def test_rebuild_is_in_summary_text_and_page(sledlab, tmp_path):
    faults = sledlab("simulate", *REBUILT, "--json").json["faults"]
    # 244 whole stripes of 64 KiB, read from three devices each.
    assert faults["rebuild_written_bytes"] == 244 * 65536
    assert faults["rebuild_read_bytes"] == 3 * faults["rebuild_written_bytes"]
    assert faults["failed"][0]["rebuilt_after_s"] == pytest.approx(244 * 65536 / 50e6, rel=0.02)
    assert faults["lost_blocks"] == 0
    answer = sledlab("simulate", *REBUILT, "--out", tmp_path / "run")
    sentence = "Device 0 had failed before the run; its spare was rebuilt"
    assert sentence in answer.out
    assert sentence in (tmp_path / "run" / "report.html").read_text()


def test_two_failures_lose_data(sledlab):
    faults = sledlab("simulate", *DEGRADED_RAID5[:-2], "--set", "system.failed=[0,1]", "--json").json[
        "faults"
    ]
    assert faults["lost_blocks"] > 0
    assert faults["lost_requests"] > 0
    options = ("--set", "system.failed=[0,1]", "--set", "system.failed_at_s=[0.0,1e6]")
    late_faults = sledlab("simulate", *DEGRADED_RAID5[:-2], *options, "--json").json["faults"]
    assert [failed["at_s"] for failed in late_faults["failed"]] == [0, 1e6]
    assert late_faults["lost_requests"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("kind=stripe", "failed=0"), 'a system of kind "stripe" loses its data with a device'),
        (("kind=raid5", "failed=4"), "there is no device 4"),
        (("kind=raid5", "failed=[1,1]"), "device 1 cannot fail twice"),
        (("kind=raid5", "failed=x"), "the number of a device or a list of numbers"),
        (("kind=raid5", "failed=1", "failed_at_s=[1,2]"), "has 2 times for 1 failures"),
        (("kind=raid5", "failed_at_s=1"), "system.failed_at_s is set, but no device fails"),
        (("kind=raid5", "failed_at_s=-1"), "expected seconds from 0"),
        (("kind=single", "devices=1", "rebuild_mb_s=1"), "system.rebuild_mb_s is set, but no device fails"),
    ],
)
def test_impossible_failures_are_refused(sledlab, arguments, message):
    pairs = arguments if "devices=1" in arguments else ("devices=4", *arguments)
    settings = (argument for pair in pairs for argument in ("--set", f"system.{pair}"))
    answer = sledlab("simulate", *UNIFORM, *settings)
    assert answer.code == 2
    assert message in answer.err


def test_redundant_tips_save_blocks_of_bad_tips(sledlab):
    def faults(*arguments):
        settings = (argument for pair in arguments for argument in ("--set", f"device.{pair}"))
        return sledlab("simulate", *UNIFORM, *settings).json["faults"]

    unprotected = faults("bad_tips=3")
    # Each in another group of 64 tips, under which lie 2500 columns of 27 rows.
    assert unprotected["lost_blocks"] == 3 * 2500 * 27
    assert unprotected["lost_requests"] > 0
    assert faults("bad_tips=3", "redundant_tips=1")["lost_blocks"] == 0
    spared = faults("bad_tips=3", "spare_tips=2")
    assert (spared["lost_blocks"], spared["remapped_tips"]) == (2500 * 27, 2)
    failing_later = faults("failing_tips=3", "tips_fail_at_s=0.1")
    assert failing_later["lost_blocks"] == unprotected["lost_blocks"]
    assert 0 < failing_later["lost_requests"] < unprotected["lost_requests"]
    answer = sledlab("simulate", *UNIFORM, *system_options("raid5", 4), "--set", "device.bad_tips=1")
    assert "does not recompute data lost under bad tips" in answer.err


def test_spare_is_parked_until_a_device_fails():
    settings = {
        "system.devices": 2,
        "system.failed": 0,
        "system.failed_at_s": 0.5,
        "system.rebuild_mb_s": 100,
    }
    result = sl.simulate(
        sl.workload("uniform"),
        sl.device("ram", capacity_mb=1),
        system="mirror",
        limit=2000,
        settings=settings,
    )
    assert result.summary["state_time_s"]["inactive"] == pytest.approx(0.5, abs=0.01)
    assert result.startups == 1


@pytest.mark.parametrize(("kind", "min_devices"), [("stripe", 2), ("mirror", 2), ("raid5", 3)])
def test_arrays_have_their_fewest_devices_by_default(sledlab, kind, min_devices):
    (devices,) = (each for each in CATALOGS["system"].model_parameters(kind) if each.name == "devices")
    assert (devices.default, devices.range[0]) == (min_devices, min_devices)
    answer = sledlab("simulate", *UNIFORM, "--system", kind, "--json").json
    assert answer["config"]["system"]["devices"] == min_devices


def test_option_none_selects_no_model(sledlab):
    default = sledlab("simulate", *UNIFORM, "--json").json
    for option in ("--cache", "--merge", "--hybrid"):
        summary = sledlab("simulate", *UNIFORM, option, "none", "--json").json
        assert summary["response_time_ms"] == default["response_time_ms"]

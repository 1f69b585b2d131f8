"""A disk from end to end: simulation, report, and errors."""

import polars as pl
import pytest

PACED_WORKLOAD = ("--workload", "uniform", "--set", "workload.mean_interarrival_ms=200", "--limit", 2000)
SIMULATE_DISK = ("simulate", "--device", "mobile-disk", *PACED_WORKLOAD)


def test_report_of_a_disk_names_its_parts(sledlab, tmp_path):
    answer = sledlab(*SIMULATE_DISK, "--out", tmp_path)
    assert answer.code == 0
    assert "mobile-disk under FCFS answered 2,000 requests in" in answer.out
    page = (tmp_path / "report.html").read_text()
    for text in ("spin-up", "the platters do not spin", "rotation", "one after another", "sleep"):
        assert text in page, text
    assert "turnarounds" not in page
    assert "the sled" not in page


def test_parts_sum_up_and_rotation_averages_half_turn(sledlab, tmp_path):
    path = tmp_path / "requests.parquet"
    assert sledlab(*SIMULATE_DISK, "--requests", path).code == 0
    rows = pl.read_parquet(path).cast({"^.*_ns$": pl.Int64})
    service_ns = rows["completion_ns"] - rows["start_ns"]
    assert (rows["overhead_ns"] + rows["positioning_ns"] + rows["transfer_ns"] == service_ns).all()
    positioning_ns = rows["seek_x_ns"] + rows["settle_ns"] + rows["rotation_ns"]
    assert (positioning_ns == rows["positioning_ns"]).all()
    assert (rows["seek_y_ns"] + rows["turnaround_ns"] == 0).all()
    turn_ms = 60_000 / 4200
    assert rows["rotation_ns"].max() / 1e6 < turn_ms
    # Standard error of the mean: a turn over sqrt(12 * 2000), 0.09 ms.
    assert rows["rotation_ns"].mean() / 1e6 == pytest.approx(turn_ms / 2, abs=0.4)


def test_energy_by_state_is_power_times_time(sledlab):
    arguments = (*SIMULATE_DISK, "--set", "device.idle_timeout_ms=300", "--json")
    for idle_state, parked_w, startup_s in (("sleep", 0.1, 2.5), ("off", 0.0, 4.0)):
        result = sledlab(*arguments, "--set", f"device.idle_state={idle_state}").json
        energy_j, time_s = result["energy_j"], result["state_time_s"]
        powers_w = {"seek": 2.3, "access": 2.3, "idle": 1.0, "inactive": parked_w, "startup": 2.5}
        for state, power_w in powers_w.items():
            assert energy_j[state] == pytest.approx(power_w * time_s[state]), state
        assert result["startups"] > 10
        assert time_s["startup"] == pytest.approx(result["startups"] * startup_s)


def test_switched_off_disk_is_reported(sledlab, tmp_path):
    arguments = (
        *SIMULATE_DISK,
        "--set",
        "device.idle_state=off",
        "--set",
        "device.sleep_mw=0",
        "--out",
        tmp_path,
    )
    assert sledlab(*arguments).code == 0
    assert "Off: the disk draws no power" in (tmp_path / "report.html").read_text()


def test_a_seek_map_needs_a_sled(sledlab):
    answer = sledlab("device", "seek-map", "mobile-disk")
    assert answer.code == 2
    assert "no seek map of a device of kind `disk`" in answer.err
    assert 'kind = "mems"' in answer.err


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("rpm=0", "device.rpm = 0 rpm is out of range"),
        ("average_seek_ms=1", "device.average_seek_ms = 1 ms is less than device.single_cylinder_seek_ms"),
        ("full_stroke_seek_ms=17.1", "the seek curve"),
        ("track_skew_sectors=170", "every zone in device.zones has its own"),
        ("idle_state=parked", "expected one of sleep, off"),
        ("active_tips=640", "device.active_tips"),
    ],
)
def test_mistakes_are_named(sledlab, setting, message):
    sledlab(*SIMULATE_DISK, "--set", f"device.{setting}").assert_refused(message)

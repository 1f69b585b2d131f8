"""`sl.power`, `sl.merge` and `sl.power_study`: tables with known values, answers, figures."""

import html
import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab.show import states
from sledlab.studies.power import page, summary
from sledlab.studies.power.tables import PowerStudy
from sledlab.study.columns import columns
from sledlab.study.idle_periods import IdlePeriods

from tests.cached_runs import cached_bytes, write_cached_lines

SPARSE = sl.workload("uniform", mean_interarrival_ms=50)
STATES = ("seek", "access", "idle", "inactive", "startup")
SECTIONS = ("states", "timeouts", "startup", "loads", "policies", "strategies", "battery")


def study(source=SPARSE, device="mems-g2", **changes) -> sl.PowerStudy:
    options = {"limit": 400, "load": [1], "timeout_ms": [0, 10], "parallel": 1, **changes}
    return sl.power_study(source, device, **options)


@pytest.fixture(scope="module")
def bank_study() -> sl.PowerStudy:
    bank = Path(__file__).parents[2] / "sample" / "traces" / "oltp-bank-a.csv.zst"
    return sl.power_study(bank, "mems-g2", load=[1, 2], timeout_ms=[0, 1, 5, 20, 100, 200, 1000])


@pytest.fixture(scope="module")
def two_devices() -> sl.PowerStudy:
    """A sled and a disk under a load that the disk sustains and a load that it does not."""
    sparse = sl.workload("uniform", mean_interarrival_ms=1000)
    return study(sparse, ["mems-g2", "mobile-disk"], limit=300, load=[1, 100], timeout_ms=[0, 1000, 60_000])


def test_parts_sum_to_the_whole(bank_study):
    for name in ("timeouts", "startup", "loads", "policies", "strategies", "request_energy"):
        for row in bank_study.tables[name].iter_rows(named=True):
            assert sum(row[f"{state}_j"] for state in STATES) == pytest.approx(row["energy_j"], rel=1e-12)
            assert sum(row[f"{state}_time_s"] for state in STATES) == pytest.approx(
                row["elapsed_s"], rel=1e-9
            )
    for row in bank_study.tables["request_energy"].iter_rows(named=True):
        assert sum(row[f"{state}_energy_per_request_mj"] for state in STATES) == pytest.approx(
            row["total_energy_per_request_mj"]
        )
    for _, part in bank_study.tables["states"].group_by("policy"):
        assert part["energy_share"].sum() == pytest.approx(1)
        assert part["time_share"].sum() == pytest.approx(1)


def test_rows_equal_single_simulations(bank, bank_study):
    for row in bank_study.rows["policies"]:
        if row.policy in ("fixed", "share"):
            simulated = sl.simulate(bank, "mems-g2", power=row.policy, requests=False)
            assert row.run.energy_j == simulated.energy.total
            assert row.run.mean_ms == simulated.response_time.mean
            assert row.run.startups == simulated.startups


def test_energy_rises_with_timeout_until_longest_idle_period(bank_study):
    rows = bank_study.rows["timeouts"]
    longest_ms = bank_study.rows["break_even"][0].longest_idle_ms
    assert 100 < longest_ms < 200
    for shorter, longer in pairwise(rows):
        if shorter.timeout_ms < longest_ms:
            assert longer.run.energy_j > shorter.run.energy_j
        else:
            assert longer.run.energy_j == shorter.run.energy_j
            assert longer.run.startups == 0


def test_break_even_is_startup_cost_over_parking_savings(bank_study):
    row = bank_study.rows["break_even"][0]
    never_parks = next(row for row in bank_study.rows["policies"] if row.policy == "never")
    assert row.energy_per_startup_uj == pytest.approx(50)
    assert row.inactive_mw == pytest.approx(50)
    assert row.idle_mw == pytest.approx(never_parks.run.idle_j / never_parks.run.idle_time_s * 1000)
    assert row.break_even_ms == pytest.approx(50 / (row.idle_mw - 50))


def test_idle_periods_are_gaps_between_requests(bank, bank_study):
    requests = sl.simulate(bank, "mems-g2", power="never", requests=True).requests
    idle_from_ns = np.maximum.accumulate(requests["completion_ns"].to_numpy().astype(np.int64))
    idle_ms = requests["arrival_ns"].to_numpy().astype(np.int64)[1:] - idle_from_ns[:-1]
    idle_ms = idle_ms[idle_ms > 0] / 1e6
    row = bank_study.rows["break_even"][0]
    assert row.idle_periods == len(idle_ms)
    assert row.longest_idle_ms == pytest.approx(idle_ms.max())
    assert row.median_idle_ms == pytest.approx(np.median(idle_ms), rel=0.025)
    longer_ms = idle_ms[idle_ms > row.break_even_ms]
    assert row.longer_share == pytest.approx(len(longer_ms) / len(idle_ms), abs=0.02)
    assert row.longer_time_share == pytest.approx(longer_ms.sum() / idle_ms.sum(), abs=0.005)


def test_devices_of_an_array_have_own_idle_periods():
    array = {"system.kind": "stripe", "system.devices": 4}
    sparse = sl.workload("uniform", mean_interarrival_ms=20)
    result = study(sparse, limit=200, settings=array, power="never")
    requests = sl.simulate(sparse, "mems-g2", limit=200, settings=array, power="never").requests
    periods_ms = []
    for device in range(4):  # requests that access two devices count for both
        offsets = range(0, 8, 7)
        device_requests = requests.filter(
            pl.any_horizontal((pl.col("lbn") + offset) // 128 % 4 == device for offset in offsets)
        )
        idle_from_ns = np.maximum.accumulate(device_requests["completion_ns"].to_numpy().astype(np.int64))
        idle_ms = (device_requests["arrival_ns"].to_numpy().astype(np.int64)[1:] - idle_from_ns[:-1]) / 1e6
        periods_ms += [period_ms for period_ms in idle_ms if period_ms > 0]
    (row,) = result.device_rows("break_even", "mems-g2")
    assert row.idle_periods == len(periods_ms)
    assert row.longest_idle_ms == pytest.approx(max(periods_ms))
    assert row.median_idle_ms == pytest.approx(np.median(periods_ms), rel=0.025)
    (battery,) = result.device_rows("battery", "mems-g2")
    (single_battery,) = study(sparse, limit=200, power="never").device_rows("battery", "mems-g2")
    assert battery.capacity_gb == pytest.approx(4 * single_battery.capacity_gb, rel=1e-4)
    assert battery.mw_per_gb == pytest.approx(single_battery.mw_per_gb, rel=0.05)
    shares = [sum(patch.get_width() for patch in result.plot("states").axes[1].patches)]
    assert shares == [pytest.approx(200)]  # two bars of 100 %


def test_sleds_that_move_alone_have_own_idle_periods():
    for sled_map in ({}, {"sled_map": "round-robin", "stripe_blocks": 1024}):
        sleds = study(device=sl.device("mems-g2", sleds=4, **sled_map), power="never")
        (row,) = sleds.device_rows("break_even", sleds.devices[0])
        (single_row,) = study(power="never").device_rows("break_even", "mems-g2")
        assert row.median_idle_ms > 2 * single_row.median_idle_ms
        assert row.idle_periods > 0.9 * single_row.idle_periods


@pytest.mark.parametrize("settings", [{"cache.kind": "write-back"}, {"hybrid.kind": "caching-disk"}])
def test_idle_periods_behind_caches_are_absent(settings):
    result = study(device="mobile-disk", limit=100, power="never", settings=settings)
    (row,) = result.device_rows("break_even", "mobile-disk")
    assert row.idle_periods is None
    assert (row.idle_mw is None) == ("hybrid.kind" in settings)
    assert "idle periods" not in summary.break_even(result, "mobile-disk")


def test_idle_periods_are_independent_of_request_source():
    arrivals = np.array([10, 40, 41, 90, 500], dtype="<u8")
    completions = np.array([20, 45, 60, 100, 510], dtype="<u8")
    at_once, one_by_one = IdlePeriods(), IdlePeriods()
    at_once.write([("arrival_ns", arrivals.tobytes()), ("completion_ns", completions.tobytes())])
    for arrival, completion in zip(arrivals, completions, strict=True):
        one_by_one.write([("arrival_ns", arrival.tobytes()), ("completion_ns", completion.tobytes())])
    assert at_once.to_dict() == one_by_one.to_dict()
    assert sum(bin_[1] for bin_ in at_once.to_dict()["bins"]) == 3
    assert at_once.to_dict()["longest_ms"] == pytest.approx(400e-6)


def test_only_policies_that_delay_requests_beat_the_oracle(bank_study):
    rows_by_policy = {row.policy: row for row in bank_study.rows["policies"]}
    for policy, row in rows_by_policy.items():
        if policy != "delayed-spinup":
            assert row.run.energy_j >= rows_by_policy["oracle"].run.energy_j
            assert row.above_oracle >= 0
    assert rows_by_policy["delayed-spinup"].run.mean_ms > 1.2 * rows_by_policy["immediate"].run.mean_ms
    assert rows_by_policy["delayed-spinup"].run.startups < rows_by_policy["immediate"].run.startups
    excess = rows_by_policy["never"].run.energy_j / rows_by_policy["oracle"].run.energy_j - 1
    assert rows_by_policy["never"].above_oracle == pytest.approx(excess)


def test_startup_adds_to_response_of_sparse_requests():
    sparser = sl.workload("uniform", mean_interarrival_ms=500)
    (fit,) = study(sparser, limit=2000).fits
    assert fit["slope"] == pytest.approx(1, abs=0.02)
    assert fit["r2"] > 0.999


def test_battery_sentence_names_all_level_policies():
    # The sled never parks within 1 s without requests, so the timeout changes nothing.
    result = study(power=["never", "fixed", "immediate"])
    text = " ".join(summary._life(result, "mems-g2").split())
    assert text.endswith(("under never and fixed.", "under fixed and never."))


def test_battery_life_is_charge_over_power(bank_study):
    rows_by_policy = {row.policy: row for row in bank_study.rows["policies"]}
    for row in bank_study.rows["battery"]:
        power_w = rows_by_policy[row.policy].run.energy_j / rows_by_policy[row.policy].run.elapsed_s
        assert row.power_w == pytest.approx(power_w)
        assert row.battery_life_h * power_w == pytest.approx(10)
        assert row.capacity_gb == pytest.approx(6_750_000 * 512 / 1e9)
        assert row.mw_per_gb == pytest.approx(power_w * 1000 / 3.456)
    double_charge_h = study(battery_wh=20).rows["battery"][0].battery_life_h
    assert double_charge_h == pytest.approx(2 * study().rows["battery"][0].battery_life_h)


def test_best_policy_differs_for_sled_and_disk(two_devices):
    def energy_j(device, policy):
        return next(
            row.run.energy_j for row in two_devices.device_rows("policies", device) if row.policy == policy
        )

    assert energy_j("mems-g2", "immediate") < 0.5 * energy_j("mems-g2", "never")
    assert energy_j("mobile-disk", "immediate") > 1.2 * energy_j("mobile-disk", "never")
    assert "parking at once is hard to beat" in summary.break_even(two_devices, "mems-g2")
    assert "parking at once wastes energy" in summary.break_even(two_devices, "mobile-disk")
    assert two_devices.device_rows("break_even", "mobile-disk")[0].break_even_ms == pytest.approx(6250 / 0.9)
    assert [row.time_per_startup_ms for row in two_devices.device_rows("startup", "mobile-disk")][
        -1
    ] == 10_000


def test_switched_off_disk_takes_its_startup_time():
    device = sl.device("mobile-disk", idle_state="off")
    sparse = sl.workload("uniform", mean_interarrival_ms=20_000)
    result = study(sparse, device, limit=50, strategy="base")
    assert [row.time_per_startup_ms for row in result.rows["startup"]] == [0, 2000, 4000, 8000, 16_000]
    assert result.rows["break_even"][0].inactive_mw == 0
    assert result.rows["break_even"][0].time_per_startup_ms == pytest.approx(4000)
    assert result.fits[0]["slope"] > 0.5


def test_merging_and_subsector_access_save_energy():
    workload = sl.workload("directed-merge")
    settings = {"replay.last_block": "random"}
    result = study(workload, "mems-g2-3200", limit=2000, load=[1, 2], settings=settings)
    for load in (1.0, 2.0):
        rows_by_strategy = {row.strategy: row for row in result.rows["strategies"] if row.load == load}
        assert rows_by_strategy["merging"].run.merged_requests > 0
        assert rows_by_strategy["merging"].service_saved > 0.05
        assert rows_by_strategy["subsector"].access_saved > 0
        assert rows_by_strategy["subsector"].run.mean_ms == rows_by_strategy["base"].run.mean_ms
        assert rows_by_strategy["subsector"].run.dark_tip_time_s > 0
        assert rows_by_strategy["all"].run.energy_j <= min(
            row.run.energy_j for row in rows_by_strategy.values()
        )
        assert rows_by_strategy["base"].energy_saved == 0


def test_study_omits_unsupported_strategies():
    result = study(device=["mems-g2", "mems-g2-disksim", "mobile-disk"], limit=100)
    assert result.axes["strategy"] == {
        "mems-g2": ["base", "immediate", "merging", "subsector", "all"],
        "mems-g2-disksim": ["base", "immediate", "subsector", "all"],
        "mobile-disk": ["base", "immediate", "merging", "all"],
    }


@pytest.mark.slow("starts processes as every study does")
@pytest.mark.usefixtures("short_runs_in_processes")
def test_worker_processes_equal_a_single_process():
    one_process, two_processes = study(limit=100, seed="1..2"), study(limit=100, seed="1..2", parallel=2)
    assert one_process.to_dict() == two_processes.to_dict()


def test_seeds_tell_noise_from_differences():
    result = study(seed="1..4", power=["fixed:timeout_ms=0", "immediate", "never"])
    rows_by_policy = {row.policy: row for row in result.rows["policies"]}
    never, immediate = rows_by_policy["never"], rows_by_policy["immediate"]
    assert never.above_best_j > never.above_best_ci95_j > 0
    assert immediate.above_best_j == rows_by_policy["fixed:timeout_ms=0"].above_best_j == 0
    assert never.above_oracle is None
    assert never.run.energy_ci95_j > 0
    assert "at 95 % confidence: immediate (mems-g2)." in summary.noise(result).replace("\u00a0", " ")
    distinct = study(seed="1..4", power=["immediate", "never"])
    assert "All are larger than their 95 % intervals" in summary.noise(distinct).replace("\u00a0", " ")
    assert "small differences may be chance" in summary.noise(study())


def test_closed_replay_with_think_time_has_idle_periods():
    result = study(replay="closed:1:20ms", load=None)
    assert {row.load for row in result.rows["loads"]} == {1.0}
    assert result.rows["break_even"][0].longest_idle_ms == pytest.approx(20, rel=1e-3)
    assert study(replay="closed:1:20ms", load=1).rows["loads"] == result.rows["loads"]


@pytest.mark.parametrize("options", [{"settings": {"replay.speedup": 0.5}}, {"speedup": 0.5}])
def test_loads_multiply_the_speedup_of_the_replay(options):
    result = study(load=[0.5, 1], **options)
    fixed_rows = [row for row in result.rows["loads"] if row.policy == "fixed"]
    policy_row = next(row for row in result.rows["policies"] if row.policy == "fixed")
    assert fixed_rows[0].run.energy_j == policy_row.run.energy_j
    assert fixed_rows[1].run.elapsed_s == pytest.approx(fixed_rows[0].run.elapsed_s / 2, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"power": ["shar"]}, "did you mean `share`?"),
        ({"power": ["share:etta=2"]}, "power.eta"),
        ({"power": []}, "no power policies"),
        ({"power": [3]}, "expected a power policy"),
        ({"timeout_ms": [-1]}, "`-1` is not a timeout"),
        ({"timeout_ms": []}, "no timeout"),
        ({"startup_ms": [math.nan]}, "`startup_ms`: expected a number in range, found `nan`"),
        ({"load": [0]}, "`0` is not a load"),
        ({"load": []}, "no load"),
        ({"strategy": ["mergng"]}, "did you mean `merging`?"),
        ({"strategy": []}, "no strategies"),
        ({"strategy": ["subsector"], "device": "mobile-disk"}, "subsector_access"),
        ({"battery_wh": 0}, "not a charge"),
        ({"seed": -1}, "`-1` is not a seed"),
        ({"parallel": 0}, "not a number of runs"),
        ({"device": []}, "no device"),
        ({"device": ["mems-g2", "mems-g2"]}, "given twice"),
        ({"device": "mems-g22"}, "did you mean `mems-g2`?"),
        ({"settings": {"power.kind": "share"}}, "`power.kind` is set"),
        ({"settings": {"merge.kind": "pairs"}}, "`merge.kind` is set"),
        ({"replay": "closed:8"}, "keeps the device busy"),
        ({"replay": "closed:8:0ms"}, "keeps the device busy"),
        ({"replay": "closed:1:5ms", "load": [1, 2]}, "no load to vary"),
        ({"replay": "closed:1:5ms", "load": 2}, "no load to vary"),
        ({"source": "missing.csv"}, "missing.csv"),
    ],
)
def test_invalid_input_is_rejected_before_the_run(refused, changes, message):
    with refused(message):
        study(**changes)


@pytest.mark.slow("runs a study twice, with its page")
def test_out_directory_is_complete_and_reused(tmp_path):
    result = study(out=tmp_path, limit=100)
    names = {path.name for path in tmp_path.iterdir()}
    tables = {f"{name}.{suffix}" for name in PowerStudy.kinds for suffix in ("parquet", "csv")}
    assert names == tables | {
        "summary.json",
        "report.html",
        "tables.tex",
        "outcome.json",
        "runs",
        "study.toml",
        "sledlab.json",
    }
    for name in PowerStudy.kinds:
        assert pl.read_parquet(tmp_path / f"{name}.parquet").equals(result.tables[name])
        assert result.tables[name].columns == list(columns(PowerStudy.kinds[name]))
        assert pl.read_csv(tmp_path / f"{name}.csv").columns == result.tables[name].columns
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    cached = cached_bytes(tmp_path)
    again = sl.power_study(study=tmp_path / "study.toml", out=tmp_path, parallel=1)
    assert again.to_dict() == result.to_dict()
    assert cached_bytes(tmp_path) == cached
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == files


@pytest.mark.parametrize(
    "changes",
    [
        {
            "device": [sl.device("mems-g2", active_tips=3200), "mobile-disk"],
            "startup_ms": [1, 2],
            "load": [1, 2],
        },
        {
            "power": [sl.power.share(eta=2), "never"],
            "strategy": ["all"],
            "scheduler": "sptf",
            "seed": "1..2",
        },
        {"replay": "closed:1:20ms", "load": None, "settings": {"device.active_tips": 640}},
        {"device": "mobile-disk", "hybrid": "caching-disk", "front": "mems-g2", "cache": "write-back"},
    ],
)
def test_study_file_reproduces_the_study(tmp_path, changes):
    result, file = study(limit=50, **changes), tmp_path / "study.toml"
    file.write_text(result.as_file)
    reread = sl.power_study(study=file, parallel=1)
    assert reread.to_dict() == result.to_dict()
    assert reread.as_file == result.as_file


def test_arguments_override_the_file(tmp_path):
    (tmp_path / "study.toml").write_text(study(limit=50).as_file)
    result = sl.power_study(device="mems-g3", study=tmp_path / "study.toml", battery_wh=3, parallel=1)
    assert result.devices == ["mems-g3"]
    assert {row.battery_wh for row in result.rows["battery"]} == {3}
    assert result.config["replay"]["limit"] == 50
    (tmp_path / "experiment.toml").write_text(
        'device = "mems-g2"\n[workload]\nkind = "uniform"\n[study]\nload = [1]\n[replay]\nlimit = 50\n'
    )
    assert sl.power_study(study=tmp_path / "experiment.toml", parallel=1).devices == ["mems-g2"]


@pytest.mark.usefixtures("without_pages")
def test_power_study_ignores_cached_runs_of_compare(tmp_path):
    options = {"limit": 100, "parallel": 1}
    sl.compare(SPARSE, "mems-g2", scheduler="fcfs", speedup=[1], out=tmp_path / "race", **options)
    (tmp_path / "study").mkdir()
    write_cached_lines(tmp_path / "study", cached_bytes(tmp_path / "race"))
    result = sl.power_study(SPARSE, "mems-g2", load=[1], out=tmp_path / "study", **options)
    assert result.rows["break_even"][0].idle_periods > 0


@pytest.mark.slow("draws a page of all sections")
def test_report_and_displays(two_devices, tmp_path):
    page = two_devices.report(tmp_path / "study.html").read_text()
    assert page.count("<figure") == 2 * len(SECTIONS)
    assert not re.search(r"(src|href)=.https?:", page)
    for heading in ("Energy and time by state", "Power policies", "Battery life"):
        assert heading in page
    assert "Of its" in page
    cell = two_devices._repr_html_()
    assert cell.startswith("<h4>uniform on mems-g2 and mobile-disk</h4>")
    for sentence in (
        summary.break_even(two_devices, "mobile-disk"),
        "* the queue kept growing",
        summary.noise(two_devices),
    ):
        assert html.escape(sentence) in cell
    assert repr(two_devices).startswith("uniform on mems-g2 and mobile-disk")
    assert "oracle" in repr(two_devices)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_section_draws_every_device(refused, two_devices, section):
    for device in two_devices.devices:
        figure = two_devices.plot(section, device=device)
        assert all(axes.has_data() for axes in figure.axes)
        figure.canvas.draw()
    with refused("unknown panel `state`"):
        two_devices.plot("state")
    with refused("unknown device `mems-g3` in this study"):
        two_devices.plot(section, device="mems-g3")


@pytest.mark.slow("draws a page")
def test_page_names_the_run(tmp_path):
    html_page = (
        study(settings={"workload.read_share": 0.25}, limit=150).report(tmp_path / "study.html").read_text()
    )
    assert "<dt>limit</dt><dd>150 requests</dd>" in html_page
    assert "workload.read_share = 0.25" in html_page


def test_parked_state_is_named_by_device(two_devices):
    for device, parked in (("mems-g2", "inactive"), ("mobile-disk", "sleep")):
        assert parked in page.table("timeouts", two_devices, device).head
        (legend,) = two_devices.plot("timeouts", device=device).legends
        assert parked in {text.get_text() for text in legend.get_texts()}


def test_overload_is_reported(two_devices):
    overloaded_rows = [row for row in two_devices.device_rows("loads", "mobile-disk") if row.run.saturated]
    assert overloaded_rows
    assert "the queue keeps growing" in summary.loads(two_devices, "mobile-disk")
    texts = {
        text.get_text()
        for axes in two_devices.plot("loads", device="mobile-disk").axes
        for text in axes.texts
    }
    assert "overloaded" in texts
    assert any(row[1].endswith("*") for row in page.table("loads", two_devices, "mobile-disk").rows)
    flood_study = study(sl.workload("uniform", mean_interarrival_ms=0.2), limit=3000)
    assert summary.verdict(flood_study, "mems-g2").startswith("mems-g2 could not keep up")
    assert "under any policy:" in summary.verdict(flood_study, "mems-g2")
    for section in ("timeouts", "startup", "policies", "strategies", "battery", "states"):
        axes = flood_study.plot(section).axes
        texts = [text.get_text() for each in axes for text in (*each.texts, *each.get_yticklabels())]
        is_hollow = [line.get_markerfacecolor() == "white" for each in axes for line in each.lines]
        assert any("overloaded" in text or text.endswith("*") for text in texts) or any(is_hollow), section
    dense = sl.workload("uniform", mean_interarrival_ms=34)
    mixed = study(dense, "mobile-disk", limit=1000, power=["never", "immediate", "delayed-spinup"])
    assert "under immediate and delayed-spinup:" in summary.verdict(mixed, "mobile-disk")


def test_faster_parking_is_no_growth(two_devices):
    rows = [
        replace(row, run=replace(row.run, mean_ms=1.0 if row.policy == "immediate" else 3.0))
        for row in two_devices.rows["loads"]
    ]
    faster = replace(two_devices, rows={**two_devices.rows, "loads": rows})
    assert "the mean response falls by 2.00 ms" in summary.loads(faster, "mems-g2")


def test_energies_over_different_times_name_both(two_devices):
    rows = [
        replace(row, run=replace(row.run, elapsed_s=200.0 if row.policy == "immediate" else 100.0))
        for row in two_devices.rows["request_energy"]
    ]
    verdict = summary.verdict(
        replace(two_devices, rows={**two_devices.rows, "request_energy": rows}), "mems-g2"
    )
    assert " in 200 s when it parks as soon as its queue is empty and " in verdict
    assert " in 100 s when it first idles for 1 s" in verdict


def test_overloaded_policies_are_no_winners(two_devices):
    rows = [
        replace(row, run=replace(row.run, saturated=row.policy == "immediate"))
        for row in two_devices.rows["policies"]
    ]
    overloaded = replace(two_devices, rows={**two_devices.rows, "policies": rows})
    assert "Least energy: immediate" in summary.best(two_devices, "mems-g2")
    assert "immediate" not in summary.best(overloaded, "mems-g2").partition(";")[0]
    assert overloaded.policies_by_energy("mems-g2")[-1].policy == "immediate"


def test_zero_difference_is_reported():
    workload = sl.workload("uniform", mean_interarrival_ms=1)
    parked = study(workload, "mobile-disk", limit=200, settings={"system.start": "parked"})
    verdict = summary.verdict(parked, "mobile-disk")
    assert "or first idles for 7 s, its own timeout: it makes no difference." in verdict
    assert "instead of" not in verdict


def test_few_merged_requests_are_mentioned(bank_study):
    rows = [row for row in bank_study.rows["strategies"] if row.strategy == "merging"]
    max_merged = max(row.run.merged_requests for row in rows)
    assert 0 < max_merged < 100
    assert f"At most {max_merged:.0f} of 131,422 requests were merged" in summary.strategies(
        bank_study, "mems-g2"
    )


def test_strategies_without_savings_are_mentioned():
    result = study()
    assert "Nothing was merged" in summary.strategies(result, "mems-g2")
    assert "every request is for entire blocks" in summary.strategies(result, "mems-g2")
    single = study(power="immediate", timeout_ms=[0], startup_ms=[0.5], strategy="base")
    assert summary.best(single, "mems-g2") == ""
    assert summary.startup(single, "mems-g2") == ""
    assert single.fits == []
    for section in SECTIONS:
        assert single.plot(section).axes


def test_axis_position_interpolates_between_timeouts():
    assert states.axis_position(0.5, [0, 1, 10]) == 0.5
    assert states.axis_position(math.sqrt(10), [0, 1, 10]) == pytest.approx(1.5)
    assert states.axis_position(11, [0, 1, 10]) is None
    assert states.axis_position(1, [0]) is None


def test_power_policies_are_a_catalog(refused):
    assert {"never", "fixed", "immediate", "oracle"} <= set(sl.power)
    assert repr(sl.power.share(eta=2)) == "sledlab.power('share', eta=2)"
    assert sl.power.delayed_spinup().name == "delayed-spinup"
    with refused("did you mean `share`"):
        sl.power("shar")
    with pytest.raises(AttributeError, match="no power policy is called"):
        _ = sl.power.shar
    with pytest.raises(sl.Error, match=r"timeout_ms = -1 .*out of range"):
        sl.power("fixed", timeout_ms=-1)


def test_simulate_takes_policies_and_merging(refused):
    def simulate(**options):
        return sl.simulate(sl.workload("directed-merge"), "mems-g2", limit=500, requests=False, **options)

    assert simulate(power="never").startups <= 1 < simulate(power="immediate").startups
    parks_late = simulate(power=sl.power("fixed", timeout_ms=3))
    assert parks_late.config["power"] == {"kind": "fixed", "timeout_ms": 3.0}
    merged = simulate(merge=sl.merge("chains", among="neighbors"))
    assert merged.summary["merged"]["requests"] > simulate().summary["merged"]["requests"] == 0
    assert merged.config["merge"]["among"] == "neighbors"
    assert simulate(merge="pairs").config["merge"]["kind"] == "pairs"
    for invalid, message in (
        ({"power": "shar"}, "did you mean `share`"),
        ({"power": sl.device("mems-g2")}, "expected a power policy"),
        ({"merge": "chain"}, "did you mean `chains`"),
        ({"merge": 3}, "expected a merge policy"),
    ):
        with refused(message):
            simulate(**invalid)


def test_systems_and_arrays_are_studied(tmp_path):
    names = ["mobile-disk+mems-g2:64MiB", "hdd-2x18tb", "mems-g2"]
    result = study(device=names, limit=100, power="never", strategy="all")
    assert result.devices == names
    assert "study each of them alone" in summary.break_even(result, names[0])
    by_settings = study(device="hdd-2x18tb-actuator", limit=100, power="never", settings=TWO_ACTUATORS)
    joules = [
        each.device_rows("policies", name)[0].run.energy_j
        for each, name in ((result, "hdd-2x18tb"), (by_settings, "hdd-2x18tb-actuator"))
    ]
    assert joules[0] == joules[1]


TWO_ACTUATORS = {"system.kind": "concatenation", "system.devices": 2}

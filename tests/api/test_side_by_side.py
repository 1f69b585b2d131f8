"""`sl.side_by_side`, and `sl.compare` with a list of devices."""

import hypothesis
import numpy as np
import polars as pl
import pytest
import sledlab as sl
from hypothesis import given
from hypothesis import strategies as st
from sledlab.model.catalog import with_settings
from sledlab.model.device import host_blocks
from sledlab.studies.costs.system_cost import SystemCost
from sledlab.studies.races import rows as race_rows
from sledlab.studies.side_by_side import STUDY, summary
from sledlab.studies.side_by_side.rows import DeviceMean
from sledlab.studies.side_by_side.tables import SideBySide
from sledlab.study.measure import SystemRun

from tests.api.test_compare import measured_run
from tests.cached_runs import cached_lines

DEVICES = ["mems-g2", "atlas-10k"]


def compare_devices(source=None, device=DEVICES, **changes) -> SideBySide:
    options = {"limit": 300, "parallel": 1, **changes}
    return sl.compare(sl.workload("uniform") if source is None else source, device, **options)


def synthetic_result(means: dict[str, dict[str, float]], overloaded: tuple[str, ...] = ()) -> SideBySide:
    """Devices with these mean responses on each trace; some overloaded."""
    pairs = []
    for trace, devices in means.items():
        for device, mean_ms in devices.items():
            throughput_iops = 50.0 if device in overloaded else 200.0
            row = measured_run(
                requests=100,
                mean_ms=mean_ms,
                arrival_rate_iops=200.0,
                throughput_iops=throughput_iops,
                saturated=device in overloaded,
                energy_j=0.1 * mean_ms,
                startup_time_s=0.0,
            )
            race_run = race_rows.RaceRun(
                race_rows.Competitor({"device": device}, 1.0, {"trace": trace}), 1, row
            )
            pairs.append((race_run, SystemRun(row, {"wall_s": 0.1})))
    devices = tuple(next(iter(means.values())))
    config = {"trace": {"file": "x.csv"}, "device": {"name": "mems-g2"}, "replay": {}}
    pairs.sort(key=lambda pair: (*pair[0].who.keys, pair[0].seed))
    rows, costs = race_rows.build_tables(pairs)
    curves = [DeviceMean(**vars(row), cost=SystemCost(power_w=1.0)) for row in rows["curves"]]
    config |= {"prices": {"device": {}, "device_gb": {}, "kwh": 0.1, "years": 3.0}}
    tables = {**rows, "curves": curves, "parts": [], "max_loads": []}
    return SideBySide(tables, costs, config, {}, "seed = 1\n", devices, tuple(means))


def test_every_device_answers_the_same_requests():
    result = compare_devices(device=["mems-g1", "mems-g3"])
    assert isinstance(result, SideBySide)
    assert result.runs.columns[:4] == ["device", "speedup", "workload", "seed"]
    assert result.runs["requests"].to_list() == [300, 300]
    # Requests are generated for the smallest device, G1, whose run equals that of `simulate`.
    on_smallest = sl.simulate(sl.workload("uniform"), "mems-g1", limit=300, requests=False)
    assert result.runs.row(0, named=True)["mean_ms"] == on_smallest.response_time.mean
    own_requests = sl.simulate(sl.workload("uniform"), "mems-g3", limit=300, requests=False)
    assert result.runs.row(1, named=True)["mean_ms"] != own_requests.response_time.mean


ARRAYS = st.fixed_dictionaries(
    {
        "system.kind": st.sampled_from([entry.name for entry in sl.system.list()]),
        "system.devices": st.integers(3, 9),
        "system.unit_blocks": st.integers(1, 5000),
    }
)


@given(ARRAYS, st.sampled_from(["mems-g2", "mobile-disk"]))
@hypothesis.settings(deadline=None, max_examples=20)
def test_capacity_is_that_of_the_array(system, device):
    system |= {"system.devices": 1} if system["system.kind"] == "single" else {}
    experiment = with_settings(sl.Experiment().with_device(device), system)
    far_request = {"time_us": [0.0], "op": ["R"], "offset_bytes": [2**45], "length_bytes": [512]}
    with pytest.raises(sl.Error) as caught:
        sl.simulate(far_request, experiment=experiment)
    assert f"which has {host_blocks(experiment)} blocks" in caught.value.message


@pytest.mark.parametrize("kind", ["stripe", "raid5"])
def test_arrays_are_compared_on_all_their_blocks(kind):
    array = {"system.kind": kind, "system.devices": 4}
    sparse = sl.workload("uniform", mean_interarrival_ms=20)
    simulated = sl.simulate(sparse, "atlas-10k", settings=array, limit=300, requests=False)
    by_scheduler = sl.compare(sparse, "atlas-10k", scheduler="fcfs", speedup=[1], settings=array, limit=300)
    (mean_ms,) = compare_devices(sparse, ["atlas-10k"], settings=array).runs["mean_ms"]
    assert mean_ms == simulated.response_time.mean == by_scheduler.runs["mean_ms"].item()
    assert by_scheduler.runs["served_at_once"].item() <= 1


def test_trace_larger_than_the_smallest_array_is_refused(refused):
    experiment = sl.Experiment().with_device("mems-g2")
    request_at_end = {
        "time_us": [0.0],
        "op": ["R"],
        "offset_bytes": [host_blocks(experiment) * 512],
        "length_bytes": [512],
    }
    array = {"system.kind": "stripe", "system.devices": 2}
    assert compare_devices(request_at_end, ["mems-g2", "atlas-10k"], settings=array).runs[
        "requests"
    ].to_list() == [1, 1]
    with refused("does not fit on mems-g2"):
        compare_devices(
            request_at_end, ["mems-g2", "atlas-10k"], settings={"system.kind": "mirror", "system.devices": 2}
        )


def test_loads_not_tried_are_not_mentioned():
    workload = sl.workload("uniform", mean_interarrival_ms=2)
    answer = compare_devices(
        workload, ["mems-g1", "mems-g2", "atlas-10k"], limit=1000, speedup=[0.2, 1]
    ).answer
    assert "mems-g1 and mems-g2 keep up at all loads" in answer
    faster_workload = sl.workload("uniform", mean_interarrival_ms=0.67)
    single = sl.compare(
        faster_workload, "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1], limit=5000, parallel=1
    )
    assert "SPTF keeps up at the original rate" in single.answer
    assert "only" not in single.answer


def test_recorded_trace_equals_simulation(bank):
    runs = compare_devices(bank).runs
    for name in DEVICES:
        simulated = sl.simulate(bank, name, limit=300, requests=False)
        row = runs.filter(device=name).row(0, named=True)
        assert (row["mean_ms"], row["energy_j"]) == (simulated.response_time.mean, simulated.energy.total)


def test_disk_keeps_up_from_its_first_request():
    result = compare_devices(device=["mems-g2", "atlas-10k", "ssd-tlc"], source=sl.workload("cello"))
    assert not result.runs["saturated"].any()
    assert result.runs["startups"].to_list() == [0, 0, 0]
    assert result.runs.filter(device="atlas-10k")["max_ms"].item() < 1000


def test_trace_in_memory_is_compared():
    offsets_bytes = np.random.default_rng(1).integers(0, 700_000, 200) * 4096
    columns = {"time_us": np.arange(200) * 30_000, "op": ["R"] * 200, "length_bytes": np.full(200, 4096)}
    result = compare_devices(columns | {"offset_bytes": offsets_bytes})
    assert "requests from Python" in repr(result)
    assert result.answer.startswith("mems-g2 answers requests from Python in ")
    again = compare_devices(columns | {"offset_bytes": offsets_bytes}, parallel=2)
    assert again.runs.equals(result.runs)


def test_the_first_sentence_names_winner_and_factor():
    result = synthetic_result({"bank": {"mems-g2": 0.59, "atlas-10k": 7.2}})
    first_sentence = result.answer.split(". ")[0]
    assert (
        first_sentence
        == "mems-g2 answers bank in 0.590 ms on average, 12 times as fast as atlas-10k (7.20 ms)"
    )
    close_answer = synthetic_result({"bank": {"mems-g2": 0.9, "mems-g1": 1.0}}).answer
    assert close_answer.startswith(
        "mems-g2 answers bank in 0.900 ms on average, 10 % less than mems-g1 (1.00 ms)."
    )


def test_the_order_given_does_not_decide():
    result = synthetic_result({"bank": {"atlas-10k": 7.2, "mems-g2": 0.59}})
    assert result.answer.startswith("mems-g2 answers bank in ")
    assert [group.curves[0].name for group in result.groups] == ["atlas-10k"]


def test_results_within_2_percent_are_a_tie():
    result = synthetic_result({"bank": {"a": 1.0, "b": 1.019, "c": 2.0}})
    assert result.answer.startswith(
        "a and b answer bank in 1.00 ms on average, level within 2 %, 2.0 times as fast as c (2.00 ms)."
    )


def test_overloaded_runs_are_compared_by_throughput():
    result = synthetic_result({"bank": {"mems-g2": 0.59, "atlas-10k": 70_000}}, overloaded=("atlas-10k",))
    first_sentence = result.answer.split(". ")[0]
    assert "it completes 200 requests per second, 4.0 times as many as atlas-10k (50.0)" in first_sentence
    assert "which is overloaded: its response times depend on the length of the run" in first_sentence
    assert "atlas-10k *" in repr(result)
    all_overloaded = synthetic_result({"bank": {"a": 5e4, "b": 7e4}}, overloaded=("a", "b")).answer
    assert all_overloaded.startswith(
        "No device keeps up with bank: a completed 50.0 of 200 requests per second, as many"
    )


def test_each_trace_has_a_sentence_and_score():
    means = {
        "x": {"a": 1.0, "b": 3.0},
        "y": {"a": 4.0, "b": 2.0},
        "z": {"a": 1.0, "b": 1.01},
        "w": {"a": 1, "b": 2},
    }
    result = synthetic_result(means)
    assert [sum(f"answer{s} {trace} in" in result.answer for s in ("", "s")) for trace in means] == [1] * 4
    assert result.answer.endswith("Of 4 races, a is the fastest in 2, b is the fastest in 1 and 1 is a tie.")
    assert [group.varied[0][1] for group in result.groups] == list(means)


@pytest.mark.usefixtures("without_pages")
def test_several_traces_run(bank, tmp_path):
    other = bank.with_name("oltp-orders-a.csv.zst")
    result = sl.side_by_side([bank, sl.read_trace(other)], "mems-g2", limit=200, parallel=1, out=tmp_path)
    assert result.sources == ("oltp-bank-a", "oltp-orders-a")
    assert result.runs["trace"].to_list() == list(result.sources)
    assert result.runs["requests"].n_unique() > 1 or result.runs["mean_ms"].n_unique() == 2
    assert sl.side_by_side(study=tmp_path / "study.toml", parallel=1).runs.equals(result.runs)


@pytest.mark.usefixtures("without_pages")
def test_workload_parameters_are_kept_in_study_file(tmp_path):
    workloads = [sl.workload("uniform", read_share=1.0), sl.workload("cello")]
    result = sl.side_by_side(
        workloads, ["mems-g2", sl.device("mems-g2", sleds=4)], limit=200, parallel=1, out=tmp_path
    )
    assert result.sources == ("uniform:read_share=1.0", "cello")
    assert result.devices == ("mems-g2", "mems-g2:sleds=4")
    rows = result.runs.filter(workload="uniform:read_share=1.0")
    assert rows["read_mean_ms"].equals(rows["mean_ms"].rename("read_mean_ms"))
    again = sl.side_by_side(study=tmp_path / "study.toml", parallel=1)
    assert again.runs.equals(result.runs)


def test_settings_are_for_all_devices_and_workloads():
    options = {"device.idle_timeout_ms": 5, "workload.mean_interarrival_ms": 50}
    runs = sl.side_by_side(
        [sl.workload("uniform")], ["mems-g1", "mems-g2"], limit=100, parallel=1, settings=options
    ).runs
    assert (runs["startups"] > 50).all()
    assert runs["arrival_rate_iops"][0] == pytest.approx(20, rel=0.3)


def test_power_cache_and_merging_apply_to_all_devices():
    result = compare_devices(
        device=["mems-g2", "mems-g3"],
        scheduler="sptf",
        power="immediate",
        cache="write-back",
        merge="chains",
    )
    assert (result.runs["startups"] > 1).all()
    assert "cache_write_hits" in result.runs.columns


def test_every_load_and_seed_is_compared():
    result = compare_devices(speedup=[1, 1.4, 4], seed="1..2", device=["mems-g1", "mems-g3"])
    assert result.runs.height == 12
    assert result.curves["seeds"].to_list() == [2] * 6
    assert "at 1.4 times its speed" in result.answer or "keeps up" in result.answer
    assert result.plot("mean_ms").axes[0].get_xlabel() == "requests per second"
    assert "×1.4" in [label.get_text().split()[-1] for label in result.plot().axes[0].get_yticklabels()][2]


def test_a_trace_that_does_not_fit_is_refused(refused, tmp_path):
    file = tmp_path / "far.csv"
    file.write_text("time_us,op,offset_bytes,length_bytes\n0,R,3000000000,4096\n900,W,0,512\n")
    with refused("`far` does not fit on mems-g1: it reaches block 5,859,383 of 4,400,000"):
        compare_devices(file, device=["mems-g3", "mems-g1"])
    result = compare_devices(file, device=["mems-g3", "mems-g1"], outside="wrap")
    assert result.runs["requests"].to_list() == [2, 2]


@pytest.mark.parametrize("outside", ["wrap", "clip", "scale"])
def test_requests_are_fitted_to_the_smallest_device(tmp_path, outside):
    file = tmp_path / "far.csv"
    lines = [f"{900 * i},R,{i * 60_000_000},4096" for i in range(60)]
    file.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *lines, ""]))
    runs = compare_devices(file, device=["mems-g2", "mems-g1"], outside=outside, limit=None).runs
    assert runs["requests"].n_unique() == 1
    simulated = sl.simulate(file, "mems-g1", outside=outside, requests=False)
    assert runs.filter(device="mems-g1")["mean_ms"][0] == simulated.response_time.mean


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"device": ["mems-g2", "mems-g22"]}, "did you mean `mems-g2`"),
        ({"device": ["mems-g2", "mems-g2"]}, "given twice"),
        ({"device": []}, "no device was given"),
        ({"speedup": [0]}, "not a speed-up"),
        ({"scheduler": "sptff"}, "did you mean `sptf`"),
        ({"traces": ["x.csv"]}, "pass it as `source`"),
        ({"source": "missing.csv"}, "missing.csv"),
    ],
)
def test_invalid_input_is_rejected_before_the_run(refused, changes, message):
    with refused(message):
        compare_devices(**changes)


def test_several_traces_in_memory_are_refused(refused):
    with refused("several traces must be files"):
        sl.side_by_side([{"time_us": [0]}, "x.csv"], "mems-g2")


def test_parked_start_of_a_disk_gives_a_warning():
    parked = compare_devices(limit=50, settings={"system.start": "parked"})
    assert "atlas-10k started up for 25.0 s" in repr(parked)
    assert "started up" not in repr(compare_devices(limit=50))


def test_out_holds_everything(tmp_path):
    result = compare_devices(out=tmp_path)
    names = ("runs", "curves", "throughput", "parts", "max_loads", "decision_cost")
    tables = {f"{name}.{suffix}" for name in names for suffix in ("csv", "parquet")}
    file_names = {path.name for path in tmp_path.iterdir()}
    assert file_names == tables | {
        "runs",
        "outcome.json",
        "timing.json",
        "study.toml",
        "summary.json",
        "report.html",
        "tables.tex",
        "sledlab.json",
    }
    assert pl.read_parquet(tmp_path / "runs.parquet").equals(result.runs)
    page = (tmp_path / "report.html").read_text()
    assert page.count("<figure") == 3
    assert summary.answer(result).split(". ")[0] in page
    _, options = STUDY.read(tmp_path / "study.toml")
    assert options["device"] == DEVICES
    assert compare_devices(out=tmp_path).runs.equals(result.runs)
    assert len(cached_lines(tmp_path)) == 2


def test_every_figure_and_display_is_drawn(refused):
    result = synthetic_result({"x": {"a": 1.0, "b": 3.0}, "y": {"a": 4.0, "b": 2.0}}, overloaded=("b",))
    assert len(result.plot().axes[0].get_yticklabels()) == 4
    assert result.plot("energy").axes[0].get_xlabel() == "energy per request (mJ)"
    assert result.plot("p99_ms", varied="y").axes
    with refused("nothing was compared at `z`"):
        result.plot("p99_ms", varied="z")
    assert result._repr_html_().startswith("<h4>x and y: a against b</h4>")
    assert result.to_dict()["tables"]["runs"][0]["device"] == "a"


def test_compare_runs_the_study_that_compares_devices(tmp_path):
    original = compare_devices(out=tmp_path)
    assert isinstance(result := sl.compare(study=tmp_path / "study.toml", parallel=1), SideBySide)
    assert result.runs.equals(original.runs)
    built_in_study = sl.compare(study="why-not-an-ssd", limit=40, parallel=1)
    assert isinstance(built_in_study, SideBySide)
    assert "ssd-tlc" in built_in_study.runs["device"].to_list()

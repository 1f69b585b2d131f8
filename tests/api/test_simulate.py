"""The Python API."""

import inspect
import json
import math
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import sledlab as sl
from sledlab import _native
from sledlab.show import device_states


def random_columns(count: int = 3000) -> dict:
    rng = np.random.default_rng(1)
    return {
        "time_us": np.cumsum(rng.integers(100, 1500, count)),
        "op": rng.choice(["R", "W"], count),
        "offset_bytes": rng.integers(0, 800_000, count) * 4096,
        "length_bytes": np.full(count, 4096),
    }


def test_static_pages_have_no_script(tmp_path):
    r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=200)
    interactive, static = (
        r.report(tmp_path / f"{name}.html", static=name == "still") for name in ("live", "still")
    )
    assert "<script>" in interactive.read_text()
    assert "<script" not in static.read_text()
    assert interactive.read_text().count("<figure") == static.read_text().count("<svg") == 6
    assert "<svg" not in interactive.read_text()


def test_figures_are_static_without_script(tmp_path, monkeypatch):
    monkeypatch.setattr("sledlab.show.document.CHARTS", "charts/missing.js")
    r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=200)
    page = r.report(tmp_path / "page.html").read_text()
    assert "<script" not in page
    assert page.count("<svg") == 6


def test_example_of_the_docs_runs(bank):
    r = sl.simulate(sl.read_trace(bank), sl.device("mems-g2"), scheduler="sptf", speedup=4)
    assert r.response_time.p50 < r.response_time.p99 < r.response_time.p999 <= r.response_time.max
    assert r.count == r.requests.height == r.read.requests + r.write.requests == 131_422
    assert "oltp-bank-a on mems-g2" in repr(r)
    assert r._repr_html_().startswith("<h4>oltp-bank-a on mems-g2")
    assert len(r.plot().axes) >= 6


def test_request_table_agrees_with_the_summary():
    r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=5000)
    response_ms = r.requests["response_ns"].to_numpy() / 1e6
    assert response_ms.mean() == pytest.approx(r.response_time.mean, rel=1e-9)
    assert response_ms.std() == pytest.approx(r.response_time.std, rel=1e-3)
    assert response_ms.max() == pytest.approx(r.response_time.max)
    for percentile, reported_ms in ((50, r.response_time.p50), (99, r.response_time.p99)):
        assert np.percentile(response_ms, percentile, method="inverted_cdf") == pytest.approx(
            reported_ms, rel=1e-3
        )


@pytest.mark.parametrize("make", [dict, pl.DataFrame, pa.table], ids=["arrays", "polars", "arrow"])
def test_arrays_and_frames_are_traces(make):
    r = sl.simulate(sl.trace(make(random_columns())), "mems-g2")
    assert r.count == 3000
    assert r.response_time.mean == sl.simulate(make(random_columns()), "mems-g2").response_time.mean


def test_traces_from_memory_equal_traces_from_files(tmp_path):
    trace = sl.trace(random_columns())
    for name in ("t.csv", "t.parquet", "t.csv.gz"):
        path = tmp_path / name
        assert trace.write(path) == 3000
        read = sl.read_trace(path)
        assert read.frame().equals(trace.frame())
        assert sl.simulate(read, "mems-g2").response_time == sl.simulate(trace, "mems-g2").response_time
    assert sl.read_trace(tmp_path / "t.csv").head(3).height == 3


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_late_metadata_column_is_refused(refused, tmp_path, name):
    def write_and_read(row):
        has_metadata = np.arange(70_000) == row
        sl.trace({**random_columns(70_000), "metadata": has_metadata}).write(tmp_path / name)
        return sl.read_trace(tmp_path / name).frame()

    assert write_and_read(65_535)["metadata"].sum() == 1
    with refused("metadata"):
        write_and_read(65_536)


@pytest.mark.usefixtures("without_pages")
def test_out_directory_can_be_run_again(tmp_path):
    r = sl.simulate(sl.workload("uniform"), "mems-g2", limit=1000, out=tmp_path)
    again = sl.run(tmp_path / "experiment.toml")
    assert again.to_json() == r.to_json() == (tmp_path / "summary.json").read_text().rstrip("\n")
    assert again.requests.equals(pl.read_parquet(tmp_path / "requests.parquet"))


def test_requests_may_go_to_a_file_or_nowhere(refused, tmp_path):
    def run(requests):
        return sl.simulate(sl.workload("uniform"), "mems-g2", limit=500, requests=requests)

    assert run(tmp_path / "r.csv").requests.height == 500
    assert run(True).requests.height == 500
    with refused("did not record"):
        _ = run(False).requests


def test_models_are_chosen_by_call_or_attribute():
    assert sl.device.mems_g2(active_tips=640) == sl.device("mems-g2", active_tips=640)
    assert "uniform" in list(sl.workload)
    assert "mean_interarrival_ms" in inspect.signature(sl.workload.uniform).parameters
    assert "mems_g3" in dir(sl.device)
    assert repr(sl.scheduler("sptf")) == "sledlab.scheduler('sptf')"
    with pytest.raises(AttributeError, match="mems-g9"):
        _ = sl.device.mems_g9


def test_device_parameters_change_response_times():
    slow = sl.simulate(sl.workload("uniform"), sl.device("mems-g2", settle_constants=4.0), limit=2000)
    fast = sl.simulate(sl.workload("uniform"), sl.device("mems-g2", settle_constants=0.0), limit=2000)
    assert slow.response_time.mean > fast.response_time.mean
    r = sl.simulate(
        sl.workload("uniform", read_share=1.0), "mems-g2", limit=100, settings={"device.active_tips": 3200}
    )
    assert r.config["device"]["active_tips"] == 3200
    assert r.write.requests == 0


def test_only_reads_can_be_drawn(refused):
    r = sl.simulate(sl.workload("uniform", read_share=1.0), "mems-g2", limit=100)
    for kind in ("overview", "cdf", "response", "throughput", "queue", "parts", "energy"):
        assert r.plot(kind).axes
    with refused("unknown panel"):
        r.plot("pie")


def test_values_between_gaps_are_marked_in_figures():
    sparse = sl.simulate(sl.workload("uniform", mean_interarrival_ms=200.0), "mems-g2", limit=3)
    for kind in ("response", "queue"):
        for line in sparse.plot(kind).axes[0].lines[:1]:
            marked_values = line.get_ydata()[line.get_markevery()]
            assert len(marked_values) == 3
            assert not np.isnan(marked_values).any()


def test_distribution_of_zero_times_is_a_riser():
    at_once = {"cache.kind": "write-back", "cache.access_us": 0, "cache.bus_mb_s": 1e9}
    writes = sl.workload("uniform", read_share=0.0)
    zeros = sl.simulate(writes, "mems-g2", limit=100, settings=at_once)
    axes = zeros.plot("cdf").axes[0]
    assert axes.get_xscale() == "linear"
    assert axes.lines[0].get_xydata().tolist() == [[0, 0], [0, 100]]


@pytest.mark.parametrize(
    ("device", "moves", "states"),
    [
        ("mems-g2", {"seek in x", "settle", "seek in y", "turnarounds"}, "the sled moves"),
        ("mobile-disk", {"seek", "settle", "rotation"}, "the arm moves"),
        ("ram", set(), "data is retained"),
        ("ssd-tlc", set(), "commands are in the device"),
    ],
)
def test_figures_and_words_know_the_kind_of_device(device, moves, states):
    result = sl.simulate(sl.workload("uniform"), device, limit=100)
    (axes,) = result.plot("parts").axes
    names = {label.get_text() for label in axes.get_yticklabels()}
    assert names - {"overhead"} == {"in queue", "positioning", "transfer"} | moves
    assert states in device_states.state_descriptions(result.config)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sl.device("mems-g4"), "mems-g"),
        (lambda: sl.device("mems-g2", activ_tips=1), "active_tips"),
        (lambda: sl.device("mems-g2", active_tips=[1]), "active_tips"),
        (lambda: sl.device("mems-g2", active_tips=object()), "object"),
        (lambda: sl.scheduler("fifo"), "fcfs"),
        (lambda: sl.simulate(sl.device("mems-g2"), "mems-g2"), "workload"),
        (lambda: sl.simulate(3, "mems-g2"), "trace"),
        (lambda: sl.simulate(sl.workload("uniform"), "mems-g2", replay="open", limit=0, warmup=-1), "warmup"),
        (lambda: sl.trace({"time_us": [1]}), "missing"),
        (lambda: sl.read_trace("missing.csv"), "missing.csv"),
        (lambda: sl.seek_map("mems-g2", x_bit=5000), "x = 5000"),
    ],
)
def test_mistakes_are_errors_with_a_remedy(refused, call, message):
    with refused(message):
        call()


def test_errors_carry_their_place(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("time_us,op,offset_bytes,length_bytes\n0,R,0,512\n1,R,-4,512\n")
    with pytest.raises(sl.Error) as caught:
        sl.read_trace(path).info()
    place = caught.value.place
    assert place is not None
    assert (place.file, place.line) == (str(path), 3)
    unpickled = pickle.loads(pickle.dumps(caught.value))
    assert (unpickled.message, unpickled.place, unpickled.remedy) == (
        caught.value.message,
        place,
        caught.value.remedy,
    )


def test_exception_of_a_callback_is_raised():
    experiment = _native.Experiment().with_device("mems-g2").with_workload("uniform")

    def fail(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        experiment.run(rows=fail)
    with pytest.raises(ZeroDivisionError, match="mine"):
        experiment.run(progress=fail)

    def failing_source():
        raise ZeroDivisionError("mine")
        yield

    with pytest.raises(ZeroDivisionError, match="mine"):
        experiment.run(source=_native.Source.from_columns("broken", failing_source()))


def test_elapsed_time_begins_after_warmup():
    def run(**options):
        return sl.simulate(sl.workload("uniform"), "mems-g2", limit=1000, **options)

    without_warmup, with_warmup = run(), run(warmup=300)
    end_ns = without_warmup.requests["completion_ns"].max()
    assert without_warmup.elapsed_s == end_ns / 1e9
    begin_ns = without_warmup.requests.filter(pl.col("id") == 300)["arrival_ns"].item()
    assert with_warmup.elapsed_s == pytest.approx((end_ns - begin_ns) / 1e9, rel=1e-12)


def test_requests_have_their_energies():
    result = sl.simulate(sl.workload("uniform"), "mems-g2", limit=500)
    request_uj = result.requests.select("seek_uj", "access_uj", "startup_uj").sum_horizontal()
    assert request_uj.mean() == pytest.approx(result.summary["request_energy_uj"])


def test_seek_map_equals_device_positioning(tmp_path):
    result = sl.seek_map("mems-g2")
    assert result.ms.shape == (27, 2500)
    assert 0.4 < result.mean_ms < result.max_ms < 0.85
    assert [region.threshold_ms for region in result.regions()] == [0.3, 0.325, 0.35, 0.4]
    assert result.plot().axes
    assert "mean 0." in repr(result)
    assert result.report(tmp_path / "map.html").read_text().count("<figure") == 1


def test_seek_map_caption_gives_moves_in_x():
    from_center = sl.seek_map("mems-g2")
    # Over a bit near the center springs do nothing: constant acceleration, constant deceleration, settling.
    settling_s = 1 / (2 * math.pi * 739)
    assert from_center.next_column_ms == pytest.approx(
        (2 * math.sqrt(40e-9 / 803.6) + settling_s) * 1e3, rel=1e-4
    )
    from_edge = sl.seek_map("mems-g2", x_bit=-1250)
    assert from_edge.ms[:, -1].min() == from_edge.full_stroke_ms == from_center.full_stroke_ms
    assert "to the next column" in " ".join(repr(from_center).split())


def test_tips_outside_all_groups_are_reported():
    sled = sl.device("mems-g2", active_tips=2560)
    warnings = sl.simulate(sl.workload("uniform"), sled, limit=10).warnings
    assert any(text.startswith("1,280 of 6,400 tips of a sled belong to no group") for text in warnings)
    assert not any(
        "tips" in text for text in sl.simulate(sl.workload("uniform"), "mems-g2", limit=10).warnings
    )


def test_generator_that_ends_before_the_duration_is_reported(tmp_path):
    def early_ends(**options):
        workload = sl.workload("mems-check", requests=options.pop("requests", 10_000))
        result = sl.simulate(workload, "mems-g2", **options)
        return [text for text in result.warnings if "before the duration" in text], result

    (text,), result = early_ends(duration_s=1000)
    assert text.startswith("The workload ended with its 10,000 requests, before the duration of 1,000 s")
    assert text in json.loads(result.to_json())["warnings"]
    assert text in " ".join(repr(result).split())
    assert "before the duration of 1,000 s" in result.report(tmp_path / "run.html").read_text()
    assert early_ends(duration_s=1000, replay="closed:1")[0]
    for options in ({"duration_s": 400}, {}, {"duration_s": 1000, "limit": 300, "requests": 300}):
        assert not early_ends(**options)[0], options


def test_generator_without_an_end_requires_a_limit(refused):
    endless = sl.workload("uniform", requests=0)
    with refused("the workload `uniform` never ends"):
        sl.simulate(endless, "ram")
    assert sl.simulate(endless, "ram", limit=10).count == 10
    assert sl.simulate(endless, "ram", duration_s=0.1).elapsed_s == pytest.approx(0.1, rel=0.1)

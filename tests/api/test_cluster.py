"""`sl.replay` and `sl.work`: equal results of all interfaces, sums, and errors."""

import json
import math
import re
import threading
from pathlib import Path

import polars as pl
import pytest
import sledlab as sl
from sledlab.display import find_presentation
from sledlab.runs.cluster_result import COMPONENTS

WORK = Path(__file__).parents[2] / "sample" / "work"
SAMPLES = ("scan", "sort", "join", "exchange")


def write_record(path: Path, header: dict[str, object], *steps: dict[str, object]) -> Path:
    """Write a work record to a file."""
    lines = [
        json.dumps({"work": 1, "job": "test", "nodes": 2, "files": {}} | header),
        *map(json.dumps, steps),
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def sort() -> sl.ClusterResult:
    return sl.replay(WORK / "sort.work", "mems-g2")


@pytest.mark.parametrize("device", ["mems-g2", "hp-c2490a"])
@pytest.mark.parametrize("job", SAMPLES)
def test_components_of_samples_sum_to_totals(job, device):
    result = sl.replay(WORK / f"{job}.work", device, what_if=False)
    assert (result.job, result.nodes, result.simulated_share) == (job, 4, 1)
    phases = result.phases
    spans_s = (phases["phase_end_s"] - phases["phase_start_s"]).to_list()
    component_sums_s = (
        phases.select(pl.sum_horizontal(f"{part}_s" for part in COMPONENTS)).to_series().to_list()
    )
    assert component_sums_s == pytest.approx(spans_s, abs=1e-9)
    assert result.by_phase["elapsed_s"].sum() == pytest.approx(result.elapsed_s)
    assert phases["phase_end_s"].max() == result.elapsed_s
    for name in ("requests", "read_bytes", "sent_bytes", "store_j"):
        assert result.by_phase[name].sum() == pytest.approx(phases[name].sum())
    assert sum(result.components_s.values()) == pytest.approx(sum(spans_s))
    energy = result.energy
    assert energy.total == pytest.approx(energy.store + energy.processor + energy.memory + energy.network)
    assert phases["store_j"].sum() == pytest.approx(energy.store)
    assert result.traffic.sum() == phases["sent_bytes"].sum()


def test_python_and_study_file_give_equal_bytes(tmp_path):
    options = {
        "scheduler": "sptf",
        "network": sl.network("infiniband-1x", latency_us=10),
        "cache": "write-back",
    }
    node = sl.node("smart-2003", mhz=1000, prefetch_pages=4)
    device = sl.device("mems-g2", active_tips=640)
    first = sl.replay(WORK / "join.work", device, node=node, **options, out=tmp_path / "a", seed=3)
    again = sl.replay(experiment=tmp_path / "a" / "experiment.toml", out=tmp_path / "b")
    files = {
        "summary.json",
        "phases.parquet",
        "phases.csv",
        "experiment.toml",
        "report.html",
        "tables.tex",
        "outcome.json",
        "sledlab.json",
    }
    assert {path.name for path in (tmp_path / "a").iterdir()} == files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert again.to_json() == first.to_json()
    config = first.config
    assert config["seed"] == 3
    assert config["device"]["active_tips"] == 640
    assert (config["node"]["mhz"], config["network"]["latency_us"]) == (1000, 10)
    assert config["scheduler"]["kind"] == "sptf"
    assert config["cache"]["kind"] == "write-back"


@pytest.mark.usefixtures("without_pages")
def test_settings_and_keywords_win_over_the_file(tmp_path):
    sl.replay(WORK / "scan.work", "mems-g2", network="hub", what_if=False, out=tmp_path)
    result = sl.replay(
        WORK / "exchange.work",
        "ram",
        experiment=tmp_path / "experiment.toml",
        network="ethernet-25g",
        settings={"node.cycles.pack": 5, "cluster.exact": True},
    )
    assert result.job == "exchange"
    assert result.config["device"]["name"] == "ram"
    assert result.config["network"]["name"] == "ethernet-25g"
    assert result.config["node"]["cycles"]["pack"] == 5
    assert result.config["cluster"]["exact"]


def test_hybrid_combines_front_and_back_device():
    hybrid = sl.hybrid("caching-disk", front_mb=64)
    result = sl.replay(WORK / "scan.work", "atlas-10k", hybrid=hybrid, front="mems-g2", what_if=False)
    assert result.config["hybrid"]["front_mb"] == 64
    assert "with mems-g2" in find_presentation(result).answer(result)


def test_numbers_do_not_depend_on_threads(sort):
    assert sl.replay(WORK / "sort.work", "mems-g2", threads=1).to_json() == sort.to_json()


def test_what_if_names_the_bottleneck(sort):
    rows_by_component = {row["what"]: row for row in sort.what_if.iter_rows(named=True)}
    assert set(rows_by_component) == {"compute", "store", "network"}
    for row in rows_by_component.values():
        assert row["saved"] == pytest.approx(1 - row["elapsed_s"] / sort.elapsed_s)
    best = max(rows_by_component.values(), key=lambda row: row["saved"])
    assert (sort.bottleneck.what, sort.bottleneck.saved) == (best["what"], best["saved"])
    without_what_if = sl.replay(WORK / "sort.work", "mems-g2", what_if=False)
    assert without_what_if.what_if.is_empty()
    assert (without_what_if.bottleneck.what, without_what_if.bottleneck.saved) == (
        without_what_if.largest,
        None,
    )
    assert without_what_if.elapsed_s == sort.elapsed_s


def test_answer_starts_with_the_bottleneck(sort):
    answer = find_presentation(sort).answer(sort)
    assert answer.startswith(
        "sort on 4 nodes takes 18.2 s with mems-g2 over fast-ethernet; the store is the bottle"
    )
    assert "Nodes spend more time" not in answer


def test_answer_explains_why_largest_component_is_no_bottleneck(tmp_path):
    """Three nodes read, and wait for the node that computes."""
    steps = [{"phase": "a", "node": node, "reads": [{"file": "data"}]} for node in (0, 1, 2)]
    slow_step = {"phase": "a", "node": 3, "operations": {"tuple": 1_200_000}}
    path = write_record(
        tmp_path / "x.work", {"nodes": 4, "files": {"data": [16_000_000] * 3 + [0]}}, *steps, slow_step
    )
    result = sl.replay(path, "mems-g2")
    assert (result.largest, result.bottleneck.what) == ("store", "compute")
    answer = find_presentation(result).answer(result)
    assert "the processor is the bottleneck" in answer
    assert "Nodes spend more time on the store" in answer
    assert "saves nothing" in answer


def test_answer_names_the_simulated_share(tmp_path):
    inner = {"file": "inner", "per_block_of": "outer"}
    path = write_record(
        tmp_path / "x.work",
        {"nodes": 1, "files": {"outer": 8_000_000, "inner": 16_000_000}},
        {"phase": "nested", "node": 0, "reads": [{"file": "outer"}, inner]},
    )
    quick, exact = (
        sl.replay(path, "ram", what_if=False, settings={"node.block_kb": 64, "cluster.exact": exact})
        for exact in (False, True)
    )
    assert quick.simulated_share < 1 == exact.simulated_share
    assert "of the pages were simulated" in find_presentation(quick).answer(quick)
    assert "of the pages were simulated" not in find_presentation(exact).answer(exact)
    assert quick.elapsed_s == pytest.approx(exact.elapsed_s, rel=1e-3)
    assert quick.skipped_passes > 0 == exact.skipped_passes
    assert 0 < quick.sampling_error < 1e-3
    assert exact.sampling_error == 0
    assert "of the total time at most" in find_presentation(quick).answer(quick)


def test_at_a_host_everything_crosses_the_network():
    nodes = sl.replay(WORK / "join.work", "mems-g2", what_if=False)
    host = sl.replay(WORK / "join.work", "mems-g2", at="host", host=sl.node("smart-2003", mhz=2000))
    assert (nodes.is_on_host, host.is_on_host, host.nodes) == (False, True, 5)
    assert host.config["host"]["mhz"] == 2000
    assert host.elapsed_s > nodes.elapsed_s
    assert host.bottleneck.what == "network"
    assert host.traffic.shape == (5, 6)
    assert host.traffic.sum() == host.phases["sent_bytes"].sum()
    assert host.traffic[:4, :4].sum() == 0
    assert host.traffic[4, :4].sum() == host.phases.filter(pl.col("node") < 4)["received_bytes"].sum()
    assert "on a host in front of 4 nodes" in find_presentation(host).answer(host)


@pytest.mark.usefixtures("without_pages")
def test_each_group_of_a_file_has_its_device(tmp_path):
    file = tmp_path / "mixed.toml"
    experiment = (
        '[device]\npreset = "mems-g2"\n\n[[group]]\nnodes = "right"\ndevice = "ram"\nnode = { mhz = 250.0 }\n'
    )
    file.write_text(experiment)
    result = sl.replay(WORK / "join.work", experiment=file, out=tmp_path / "out", what_if=False)
    same_devices = sl.replay(WORK / "join.work", "mems-g2", what_if=False)
    assert result.phases["store_s"][2] < same_devices.phases["store_s"][2] / 2
    assert result.phases["compute_s"][2] == pytest.approx(2 * same_devices.phases["compute_s"][2])
    assert result.phases["store_s"][0] == same_devices.phases["store_s"][0]
    again = sl.replay(experiment=tmp_path / "out" / "experiment.toml", what_if=False)
    assert again.to_json() == result.to_json()


def test_dumped_node_trace_can_be_replayed(tmp_path):
    path = tmp_path / "node.csv.zst"
    result = sl.replay(WORK / "scan.work", "mems-g2", what_if=False, dump_trace=(1, path))
    replayed = sl.simulate(path, "mems-g2", replay="open", power="never")
    node_phases = result.phases.filter(pl.col("node") == 1)
    assert replayed.count == node_phases["requests"].sum()
    assert replayed.read.bytes == node_phases["read_bytes"].sum()
    # The store starts each request on arrival, so its service time is the node's waiting time.
    assert replayed.service_time_ms * replayed.count / 1000 == pytest.approx(
        node_phases["store_s"].sum(), rel=0.01
    )


def test_job_is_exported_as_goal_schedule(tmp_path):
    sl.replay(WORK / "exchange.work", "mems-g2", what_if=False, goal=tmp_path / "exchange.goal")
    schedule = (tmp_path / "exchange.goal").read_text()
    assert schedule.startswith("num_ranks 5\n")
    assert len(re.findall(r"send 1048576b", schedule)) == 12


def test_work_describes_its_record():
    join = sl.work(WORK / "join.work")
    assert (join.job, join.nodes, join.seed) == ("join", 4, 1)
    assert join.parameters["lineitem_bytes"] == 179
    assert join.groups == {"left": [0, 1], "right": [2, 3]}
    assert join.files["orders"] == [1347340, 1347225, 0, 0]
    assert join.phases["sent_bytes"].sum() == join.traffic.sum()
    assert join.phases["probe"].to_list()[-1] == 93726
    assert "gather" in repr(join)
    assert "<table>" in join._repr_html_()
    assert join.plot().axes


def test_page_holds_all_it_needs(sort, tmp_path):
    page = sort.report(tmp_path / "report.html").read_text()
    assert page.count("<figure") == 5
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    without_what_if = sl.replay(WORK / "scan.work", "mems-g2", what_if=False)
    assert without_what_if.report(tmp_path / "scan.html").read_text().count("<figure") == 4
    work_page = sl.work(WORK / "scan.work").report(tmp_path / "work.html").read_text()
    assert work_page.count("<figure") == 1


def test_phases_are_described_in_parts(tmp_path, monkeypatch):
    steps = [{"phase": f"p{number}", "node": number % 2, "sends": {"client": number}} for number in range(7)]
    path = write_record(tmp_path / "x.work", {}, *steps)
    work = sl.work(path)
    # Python handles signals between the calls for the parts.
    monkeypatch.setattr("sledlab.traces.work.STEPS_PER_CALL", 4)
    assert sl.work(path).description == work.description
    assert work.phases["sent_bytes"].to_list() == list(range(7))


def test_very_many_nodes_have_no_matrix(tmp_path):
    path = write_record(
        tmp_path / "x.work", {"nodes": 3000}, {"phase": "p", "nodes": "all", "sends": {"client": 9}}
    )
    result = sl.replay(path, "ram", what_if=False)
    assert result.traffic.size == 0
    with pytest.raises(sl.Error, match="too many nodes for a matrix"):
        result.plot("traffic")
    assert result.report(tmp_path / "a.html").read_text().count("<figure") == 3
    with pytest.raises(sl.Error, match="3,000 nodes is too large"):
        _ = sl.work(path).traffic
    assert "<svg" not in sl.work(path).report(tmp_path / "b.html").read_text()


def test_every_kind_of_figure_is_drawn(sort):
    for kind in ("phases", "timeline", "traffic", "what_if", "energy"):
        assert sort.plot(kind).axes, kind
    with pytest.raises(sl.Error, match="unknown panel `phase`"):
        sort.plot("phase")
    without_what_if = sl.replay(WORK / "scan.work", "mems-g2", what_if=False)
    with pytest.raises(sl.Error, match="twice as fast"):
        without_what_if.plot("what_if")


def test_component_whose_speed_costs_time_is_worded_as_extra_time(tmp_path):
    # A faster processor asks the disk for pages at other times, of which more miss their sector.
    result = sl.replay(WORK / "join.work", "cheetah-9lp", settings={"node.mhz": 40.0})
    saved = dict(result.what_if.select("what", "saved").iter_rows())
    assert saved["compute"] < -0.005
    text = " ".join(repr(result).split())
    assert f"the processor would add {-saved['compute']:.1%}".replace("%", " %") in text.replace("\xa0", " ")
    page = result.report(tmp_path / "run.html").read_text().replace("\xa0", " ")
    assert f"{-saved['compute']:.1%} added".replace("%", " %") in page


def test_many_nodes_and_phases_are_still_readable(tmp_path):
    steps = [
        {"phase": f"pass {number}", "nodes": "all", "operations": {"tuple": 1000}, "sends": {"each": 100}}
        for number in range(50)
    ]
    result = sl.replay(write_record(tmp_path / "x.work", {"nodes": 40}, *steps), "mems-g2", what_if=False)
    assert len(result.plot("timeline").axes[0].get_yticks()) == 3
    assert len(result.plot("phases").axes[0].get_yticks()) == 16
    assert "... 11 others" in repr(result)
    assert math.isclose(result.by_phase["elapsed_s"].sum(), result.elapsed_s)


MISTAKES = {
    "no record": ({"work": None, "device": "mems-g2"}, "no work record", "sample:sort"),
    "no device": ({"device": None}, "no device", "--device"),
    "plug-in": ({"scheduler": "mine:Lcfs"}, "mine:Lcfs.*plug-ins cannot", "sledlab list scheduler"),
    "policy": ({"power": "mine:Never"}, "mine:Never.*plug-ins cannot", "sledlab list power"),
    "network": ({"network": "ethernet"}, "unknown network `ethernet`", "did you mean"),
    "node": ({"node": "smart"}, "unknown node `smart`", "smart-2003"),
    "kind": ({"node": sl.network("hub")}, "expected a node", r"sledlab\.node"),
    "key": ({"settings": {"node.mzh": 1}}, r"unknown key `node\.mzh`", r"node\.mhz"),
    "place": ({"at": "moon"}, r"cluster\.at: expected one of nodes, host", None),
    "node of a trace": ({"dump_trace": (4, "/tmp/unused.csv")}, "no node 4", "0 to 3"),
    "schedule": ({"goal": "/tmp/unused.goal", "at": "host"}, "not of a host", "omit"),
    "negative node": ({"dump_trace": (-1, "/tmp/unused.csv")}, "no node -1", "from 0"),
    "threads": ({"threads": -1}, "no number of threads -1", "from 0"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_invalid_input_is_an_error(mistake):
    options, message, remedy = MISTAKES[mistake]
    with pytest.raises(sl.Error, match=message) as caught:
        sl.replay(**{"work": WORK / "scan.work", "device": "mems-g2"} | options)
    assert remedy is None or re.search(remedy, caught.value.remedy)


def test_invalid_catalogs_are_errors():
    assert set(sl.node) >= {"smart-2003", "csd-arm"}
    assert set(sl.network) >= {"fast-ethernet", "hub"}
    for make_invalid in (
        lambda: sl.node("smart"),
        lambda: sl.network("hub", latency_us=-1),
        lambda: sl.node.show("x"),
    ):
        with pytest.raises(sl.Error):
            make_invalid()
    assert sl.node.smart_2003(mhz=800).parameters == {"mhz": 800}


def test_network_and_node_are_read_from_files(tmp_path):
    (tmp_path / "net.toml").write_text('kind = "ideal"\ndescription = "wires"\nbandwidth_mbit_s = 1000.0\n')
    (tmp_path / "node.toml").write_text(
        'description = "mine"\nmhz = 250.0\n\n[cycles]\ntuple = 10.0\npack = 1.0\n'
    )
    result = sl.replay(
        WORK / "scan.work", "ram", network=tmp_path / "net.toml", node=tmp_path / "node.toml", what_if=False
    )
    assert (result.config["network"]["name"], result.config["node"]["name"]) == ("net", "node")
    assert result.config["node"]["mhz"] == 250


class StoppedError(Exception):
    """Raised by a callback."""


def test_exception_in_progress_ends_the_replay(tmp_path):
    inner = {"file": "inner", "per_block_of": "outer"}
    path = write_record(
        tmp_path / "x.work",
        {"nodes": 1, "files": {"outer": 500_000_000, "inner": 1_000_000_000}},
        {"phase": "nested", "node": 0, "reads": [{"file": "outer"}, inner]},
    )
    calls = []

    def report_progress(pages, share):
        calls.append((pages, share))
        if len(calls) == 3:
            raise StoppedError

    settings = {"node.block_kb": 64, "cluster.exact": True}
    with pytest.raises(StoppedError):
        sl.replay(
            path, "mems-g2", progress=report_progress, settings=settings, dump_trace=(0, tmp_path / "n.csv")
        )
    assert 3 <= len(calls) <= 4
    assert calls == sorted(calls)
    assert not list(tmp_path.glob("*n.csv"))


def test_replays_in_threads_take_equal_time():
    elapsed_times_s = []
    threads = [
        threading.Thread(
            target=lambda: elapsed_times_s.append(sl.replay(WORK / "scan.work", "mems-g2").elapsed_s)
        )
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(elapsed_times_s)) == 1
    assert len(elapsed_times_s) == 3

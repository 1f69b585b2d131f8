"""`sl.compare`: runs, curves, loads at equal response."""

import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import sledlab as sl
from sledlab.show.document import Collapsible
from sledlab.studies.compare import STUDY, plan, summary
from sledlab.studies.races import parts as race_parts
from sledlab.studies.races import rows as race_rows
from sledlab.study import statistics
from sledlab.study.executor.local import processes
from sledlab.study.measure import RunFigures
from sledlab.study.plan import Question

from tests.cached_runs import cached_bytes, cached_lines
from tests.races import measured_run, race, synthetic_comparison

SAVINGS = {"saving": {"none": {}, "both": {"power.kind": "immediate", "merge.kind": "chains"}}}


def test_runs_equal_single_simulations():
    runs = race(seed="1..2").runs
    assert runs.columns[:3] == ["scheduler", "speedup", "seed"]
    assert runs.select("scheduler", "speedup", "seed").rows() == [
        (name, speedup, seed) for name in ("fcfs", "sptf") for speedup in (1.0, 1.4) for seed in (1, 2)
    ]
    simulated = sl.simulate(
        sl.workload("uniform"), "mems-g2", scheduler="sptf", speedup=1.4, seed=2, limit=1500, requests=False
    )
    row = runs.row(-1, named=True)
    assert row["mean_ms"] == simulated.response_time.mean
    assert row["scv"] == simulated.response_time.scv
    assert row["p99_ms"] == simulated.response_time.p99
    assert row["energy_j"] == simulated.energy.total
    assert (row["requests"], row["saturated"]) == (1500, False)


def test_arrival_rate_counts_offered_requests():
    runs = race(speedup=[1, 8]).runs.filter(scheduler="fcfs")
    offered_iops = runs["arrival_rate_iops"].to_list()
    assert offered_iops[0] == pytest.approx(1000, rel=0.1)
    assert offered_iops[1] == pytest.approx(8 * offered_iops[0])
    assert runs["throughput_iops"][1] < 0.25 * offered_iops[1]
    shorter_runs = race(speedup=[1], duration_s=0.5, limit=None).runs
    assert shorter_runs["arrival_rate_iops"][0] == pytest.approx(shorter_runs["requests"][0] / 0.5)


def test_duration_ends_workloads_without_an_end(refused):
    endless = sl.workload("uniform", requests=0)
    rates = race(source=endless, speedup=[1, 8], duration_s=0.5, limit=None).runs["arrival_rate_iops"]
    ended = race(source=sl.workload("uniform", requests=9000), speedup=[1, 8], duration_s=0.5, limit=None)
    assert rates.equals(ended.runs["arrival_rate_iops"])
    with refused("the workload `uniform` never ends"):
        race(source=endless, limit=None)
    with refused("never ends"):
        sl.power_study(endless, "mems-g2")
    for study in (sl.hybrid_study, sl.side_by_side):
        with refused("reads the requests of `uniform` before the runs, and their number is not limited"):
            study(endless, "atlas-10k" if study is sl.hybrid_study else ["ram", "mems-g2"], duration_s=0.5)


def test_traces_can_be_compared(refused, bank):
    columns = {"time_us": np.arange(800) * 1000, "op": ["R"] * 800, "length_bytes": np.full(800, 4096)}
    columns["offset_bytes"] = np.random.default_rng(1).integers(0, 700_000, 800) * 4096
    runs = race(source=columns, limit=None).runs
    assert runs["requests"].to_list() == [800] * 4
    assert runs["arrival_rate_iops"][0] == pytest.approx(800 / 0.799)
    with refused("no result depends on the seed"):
        race(source=columns, seed="1..2")
    settings = {"replay.last_block": "random", "device.subsector_access": True}
    runs_by_seed = race(source=columns, seed="1..2", scheduler="fcfs", speedup=[1], settings=settings).runs
    assert runs_by_seed["energy_j"].n_unique() == 2
    rates_iops = race(source=bank, speedup=[1, 4], scheduler="fcfs").runs["arrival_rate_iops"]
    assert rates_iops[1] == pytest.approx(4 * rates_iops[0])


@pytest.mark.usefixtures("short_runs_in_processes")
def test_worker_processes_equal_a_single_process(bank):
    assert race(parallel=2).runs.equals(race(parallel=1).runs)
    columns = sl.read_trace(bank).head(1000).drop("device")
    assert race(source=columns, parallel=2).runs.equals(race(source=columns, parallel=1).runs)


@pytest.mark.parametrize("budget_s", [0, 60])
def test_short_runs_need_no_processes(budget_s, monkeypatch):
    """Short runs execute here for a while; others execute in processes, with the same results."""
    monkeypatch.setattr("sledlab.study.executor.measured.MAX_SHORT_RUNS_S", budget_s)
    worker_counts = []

    def count(worker_count):
        worker_counts.append(worker_count)
        return processes(worker_count)

    monkeypatch.setattr("sledlab.study.bench.processes", count)
    result = race(parallel=2)
    assert worker_counts == ([2] if budget_s == 0 else [])
    assert result.runs.equals(race(parallel=1).runs)


@pytest.mark.parametrize("limits", [{"limit": None}, {"limit": 30_000}])
def test_runs_that_may_last_use_processes(limits, monkeypatch):
    class StartedError(Exception):
        pass

    def refuse(worker_count):
        raise StartedError(worker_count)

    monkeypatch.setattr("sledlab.study.bench.processes", refuse)
    with pytest.raises(StartedError):
        race(parallel=2, **limits)


def test_title_names_the_varied_setting():
    result = race(vary={"workload.kind": ["uniform", "mems-check"]}, speedup=[1])
    assert "mems-check and uniform on mems-g2" in repr(result)


def test_caches_and_hybrids_have_separate_columns():
    stores = {
        "alone": {"workload.read_share": 1},
        "cached": {"cache.kind": "write-back"},
        "hybrid": {"hybrid.kind": "caching-disk"},
    }
    workload = sl.workload("uniform", blocks=1)
    runs = race(source=workload, vary={"store": stores}, scheduler=["fcfs"], speedup=[1]).runs
    rows_by_store = {row["store"]: row for row in runs.to_dicts()}
    assert rows_by_store["alone"]["read_mean_ms"] == rows_by_store["alone"]["mean_ms"]
    cached, hybrid = rows_by_store["cached"], rows_by_store["hybrid"]
    assert cached["cache_read_hits"] + cached["cache_read_misses"] + cached["cache_write_hits"] > 0
    assert hybrid["hybrid_reads"] + hybrid["hybrid_writes"] == 1500
    assert hybrid["hybrid_front_writes"] >= hybrid["hybrid_writes"]
    assert rows_by_store["alone"]["cache_read_hits"] is None
    assert rows_by_store["cached"]["hybrid_reads"] is None


def test_another_key_may_vary(refused):
    result = race(vary={"device.active_tips": [1280, 3200]}, speedup=[1])
    assert result.runs.columns[:4] == ["scheduler", "speedup", "device.active_tips", "seed"]
    assert result.curves["device.active_tips"].to_list() == [1280, 3200, 1280, 3200]
    assert [group.varied for group in result.groups] == [(("device.active_tips", n),) for n in (1280, 3200)]
    assert result.plot("mean_ms", varied=3200).axes
    assert "device.active_tips = 3,200 and scheduler = SPTF are best together" in result.answer
    with refused("nothing was compared at `7`"):
        result.plot("mean_ms", varied=7)


TWO_KEYS = {"device.active_tips": [1280, 3200], "device.spring_factor": [0, 0.4, 0.75]}


def test_two_varied_keys_give_all_combinations(refused):
    result = race(vary=TWO_KEYS, scheduler=["fcfs"], speedup=[1], limit=300)
    keys = list(TWO_KEYS)
    assert result.runs.columns[:5] == ["scheduler", "speedup", *keys, "seed"]
    combinations = [(tips, spring) for tips in (1280, 3200) for spring in (0, 0.4, 0.75)]
    for table in (result.runs, result.curves, result.throughput.filter(level_ms=2), result.decision_cost):
        assert table.select(keys).rows() == combinations
    assert [group.varied for group in result.groups] == [
        tuple(zip(keys, combination, strict=True)) for combination in combinations
    ]
    simulated = sl.simulate(
        sl.workload("uniform"),
        sl.device("mems-g2", active_tips=3200, spring_factor=0.4),
        limit=300,
        speedup=1,
    )
    row = result.runs.row(by_predicate=(pl.col(keys[0]) == 3200) & (pl.col(keys[1]) == 0.4), named=True)
    assert row["mean_ms"] == simulated.response_time.mean
    label = "device.active_tips = 3,200, device.spring_factor = 0.4"
    assert "device.active_tips = 3,200 and device.spring_factor = 0.75 are best together" in result.answer
    assert label in [part.summary for part in summary.page(result).parts if isinstance(part, Collapsible)]
    assert result.group({"device.active_tips": 3200, "device.spring_factor": 0.4}).varied[1][1] == 0.4
    assert result.plot("scv", varied={"device.active_tips": 3200}).axes
    for varied in (3200, {"device.active_tips": 7}, {"device.sleds": 1}):
        with refused("nothing was compared at"):
            result.plot(varied=varied)


def test_parameter_sets_and_values_combine():
    result = race(vary={**SAVINGS, "device.sleds": [1, 2]}, scheduler=["fcfs"], speedup=[1])
    assert result.runs.select("saving", "device.sleds").rows() == [
        *(("both", 1), ("both", 2), ("none", 1), ("none", 2))
    ]


def test_title_names_varied_devices_and_sources():
    vary = {"workload.kind": ["uniform", "mems-check"], "device.preset": ["mems-g2", "mems-g3"]}
    assert "mems-check and uniform on mems-g2 and mems-g3" in repr(race(vary=vary, speedup=[1]))


def test_closed_replays_have_one_load():
    result = sl.compare(
        sl.workload("uniform"),
        "mems-g2",
        scheduler=["fcfs", "sptf"],
        replay="closed:8",
        limit=1000,
        parallel=1,
    )
    assert result.runs["speedup"].to_list() == [1.0, 1.0]
    assert result.runs["arrival_rate_iops"].equals(result.runs["throughput_iops"].rename("arrival_rate_iops"))
    assert result.plot().axes[0].get_yticklabels()


def test_costly_schedulers_are_not_compared_by_default():
    schedulers = plan.race_schedulers()
    assert {"fcfs", "sptf"} <= set(schedulers)
    assert not set(schedulers) & {"sptf-exhaustive", "mst", "optimal"}
    run_plan = plan.plan_runs(
        Question(sl.Experiment().with_device("mems-g2").with_workload("uniform"), None, {})
    )
    assert run_plan.axes["scheduler"] == schedulers
    assert run_plan.axes["speedup"] == (1, 2, 4, 8, 16)


def test_longest_runs_start_first():
    experiment = sl.Experiment().with_device("mems-g2").with_workload("uniform")
    axes = {"scheduler": ("fcfs", "sptf"), "speedup": (1.0, 2.0, 8.0), "seed": (1, 2)}
    run_plan = plan.plan_runs(Question(experiment, None, axes))
    speedups = [float(dict(spec.settings)["replay.speedup"]) for spec in run_plan.specs]
    assert speedups == [8.0] * 4 + [2.0] * 4 + [1.0] * 4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scheduler": ["fcfs", "sptff"]}, "unknown scheduler `sptff`"),
        ({"scheduler": []}, "no schedulers"),
        ({"scheduler": 3}, "expected a scheduler"),
        ({"speedup": [0]}, "`0` is not a speed-up"),
        ({"speedup": []}, "no speed-up"),
        ({"speedup": [float("nan")]}, "`speedup`: expected a number in range, found `nan`"),
        ({"seed": -1}, "`-1` is not a seed"),
        ({"parallel": 0}, "not a number of runs"),
        ({"vary": {"device.activ_tips": [1, 2]}}, "active_tips"),
        ({"vary": {"device.sleds": []}}, "no list of values"),
        ({"vary": {"seed": [1]}}, "varies already"),
        ({"vary": {"device.sleds": [1, 2], "device.activ_tips": [1, 2]}}, "active_tips"),
        ({"vary": ["device.sleds"]}, "vary: expected keys with lists of values"),
        (
            {"vary": {**SAVINGS, "merge.kind": ["none"]}},
            "vary: both `saving` and `merge.kind` set `merge.kind`",
        ),
        ({"replay": "closed:8", "speedup": [2]}, "speed"),
        ({"source": "missing.csv"}, "missing.csv"),
    ],
)
def test_invalid_input_is_rejected_before_the_run(refused, changes, message):
    with refused(message):
        race(**changes)


def test_students_t_equals_published_table():
    # Abramowitz and Stegun, table 26.10.
    published = {
        1: 12.706,
        2: 4.303,
        3: 3.182,
        5: 2.571,
        9: 2.262,
        10: 2.228,
        29: 2.045,
        30: 2.042,
        120: 1.980,
    }
    for degrees, value in published.items():
        assert statistics.t_975(degrees) == pytest.approx(value, abs=6e-4)


def test_intervals_over_seeds():
    values = [9.8, 10.2, 10.4, 9.9, 10.0, 10.2, 9.5]
    half_width = 2.446912 * np.std(values, ddof=1) / math.sqrt(7)
    assert statistics.half_width(values) == pytest.approx(half_width, rel=1e-5)
    assert statistics.half_width([1.0]) is None
    result = race(seed="1..5", speedup=[1])
    means = result.runs.filter(scheduler="sptf")["mean_ms"].to_list()
    curve = result.curves.filter(scheduler="sptf").row(0, named=True)
    assert curve["mean_ms"] == pytest.approx(np.mean(means))
    assert curve["mean_ci95_ms"] == pytest.approx(statistics.half_width(means))
    assert curve["scv_ci95"] > 0
    single_seed = race(speedup=[1], limit=5000)
    assert single_seed.curves["mean_ci95_ms"].equals(single_seed.runs["mean_ci95_ms"])
    assert single_seed.curves["scv_ci95"].null_count() == 2


def curve(*points: tuple[float, float, bool]) -> list[RunFigures]:
    return [
        measured_run(arrival_rate_iops=rate, mean_ms=mean_ms, saturated=is_saturated)
        for rate, mean_ms, is_saturated in points
    ]


def test_load_at_equal_response_is_interpolated():
    points = curve((100, 1, False), (200, 2, False), (300, 8, False), (400, 800, True))
    assert race_rows.crossing(points, 4) == (pytest.approx(250), "yes")
    assert race_rows.crossing(points, 2) == (pytest.approx(200), "yes")
    assert race_rows.crossing(points, 80) == (pytest.approx(350), "in overload")
    assert race_rows.crossing(points, 0.5) == (None, "below")
    assert race_rows.crossing(points, 1) == (100, "yes")
    assert race_rows.crossing(points, 1000) == (None, "above")
    bumpy = curve((100, 1, False), (200, 6, False), (300, 3, False), (400, 9, False))
    assert race_rows.crossing(bumpy, 5)[0] < 200


def test_levels_fit_the_data():
    assert race_rows.levels(curve((1, 0.8, False), (2, 30, False), (3, 9000, True))) == [1, 2, 5, 10, 20]
    assert race_rows.levels(curve((1, 3, False), (2, 600, False))) == [2, 5, 10, 20, 50, 100, 200, 500]


def test_loads_at_equal_response_over_seeds():
    row = synthetic_comparison().throughput.filter(scheduler="fcfs", level_ms=2.0).row(0, named=True)
    assert row["arrival_rate_iops"] == pytest.approx(650, rel=0.1)
    assert 0 < row["arrival_rate_ci95_iops"] < 50
    assert row["reached"] == "yes"
    overload_row = (
        synthetic_comparison().throughput.filter(scheduler="fcfs", level_ms=20.0).row(0, named=True)
    )
    assert overload_row["reached"] == "in overload"


def test_out_directory_is_complete_and_reused(tmp_path):
    result = race(out=tmp_path, seed="1..2")
    assert {path.name for path in tmp_path.iterdir()} == {
        "runs.parquet",
        "runs.csv",
        "curves.parquet",
        "curves.csv",
        "throughput.parquet",
        "throughput.csv",
        "decision_cost.parquet",
        "decision_cost.csv",
        "summary.json",
        "study.toml",
        "report.html",
        "tables.tex",
        "outcome.json",
        "timing.json",
        "runs",
        "sledlab.json",
    }
    assert pl.read_parquet(tmp_path / "runs.parquet").equals(result.runs)
    assert pl.read_csv(tmp_path / "runs.csv").columns == result.runs.columns
    cached = cached_bytes(tmp_path)
    assert race(out=tmp_path, seed="1..2").runs.equals(result.runs)
    assert cached_bytes(tmp_path) == cached


def test_decisions_are_timed_apart_from_the_results():
    result = race()
    assert "decision_ns" not in result.runs.columns
    assert result.decision_cost["decision_ns"].null_count() == 0
    assert (result.decision_cost["decision_ns"] > 0).all()
    assert summary.costs(result).rows[0][0] in ("FCFS", "SPTF")


def test_summary_counts_merged_requests():
    workload = sl.workload("directed-same-position")
    result = race(
        source=workload, scheduler=["fcfs", "fcfs:batch=same-position"], speedup=[4], overload="drain"
    )
    unmerged, merged = result.curves.sort("served_at_once")["served_at_once"]
    assert unmerged == pytest.approx(1)
    assert merged > 1.2
    assert any("requests are served at a time" in row[-1] for row in summary.ranking(result.groups[0]).rows)


QUEUES = """
class First:
    def __init__(self):
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        return self.queue.pop(0)

    def __len__(self):
        return len(self.queue)


class Noisy(First):
    def pop(self, now_ns, device):
        print("not captured")
        if len(self.queue) > 3:
            raise RuntimeError("out of ideas")
        return super().pop(now_ns, device)
"""


@pytest.fixture
def queues(tmp_path, monkeypatch):
    module = tmp_path / "sledlab_queues.py"
    module.write_text(QUEUES)
    monkeypatch.syspath_prepend(tmp_path)
    yield module
    sys.modules.pop("sledlab_queues", None)


@pytest.mark.parametrize("jobs", [1, 2])
def test_python_schedulers_are_compared_with_built_in_ones(queues, jobs):
    runs = race(scheduler=["fcfs", "sledlab_queues:First"], parallel=jobs).runs
    plugin_runs = runs.filter(scheduler="sledlab_queues:First").drop("scheduler")
    assert plugin_runs.equals(runs.filter(scheduler="fcfs").drop("scheduler"))
    with pytest.raises(sl.Error, match=r"Noisy at speed-up 1.4, seed 1: [^$]*out of ideas"):
        race(scheduler=["fcfs", "sledlab_queues:Noisy"], speedup=[0.1, 1.4], parallel=jobs)


@pytest.mark.usefixtures("without_pages")
def test_a_changed_scheduler_in_python_runs_again(queues, tmp_path):
    def count_cached_runs():
        race(scheduler="sledlab_queues:First", speedup=[1], out=tmp_path / "race")
        return len(cached_lines(tmp_path / "race"))

    assert (count_cached_runs(), count_cached_runs()) == (1, 1)
    queues.write_text(QUEUES.replace("pop(0)", "pop()"))
    assert count_cached_runs() == 2


@pytest.mark.usefixtures("without_pages")
def test_sets_of_settings_are_compared_by_name(tmp_path: Path) -> None:
    source = sl.workload("uniform", requests=300)
    comparison = sl.compare(source, "mems-g2", scheduler=["fcfs"], speedup=[1], vary=SAVINGS, out=tmp_path)
    rows_by_setting = {row["saving"]: row for row in comparison.runs.to_dicts()}
    assert rows_by_setting["both"]["startups"] > rows_by_setting["none"]["startups"]
    assert rows_by_setting["both"]["idle_j"] == 0
    for row in rows_by_setting.values():
        energy_j = sum(row[f"{state}_j"] for state in ("seek", "access", "idle", "inactive", "startup"))
        assert energy_j == pytest.approx(row["energy_j"], rel=1e-9)
    _, options = STUDY.read(tmp_path / "study.toml")
    assert options["vary"] == SAVINGS


@pytest.mark.parametrize("vary", [{"a.b": {"x": {}}}, {"saving": {}}, {"saving": {"x": 1}}])
def test_sets_that_make_no_sense_are_refused(refused, vary: dict[str, Any]) -> None:
    with refused("vary"):
        sl.compare(sl.workload("uniform", requests=10), "mems-g2", scheduler=["fcfs"], vary=vary)


def test_stopping_in_overload_changes_no_sustained_run():
    stopped, drained = (
        race(speedup=[1, 1.4, 2, 4], overload=overload).runs.sort("scheduler", "speedup")
        for overload in ("stop", "drain")
    )
    is_saturated = drained["saturated"]
    assert stopped["saturated"].to_list() == is_saturated.to_list()
    assert stopped.filter(~is_saturated).equals(drained.filter(~is_saturated))
    assert 0 < is_saturated.sum() < len(is_saturated)
    assert (stopped.filter(is_saturated)["requests"] < drained.filter(is_saturated)["requests"]).all()
    offered_iops = [runs.filter(is_saturated)["arrival_rate_iops"].to_list() for runs in (stopped, drained)]
    assert offered_iops[0] == pytest.approx(offered_iops[1])


def test_stopped_runs_are_mentioned():
    note = "Overloaded runs end at their last arrival"
    assert note in repr(race(speedup=[1, 4]))
    assert note not in repr(race(speedup=[1], source=sl.workload("uniform", blocks=1)))
    assert note not in repr(race(speedup=[1, 4], overload="drain"))


def test_slow_plugin_is_named_with_its_cost(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    Path("slow_one.py").write_text(
        "import time\n\n\nclass Slow:\n"
        "    def __init__(self): self.queue = []\n"
        "    def push(self, request): self.queue.append(request)\n"
        "    def pop(self, now, device): time.sleep(0.002); return self.queue.pop(0)\n"
        "    def __len__(self): return len(self.queue)\n"
    )
    result = race(scheduler=["fcfs", "slow_one:Slow"], speedup=[1], limit=100)
    assert race_parts.slow_plugin(result) == []
    monkeypatch.setattr(race_parts, "LONG_S", 0.0)
    (note,) = race_parts.slow_plugin(result)
    assert re.match(r"Slow takes \d\.\d+ ms of wall-clock time for a decision with \d", note.text)
    assert race_parts.slow_plugin(race(limit=100)) == []


def test_stopped_run_counts_all_requests_offered():
    request_count = 3000
    ops = ["F" if number % 10 == 9 else "W" for number in range(request_count)]
    offsets = [(number * 48_271 % 800_000) * 4096 for number in range(request_count)]
    columns = {"time_us": np.arange(request_count) * 100, "op": ops, "offset_bytes": offsets}
    trace = sl.trace({**columns, "length_bytes": np.full(request_count, 4096)})
    (stopped,), (drained,) = (
        race(source=trace, scheduler=["fcfs"], speedup=[1], limit=0, overload=overload).runs.to_dicts()
        for overload in ("stop", "drain")
    )
    assert stopped["saturated"]
    assert stopped["requests"] < drained["requests"]
    assert stopped["arrival_rate_iops"] == drained["arrival_rate_iops"]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ({"settings": {"workload.kind": "uniform"}}, "--vary workload.kind=uniform"),
        ({"source": sl.workload("uniform")}, "--vary workload.kind=uniform"),
        ({"settings": {"scheduler.kind": "sptf"}}, "--scheduler sptf"),
        ({"settings": {"replay.speedup": 3}}, "--speedup 3"),
        ({"settings": {"seed": 7}}, "--seed 7"),
    ],
    ids=lambda value: None if isinstance(value, str) else next(iter(value)),
)
def test_a_setting_that_all_runs_replace_is_refused(options, remedy, refused):
    with refused(remedy):
        sl.compare(study="hong2006-zone-sizes", limit=60, **options)


def test_a_setting_that_all_runs_have_is_no_mistake():
    result = sl.compare(
        study="hong2006-zone-sizes",
        vary={"workload.kind": ["uniform"]},
        settings={"seed": 3, "scheduler.kind": "sptf", "workload.kind": "hplajw"},
        scheduler=["sptf"],
        speedup=[1],
        seed=[3],
        limit=60,
    )
    assert result.runs["scheduler"].unique().to_list() == ["sptf"]

"""Workloads written in Python."""

import sys
from pathlib import Path

import numpy as np
import pytest
import sledlab as sl
from sledlab.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"

WORKLOADS = """
import numpy as np
import sledlab as sl


class Singles:
    def __init__(self, count=3000, gap_us=700.5):
        self.count, self.gap_us = count, gap_us

    def draw_lbns(self, capacity_blocks, random):
        return np.sort(random.integers(capacity_blocks - 8, size=self.count))

    def requests(self, capacity_blocks, random):
        for n, lbn in enumerate(self.draw_lbns(capacity_blocks, random)):
            yield n * self.gap_us, lbn, 8, "RW"[n % 2]


class Batches(Singles):
    def requests(self, capacity_blocks, random):
        lbns = self.draw_lbns(capacity_blocks, random)
        ops = np.where(np.arange(self.count) % 2, "W", "R")
        times = np.arange(self.count) * self.gap_us
        for at in range(0, self.count, 999):
            part = slice(at, at + 999)
            yield times[part], lbns[part], 8, ops[part]


class Mixed(Singles):
    def requests(self, capacity_blocks, random):
        lbns = self.draw_lbns(capacity_blocks, random)
        for n in range(0, self.count, 3):
            times, ops = [n * self.gap_us, (n + 1) * self.gap_us], ["RW"[n % 2], "WR"[n % 2]]
            yield times, lbns[n : n + 2], [8, 8], ops
            yield (n + 2) * self.gap_us, lbns[n + 2], 8, "RW"[n % 2]


class Endless(Singles):
    def requests(self, capacity_blocks, random):
        n = 0
        while True:
            n += 1
            yield 1000 * n, 8 * n, 8, "R"


class All(Singles):
    def requests(self, capacity_blocks, random):
        yield 0, 0, 8, "W"
        yield 1, 0, 0, "F"
        yield 2, 0, 8, "T"
        yield 3, 8, 8, "R"


class Once(Singles):
    def __init__(self, time_us=2, lbn=0, blocks=8, op="R", count=4):
        self.request = (time_us, lbn, blocks, op, 1)[:count]

    def requests(self, capacity_blocks, random):
        yield 1.0, 0, 8, "R"
        yield self.request
        yield 3, 0, 8, "R"


class OnceInColumns(Once):
    def requests(self, capacity_blocks, random):
        yield tuple(np.array([first, second]) for first, second in zip((1.0, 0, 8, "R"), self.request))


class Raises(Singles):
    def requests(self, capacity_blocks, random):
        yield 0, 0, 8, "R"
        raise RuntimeError("out of ideas")


class Nothing(Singles):
    def requests(self, capacity_blocks, random):
        return None


class Uneven(Singles):
    def requests(self, capacity_blocks, random):
        yield [0, 1, 2], [0, 8], [8, 8], "R"


class Again(Singles):
    def requests(self, capacity_blocks, random):
        sl.simulate(sl.workload("sledlab_workloads:Again"), "mems-g2", limit=10)
        yield 0, 0, 8, "R"


class Born:
    def __init__(self):
        sl.simulate(sl.workload("sledlab_workloads:Born"), "mems-g2")

    def requests(self, capacity_blocks, random):
        return ()
"""


@pytest.fixture(autouse=True)
def module_directory(tmp_path, monkeypatch):
    (tmp_path / "sledlab_workloads.py").write_text(WORKLOADS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield tmp_path
    sys.modules.pop("sledlab_workloads", None)


def simulate(name, seed=1, **parameters):
    return sl.simulate(sl.workload(f"sledlab_workloads:{name}", **parameters), "mems-g2", seed=seed)


def test_batches_and_single_requests_are_equivalent():
    singles, batches, mixed = map(simulate, ("Singles", "Batches", "Mixed"))
    assert singles.count == 3000
    assert singles.requests.equals(batches.requests)
    assert singles.requests.equals(mixed.requests)
    assert singles.requests["arrival_ns"][:3].to_list() == [0, 700_500, 1_401_000]
    assert singles.summary["write"]["requests"] == 1500


def test_addresses_depend_only_on_the_seed():
    first, second, other_seed = simulate("Singles"), simulate("Singles"), simulate("Singles", seed=2)
    assert first.to_json() == second.to_json()
    assert not first.requests["lbn"].equals(other_seed.requests["lbn"])
    np.random.seed(0)  # independent of draws elsewhere
    assert simulate("Singles").to_json() == first.to_json()
    # The workload has a random stream of its own, the same on every machine.
    assert first.requests["lbn"][:3].to_list() == [55, 628, 1151]


def test_plug_in_gets_its_parameters_in_repeated_runs():
    first = simulate("Singles", count=100, gap_us=10)
    assert first.config["workload"] == {"kind": "sledlab_workloads:Singles", "count": 100, "gap_us": 10}
    experiment = sl.Experiment(first.experiment)
    assert experiment.plugins() == ["sledlab_workloads:Singles"]
    assert sl.run(experiment, allow_plugins=True).to_json() == first.to_json()
    with pytest.raises(sl.Error, match="not allowed to run"):
        sl.run(experiment)


def test_endless_workload_ends_at_the_limit():
    r = sl.simulate(sl.workload("sledlab_workloads:Endless"), "mems-g2", limit=5000)
    assert r.count == 5000


def test_every_operation_can_be_made():
    operations = simulate("All").summary["operations"]
    assert [operations[each] for each in ("read", "write", "trim", "flush")] == [1, 1, 1, 1]


def test_replay_decides_about_requests_past_the_end():
    workload = sl.workload("sledlab_workloads:Once", lbn=10**12)
    with pytest.raises(sl.Error, match=r"1000000000000|1,000,000,000,000"):
        sl.simulate(workload, "mems-g2")
    assert sl.simulate(workload, "mems-g2", outside="wrap").count == 3


@pytest.mark.parametrize("name", ["Once", "OnceInColumns"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_us": 0.5}, "request 2: time_us 0.5 is earlier than that before it"),
        ({"time_us": -1}, "request 2: time_us -1.0 is not from 0"),
        ({"time_us": float("nan")}, "request 2: time_us nan is not from 0"),
        ({"lbn": -8}, "request 2: lbn -8 is not a block number"),
        ({"lbn": 0.5}, "lbn must be whole numbers, not of type float64"),
        ({"blocks": 0}, "request 2: blocks 0 is not from 1"),
        ({"op": "read"}, "request 2: op re is none of R, W"),
    ],
)
def test_invalid_requests_are_reported_with_source_line(name, options, message):
    with pytest.raises(sl.Error, match=f"workload `sledlab_workloads:{name}` failed") as caught:
        simulate(name, **options)
    assert message in str(caught.value)
    assert "in requests" in str(caught.value)
    assert "sledlab_workloads.py" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Raises", "RuntimeError: out of ideas"),
        ("Nothing", "'NoneType' object is not iterable"),
        ("Uneven", "shape mismatch"),
        ("Missing", "has no attribute 'Missing'"),
    ],
)
def test_exception_ends_the_run_with_traceback(name, message):
    with pytest.raises(sl.Error, match="workload `sledlab_workloads:") as caught:
        simulate(name)
    assert message in str(caught.value)
    assert "sledlab.Workload" in str(caught.value)


def test_a_request_of_another_form_is_shown():
    with pytest.raises(sl.Error, match=r"not \(2, 0, 8, 'R', 1\)"):
        simulate("Once", count=5)


@pytest.mark.parametrize("name", ["Again", "Born"])
def test_recursive_simulation_is_refused(name):
    with pytest.raises(sl.Error, match="plug-ins are nested 4 levels deep") as caught:
        simulate(name)
    assert str(caught.value).count("plug-ins are nested") == 1


def test_devices_side_by_side_get_the_same_requests():
    workload = sl.workload("sledlab_workloads:Singles", count=200)
    compared = sl.side_by_side(workload, device=["mems-g2", "mems-g3"])
    rows = compared.runs.to_dicts()
    assert [row["requests"] for row in rows] == [200, 200]
    # 200 requests in 199 gaps of 700.5 us.
    assert {round(row["arrival_rate_iops"]) for row in rows} == {1435}


def test_duration_ends_an_endless_workload_in_studies():
    endless = sl.workload("sledlab_workloads:Endless")
    runs = sl.compare(endless, "mems-g2", scheduler="fcfs", speedup=[1, 2], duration_s=0.5).runs
    slow, fast = runs["arrival_rate_iops"].sort()
    assert fast == pytest.approx(2 * slow, rel=0.01)
    with pytest.raises(sl.Error, match="reads the requests of `sledlab_workloads:Endless` before the runs"):
        sl.hybrid_study(endless, "atlas-10k", duration_s=0.5)


@pytest.mark.usefixtures("without_pages")
def test_comparison_reloads_a_changed_workload(module_directory, tmp_path):
    def measure_means_ms():
        compared = sl.compare(
            sl.workload("sledlab_workloads:Singles", count=300),
            "mems-g2",
            scheduler=["fcfs", "sptf"],
            speedup=[1],
            out=tmp_path / "race",
        )
        return [row["mean_ms"] for row in compared.runs.to_dicts()]

    old_means_ms = measure_means_ms()
    assert measure_means_ms() == old_means_ms
    (module_directory / "sledlab_workloads.py").write_text(WORKLOADS.replace("np.sort(", "("))
    assert measure_means_ms() != old_means_ms


def test_study_file_runs_no_plug_in_unless_allowed(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(
        '[study]\nkind = "compare"\nscheduler = ["fcfs"]\nspeedup = [1.0]\n[device]\npreset = "mems-g2"\n'
        '[workload]\nkind = "sledlab_workloads:Singles"\ncount = 50\n'
    )
    with pytest.raises(sl.Error, match="not allowed to run"):
        sl.compare(study=study)
    assert sl.compare(study=study, allow_plugins=True).runs["requests"].to_list() == [50]


def test_command_line_accepts_python_workload(capsys, tmp_path):
    arguments = ["simulate", "--device", "mems-g2", "--limit", "100", "--workload"]
    assert run([*arguments, "sledlab_workloads:Singles", "--set", "workload.gap_us=10"]) == 0
    assert run([*arguments, "sledlab_workloads:Raises"]) == 2
    assert "out of ideas" in capsys.readouterr().err
    out = tmp_path / "made.csv"
    assert run(["trace", "generate", "sledlab_workloads:Singles", str(out), "--set", "workload.count=7"]) == 0
    assert len(out.read_text().splitlines()) == 8


def test_the_example_comes_in_bursts():
    r = sl.simulate(sl.workload("bursts:Bursts", mean_gap_ms=20), "mems-g2", limit=1600)
    gaps_ns = r.requests["arrival_ns"].diff().drop_nulls()
    assert (gaps_ns > 0).sum() == 99
    assert 15e6 < gaps_ns.filter(gaps_ns > 0).mean() < 25e6

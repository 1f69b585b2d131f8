"""Devices written in Python."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import sledlab as sl
from sledlab.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"

DEVICES = """
import sledlab as sl


class Memory:
    '''Like the built-in `ram`: an access and a bus transfer.'''

    active_mw, idle_mw = 1000.0, 500.0

    def __init__(self, capacity_mb=4096, access_us=1.0, bus_mb_s=133.0):
        self.capacity_blocks = capacity_mb * 10**6 // 512
        self.access_ms, self.block_ns = access_us / 1e3, 512e3 / bus_mb_s

    def serve(self, state, lbn, blocks, is_write):
        return self.access_ms + round(self.block_ns * blocks) / 1e6


class Arm:
    '''Positioning time grows with the distance, transfer time with the blocks.'''

    capacity_blocks, active_mw, idle_mw = 100_000, 800.0, 200.0
    inactive_mw, startup_ms, startup_mw = 20.0, 5.0, 1000.0

    def serve(self, state, lbn, blocks, is_write):
        return {"positioning_ms": abs(lbn - state) / 1e4, "transfer_ms": blocks / 100, "state": lbn + blocks}


class Remembers(Arm):
    '''The block read or written last takes 1 us.'''

    def __init__(self):
        self.last = None

    def serve(self, state, lbn, blocks, is_write):
        return 0.001 if lbn == self.last else super().serve(state, lbn, blocks, is_write)

    def served(self, start_ns, lbn, blocks, is_write):
        assert isinstance(start_ns, int) and isinstance(is_write, bool)
        self.last = lbn


class Far(Arm):
    '''States at the limits of their range.'''

    def serve(self, state, lbn, blocks, is_write):
        assert state in (0, 2**63 - 1, -(2**63), -1)
        return {"transfer_ms": 1, "state": (2**63 - 1, -(2**63), -1, 0)[lbn % 4]}


WRONG = {
    "none": None,
    "nothing": 0,
    "part": {"seek_ms": 1},
    "negative": -1,
    "state": {"state": 0.5, "transfer_ms": 1},
    "nan": {"positioning_ms": float("nan")},
    "word": "1",
}


class Fails(Arm):
    capacity_blocks = 10_000_000

    def __init__(self, failure="raise"):
        self.failure = failure

    def serve(self, state, lbn, blocks, is_write):
        if self.failure == "raise":
            raise RuntimeError("out of ideas")
        if self.failure == "simulate":
            itself = sl.device("sledlab_devices:Fails", failure="simulate")
            sl.simulate(sl.workload("uniform"), itself, limit=5)
        return WRONG[self.failure]


class Incomplete:
    capacity_blocks = 7

    def serve(self, state, lbn, blocks, is_write):
        return 1


class Empty(Arm):
    capacity_blocks = 0
"""


@pytest.fixture(autouse=True)
def module_directory(tmp_path, monkeypatch):
    (tmp_path / "sledlab_devices.py").write_text(DEVICES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield tmp_path
    sys.modules.pop("sledlab_devices", None)


def device(name, **parameters):
    return sl.device(f"sledlab_devices:{name}", **parameters)


def simulate(model, mean_interarrival_ms=5, limit=2000, **settings):
    workload = sl.workload("uniform", mean_interarrival_ms=mean_interarrival_ms)
    return sl.simulate(workload, model, limit=limit, **settings)


def request_times(result):
    return result.requests.select("start_ns", "completion_ns", "lbn")


@pytest.mark.parametrize("replay", ["open", "closed:4"])
@pytest.mark.parametrize("scheduler", ["fcfs", "sptf", "c-scan", "sstf"])
def test_python_memory_equals_built_in_memory(replay, scheduler):
    built_in = simulate(sl.device("ram", access_us=1.0), 0.01, replay=replay, scheduler=scheduler)
    plug_in = simulate(device("Memory"), 0.01, replay=replay, scheduler=scheduler)
    assert request_times(built_in).equals(request_times(plug_in))
    assert plug_in.energy.total == pytest.approx(built_in.energy.total, rel=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"system": sl.system("raid5", devices=4)},
        {"system": sl.system("mirror", devices=2)},
        {"cache": sl.cache("write-back", capacity_blocks=2048)},
        {"merge": "chains"},
    ],
)
def test_python_device_works_in_arrays_and_caches(options):
    built_in, plug_in = (simulate(model, 0.01, **options) for model in (sl.device("ram"), device("Memory")))
    assert request_times(built_in).equals(request_times(plug_in))


@pytest.mark.parametrize("kind", ["caching-disk", "write-buffer"])
def test_python_device_works_in_front_and_behind(kind):
    hybrid, disk = sl.hybrid(kind, front_mb=64), "atlas-10k"
    built_in = simulate(disk, hybrid=hybrid, front="ram", limit=500)
    plug_in = simulate(disk, hybrid=hybrid, front="sledlab_devices:Memory", limit=500)
    assert request_times(built_in).equals(request_times(plug_in))
    assert plug_in.config["front"]["kind"] == "sledlab_devices:Memory"
    built_in, plug_in = (
        simulate(model, hybrid=hybrid, front="mems-g2", limit=500)
        for model in (sl.device("ram"), device("Memory"))
    )
    assert request_times(built_in).equals(request_times(plug_in))


@pytest.mark.slow("calls Python for every access of a recorded sort")
def test_python_device_works_on_nodes(module_directory):
    built_in, plug_in = (
        sl.replay("sample/work/sort.work", device_model)
        for device_model in (sl.device("ram"), device("Memory"))
    )
    assert plug_in.by_phase.equals(built_in.by_phase)
    assert plug_in.components_s == built_in.components_s
    file = module_directory / "nodes.toml"
    table = '[work]\nfile = "sample/work/sort.work"\n[device]\npreset = "ram"\n'
    file.write_text(table + '[[group]]\nnodes = [1]\n[group.device]\nkind = "sledlab_devices:Memory"\n')
    with pytest.raises(sl.Error, match="`sledlab_devices:Memory`, which is not allowed to run"):
        sl.replay(experiment=file)
    grouped = sl.replay(experiment=file, allow_plugins=True)
    assert grouped.by_phase.equals(built_in.by_phase)
    with pytest.raises(sl.Error, match="device `sledlab_devices:Fails` failed") as caught:
        sl.replay("sample/work/sort.work", device("Fails"))
    assert "RuntimeError: out of ideas" in str(caught.value)


@pytest.mark.slow("calls Python for every access of a recorded sort")
def test_cluster_study_accepts_python_device():
    study = sl.smart_study(work=["sample/work/sort.work"], device=["ram", "sledlab_devices:Memory"])
    built_in, plug_in = study.runs
    assert built_in.run.elapsed_s == plug_in.run.elapsed_s


def arm_times(order):
    """Completion times in ns of an arm that serves requests in this order, all queued from the start."""
    position, now_ns, completions_ns = 0, 0, []
    for lbn in order:
        now_ns += round(abs(lbn - position) * 100) + 80_000
        position = lbn + 8
        completions_ns.append(now_ns)
    return completions_ns


def nearest_first(lbns):
    position, unserved, order = 0, list(lbns), []
    while unserved:
        next_lbn = min(unserved, key=lambda lbn: abs(lbn - position))
        unserved.remove(next_lbn)
        order.append(next_lbn)
        position = next_lbn + 8
    return order


@pytest.mark.parametrize(("scheduler", "order"), [("fcfs", list), ("sptf", nearest_first)])
def test_schedulers_see_positioning_from_current_state(scheduler, order):
    lbns = np.random.default_rng(4).permutation(90_000)[:200]
    columns = {"time_us": np.zeros(200), "op": ["R"] * 200, "offset_bytes": lbns * 512}
    trace = sl.trace({**columns, "length_bytes": np.full(200, 4096)})
    # All requests are queued when the device has started up.
    r = sl.simulate(trace, device("Arm"), scheduler=scheduler, replay="closed:200")
    rows = r.requests.sort("start_ns")
    assert rows["lbn"].to_list() == order([int(lbn) for lbn in lbns])
    completions_ns = rows["completion_ns"] - rows["start_ns"][0]
    assert completions_ns.to_list() == arm_times(rows["lbn"].to_list())


def test_predictions_change_no_result():
    # SPTF predicts the time of every queued request before each choice.
    first, second = (simulate(device("Arm"), 0.5, scheduler="sptf") for _ in range(2))
    assert first.to_json() == second.to_json()
    rows = first.requests.sort("start_ns")
    position = 0
    for row in rows.head(500).iter_rows(named=True):
        assert (
            row["completion_ns"] - row["start_ns"]
            == round(abs(row["lbn"] - position) * 100) + row["blocks"] * 10_000
        )
        position = row["lbn"] + row["blocks"]
    assert first.summary["queue_length"]["max"] > 20


def test_scheduler_is_notified_of_served_requests():
    columns = {"time_us": [0, 1e6, 2e6], "op": ["R", "W", "R"], "offset_bytes": [51_200, 51_200, 0]}
    r = sl.simulate(sl.trace({**columns, "length_bytes": [4096] * 3}), device("Remembers"))
    service_ns = (r.requests["completion_ns"] - r.requests["start_ns"]).to_list()
    assert service_ns == [90_000, 1_000, 90_800]


def test_states_keep_their_full_range():
    columns = {"time_us": np.arange(8) * 1e6, "op": ["R"] * 8, "offset_bytes": np.arange(8) * 512}
    trace = sl.trace({**columns, "length_bytes": [512] * 8})
    assert sl.simulate(trace, device("Far"), scheduler="sptf").count == 8


def test_energy_is_power_times_state_time():
    r = simulate(device("Arm"), 50, limit=100, power="fixed:timeout_ms=1")
    energy, state_time = r.energy, r.state_time
    assert energy.idle == pytest.approx(state_time.idle * 0.2)
    assert energy.inactive == pytest.approx(state_time.inactive * 0.02)
    assert energy.startup == pytest.approx(state_time.startup * 1.0)
    assert energy.seek + energy.access == pytest.approx((state_time.seek + state_time.access) * 0.8)
    assert state_time.startup > 0.1
    never = simulate(device("Arm"), 50, limit=100)
    assert never.state_time.inactive < 0.1


def test_device_file_runs_python_device_if_allowed(module_directory):
    file = module_directory / "mine.toml"
    file.write_text('kind = "sledlab_devices:Memory"\ncapacity_mb = 100\n')
    with pytest.raises(sl.Error, match=r"`sledlab_devices:Memory`, which is not allowed to run"):
        simulate(str(file))
    first = simulate(str(file), allow_plugins=True)
    assert first.config["device"] == {
        "kind": "sledlab_devices:Memory",
        "name": "mine",
        "description": "",
        "capacity_mb": 100,
    }
    experiment = sl.Experiment(first.experiment)
    assert experiment.plugins() == ["sledlab_devices:Memory"]
    with pytest.raises(sl.Error, match="not allowed to run"):
        sl.run(experiment)
    with pytest.raises(sl.Error, match="not allowed to run"):
        experiment.describe_device()
    assert sl.run(experiment, allow_plugins=True).to_json() == first.to_json()


def test_python_device_is_compared_side_by_side():
    compared = sl.side_by_side(sl.workload("uniform"), device=["ram", "sledlab_devices:Memory"], limit=300)
    built_in, plug_in = compared.runs.to_dicts()
    assert built_in["mean_ms"] == plug_in["mean_ms"]
    assert plug_in["device"] == "sledlab_devices:Memory"


@pytest.mark.usefixtures("without_pages")
def test_comparison_reloads_a_changed_device(module_directory, tmp_path):
    def measure_means_ms():
        compared = sl.compare(
            sl.workload("uniform", mean_interarrival_ms=1),
            "sledlab_devices:Arm",
            scheduler=["fcfs", "sptf"],
            speedup=[1],
            limit=500,
            out=tmp_path / "race",
        )
        return [row["mean_ms"] for row in compared.runs.to_dicts()]

    old_means_ms = measure_means_ms()
    assert old_means_ms[0] > old_means_ms[1]
    assert measure_means_ms() == old_means_ms
    # Of another length: to Python, bytecode is current if the source has the same length and second.
    (module_directory / "sledlab_devices.py").write_text(DEVICES.replace("/ 1e4", "/ 20e3"))
    assert measure_means_ms()[0] < old_means_ms[0]


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("raise", "RuntimeError: out of ideas"),
        ("none", "serve must return milliseconds, or a dict of them, not None"),
        ("word", "serve must return milliseconds, or a dict of them, not '1'"),
        ("nothing", "serve must take some time, a nanosecond at least"),
        ("part", "serve must return positioning_ms, transfer_ms and state, not seek_ms"),
        ("negative", "not -1"),
        ("nan", "not NaN"),
        ("state", "'float' object cannot be interpreted as an integer"),
    ],
)
@pytest.mark.parametrize("scheduler", ["fcfs", "sptf"])
def test_exception_ends_the_run_with_traceback(failure, message, scheduler):
    with pytest.raises(sl.Error, match="device `sledlab_devices:Fails` failed") as caught:
        simulate(device("Fails", failure=failure), 0.1, scheduler=scheduler)
    assert message in str(caught.value)
    assert "sledlab.Device" in str(caught.value)
    with pytest.raises(sl.Error, match="device `sledlab_devices:Fails` failed"):
        simulate(
            device("Fails", failure=failure),
            scheduler=scheduler,
            system=sl.system("mirror", devices=2),
            replay="closed:9",
        )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Incomplete", "has no attribute 'active_mw'"),
        ("Empty", r"capacity_blocks must be from 1 to 2\*\*53, not 0"),
        ("Missing", "has no attribute 'Missing'"),
    ],
)
def test_missing_method_is_reported_before_the_run(name, message):
    with pytest.raises(sl.Error, match=message):
        device(name)


def test_arguments_that_it_does_not_take_are_refused():
    with pytest.raises(sl.Error, match="unexpected keyword argument 'acess_us'"):
        device("Memory", acess_us=1)


def test_recursive_simulation_is_refused():
    with pytest.raises(sl.Error, match="plug-ins are nested 4 levels deep") as caught:
        simulate(device("Fails", failure="simulate"))
    assert str(caught.value).count("plug-ins are nested") == 1


def test_shared_bus_refuses_python_device():
    with pytest.raises(sl.Error, match=r"sledlab_devices:Memory` cannot share a bus"):
        simulate(device("Memory"), system=sl.system("stripe", devices=2), settings={"system.bus": "shared"})


def test_command_line_accepts_python_device(capsys, tmp_path):
    arguments = ["simulate", "--workload", "uniform", "--limit", "100", "--out", str(tmp_path / "out")]
    assert run([*arguments, "--device", "sledlab_devices:Arm"]) == 0
    assert "Arm" in capsys.readouterr().out
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert run(["simulate", "--workload", "uniform", "--device", "sledlab_devices:Fails"]) == 2
    assert "out of ideas" in capsys.readouterr().err
    assert run(["show", "device", "sledlab_devices:Memory", "--set", "device.capacity_mb=2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["capacity_blocks"] == 3906


def test_example_tape_gains_from_scheduling():
    fcfs, sptf = (
        simulate("tape:Tape", limit=1000, replay="closed:16", scheduler=scheduler)
        for scheduler in ("fcfs", "sptf")
    )
    # FCFS takes half a turn per request. SPTF sweeps endlessly: 16 requests share half a turn.
    assert fcfs.service_time_ms == pytest.approx(100, rel=0.1)
    assert sptf.service_time_ms == pytest.approx(100 / 16, rel=0.02)

"""Schedulers written in Python."""

import sys
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"

FAULTY_SCHEDULERS = """
class Base:
    def __init__(self, fail_at=3):
        self.queue, self.pops, self.fail_at = [], 0, fail_at

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        self.pops += 1
        return self.misbehave() if self.pops == self.fail_at else self.queue.pop(0)

    def __len__(self):
        return len(self.queue)


class Raises(Base):
    def misbehave(self):
        raise RuntimeError("out of ideas")


class Invents(Base):
    def misbehave(self):
        return 7


class Forgets(Base):
    def misbehave(self):
        self.queue.pop(0)
        return []


class NeverChooses(Base):
    def misbehave(self):
        return []


class Greedy(Base):
    def misbehave(self):
        return list(self.queue) or [self.queue.pop()]


class CannotPush(Base):
    def push(self, request):
        raise KeyError(request.lbn)


class AllAtOnce(Base):
    def pop(self, now_ns, device):
        assert len(device.state) == 3 and device.location(0) == (0, 0)
        times = device.positioning_ns(self.queue)
        assert times.tolist() == [device.positioning_ns(request) for request in self.queue]
        assert all(request.op in "RW" and request.queued_ns <= now_ns for request in self.queue)
        everything, self.queue = self.queue, []
        return everything
"""


@pytest.fixture
def module_directory(tmp_path, monkeypatch):
    (tmp_path / "sledlab_broken.py").write_text(FAULTY_SCHEDULERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield tmp_path
    sys.modules.pop("sledlab_broken", None)


def simulate(name, **settings):
    busy = sl.workload("uniform", mean_interarrival_ms=0.55)
    return sl.simulate(busy, "mems-g2", scheduler=name, limit=4000, **settings)


def test_example_sstf_equals_built_in_sstf(module_directory):
    built_in, plug_in = simulate("sstf"), simulate("sstf:Sstf")
    assert plug_in.summary["queue_length"]["max"] > 20
    assert built_in.requests.equals(plug_in.requests)
    assert plug_in.config["scheduler"] == {"kind": "sstf:Sstf"}


def test_experiment_with_plug_in_runs_again(module_directory):
    first = simulate("sledlab_broken:Raises", settings={"scheduler.fail_at": -1})
    again = sl.run(sl.Experiment(first.experiment), allow_plugins=True)
    assert again.config["scheduler"] == {"kind": "sledlab_broken:Raises", "fail_at": -1}
    assert again.summary == first.summary


def test_arguments_may_follow_the_name(module_directory):
    first = simulate("sledlab_broken:Raises:fail_at=-1")
    assert first.config["scheduler"] == {"kind": "sledlab_broken:Raises", "fail_at": -1}
    with pytest.raises(sl.Error, match="out of ideas"):
        simulate("sledlab_broken:Raises:fail_at=-1", settings={"scheduler.fail_at": 2})


def test_scheduler_may_choose_several_requests(module_directory):
    r = simulate("sledlab_broken:AllAtOnce")
    assert r.count == 4000
    assert (r.requests["start_ns"].diff().drop_nulls() == 0).any()


def test_scheduler_may_choose_several_requests_behind_a_bus(module_directory):
    busy = sl.workload("uniform", mean_interarrival_ms=0.9)
    r = sl.simulate(busy, "mems-g2-disksim", scheduler="sledlab_broken:AllAtOnce", limit=2000)
    assert r.count == 2000
    assert (r.requests["start_ns"].diff().drop_nulls() == 0).any()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Raises", "RuntimeError: out of ideas"),
        ("Invents", "must return a queued request or a list of them, not 7"),
        ("Forgets", "requests are queued"),
        ("NeverChooses", "pop returned no request although some are queued"),
        ("Greedy", "requests are queued"),
        ("CannotPush", "in push"),
        ("Missing", "has no attribute 'Missing'"),
    ],
)
def test_exception_ends_the_run_with_traceback(module_directory, name, message):
    with pytest.raises(sl.Error, match="scheduler `sledlab_broken:") as caught:
        simulate(f"sledlab_broken:{name}")
    assert message in str(caught.value)
    assert caught.value.__cause__ is not None


def test_exception_on_command_line_exits_2(module_directory, capsys):
    arguments = ["simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", "100"]
    assert run([*arguments, "--scheduler", "sledlab_broken:Raises"]) == 2
    stderr = capsys.readouterr().err
    assert all(part in stderr for part in ("Traceback", "in misbehave", "out of ideas"))


def test_exception_ends_a_closed_replay(module_directory):
    with pytest.raises(sl.Error, match="out of ideas"):
        simulate("sledlab_broken:Raises", replay="closed:8")

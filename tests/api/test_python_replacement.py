"""Replacement policies written in Python."""

import sys
from pathlib import Path

import numpy as np
import pytest
import sledlab as sl
from sledlab import _native
from sledlab.cli import run

EXAMPLES = Path(__file__).parents[2] / "examples"

POLICIES = """
from collections import OrderedDict

import sledlab as sl


class Lru:
    def __init__(self, capacity):
        self.keys, self.capacity = OrderedDict(), capacity

    def hit(self, key):
        assert key in self.keys
        self.keys.move_to_end(key)

    def insert(self, key):
        assert key not in self.keys and len(self.keys) < self.capacity
        self.keys[key] = None

    def evict(self, incoming):
        assert incoming not in self.keys and len(self.keys) == self.capacity
        return self.keys.popitem(last=False)[0]


class Fifo(Lru):
    def hit(self, key):
        pass


class Slru:
    def __init__(self, capacity):
        self.probation, self.protected, self.unused = OrderedDict(), OrderedDict(), set()
        self.max_protected = capacity // 2

    def hit(self, key):
        if key in self.unused:
            self.unused.remove(key)
            self.probation.move_to_end(key)
            return
        self.probation.pop(key, None)
        self.protected[key] = None
        self.protected.move_to_end(key)
        if len(self.protected) > self.max_protected:
            self.insert(self.protected.popitem(last=False)[0])

    def insert(self, key):
        self.probation[key] = None

    def prefetch(self, key):
        self.insert(key)
        self.unused.add(key)

    def evict(self, incoming):
        victim = self.probation.popitem(last=False)[0]
        self.unused.discard(victim)
        return victim


class Either(Lru):
    def __init__(self, capacity, recent=True):
        super().__init__(capacity)
        self.hit = super().hit if recent else lambda key: None


class Fails(Lru):
    def __init__(self, capacity, failure="raise"):
        super().__init__(capacity)
        self.failure = failure

    def evict(self, incoming):
        if self.failure == "raise":
            raise RuntimeError("out of ideas")
        if self.failure == "simulate":
            simulate()
        return {"none": None, "absent": 10**15, "incoming": incoming}[self.failure]


class CannotHit(Lru):
    def hit(self, key):
        raise KeyError(key)


class NoEvict:
    hit = insert = print


def simulate():
    mcd = sl.hybrid("caching-disk", front_mb=1)
    settings = {"hybrid.replacement": "sledlab_caches:Fails:failure=simulate"}
    sl.simulate(sl.workload("uniform"), "atlas-10k", hybrid=mcd, limit=2000, settings=settings)
"""


@pytest.fixture(autouse=True)
def module_directory(tmp_path, monkeypatch):
    (tmp_path / "sledlab_caches.py").write_text(POLICIES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield tmp_path
    sys.modules.pop("sledlab_caches", None)


def trace(keys, key_bytes=65536):
    count = len(keys)
    columns = {
        "time_us": np.arange(count) * 20_000,
        "op": ["R", "W"] * (count // 2),
        "length_bytes": [512] * count,
    }
    return sl.trace({**columns, "offset_bytes": np.asarray(keys) * key_bytes})


def popular_keys(count=6000):
    return np.minimum(np.random.default_rng(5).zipf(1.3, count), 2000)


def hit_ratios(policies, keys=None):
    sizes_mb = [segments * 65536 / 1e6 + 0.01 for segments in (1, 8, 100, 5000)]
    result = sl.hit_ratios(
        trace(popular_keys() if keys is None else keys), replacement=policies, cache_mb=sizes_mb
    )
    return result.frame


def simulate_caching_disk(policy, key_bytes=65536, **settings):
    mcd = sl.hybrid("caching-disk", front_mb=1, replacement=policy)
    return sl.simulate(trace(popular_keys(1500), key_bytes), "atlas-10k", hybrid=mcd, settings=settings)


@pytest.mark.parametrize(
    ("built_in", "plug_in"),
    [
        ("lru", "sledlab_caches:Lru"),
        ("fifo", "sledlab_caches:Fifo"),
        ("lru", "sledlab_caches:Either"),
        ("fifo", "sledlab_caches:Either:recent=false"),
    ],
)
def test_plug_in_equals_built_in_model(built_in, plug_in):
    frame = hit_ratios([built_in, plug_in])
    built_in_rows, plug_in_rows = (frame.filter(policy=name).drop("policy") for name in (built_in, plug_in))
    assert built_in_rows.height == 4
    assert built_in_rows.equals(plug_in_rows)
    built_in_run, plug_in_run = simulate_caching_disk(built_in), simulate_caching_disk(plug_in)
    assert built_in_run.requests.equals(plug_in_run.requests)
    assert built_in_run.summary["hybrid"] == plug_in_run.summary["hybrid"]
    assert plug_in_run.config["hybrid"]["replacement"] == plug_in
    other_run = simulate_caching_disk("fifo" if built_in == "lru" else "lru")
    assert other_run.summary["hybrid"]["read_hits"] != plug_in_run.summary["hybrid"]["read_hits"]


def test_virtual_managers_use_python_policy():
    settings = {"hybrid.virtual_managers": True, "hybrid.fetch_kb": 64}
    built_in, plug_in = (simulate_caching_disk(name, **settings) for name in ("lru", "sledlab_caches:Lru"))
    assert built_in.requests.equals(plug_in.requests)


def test_prefetch_in_python_does_not_count_as_use():
    """Segments of 8 KB are fetched in groups of eight."""
    settings = {"key_bytes": 8192, "hybrid.fetch_kb": 64}
    built_in, plug_in = (simulate_caching_disk(name, **settings) for name in ("slru", "sledlab_caches:Slru"))
    assert built_in.requests.equals(plug_in.requests)


def test_experiment_with_plug_in_runs_if_allowed():
    first = simulate_caching_disk("sledlab_caches:Either:recent=false")
    experiment = sl.Experiment(first.experiment).with_workload("uniform")
    assert experiment.plugins() == ["sledlab_caches:Either"]
    with pytest.raises(sl.Error, match="`sledlab_caches:Either`, which is not allowed to run"):
        experiment.check()
    with pytest.raises(sl.Error, match="not allowed to run"):
        experiment.with_plugins(["sledlab_caches:Fif"]).check()
    experiment.with_plugins(["sledlab_caches:Either:recent=true"]).check()
    assert sl.Experiment(first.experiment).explicit_toml() == first.experiment


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("raise", "RuntimeError: out of ideas"),
        ("none", "'NoneType' object cannot be interpreted as an integer"),
        ("absent", "evict must return a key that the cache holds, not 1000000000000000"),
        ("incoming", "evict must return a key that the cache holds, not"),
    ],
)
def test_exception_ends_the_command_with_traceback(failure, message):
    policy = f"sledlab_caches:Fails:failure={failure}"
    for run_policy in (simulate_caching_disk, hit_ratios):
        with pytest.raises(sl.Error, match="replacement policy `sledlab_caches:Fails` failed") as caught:
            run_policy(policy)
        assert message in str(caught.value)
        assert "sledlab.ReplacementPolicy" in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("sledlab_caches:NoEvict", "`sledlab_caches:NoEvict` lacks evict"),
        ("sledlab_caches:Missing", "has no attribute 'Missing'"),
        ("sledlab_caches:Lru:depth=3", "unexpected keyword argument 'depth'"),
        ("sledlab_caches:Lru:depth", "`depth` is not of the form key=value"),
        ("sledlab_caches:CannotHit", "KeyError"),
    ],
)
def test_missing_method_is_reported(policy, message):
    for run_policy in (simulate_caching_disk, hit_ratios):
        with pytest.raises(sl.Error, match=message):
            run_policy(policy)


def test_recursive_simulation_is_refused():
    with pytest.raises(sl.Error, match="plug-ins are nested 4 levels deep"):
        simulate_caching_disk("sledlab_caches:Fails:failure=simulate")


def test_study_file_runs_no_plug_in_unless_allowed(module_directory, monkeypatch):
    monkeypatch.chdir(module_directory)
    (module_directory / "lying_here.py").write_text("open('imported', 'w').close()\n" + POLICIES)
    (module_directory / "t.csv").write_text(
        "time_us,op,offset_bytes,length_bytes\n"
        + "".join(f"{n * 9000},R,{n % 7 * 65536},4096\n" for n in range(60))
    )
    table = '[device]\npreset = "atlas-10k"\n[trace]\nfile = "t.csv"\n'
    study = module_directory / "study.toml"
    tune = '[study]\nkind = "tune"\nbudget = 16.0\nreplacement = ["lru", "lying_here:Lru"]\n'
    hybrid = '[study]\nkind = "hybrid"\nreplacement = ["lru", "lying_here:Lru"]\n'
    hybrid += "mems_mb = [8.0]\nsegment_kb = [8]\nat_mb = 8.0\n"
    for study_table, run_study in ((tune, sl.tune_hybrid), (hybrid, sl.hybrid_study)):
        study.write_text(study_table + table)
        with pytest.raises(sl.Error, match="not allowed to run"):
            run_study(study=study)
        assert not (module_directory / "imported").exists()
    study.write_text(hybrid + table)
    compared = sl.hybrid_study(study=study, allow_plugins=True)
    lru, plug_in = (row for row in compared.replacement)
    assert (lru.policy, plug_in.policy) == ("lru", "lying_here:Lru")
    assert lru.run.mean_ms == plug_in.run.mean_ms
    sys.modules.pop("lying_here", None)


def test_plug_in_does_not_run_without_permission():
    with pytest.raises(sl.Error, match="not allowed to run"):
        _native.check_replacement("sledlab_caches:Lru", None)
    uses = _native.SegmentUses(trace([1, 2]).open(), 128)
    with pytest.raises(sl.Error, match="not allowed to run"):
        uses.hits([("sledlab_caches:Lru", 1)], ["sledlab_caches:Fifo"])


def test_command_line_accepts_python_policy(capsys, module_directory):
    file = module_directory / "t.csv"
    trace(popular_keys(500)).write(file)
    assert run(["trace", "hits", str(file), "--replacement", "lru,clock:Clock:marked=true"]) == 0
    assert "clock:Clock:marked=true" in capsys.readouterr().out
    assert run(["trace", "hits", str(file), "--replacement", "sledlab_caches:Fails"]) == 2
    assert "out of ideas" in capsys.readouterr().err


def test_example_clock_lies_between_fifo_and_lru():
    frame = hit_ratios(["fifo", "clock:Clock", "lru"]).filter(room=100)
    fifo, clock, lru = frame["hit_ratio"].to_list()
    assert fifo < clock
    assert clock == pytest.approx(lru, abs=0.02)
    # Key 1 is used again, so the hand only clears its mark, and evicts key 2.
    keys = [1, 2, 1, 3, 1, 2]
    two_segments = sl.hit_ratios(
        trace(keys), replacement=["clock:Clock", "fifo"], cache_mb=[2 * 65536 / 1e6 + 0.01]
    )
    assert (two_segments.frame["hit_ratio"] * 6).round().to_list() == [2, 1]

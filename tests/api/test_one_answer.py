"""The same experiment gives the same numbers from Python, options and files."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
import sledlab as sl
from sledlab import _native
from sledlab.model.catalog import CATALOGS, load_catalog
from sledlab.runs.compose import compose
from sledlab.runs.execute import execute
from sledlab.runs.recording import Recording

EXPERIMENTS, PARTS, MIN = 90, 3, 2
REQUESTS = 400
KINDS = ("device", "scheduler", "workload", "power", "merge", "system", "cache", "hybrid", "replacement")
SHORT = {"optimal": 6}
"""Schedulers that refuse long queues, and how many requests may be outstanding under them."""
OPTIONAL = ("hybrid", "system", "cache", "merge", "power")
"""Options omitted, in this order, from invalid combinations."""


@dataclass
class RandomExperiment:
    """One random experiment: chosen models by kind, and settings."""

    models: dict[str, str]
    settings: dict[str, Any] = field(default_factory=dict)
    replay: str = "open"
    speedup: float = 1.0
    seed: int = 1

    def setting_overrides(self) -> dict[str, Any]:
        """Everything but device, workload, scheduler and speed-up as settings by key."""
        choice = {f"{kind}.kind": self.models[kind] for kind in OPTIONAL if kind in self.models}
        if "replacement" in self.models:
            choice["hybrid.replacement"] = self.models["replacement"]
        return {**choice, **self.settings}

    def keywords(self) -> dict[str, Any]:
        """Options of `sl.simulate` other than source, device, scheduler and speed-up."""
        return {
            "replay": self.replay,
            "limit": REQUESTS,
            "seed": self.seed,
            "settings": self.setting_overrides(),
        }

    def experiment(self) -> sl.Experiment:
        options = {**self.keywords(), "scheduler": self.models["scheduler"], "speedup": self.speedup}
        return compose(sl.workload(self.models["workload"]), self.models["device"], options).experiment


@cache
def names(kind: str) -> tuple[str, ...]:
    """Every registered model of a kind; no bound that knows the future, which no device can have."""
    return tuple(name for name in CATALOGS[kind] if (kind, name) != ("replacement", "belady"))


def cycles(random: Random) -> dict[str, Iterator[str]]:
    """For every kind its models over and over, shuffled anew each time."""

    def forever(kind: str) -> Iterator[str]:
        while True:
            yield from random.sample(names(kind), len(names(kind)))

    return {kind: forever(kind) for kind in KINDS}


def layouts() -> tuple[str, ...]:
    mems = next(kind for kind in load_catalog()["device_kinds"] if kind["name"] == "mems")
    return tuple(next(spec for spec in mems["parameters"] if spec["name"] == "layout")["kind"]["choice"])


@cache
def parameters(hybrid: str) -> set[str]:
    """What a hybrid takes."""
    return {spec.name for spec in CATALOGS["hybrid"].show(hybrid).parameters}


@cache
def random_experiments() -> tuple[RandomExperiment, ...]:
    """The experiments, all valid, in which each model occurs at least so many times."""
    random, result = Random(3), []
    wheel = cycles(random)
    used: Counter[tuple[str, str]] = Counter()
    for seed in count(1):
        missing = [(kind, name) for kind in KINDS for name in names(kind) if used[kind, name] < MIN]
        if len(result) >= EXPERIMENTS and not missing:
            return tuple(result)
        assert seed < 20 * EXPERIMENTS, f"cannot be combined: {missing}"
        expected = dict([random.choice(missing)]) if missing and len(result) >= EXPERIMENTS // 2 else {}
        if (one := draw(random, wheel, expected, seed)) is not None:
            result.append(one)
            used.update(one.models.items())
    raise AssertionError


def draw(
    random: Random, wheel: dict[str, Iterator[str]], expected: dict[str, str], seed: int
) -> RandomExperiment | None:
    """One experiment with some models in it; none where nothing makes sense."""
    cached = [kind for kind in OPTIONAL if random.random() < (0.7 if kind == "merge" else 0.4)]
    models = {kind: next(wheel[kind]) for kind in ("device", "scheduler", "workload", *cached)} | expected
    if "replacement" in expected:
        models["hybrid"] = "caching-disk"
    if "hybrid" in models and "replacement" in parameters(models["hybrid"]):
        models.setdefault("replacement", next(wheel["replacement"]))
    one = RandomExperiment(models, seed=seed)
    if random.random() < 0.5 or models["scheduler"] in SHORT:
        outstanding = min(random.choice((2, 30, 200)), SHORT.get(models["scheduler"], 200))
        one.replay = f"closed:{outstanding}{random.choice(('', ':3ms'))}"
    else:
        one.speedup = random.choice((1.0, 20.0, 1000.0))
    if models["scheduler"] in SHORT:  # behind the others more requests wait than are outstanding
        one.models = {
            kind: name for kind, name in models.items() if kind not in (*OPTIONAL[:3], "replacement")
        }
        if set(expected) - set(one.models):
            return None
    _decorate(one, random)
    while not _valid(one):
        dropped = [kind for kind in OPTIONAL if kind in one.models and kind not in expected]
        if "replacement" in expected or not dropped:
            return None
        del one.models[dropped[0]]
        one.settings = {key: value for key, value in one.settings.items() if not key.startswith(dropped[0])}
        if dropped[0] == "hybrid":
            one.models.pop("replacement", None)
    return one


def _decorate(one: RandomExperiment, random: Random) -> None:
    """Layouts, batches, arrays and small caches."""
    if one.models["device"].startswith("mems") and random.random() < 0.5:
        one.settings["device.layout"] = random.choice(layouts())
    if random.random() < 0.3:
        one.settings["scheduler.batch"] = random.choice(("none", "same-position"))
    if one.models.get("merge", "none") != "none":
        one.settings |= {
            "merge.operations": random.choice(("reads", "any")),
            "merge.rows": random.choice((1, 40)),
        }
    if one.models.get("system", "single") != "single":
        one.settings["system.devices"] = 4
    if one.models.get("cache", "none") != "none":
        one.settings |= {"cache.capacity_blocks": 512, "cache.volatile": random.random() < 0.5}
    if "front_mb" in parameters(one.models.get("hybrid", "mirror")):
        one.settings["hybrid.front_mb"] = 64
    if one.models.get("hybrid") == "mirror":
        one.settings["front.preset"] = one.models["device"]


def _valid(one: RandomExperiment) -> bool:
    try:
        one.experiment().check()
    except sl.Error:
        return False
    return True


def test_every_model_is_drawn_often_and_requests_wait() -> None:
    used = Counter(pair for one in random_experiments() for pair in one.models.items())
    assert len(random_experiments()) >= EXPERIMENTS
    assert all(used[kind, name] >= MIN for kind in KINDS for name in names(kind)), used
    assert sum(one.replay.startswith("closed") for one in random_experiments()) > EXPERIMENTS // 4


@pytest.mark.slow("asks thirty experiments in six ways")
@pytest.mark.parametrize("part", range(PARTS))
def test_all_ways_give_the_same_numbers(part: int, tmp_path: Path, sledlab: Callable[..., Any]) -> None:
    waited = 0
    for index, one in enumerate(random_experiments()[part::PARTS]):
        waited += check(one, tmp_path / str(index), sledlab)
    assert waited > 0.6 * EXPERIMENTS / PARTS


def check(one: RandomExperiment, place: Path, sledlab: Callable[..., Any]) -> bool:
    """Asks in every way, and tells whether requests waited."""
    models, options = one.models, one.keywords()
    source, scheduler = sl.workload(models["workload"]), models["scheduler"]
    speedup = None if one.replay.startswith("closed") else one.speedup
    run = sl.simulate(source, models["device"], scheduler=scheduler, speedup=speedup, **options)
    expected = run.summary
    timed = execute(one.experiment(), Recording(), time_decisions=True)
    assert timed.summary == expected, one
    place.mkdir()
    (file := place / "experiment.toml").write_text(run.experiment, encoding="utf-8")
    assert sl.run(file).summary == expected, one
    assert cli_summary(one, sledlab) == json.loads(run.to_json()), one
    race = sl.compare(
        source,
        models["device"],
        scheduler=[scheduler],
        speedup=[one.speedup],
        **options,
        overload="drain",
        parallel=1,
    )
    assert_same_row(race.runs.row(0, named=True), expected, one)
    (study := place / "study.toml").write_text(race.toml, encoding="utf-8")
    again = sl.compare(study=study, parallel=1)
    assert again.runs.equals(race.runs, null_equal=True), one
    return bool(expected["queue_length"]["max"] > 1)


def cli_summary(one: RandomExperiment, sledlab: Callable[..., Any]) -> dict[str, Any]:
    """The summary that the command line prints."""
    models = one.models
    speedup = [] if one.replay.startswith("closed") else ["--speedup", one.speedup]
    sets = [
        word
        for key, value in one.setting_overrides().items()
        for word in ("--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}")
    ]
    answer = sledlab(
        "simulate", "--device", models["device"], "--workload", models["workload"],
        "--scheduler", models["scheduler"], "--replay", one.replay, "--limit", REQUESTS, "--seed", one.seed,
        *speedup, *sets, "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    result = dict(answer.json)
    del result["wall_s"]
    return result


def assert_same_row(row: dict[str, Any], summary: dict[str, Any], one: RandomExperiment) -> None:
    """A run of a comparison has the numbers of the run."""
    times = summary["response_time_ms"]
    expected = {
        "requests": summary["requests"],
        "mean_ms": times["mean"],
        "scv": times["scv"],
        "p99_ms": times["p99"],
        "max_ms": times["max"],
        "queue_mean": summary["queue_length"]["mean"],
        "energy_j": summary["energy_j"]["total"],
        "seek_j": summary["energy_j"]["seek"],
        "startups": summary["startups"],
        "merged": summary["merged"]["requests"],
        "elapsed_s": summary["elapsed_s"],
        "positioning_ms": summary["time_by_part_ms"]["positioning"],
    }
    assert {name: row[name] for name in expected} == expected, one


@pytest.mark.slow("replays a long queue, in which the difference once showed")
def test_timed_decisions_leave_merging_alone(tmp_path: Path) -> None:
    """A wrapper that times decisions once did not hand on what merging asks of the scheduler."""
    trace = Path(__file__).parents[2] / "sample" / "traces" / "oltp-orders-a.csv.zst"
    options = {"operations": 60_000, "settings": {"merge.kind": "chains", "system.start": "parked"}}
    alone = sl.simulate(trace, "mems-g2", scheduler="sstf", speedup=5, requests=False, **options)
    assert round(alone.response_time.mean, 2) == 9514.44
    race = sl.compare(
        trace, "mems-g2", scheduler="sstf", speedup=[5], **options, overload="drain", parallel=1
    )
    assert race.runs["mean_ms"].item() == alone.response_time.mean


def test_the_simulator_knows_the_kinds() -> None:
    assert set(KINDS) <= set(CATALOGS), "every kind that can be registered is drawn"
    assert _native.catalog()

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

EXPERIMENTS, PARTS, MIN_USES = 90, 3, 2
REQUESTS = 400
KINDS = ("device", "scheduler", "workload", "power", "merge", "system", "cache", "hybrid", "replacement")
MAX_OUTSTANDING = {"optimal": 6}
"""Maximum number of outstanding requests of schedulers that refuse long queues."""
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
        kinds = {f"{kind}.kind": self.models[kind] for kind in OPTIONAL if kind in self.models}
        if "replacement" in self.models:
            kinds["hybrid.replacement"] = self.models["replacement"]
        return {**kinds, **self.settings}

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
def model_names(kind: str) -> tuple[str, ...]:
    """Every registered model of a kind, without Belady's bound, which knows the future."""
    return tuple(name for name in CATALOGS[kind] if (kind, name) != ("replacement", "belady"))


def endless_models(random: Random) -> dict[str, Iterator[str]]:
    """Endless iterators over the models of each kind, shuffled anew for every pass."""

    def forever(kind: str) -> Iterator[str]:
        while True:
            yield from random.sample(model_names(kind), len(model_names(kind)))

    return {kind: forever(kind) for kind in KINDS}


def layouts() -> tuple[str, ...]:
    mems = next(kind for kind in load_catalog()["device_kinds"] if kind["name"] == "mems")
    return tuple(next(spec for spec in mems["parameters"] if spec["name"] == "layout")["kind"]["choice"])


@cache
def hybrid_parameters(hybrid: str) -> set[str]:
    """Names of the parameters of a hybrid."""
    return {spec.name for spec in CATALOGS["hybrid"].show(hybrid).parameters}


@cache
def random_experiments() -> tuple[RandomExperiment, ...]:
    """Valid experiments in which each model occurs at least `MIN_USES` times."""
    random, experiments = Random(3), []
    models_by_kind = endless_models(random)
    use_counts: Counter[tuple[str, str]] = Counter()
    for seed in count(1):
        missing_models = [
            (kind, name) for kind in KINDS for name in model_names(kind) if use_counts[kind, name] < MIN_USES
        ]
        if len(experiments) >= EXPERIMENTS and not missing_models:
            return tuple(experiments)
        assert seed < 20 * EXPERIMENTS, f"cannot be combined: {missing_models}"
        required_models = (
            dict([random.choice(missing_models)])
            if missing_models and len(experiments) >= EXPERIMENTS // 2
            else {}
        )
        if (experiment := draw(random, models_by_kind, required_models, seed)) is not None:
            experiments.append(experiment)
            use_counts.update(experiment.models.items())
    raise AssertionError


def draw(
    random: Random, models_by_kind: dict[str, Iterator[str]], required_models: dict[str, str], seed: int
) -> RandomExperiment | None:
    """Draw an experiment with the required models, or None if no valid one is found."""
    optional_kinds = [kind for kind in OPTIONAL if random.random() < (0.7 if kind == "merge" else 0.4)]
    models = {
        kind: next(models_by_kind[kind]) for kind in ("device", "scheduler", "workload", *optional_kinds)
    } | required_models
    if "replacement" in required_models:
        models["hybrid"] = "caching-disk"
    if "hybrid" in models and "replacement" in hybrid_parameters(models["hybrid"]):
        models.setdefault("replacement", next(models_by_kind["replacement"]))
    experiment = RandomExperiment(models, seed=seed)
    if random.random() < 0.5 or models["scheduler"] in MAX_OUTSTANDING:
        outstanding = min(random.choice((2, 30, 200)), MAX_OUTSTANDING.get(models["scheduler"], 200))
        experiment.replay = f"closed:{outstanding}{random.choice(('', ':3ms'))}"
    else:
        experiment.speedup = random.choice((1.0, 20.0, 1000.0))
    if (
        models["scheduler"] in MAX_OUTSTANDING
    ):  # other components may queue more requests than are outstanding
        experiment.models = {
            kind: name for kind, name in models.items() if kind not in (*OPTIONAL[:3], "replacement")
        }
        if set(required_models) - set(experiment.models):
            return None
    _decorate(experiment, random)
    while not _is_valid(experiment):
        removable_kinds = [
            kind for kind in OPTIONAL if kind in experiment.models and kind not in required_models
        ]
        if "replacement" in required_models or not removable_kinds:
            return None
        del experiment.models[removable_kinds[0]]
        experiment.settings = {
            key: value for key, value in experiment.settings.items() if not key.startswith(removable_kinds[0])
        }
        if removable_kinds[0] == "hybrid":
            experiment.models.pop("replacement", None)
    return experiment


def _decorate(experiment: RandomExperiment, random: Random) -> None:
    """Add layouts, batches, merging, arrays and small caches."""
    if experiment.models["device"].startswith("mems") and random.random() < 0.5:
        experiment.settings["device.layout"] = random.choice(layouts())
    if random.random() < 0.3:
        experiment.settings["scheduler.batch"] = random.choice(("none", "same-position"))
    if experiment.models.get("merge", "none") != "none":
        experiment.settings |= {
            "merge.operations": random.choice(("reads", "any")),
            "merge.rows": random.choice((1, 40)),
        }
    if experiment.models.get("system", "single") != "single":
        experiment.settings["system.devices"] = 4
    if experiment.models.get("cache", "none") != "none":
        experiment.settings |= {"cache.capacity_blocks": 512, "cache.volatile": random.random() < 0.5}
    if "front_mb" in hybrid_parameters(experiment.models.get("hybrid", "mirror")):
        experiment.settings["hybrid.front_mb"] = 64
    if experiment.models.get("hybrid") == "mirror":
        experiment.settings["front.preset"] = experiment.models["device"]


def _is_valid(experiment: RandomExperiment) -> bool:
    try:
        experiment.experiment().check()
    except sl.Error:
        return False
    return True


def test_every_model_is_drawn_often_and_requests_wait() -> None:
    use_counts = Counter(pair for experiment in random_experiments() for pair in experiment.models.items())
    assert len(random_experiments()) >= EXPERIMENTS
    assert all(use_counts[kind, name] >= MIN_USES for kind in KINDS for name in model_names(kind)), use_counts
    assert (
        sum(experiment.replay.startswith("closed") for experiment in random_experiments()) > EXPERIMENTS // 4
    )


@pytest.mark.slow("runs thirty experiments through six interfaces")
@pytest.mark.parametrize("part", range(PARTS))
def test_all_interfaces_give_the_same_numbers(part: int, tmp_path: Path, sledlab: Callable[..., Any]) -> None:
    waited_count = 0
    for index, experiment in enumerate(random_experiments()[part::PARTS]):
        waited_count += compare_interfaces(experiment, tmp_path / str(index), sledlab)
    assert waited_count > 0.6 * EXPERIMENTS / PARTS


def compare_interfaces(experiment: RandomExperiment, directory: Path, sledlab: Callable[..., Any]) -> bool:
    """Compare the results of all interfaces, and return whether requests waited."""
    models, options = experiment.models, experiment.keywords()
    source, scheduler = sl.workload(models["workload"]), models["scheduler"]
    speedup = None if experiment.replay.startswith("closed") else experiment.speedup
    run = sl.simulate(source, models["device"], scheduler=scheduler, speedup=speedup, **options)
    summary = run.summary
    timed = execute(experiment.experiment(), Recording(), time_decisions=True)
    assert timed.summary == summary, experiment
    directory.mkdir()
    (file := directory / "experiment.toml").write_text(run.experiment, encoding="utf-8")
    assert sl.run(file).summary == summary, experiment
    assert cli_summary(experiment, sledlab) == json.loads(run.to_json()), experiment
    race = sl.compare(
        source,
        models["device"],
        scheduler=[scheduler],
        speedup=[experiment.speedup],
        **options,
        overload="drain",
        parallel=1,
    )
    assert_same_row(race.runs.row(0, named=True), summary, experiment)
    (study := directory / "study.toml").write_text(race.toml, encoding="utf-8")
    repeated = sl.compare(study=study, parallel=1)
    assert repeated.runs.equals(race.runs, null_equal=True), experiment
    return bool(summary["queue_length"]["max"] > 1)


def cli_summary(experiment: RandomExperiment, sledlab: Callable[..., Any]) -> dict[str, Any]:
    """The summary that the command line prints."""
    models = experiment.models
    speedup = [] if experiment.replay.startswith("closed") else ["--speedup", experiment.speedup]
    set_options = [
        argument
        for key, value in experiment.setting_overrides().items()
        for argument in ("--set", f"{key}={str(value).lower() if isinstance(value, bool) else value}")
    ]
    answer = sledlab(
        "simulate", "--device", models["device"], "--workload", models["workload"],
        "--scheduler", models["scheduler"], "--replay", experiment.replay, "--limit", REQUESTS,
        "--seed", experiment.seed, *speedup, *set_options, "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    summary = dict(answer.json)
    del summary["wall_s"]
    return summary


def assert_same_row(row: dict[str, Any], summary: dict[str, Any], experiment: RandomExperiment) -> None:
    """Check that the row of a comparison has the numbers of the run."""
    response_ms = summary["response_time_ms"]
    expected_row = {
        "requests": summary["requests"],
        "mean_ms": response_ms["mean"],
        "scv": response_ms["scv"],
        "p99_ms": response_ms["p99"],
        "max_ms": response_ms["max"],
        "queue_mean": summary["queue_length"]["mean"],
        "energy_j": summary["energy_j"]["total"],
        "seek_j": summary["energy_j"]["seek"],
        "startups": summary["startups"],
        "merged": summary["merged"]["requests"],
        "elapsed_s": summary["elapsed_s"],
        "positioning_ms": summary["time_by_part_ms"]["positioning"],
    }
    assert {name: row[name] for name in expected_row} == expected_row, experiment


@pytest.mark.slow("replays a long queue, in which the difference once showed")
def test_timed_decisions_leave_merging_alone(tmp_path: Path) -> None:
    """A wrapper that timed decisions did not forward the calls by which merging queries the scheduler."""
    trace = Path(__file__).parents[2] / "sample" / "traces" / "oltp-orders-a.csv.zst"
    options = {"operations": 60_000, "settings": {"merge.kind": "chains", "system.start": "parked"}}
    simulated = sl.simulate(trace, "mems-g2", scheduler="sstf", speedup=5, requests=False, **options)
    assert round(simulated.response_time.mean, 2) == 9593.53
    race = sl.compare(
        trace, "mems-g2", scheduler="sstf", speedup=[5], **options, overload="drain", parallel=1
    )
    assert race.runs["mean_ms"].item() == simulated.response_time.mean


def test_every_kind_of_model_has_a_catalog() -> None:
    assert set(KINDS) <= set(CATALOGS), "every kind that can be registered is drawn"
    assert _native.catalog()

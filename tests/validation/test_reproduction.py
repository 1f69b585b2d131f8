"""The experiments of papers run, and the pages of docs/reproduction have a verdict on every claim."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sledlab.calibration import CALIBRATIONS
from sledlab.cli import run as sledlab

from . import reference
from .reproduction.__main__ import PAGES, document
from .reproduction.claims import OUTCOMES, claims
from .reproduction.experiments import EXPERIMENTS
from .reproduction.held import Held
from .reproduction.hybrid import definitions as hybrid_definitions
from .reproduction.hybrid import page as hybrid_page
from .reproduction.hybrid import runs as hybrid_runs
from .reproduction.hybrid import workloads as hybrid_workloads
from .reproduction.power import definitions as power_definitions
from .reproduction.power import page as power_page
from .reproduction.power import runs as power_runs
from .reproduction.scheduling import definitions, page
from .reproduction.scheduling.runs import NAMES, Race, Runs, run
from .reproduction.sheet import counts

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SINGLE = ("paper-000-figure-4", "paper-002-starvation")
"""Not comparisons: one for `device seek-map`, one for `simulate`."""

FILES = sorted(EXPERIMENTS.glob("*.toml"))
EVALUATORS = {
    "hybrid": hybrid_page.EVALUATORS,
    "power": power_page.EVALUATORS,
    "scheduling": page.EVALUATORS,
}
LEAST = {"hybrid": 30, "power": 40, "scheduling": 20}
"""Claims that are reproduced, at least."""

HELD: dict[str, Held] = {**definitions.HELD, **power_definitions.HELD, **hybrid_definitions.HELD}

needs_reference = pytest.mark.skipif(not reference.present(), reason=reference.MISSING)
QUICK = ("--limit", "300", "--warmup", "0", "--seeds", "1")


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.stem not in SINGLE], ids=lambda file: file.stem
)
def test_experiment_runs(file: Path, tmp_path: Path) -> None:
    quick = [*QUICK, "--jobs", "1", "--out", str(tmp_path)]
    experiment = read(file.stem)
    if "workload" not in experiment:
        if not reference.present():
            pytest.skip(reference.MISSING)
        quick += ["--trace", str(reference.trace("seagate_gap"))]
    compare = experiment["compare"]
    if "speedups" in compare:
        quick += ["--speedups", f"{compare['speedups'][0]}"]
    if "replay.limit" in compare.get("vary", {}):
        quick += ["--vary", "replay.limit=200,300"]
    assert sledlab(["compare", str(file), *quick]) == 0
    assert (tmp_path / "points.parquet").exists()


def test_single_experiments_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    figure_4, starvation = (str(EXPERIMENTS / f"{name}.toml") for name in SINGLE)
    assert sledlab(["device", "seek-map", figure_4]) == 0
    assert "2,500 columns" in capfd.readouterr().out
    assert (
        sledlab(["simulate", starvation, "--limit", "300", "--requests", str(tmp_path / "requests.csv")]) == 0
    )


def test_every_experiment_says_how_to_run_it_and_where_it_is_from() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert f"presets/experiments/{file.name}" in text
        assert re.search(r"# Paper 00[0-3]", text), file


def test_figures_3_to_7_show_points_of_figure_2() -> None:
    whole = read("paper-002-figure-2")
    for number in range(3, 8):
        part = read(f"paper-002-figure-{number}")
        for key in ("schedulers", "speedups"):
            assert set(part["compare"][key]) <= set(whole["compare"][key])
        for table in ("workload", "replay"):
            assert part[table] == whole[table]
        assert part["compare"]["seeds"] == whole["compare"]["seeds"]
        assert {"sled_motion": "together", **part["device"]} == whole["device"]


@pytest.mark.everything
def test_every_claim_is_judged_from_small_runs(tmp_path: Path) -> None:
    # Too short for verdicts that mean anything: what is tried is that there are some.
    run(tmp_path, NAMES, QUICK)
    text = page.page(Runs(tmp_path))
    assert text.count("### ") == len(claims("scheduling"))


@pytest.mark.everything
@needs_reference
def test_every_claim_on_power_is_judged_from_small_runs(tmp_path: Path) -> None:
    power_runs.run(tmp_path, extra=QUICK)
    text = power_page.page(power_runs.Runs(tmp_path))
    assert text.count("### ") == len(claims("power"))


@pytest.mark.everything
def test_every_claim_on_hybrids_is_judged_from_small_runs(tmp_path: Path) -> None:
    # Fewer requests would end in the controller cache.
    hybrid_runs.run(tmp_path, extra=("--limit", "5000", *QUICK[2:]))
    text = hybrid_page.page(hybrid_runs.Runs(tmp_path))
    assert text.count("### ") == len(claims("hybrid"))


def test_cello_is_the_one_that_was_calibrated_in_every_experiment_on_hybrids() -> None:
    experiments = [read(file.stem) for file in FILES if file.stem.startswith("paper-001")]
    found = [experiment["workload"] for experiment in experiments]
    stated = {"kind": "cello", **CALIBRATIONS["cello-12h"].parameters}
    assert stated in found
    assert all(workload == stated for workload in found if workload["kind"] == "cello")
    for workload in (hybrid_runs.TPCC, hybrid_runs.HPLAJW):
        parameters = CALIBRATIONS[hybrid_workloads.STAND_INS[workload]].parameters
        said = {f"workload.{key}={value}" for key, value in parameters.items()}
        assert said <= set(hybrid_runs.CHOSEN[workload])


def verdicts(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^### ([HLWY]-\d\d): (.*)$", text, re.MULTILINE)


@pytest.mark.parametrize("subject", PAGES)
def test_page_has_a_verdict_on_every_claim(subject: str) -> None:
    found = verdicts(document(subject).read_text(encoding="utf-8"))
    assert [name for name, _ in found] == list(claims(subject))
    assert set(EVALUATORS[subject]) == set(claims(subject))
    assert {outcome for _, outcome in found} <= set(OUTCOMES)


@pytest.mark.parametrize("subject", PAGES)
def test_page_counts_its_verdicts(subject: str) -> None:
    text = document(subject).read_text(encoding="utf-8")
    assert counts(claims(subject), dict(verdicts(text))) in text
    assert Counter(outcome for _, outcome in verdicts(text))["reproduced"] >= LEAST[subject]


def test_claims_cover_the_papers() -> None:
    assert list(claims("scheduling")) == [f"H-{n}" for n in range(26, 61)] + [
        f"L-{n:02}" for n in range(1, 25)
    ]
    assert list(claims("power")) == [
        *(f"H-{n}" for n in (*range(14, 21), *range(61, 77))),
        *(f"Y-{n:02}" for n in range(1, 37)),
    ]
    assert list(claims("hybrid")) == [f"W-{n:02}" for n in range(1, 56)]


@pytest.mark.parametrize("name", HELD)
def test_definitions_are_held_by_tests_that_exist(name: str) -> None:
    assert not HELD[name].missing()


def curve(scheduler: str, **means: float) -> dict[tuple[str, float], dict[str, Any]]:
    return {
        (scheduler, float(at[1:])): {"mean_ms": mean, "saturated": mean > 1000} for at, mean in means.items()
    }


def test_loads_are_weighed_by_the_yardstick_and_overload_is_left_out() -> None:
    race = Race(
        curve("sptf", x1=1.0, x2=5.0, x3=50.0, x4=500.0) | curve("fcfs", x1=1.5, x2=6.0, x3=75.0, x4=5000.0)
    )
    assert [race.weight(at) for at in race.speedups] == ["light", "moderate", "heavy", "heavy"]
    assert race.loads(("heavy",), "sptf") == [3.0, 4.0]
    assert race.changes("fcfs", "sptf", ("moderate", "heavy")) == pytest.approx({2.0: 0.2, 3.0: 0.5})


def test_throughput_is_compared_where_both_reach_a_level() -> None:
    def crossing(rate: float | None, reached: str = "yes") -> dict[str, Any]:
        return {"arrival_rate": rate, "reached": reached}

    crossings = {
        ("a", 2.0): crossing(110.0),
        ("b", 2.0): crossing(100.0),
        ("a", 5.0): crossing(220.0),
        ("b", 5.0): crossing(200.0, "in overload"),
        ("a", 10.0): crossing(None, "above"),
        ("b", 10.0): crossing(300.0),
    }
    assert Race({}, crossings).gains("a", "b", ("moderate",)) == pytest.approx({2.0: 0.1})

"""Criteria of claims on schedulers: which loads count, and performance as throughput."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from sledlab.reproduction.verdicts import DIRECTION_ONLY, MET, NEARLY_MET, NOT_MET

from sledlab_papers.results import directory
from sledlab_papers.runs import Crossing, LoadCurves, LoadPoint
from sledlab_papers.scheduling import disk_schedulers, further, headlines, parallelism, positioning, zones
from sledlab_papers.scheduling.plan import RECORDED_EXPERIMENTS, SchedulingRuns
from sledlab_papers.scheduling.zones import FINE, MEDIUM
from sledlab_papers.sensitivity import choices

LIGHT_SPEEDUPS, HEAVY_SPEEDUPS = (1.0, 10.0), tuple(range(20, 101, 10))
WITHOUT_HOUR = {"H-28", "H-29", "H-78"}
"""Claims, of these modules, that need SDF or a layout by zones, which did not serve the recorded hour."""


def point(scheduler: str, speedup: float, mean_ms: float, scv: float) -> LoadPoint:
    """A point of a load curve that is not overloaded."""
    return LoadPoint(scheduler, speedup, 1, 1000, False, 1.0, mean_ms, None, scv, 1.0, 0.5, 1.0, 0.5)


def load_curves(scv: dict[str, dict[float, float]], rates: dict[str, float] | None = None) -> LoadCurves:
    """Load curves with an SCV of 1 unless given, and rates at each level of mean response."""
    names = {"sptf", *scv, *(rates or {})}
    points = {
        (name, speedup): point(
            name, speedup, 1.0 if speedup < 20 else 30.0, scv.get(name, {}).get(speedup, 1.0)
        )
        for name, speedup in product(names, (*LIGHT_SPEEDUPS, *HEAVY_SPEEDUPS))
    }
    crossings = {
        (name, level_ms): Crossing(name, level_ms, rate, "yes")
        for (name, rate), level_ms in product((rates or {}).items(), (2.0, 5.0, 10.0, 20.0, 50.0))
    }
    return LoadCurves(points, crossings)


def runs_of(curves: LoadCurves) -> Any:
    """Runs that have the same load curves everywhere."""
    return SimpleNamespace(load_curves=lambda place, axis_value=None: curves)


@pytest.mark.parametrize(("scv", "outcome"), [(1.2, MET), (1.3, NOT_MET)])
def test_every_light_load_counts(scv: float, outcome: str) -> None:
    curves = load_curves({name: {} for name in disk_schedulers.FIGURE_SCHEDULERS} | {"fcfs": {10.0: scv}})
    assert disk_schedulers.h_45(runs_of(curves)).outcome == outcome


@pytest.mark.parametrize(
    ("far_count", "outcome"), [(0, MET), (1, NEARLY_MET), (2, DIRECTION_ONLY), (6, NOT_MET)]
)
def test_similar_resistance_is_judged_by_comparisons(far_count: int, outcome: str) -> None:
    far_speedups = HEAVY_SPEEDUPS[:far_count]
    curves = load_curves({"zsptf": {}, "ztsptf": dict.fromkeys(far_speedups, 2.0)})
    assert zones.h_38(runs_of(curves)).outcome == outcome


@pytest.mark.parametrize(("scv", "outcome"), [(0.9, MET), (0.5, DIRECTION_ONLY), (1.3, NOT_MET)])
def test_comparable_fairness_has_two_bounds(scv: float, outcome: str) -> None:
    curves = load_curves({name: {} for name in parallelism.COMPARED_SCHEDULERS} | {"pa-sptf": {20.0: scv}})
    assert parallelism.l_17(runs_of(curves)).outcome == outcome


@pytest.mark.parametrize(("rate", "outcome"), [(1.03, MET), (1.06, DIRECTION_ONLY), (0.99, NOT_MET)])
def test_slight_gain_has_upper_bound(rate: float, outcome: str) -> None:
    curves = load_curves({}, {"gsptf": rate, "zsptf": 1.0})
    assert positioning.h_49(runs_of(curves)).outcome == outcome


@pytest.mark.parametrize(("rate", "outcome"), [(0.94, MET), (0.98, DIRECTION_ONLY)])
def test_significant_loss_is_one_of_throughput(rate: float, outcome: str) -> None:
    curves = load_curves({FINE: {}, MEDIUM: {}}, {FINE: rate, MEDIUM: 1.0})
    assert zones.h_42(runs_of(curves)).outcome == outcome


def test_claims_on_hplajw_are_judged_on_the_recorded_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    (choice,) = (each for each in choices("scheduling") if each.assumption == "requests of hplajw")
    read_tables: set[tuple[str, object]] = set()
    load_saved_curves = SchedulingRuns.load_curves

    def record(runs: SchedulingRuns, place: str, axis_value: object = None) -> LoadCurves:
        read_tables.add((place, axis_value))
        return load_saved_curves(runs, place, axis_value)

    monkeypatch.setattr(SchedulingRuns, "load_curves", record)
    claims_on_hplajw = set()
    modules = (disk_schedulers, further, positioning, zones)
    judges = [each for module in modules for name, each in vars(module).items() if name.startswith("h_")]
    for judge in (headlines.h_03, *judges):
        read_tables.clear()
        judge(SchedulingRuns(directory()))
        if not read_tables.isdisjoint(product(RECORDED_EXPERIMENTS, ("hplajw",))):
            claims_on_hplajw.add(judge.__name__.upper().replace("_", "-"))
    assert claims_on_hplajw == {*choice.claims, *WITHOUT_HOUR}

"""Parallelism-aware forms of two positional schedulers (Lee 2009, section 3.1)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..runs import LoadCurves
from .parallelism import LIGHT_SPEEDUPS, MAX_SPEEDUP, SATURATION_SPEEDUP, heavy_speedups
from .plan import POSITIONAL, SSTF_BY_X, SchedulingRuns

SLEDS = (1, 10)
MIN_GAIN = 0.1
"""Relative reduction of the mean response that is large, as for L-14."""
MAX_LOSS = 0.01
"""Relative increase of the mean response at light load that counts as none."""


def l_26(runs: SchedulingRuns) -> Judgment:
    """P-SSTF compared with SSTF, by block numbers and by distance in x, and P-SPTF with SPTF."""
    all_curves = [
        load_curves for sleds in SLEDS if (load_curves := runs.load_curves(POSITIONAL, sleds)).curves
    ]
    curves_by_x = [
        load_curves for sleds in SLEDS if (load_curves := runs.load_curves(SSTF_BY_X.place, sleds)).curves
    ]

    def changes(name: str, base: str, *speedups: float, bases: list[LoadCurves] = all_curves) -> list[float]:
        return [
            load_curves.value(name, speedup) / base_curves.value(base or base_curves.schedulers[0], speedup)
            - 1
            for load_curves, base_curves in zip(all_curves, bases, strict=True)
            for speedup in speedups
        ]

    def changes_by_scheduler(*speedups: float) -> dict[str, list[float]]:
        return {
            "sstf": changes("p-sstf", "sstf", *speedups),
            "x": changes("p-sstf", "", *speedups, bases=curves_by_x),
            "sptf": changes("p-sptf", "sptf", *speedups),
        }

    saturated_speedups = heavy_speedups(all_curves[0], SATURATION_SPEEDUP)
    heavy, heaviest, light = (
        changes_by_scheduler(*saturated_speedups),
        changes_by_scheduler(MAX_SPEEDUP),
        changes_by_scheduler(*LIGHT_SPEEDUPS),
    )
    all_faster = all(max(each) < 0 for each in heavy.values())
    are_large = all(max(each) < -MIN_GAIN for each in heaviest.values())
    is_harmless = all(max(each) <= MAX_LOSS for each in light.values())
    return judge_criterion(all_faster and are_large and is_harmless, all_faster).with_numbers(
        heavy=heavy,
        heaviest=heaviest,
        light=light,
        joint={
            name: changes(f"{name}:batch=same-position", name, *saturated_speedups)
            for name in ("sstf", "sptf")
        },
    )

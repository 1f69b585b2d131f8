"""Parallelism-aware forms of two positional schedulers (Lee 2009, section 3.1)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..runs import LoadCurves
from .parallelism import HEAVY_SPEEDUPS, LIGHT_SPEEDUPS, MAX_SPEEDUP
from .plan import POSITIONAL, SSTF_BY_X, SchedulingRuns

SLEDS = (1, 10)
MIN_GAIN = 0.1
"""Relative reduction of the mean response that is large, as for L-14."""
MAX_LOSS = 0.01
"""Relative increase of the mean response at light load that counts as none."""


def l_26(runs: SchedulingRuns) -> Judgment:
    """P-SSTF compared with SSTF, by block numbers and by distance in x, and P-SPTF with SPTF."""
    races = [race for sleds in SLEDS if (race := runs.load_curves(POSITIONAL, sleds)).curves]
    by_x = [race for sleds in SLEDS if (race := runs.load_curves(SSTF_BY_X.place, sleds)).curves]

    def changes(name: str, base: str, *speedups: float, bases: list[LoadCurves] = races) -> list[float]:
        return [
            race.value(name, speedup) / other.value(base or other.schedulers[0], speedup) - 1
            for race, other in zip(races, bases, strict=True)
            for speedup in speedups
        ]

    def gains(*speedups: float) -> dict[str, list[float]]:
        return {
            "sstf": changes("p-sstf", "sstf", *speedups),
            "x": changes("p-sstf", "", *speedups, bases=by_x),
            "sptf": changes("p-sptf", "sptf", *speedups),
        }

    heavy, heaviest, light = gains(*HEAVY_SPEEDUPS), gains(MAX_SPEEDUP), gains(*LIGHT_SPEEDUPS)
    signs = all(max(each) < 0 for each in heavy.values())
    large = all(max(each) < -MIN_GAIN for each in heaviest.values())
    harmless = all(max(each) <= MAX_LOSS for each in light.values())
    return judge_criterion(signs and large and harmless, signs).with_numbers(
        heavy=heavy,
        heaviest=heaviest,
        light=light,
        joint={
            name: changes(f"{name}:batch=same-position", name, *HEAVY_SPEEDUPS) for name in ("sstf", "sptf")
        },
    )

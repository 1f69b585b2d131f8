"""Parallelism-aware forms of two positional schedulers (Lee 2009, section 3.1)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..runs import HEAVY
from ..wording import spread_table
from .parallelism import MAX_SPEEDUP
from .plan import POSITIONAL, SSTF_BY_X, SchedulingRuns

SLEDS = (1, 10)
MAX_LOSS = 0.01
"""Relative increase of the mean response below heavy load that counts as none."""


def l_26(runs: SchedulingRuns) -> Judgment:
    """P-SSTF compared with SSTF, by block numbers and by distance in x, and P-SPTF with SPTF."""
    curves, curves_by_x = (
        [load_curves for sleds in SLEDS if (load_curves := runs.load_curves(place, sleds)).curves]
        for place in (POSITIONAL, SSTF_BY_X.place)
    )
    (by_x,) = curves_by_x[0].schedulers
    pairs = {
        "P-SSTF against SSTF": ("p-sstf", "sstf", curves),
        "P-SSTF against SSTF by distance in x": ("p-sstf", by_x, curves_by_x),
        "P-SPTF against SPTF": ("p-sptf", "sptf", curves),
        "SSTF with joint service against SSTF": ("sstf:batch=same-position", "sstf", curves),
        "SPTF with joint service against SPTF": ("sptf:batch=same-position", "sptf", curves),
    }
    heavy_speedups = [speedup for speedup in curves[0].speedups if curves[0].weight(speedup) == HEAVY]
    other_speedups = [speedup for speedup in curves[0].speedups if speedup not in heavy_speedups]
    ranges = (other_speedups, heavy_speedups, (MAX_SPEEDUP,))
    rows = {
        label: [
            [
                each.value(name, speedup) / base_curves.value(base, speedup) - 1
                for each, base_curves in zip(curves, bases, strict=True)
                for speedup in speedups
            ]
            for speedups in ranges
        ]
        for label, (name, base, bases) in pairs.items()
    }
    other, heavy, heaviest = zip(*list(rows.values())[:3], strict=True)
    all_faster = max(map(max, heavy)) < 0
    is_harmless = max(map(max, other)) <= MAX_LOSS
    judgment = judge_criterion(all_faster and is_harmless, all_faster)
    return judgment.with_numbers(heavy=heavy, heaviest=heaviest).with_tables(
        spread_table(
            "Mean response with 1 and 10 sleds",
            "schedulers | below heavy load | heavy load | factor 30",
            rows,
        )
    )

"""The search for the highest load that each device sustains: wide steps, then halving of the gap.

A device sustains a load if its run is not overloaded. Loads are speed-ups, of recorded and of generated
requests. The loads of the study are tried first. Runs that are overloaded end at their last arrival.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sledlab.studies.races.measure import measure_until_overload
from sledlab.studies.side_by_side.plan import SideBySidePlan, case_at
from sledlab.studies.side_by_side.rows import MaxLoad
from sledlab.study.statistics import case_runs, mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.study.bench import Measure
    from sledlab.study.measure import RunFigures
    from sledlab.study.plan import Case, Plan

STEP = 4.0
"""Factor between speed-ups, until a device sustains one and is overloaded at another."""

GAP = 1.05
"""Ratio of the lowest overloaded to the highest sustained speed-up at which the search ends."""

SPEEDUPS = (STEP**-8, STEP**8)
"""Lowest and highest speed-up that are tried."""


@dataclass(frozen=True)
class Interval:
    """What is known of the highest speed-up that a device sustains.

    Attributes:
        sustained: The highest speed-up that it sustains; none was tried if `None`.
        overloaded: The lowest speed-up above at which it is overloaded; none was tried if `None`.
    """

    sustained: float | None
    overloaded: float | None

    @staticmethod
    def of(overloads: Mapping[float, bool]) -> Interval:
        """Return the interval below the first overload, from whether a device is overloaded at each speed-up.

        Examples:
            >>> Interval.of({1.0: False, 4.0: True, 2.0: False, 16.0: True})
            Interval(sustained=2.0, overloaded=4.0)
        """
        overloaded = min(
            (speedup for speedup, is_overloaded in overloads.items() if is_overloaded), default=None
        )
        limit = math.inf if overloaded is None else overloaded
        return Interval(max((speedup for speedup in overloads if speedup < limit), default=None), overloaded)

    def next_speedup(self) -> float | None:
        """Return the speed-up to try next; `None` at the end of the search.

        Examples:
            >>> Interval(1.0, None).next_speedup(), Interval(None, 1.0).next_speedup()
            (4.0, 0.25)
            >>> Interval(1.0, 4.0).next_speedup(), Interval(1.0, 1.04).next_speedup()
            (2.0, None)
        """
        if self.sustained is not None and self.overloaded is not None:
            middle = float(f"{math.sqrt(self.sustained * self.overloaded):.3g}")
            return middle if self.overloaded > GAP * self.sustained else None
        if self.sustained is not None:
            return self.sustained * STEP if self.sustained * STEP <= SPEEDUPS[1] else None
        assert self.overloaded is not None
        return self.overloaded / STEP if self.overloaded / STEP >= SPEEDUPS[0] else None


def extend_plan(plan: Plan, measure: Measure) -> Plan:
    """Return the plan with the highest load that each device sustains of each trace or workload."""
    assert isinstance(plan, SideBySidePlan)
    column = plan.cases[0].labels[2][0]
    runs: dict[tuple[str, str], dict[float, Sequence[RunFigures]]] = {}

    def record(runs_by_case: Mapping[Case, Sequence[RunFigures]]) -> None:
        for case, case_results in runs_by_case.items():
            runs.setdefault((case["device"], case[column]), {})[case["speedup"]] = case_results

    def interval(key: tuple[str, str]) -> Interval:
        return Interval.of(
            {speedup: any(run.saturated for run in results) for speedup, results in runs[key].items()}
        )

    record(case_runs(plan, measure(plan, "comparing")))
    while pending := {key: speedup for key in runs if (speedup := interval(key).next_speedup()) is not None}:
        cases = [case_at(device, column, source, speedup) for (device, source), speedup in pending.items()]
        step = replace(plan, cases=cases, measure=measure_until_overload)
        record(case_runs(step, measure(step, "searching the highest loads")))

    def max_load(device: str, source: str) -> MaxLoad:
        found = interval((device, source))
        offered = [run.arrival_rate_iops for run in runs[device, source].get(found.sustained or 0.0, ())]
        return MaxLoad({"device": device}, {column: source}, found.sustained, mean(offered), found.overloaded)

    return plan.annotate(max_loads=[max_load(*key) for key in runs])

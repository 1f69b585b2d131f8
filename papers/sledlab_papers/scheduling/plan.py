"""The experiments on scheduling, and their second run with one direction for every column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..runs import (
    HEAVY,
    LIGHT,
    MODERATE,
    LoadCurves,
    LoadPoint,
    PlannedExperiment,
    Runs,
    read,
)
from ..wording import cells
from . import recorded_hours

DIRECTED_EXPERIMENTS = (
    "hong2006-figure-6",
    "hong2006-figure-7",
    "hong2006-zone-sizes",
    "hong2006-sequentiality",
    "hong2006-figure-8",
    "hong2006-figure-9",
    "hong2006-random",
    "hong2006-saturation",
    "hong2006-zone-layout",
)
"""Experiments that run a second time with one direction for every column.

Hong 2006 gives every column one direction, but its simulations ran in DiskSim, which chooses for every row.
"""

SERVERS = "lee2009-servers"
"""The experiment on streams of servers."""

POSITIONAL = "lee2009-positional"
"""The experiment on parallelism-aware forms of SSTF and SPTF."""

REQUIREMENTS = "lee2009-requirements"
"""The experiment on the requirements of a scheduler."""

ROBUSTNESS = "hong2006-robustness"
"""The experiment on other devices, where the directions of columns are among the values that vary."""

SINGLE_READING_EXPERIMENTS = (
    ROBUSTNESS,
    "lee2009-figure-2",
    "lee2009-run-length",
    "lee2009-saturation",
    "lee2009-zone-sizes",
    REQUIREMENTS,
    "lee2009-spanning-tree",
    SERVERS,
    POSITIONAL,
)
"""Experiments that run once. Figures 3 to 7 of Lee 2009 show the results of figure 2 again."""

PARITY = "-directed"
"""Ending of the directories of the second run, which has one seed and fewer loads."""

PARITY_OPTIONS = {
    **dict.fromkeys(
        ("hong2006-figure-7", "hong2006-zone-sizes", "hong2006-figure-8", "hong2006-figure-9"),
        ("--speedup", "1,10,20,30,40,45,50,60,80"),
    )
}
"""Loads of the second run where they are not those of the experiment."""

RECORDED = "ajw"
"""The mark of readings that take the requests of hplajw from a recorded hour, followed by one of these."""
RECORDED_READINGS = {"as recorded": "", "512-byte sectors": ", 512-byte sectors"}
"""Endings of the readings of the recorded hour by the words after the mark."""

RECORDED_EXPERIMENTS = (
    "hong2006-figure-7",
    "hong2006-zone-sizes",
    "hong2006-figure-8",
    "hong2006-figure-9",
)
"""Experiments whose schedulers also served the recorded hour."""

SWEPT_SPEEDUPS = {"cello": "1,10,20,30,40,45,50,60", "hplajw": "1,10,20,30,40,45,50,60,80,100"}
"""Speed-ups of figure 9 with other schedulers: up to overload."""

FIRST_SEED = "-seed-1"
"""Ending of the directories of figures 8 and 9 with one seed, at these speed-ups."""


SWEPT_SCHEDULERS = (
    *(f"asptf:weight={weight}" for weight in (0.5, 2, 20)),
    *(f"zsptf-pyramid:threshold={threshold}" for threshold in (4, 8)),
)
PARAMETERS = {
    workload: PlannedExperiment(
        "hong2006-figure-9",
        (
            *("--vary", f"workload.kind={workload}", "--scheduler", ",".join(SWEPT_SCHEDULERS)),
            *("--seed", "1", "--speedup", speedups),
        ),
        f"-parameters-{workload}",
        f"`hong2006-figure-9`, weights of ASPTF and thresholds of pyramiding, on {workload}",
    )
    for workload, speedups in SWEPT_SPEEDUPS.items()
}
"""Figure 9 with other parameters of schedulers, which marks such as `asptf weight=2` select."""

ONCE = "sledlab_papers.scheduling.zone_once:ZsptfOnce"
BY_X = "sledlab_papers.scheduling.x_distance:SstfByX"
SSTF_BY_X = PlannedExperiment(
    POSITIONAL, ("--scheduler", BY_X), "-x", f"`{POSITIONAL}`, SSTF by distance in x"
)
"""The same loads with an SSTF in Python that goes by distance in x instead of by block numbers."""
REQUIREMENTS_BY_X = PlannedExperiment(
    REQUIREMENTS, ("--scheduler", BY_X), "-x", f"`{REQUIREMENTS}`, SSTF by distance in x"
)

RECOMPUTATION = PlannedExperiment(
    "hong2006-figure-9",
    (
        *("--scheduler", f"sptf,zsptf,{ONCE}", "--limit", "20000"),
        *("--seed", "1..3", "--speedup", "1,20,30,40,60"),
    ),
    "-once",
    "`hong2006-figure-9`, positioning times computed once",
)
"""Figure 9, in shorter runs, with a ZSPTF in Python that computes each positioning time once."""

PLAN = (
    *map(PlannedExperiment, (*DIRECTED_EXPERIMENTS, *SINGLE_READING_EXPERIMENTS)),
    RECOMPUTATION,
    *PARAMETERS.values(),
    SSTF_BY_X,
    REQUIREMENTS_BY_X,
    *recorded_hours.PLAN,
    *(
        PlannedExperiment(
            name,
            ("--set", "device.direction=parity", "--seed", "1", *PARITY_OPTIONS.get(name, ())),
            PARITY,
        )
        for name in DIRECTED_EXPERIMENTS
    ),
)

BUSY_LOADS = (MODERATE, HEAVY)
ALL_LOADS = (LIGHT, MODERATE, HEAVY)

STAND_INS = ("cello", "hplajw")

RUN_SHARES = (0.3, 0.65, 0.8)
"""Shares of sequential requests of `hong2006-sequentiality`."""


@dataclass(frozen=True)
class SchedulingRuns(Runs):
    """The experiments on scheduling in one of the readings."""

    @property
    def direction(self) -> str:
        """The direction in which columns are read: `free` or `parity`."""
        return "parity" if PARITY in self.readings else "free"

    def load_curves(self, place: str, axis_value: Any = None) -> LoadCurves:
        """The load curves of an experiment; marks select another scheduler or the recorded hour."""
        reading = self.mark_value(RECORDED)
        if reading and axis_value == "hplajw" and place in RECORDED_EXPERIMENTS:
            axis_value = f"{self.direction}{RECORDED_READINGS[reading]}"
            hour = replace(self, readings=()).load_curves(recorded_hours.EXPERIMENT, axis_value)
            return recorded_hours.with_default_grid(hour)
        selected_names = {
            f"{scheduler}:{parameter}": scheduler
            for scheduler in ("asptf", "zsptf-pyramid")
            if (parameter := self.mark_value(scheduler))
        }
        if not selected_names:
            return super().load_curves(place, axis_value)
        swept_curves = replace(self, readings=()).load_curves(PARAMETERS[axis_value].place, axis_value)
        return self._first_seed(place, axis_value, swept_curves, selected_names)

    def _first_seed(
        self, place: str, axis_value: Any, swept_curves: LoadCurves, selected_names: Mapping[str, str]
    ) -> LoadCurves:
        """The load curves of the first seed of an experiment, with some of other schedulers.

        Args:
            place: The experiment.
            axis_value: The value that varies.
            swept_curves: Load curves of the other schedulers.
            selected_names: Names in the result of the schedulers that are taken from `swept_curves`.
        """
        first_seed_curves = replace(self, readings=(FIRST_SEED,)).load_curves(place, axis_value)

        def merge(table: str) -> dict[tuple[str, float], Any]:
            swept_rows = {
                (selected_names[name], speedup): row
                for (name, speedup), row in getattr(swept_curves, table).items()
                if name in selected_names
            }
            rows = {**getattr(first_seed_curves, table), **swept_rows}
            return {
                key: row for key, row in rows.items() if table != "curves" or key[1] in swept_curves.speedups
            }

        return LoadCurves(merge("curves"), merge("crossings"))

    def length_rows(self) -> list[list[str]]:
        """Points, seeds, requests and queues of each experiment, by its load curves."""
        return [
            [
                f"`{name}`{', free direction' if name in DIRECTED_EXPERIMENTS else ''}",
                *self._length_cells(name),
            ]
            for name in (*DIRECTED_EXPERIMENTS, *SINGLE_READING_EXPERIMENTS)
        ]

    def _length_cells(self, name: str) -> list[str]:
        """Points, seeds, requests and queues of an experiment."""
        points = [row for _, row in read(self.directory / name / "curves.csv", LoadPoint)]
        seeds, max_queue = max(row.seeds for row in points), max(row.queue_mean for row in points)
        min_requests = min(row.requests / row.seeds for row in points)
        return cells("{} | {} | {:,.0f} | {:,.0f}", len(points), seeds, min_requests, max_queue)

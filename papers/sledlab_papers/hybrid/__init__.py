"""Claims of Wang 2005, on MEMS in front of disks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..claims import register_judges
from ..markdown import table
from ..simulator import calibration, catalog
from ..topic import ClaimVerdict, Topic
from ..wording import figure, format_rows
from . import (
    baselines,
    conclusions,
    cost,
    future,
    mechanics,
    parameters,
    recorded,
    singles,
    sizes,
    techniques,
    workloads,
)
from .names import ALL, CELLO, DISK, HPLAJW, TITLES, WORKLOADS
from .systems import (
    BASELINES,
    COST,
    DENSE_SUFFIX,
    IDLE_SUFFIX,
    SIZES,
    TECHNIQUES,
    Systems,
    largest_spread,
    plan,
)

register_judges(parameters, workloads, mechanics, techniques, sizes, baselines, conclusions, cost, future)
PLAN = tuple(plan())


def _places(runs: Systems, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    dense = {f"dense_{name}": shown for name, shown in _figures(_dense_runs(runs.directory)).items()}
    idle = replace(runs, readings=(IDLE_SUFFIX, *runs.readings))
    return {
        "experiments": runs.experiment_table(PLAN),
        **_fitted_values(runs),
        **_figures(runs),
        **dense,
        "idle_figure_4": _figure_4(idle),
        "behind": baselines.detail_table(runs),
        "recorded": recorded.means(runs),
        "replacement": conclusions.replacement_table(runs),
        "log_disk": conclusions.log_table(runs),
        "spread_5": _spread(runs, SIZES),
        "spread_7": _spread(runs, COST),
        "single_run": f"{singles.REQUESTS:,}",
    }


def _spread(runs: Systems, name: str) -> str:
    """The largest difference between seeds of an experiment, in percent."""
    means = (mean for workload in WORKLOADS for mean in runs.seed_means(name, workload).values())
    return f"{100 * largest_spread(means):.1f}"


def _figures(runs: Systems) -> dict[str, str]:
    """Figures 4 to 7 as tables."""
    return {
        "demand": baselines.means(runs),
        "idle": baselines.means(replace(runs, readings=(IDLE_SUFFIX, *runs.readings))),
        "figure_4": _figure_4(runs),
        "figure_5": sizes.tables(runs),
        "figure_7": cost.curves(runs),
    }


def _figure_4(runs: Systems) -> str:
    """Figure 4 as a table."""
    return table(["techniques", *(TITLES[workload] for workload in WORKLOADS)], techniques.figure_4(runs))


def _dense_runs(directory: Path) -> Systems:
    return Systems(directory, (DENSE_SUFFIX,))


def _fitted_values(runs: Systems) -> dict[str, str]:
    """The fitted parameters, and the numbers that they were fitted to."""
    stand_in = workloads.STAND_INS[CELLO]
    share = calibration.CALIBRATIONS[stand_in].parameters["burst_share"]
    usual = next(s.default for s in catalog.workload.show(CELLO).parameters if s.name == "burst_share")
    disk, cached = (
        runs.workload_runs(name, CELLO).seed_values(system, 1.0, "mean_ms")
        for name, system in ((BASELINES, DISK), (TECHNIQUES, ALL))
    )
    queue = singles.queue_at_arrivals(stand_in)
    dispersions = {
        f"{name}_{seconds}": f"{workloads.achieved_statistic(name, f'dispersion at {seconds} s'):.1f}"
        for name in (CELLO, HPLAJW)
        for seconds in (1, 10)
    }
    return {
        "published": str(baselines.FITTED_RATIO),
        "share": f"{share:g}",
        "usual": f"{usual:g}",
        "ratios": format_rows("{}", (figure(a / b) for a, b in zip(disk, cached, strict=True))),
        "queue_mean": f"{queue.mean:.1f}",
        "queue_p95": f"{queue.p95:,.0f}",
        "queue_most": f"{queue.max_length:,}",
        **dispersions,
    }


HYBRID = Topic(
    "hybrid",
    PLAN,
    Systems,
    _places,
    other_reading=(DENSE_SUFFIX,),
    title="Sectors twice as fast",
    other_title="Double density",
    side_by_side=True,
)

"""Claims of Wang 2005, on MEMS in front of disks."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import register_judges
from ..markdown import table
from ..simulator import calibration, catalog
from ..topic import ClaimVerdict, Topic
from ..wording import format_number, format_rows
from . import (
    baselines,
    conclusions,
    cost,
    future,
    mechanics,
    parameters,
    recorded_traces,
    singles,
    sizes,
    techniques,
    workloads,
)
from .names import ALL, CELLO, DISK, HPLAJW, STAND_INS, TITLES, WORKLOADS
from .systems import (
    BASELINES,
    CACHING_DISK,
    HybridRuns,
    largest_spread,
    plan,
)

register_judges(parameters, workloads, mechanics, techniques, sizes, baselines, conclusions, cost, future)
PLAN = tuple(plan())


def _page_texts(runs: HybridRuns, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    return {
        "experiments": runs.experiment_table(PLAN),
        **_fitted_values(runs),
        **_figure_tables(runs),
        "behind": baselines.detail_table(runs),
        "recorded": recorded_traces.means_table(runs),
        "recorded_week": recorded_traces.week_table(runs),
        "replacement": conclusions.replacement_table(runs),
        "log_disk": conclusions.log_table(runs),
        "spread_6": _spread(runs, BASELINES),
        "single_run": f"{singles.REQUESTS:,}",
    }


def _spread(runs: HybridRuns, name: str) -> str:
    """The largest difference between seeds of an experiment, in percent."""
    means = (mean for workload in WORKLOADS for mean in runs.seed_means(name, workload).values())
    return f"{100 * largest_spread(means):.1f}"


def _figure_tables(runs: HybridRuns) -> dict[str, str]:
    """Figures 4 to 7 as tables."""
    return {
        "figure_6": baselines.figure_6(runs),
        "figure_4": _figure_4(runs),
        "figure_5": sizes.figure_5(runs),
        "figure_7": cost.figure_7(runs),
    }


def _figure_4(runs: HybridRuns) -> str:
    """Figure 4 as a table."""
    return table(["techniques", *(TITLES[workload] for workload in WORKLOADS)], techniques.figure_4(runs))


def _fitted_values(runs: HybridRuns) -> dict[str, str]:
    """The fitted parameters, and the numbers that they were fitted to."""
    stand_in = STAND_INS[CELLO]
    burst_share = calibration.CALIBRATIONS[stand_in].parameters["burst_share"]
    default_burst_share = next(
        s.default for s in catalog.workload.show(CELLO).parameters if s.name == "burst_share"
    )
    disk_means_ms, caching_means_ms = (
        runs.workload_runs(name, CELLO).seed_values(system, 1.0, "mean_ms")
        for name, system in ((BASELINES, DISK), (CACHING_DISK, ALL))
    )
    queue = singles.queue_at_arrivals(runs.disk, CELLO)
    dispersions = {
        f"{name}_{seconds}": f"{workloads.achieved_statistic(name, f'dispersion at {seconds} s'):.1f}"
        for name in (CELLO, HPLAJW)
        for seconds in (1, 10)
    }
    return {
        "published": str(baselines.FITTED_RATIOS[CELLO]),
        "share": f"{burst_share:g}",
        "usual": f"{default_burst_share:g}",
        "ratios": format_rows(
            "{}", (format_number(a / b) for a, b in zip(disk_means_ms, caching_means_ms, strict=True))
        ),
        "queue_mean": f"{queue.mean:.1f}",
        "queue_p95": f"{queue.p95:,.0f}",
        "queue_most": f"{queue.max_length:,}",
        **dispersions,
    }


HYBRID = Topic(
    "hybrid",
    PLAN,
    HybridRuns,
    _page_texts,
    side_by_side=True,
)

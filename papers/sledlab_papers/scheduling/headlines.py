"""Claims on zone-based scheduling as a whole: its headline, on other devices, and its parameters."""

from __future__ import annotations

from typing import Any

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..power.singles import simulate_snake
from ..simulator import catalog
from ..wording import format_rows, spread
from .disk_schedulers import FIGURE
from .plan import BUSY_LOADS, ROBUSTNESS, STAND_INS, SchedulingRuns

COMPARABLE_MEAN, COMPARABLE_SCV = 0.20, 0.25
"""How far ZSPTF may be above SPTF in mean response, and from C-SCAN in SCV."""

GENERATIONS = ("G1", "G2", "G3")
BY_PARITY = "G2, by parity"
ORDERS = (
    ("mean_ms", "sptf", "zsptf"),
    ("mean_ms", "zsptf", "c-scan"),
    ("mean_ms", "zsptf", "sstf"),
    ("mean_ms", "c-scan", "fcfs"),
    ("scv", "zsptf", "sptf"),
    ("scv", "c-scan", "sptf"),
    ("scv", "c-scan", "sstf"),
)
"""Measure, and which scheduler has less of it than which: the paper's words on schedulers."""

MEASURES = {"mean_ms": "mean", "scv": "SCV"}


def h_03(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with the schedulers of disks, with SPTF's mean and with C-SCAN's fairness."""
    details: list[str] = []
    reductions: list[float] = []
    mean_changes: list[float] = []
    scv_changes: list[float] = []
    for stand_in in STAND_INS:
        load_curves = runs.load_curves(FIGURE, stand_in)
        changes_by_scheduler = {
            name: load_curves.changes("zsptf", name, BUSY_LOADS) for name in ("sstf", "c-scan", "sdf")
        }
        reductions += [
            -change
            for changes_by_speedup in changes_by_scheduler.values()
            for change in changes_by_speedup.values()
        ]
        to_sptf, to_scan = (
            load_curves.changes("zsptf", name, BUSY_LOADS, measure)
            for name, measure in (("sptf", "mean_ms"), ("c-scan", "scv"))
        )
        mean_changes += to_sptf.values()
        scv_changes += to_scan.values()
        parts = format_rows("{:upper} {:spread}", changes_by_scheduler.items())
        details.append(
            f"{stand_in}: mean against {parts}, SPTF {spread(to_sptf)}; SCV against C-SCAN {spread(to_scan)}"
        )
    are_comparable = [
        all(change <= COMPARABLE_MEAN for change in mean_changes),
        all(abs(change) <= COMPARABLE_SCV for change in scv_changes),
    ]
    return judge_comparisons(
        (change > 0 for change in reductions), rest_holds=all(are_comparable)
    ).with_numbers(details=details, wins=sum(change > 0 for change in reductions), compared=len(reductions))


def h_13(runs: SchedulingRuns) -> Judgment:
    """Orders of schedulers and of energies on each generation, on G2 in both readings of its columns."""
    orders_met = {
        name: [_is_less(runs, name, order) for order in ORDERS]
        + [_parking_saving(f"mems-{name[:2].lower()}") > 0]
        for name in (*GENERATIONS, BY_PARITY)
    }
    orders = [f"{MEASURES[measure]} of {a.upper()} below {b.upper()}" for measure, a, b in ORDERS]
    orders.append("less energy if parked at once")
    details = "; ".join(
        f"{name} {sum(are_met)} of {len(are_met)}"
        + "".join(f", not: {order}" for order in _unmet_orders(orders, are_met))
        for name, are_met in orders_met.items()
    )
    return judge_comparisons(holds for are_met in orders_met.values() for holds in are_met).with_numbers(
        details=details,
        saved=", ".join(
            f"{name} {100 * _parking_saving(f'mems-{name.lower()}'):.0f} %" for name in GENERATIONS
        ),
    )


def _unmet_orders(orders: list[str], are_met: list[bool]) -> list[str]:
    return [order for order, holds in zip(orders, are_met, strict=True) if not holds]


def _is_less(runs: SchedulingRuns, generation: str, order: tuple[str, str, str]) -> bool:
    measure, a, b = order
    return runs.load_curves(ROBUSTNESS, generation).change(a, b, 1.0, measure) < 0


def _parking_saving(device: str) -> float:
    """Energy on Snake that parking at once saves, compared with a timeout of one second."""
    at_once_j, later_j = (
        simulate_snake(device, ("power.kind", kind)).energy.total
        for kind in ("immediate", "fixed:timeout_ms=1000")
    )
    return 1 - at_once_j / later_j


def h_79(_: SchedulingRuns) -> Judgment:
    """The default parameters of schedulers, which are those of the experiments."""
    cells_x, cells_y = map(int, str(_default_value("zsptf", "grid")).split("x"))
    zones, regions = 2 * cells_x * cells_y, _default_value("gsptf", "regions")
    weight, threshold = _default_value("asptf", "weight"), _default_value("zsptf-pyramid", "threshold")
    is_exact = (zones, regions, weight) == (80, 80, 5) and 4 <= threshold <= 8
    return judge_criterion(is_exact).with_numbers(
        zones=zones, regions=regions, weight=weight, threshold=threshold
    )


def _default_value(scheduler: str, parameter: str) -> Any:
    specs = catalog.scheduler.show(scheduler).parameters
    return next(spec.default for spec in specs if spec.name == parameter)

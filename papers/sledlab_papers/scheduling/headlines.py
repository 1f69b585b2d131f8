"""Claims on zone-based scheduling as a whole: its headline, on other devices, and its parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..power.singles import simulate_snake
from ..simulator import catalog
from ..wording import all_above, cells, column_values, excess, majority_above, number_table, spread_table
from .disk_schedulers import COMPARABLE_SCV, FIGURE
from .plan import BUSY_LOADS, ROBUSTNESS, STAND_INS, SchedulingRuns

SIGNIFICANT_LEAD = 0.13
"""Least lead in throughput that outperforms significantly: that which section 4.3 prints with these words."""

COMPARABLE_LEAD = 0.12
"""Greatest lead of SPTF in throughput with which performance is comparable: that which section 4.3 prints."""

DEVICES: dict[str, tuple[str, tuple[tuple[str, Any], ...]]] = {
    **{name: (f"mems-{name.lower()}", ()) for name in ("G1", "G2", "G3")},
    "G2, by parity": ("mems-g2", (("device.direction", "parity"),)),
}
"""Preset and settings of each device that the techniques are compared on."""

PYRAMID = "zsptf-pyramid"
ORDERS = (
    *(("mean_ms", "sptf", other) for other in ("gsptf", "asptf", PYRAMID, "zsptf")),
    ("mean_ms", PYRAMID, "zsptf"),
    ("mean_ms", "gsptf", "zsptf"),
    ("mean_ms", "zsptf", "c-scan"),
    ("mean_ms", "zsptf", "sstf"),
    ("mean_ms", "c-scan", "fcfs"),
    ("scv", "asptf", "zsptf"),
    ("scv", "zsptf", PYRAMID),
    ("scv", PYRAMID, "sptf"),
    ("scv", "zsptf", "sptf"),
    ("scv", "zsptf", "sstf"),
    ("scv", "c-scan", "sptf"),
    ("scv", "c-scan", "sstf"),
)
"""Measure, and which scheduler has less of it than which: all that section 4.3 says of random requests at
every load."""

MEASURES = {"mean_ms": "mean", "scv": "SCV"}


def h_03(runs: SchedulingRuns) -> Judgment:
    """ZSPTF compared with the schedulers of disks, with SPTF's throughput and with C-SCAN's fairness."""
    curves = {stand_in: runs.load_curves(FIGURE, stand_in) for stand_in in STAND_INS}
    rows = {
        stand_in: [
            *(each.gains("zsptf", name, BUSY_LOADS) for name in ("fcfs", "sstf", "c-scan")),
            each.gains("sptf", "zsptf", BUSY_LOADS),
            each.changes("zsptf", "c-scan", BUSY_LOADS, "scv"),
        ]
        for stand_in, each in curves.items()
    }
    gains, leads, scv_changes = column_values(rows, 0, 1, 2), column_values(rows, 3), column_values(rows, 4)
    is_comparable = max(leads) <= COMPARABLE_LEAD and max(map(excess, scv_changes)) <= COMPARABLE_SCV
    judgment = judge_criterion(
        all_above(gains, SIGNIFICANT_LEAD) and is_comparable, direction_holds=majority_above(gains)
    )
    ahead, significant = (sum(gain > least for gain in gains) for least in (0, SIGNIFICANT_LEAD))
    return judgment.with_numbers(
        ahead=ahead, significant=significant, compared=len(gains), leads=leads, scv=scv_changes
    ).with_tables(
        spread_table(
            "Gains in throughput at equal response, and SCV against C-SCAN's, moderate and heavy load",
            "workload | over FCFS | over SSTF | over C-SCAN | SPTF over ZSPTF | SCV",
            rows,
        )
    )


def h_13(runs: SchedulingRuns) -> Judgment:
    """Orders of schedulers and of energies on each generation, on G2 in both readings of its columns."""
    savings = {name: _parking_saving(*device) for name, device in DEVICES.items()}
    orders_met = {
        name: [*(_is_less(runs, name, order) for order in ORDERS), savings[name] > 0] for name in DEVICES
    }
    orders = [f"{MEASURES[measure]} of {a.upper()} below {b.upper()}" for measure, a, b in ORDERS]
    orders.append("less energy if parked at once")
    rows = [
        cells(
            "{} | {} | {} | {:%0}",
            name,
            sum(are_met),
            ", ".join(order for order, holds in zip(orders, are_met, strict=True) if not holds) or "none",
            savings[name],
        )
        for name, are_met in orders_met.items()
    ]
    judgment = judge_comparisons(holds for are_met in orders_met.values() for holds in are_met)
    return judgment.with_tables(
        number_table(
            f"Orders that hold, of {len(orders)}, and energy saved by parking at once, %",
            "device | hold | do not hold | saved",
            rows,
        )
    )


def _is_less(runs: SchedulingRuns, device: str, order: tuple[str, str, str]) -> bool:
    measure, a, b = order
    return runs.load_curves(ROBUSTNESS, device).change(a, b, 1.0, measure) < 0


def _parking_saving(device: str, settings: Iterable[tuple[str, Any]]) -> float:
    """Energy on Snake that parking at once saves, compared with a timeout of one second."""
    at_once_j, later_j = (
        simulate_snake(device, *settings, ("power.kind", kind)).energy.total
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

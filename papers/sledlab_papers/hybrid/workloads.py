"""Claims on the workloads (table 2; section 6.1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from ..claims import Judgment, judge_criterion
from ..simulator import calibration
from ..wording import number_table, percent
from .names import CELLO, PWRITE, STAND_INS
from .systems import HybridRuns

TABLE = ("requests", "span", "reads", "mean size", "data touched", "sequential")
"""The rows of table 2, as calibrations name them."""

NEAR = 0.03
SMALL_WRITES, SMALL_BAND = 52.0, 2.0


@cache
def calibration_results() -> dict[str, calibration.CalibrationResult]:
    """The stand-ins compared with published numbers; all at once, for it takes a while."""
    with ThreadPoolExecutor() as pool:
        results = pool.map(calibration.calibrate, STAND_INS.values())
        return dict(zip(STAND_INS, results, strict=True))


def achieved_statistic(workload: str, statistic: str) -> float:
    """A statistic of a stand-in."""
    rows = calibration_results()[workload].rows
    value = next(row.achieved for row in rows if row.statistic.name == statistic)
    assert value is not None, statistic
    return value


def table_2(workload: str, _: HybridRuns) -> Judgment:
    """A row of table 2."""
    rows, max_deviation = [], 0.0
    for row in calibration_results()[workload].rows:
        name, unit = row.statistic.name, row.statistic.unit
        if name not in TABLE or row.target is None:
            continue
        deviation_text = ""
        if row.deviation is not None:
            max_deviation = max(max_deviation, abs(row.deviation))
            deviation_text = percent(row.deviation, 1)
        values = [f"{value:,.{row.statistic.decimals}f}" for value in (row.target.value, row.achieved)]
        if row.target.kind == "most":
            values[0] = f"at most {values[0]}"
        rows.append([f"{name}, {unit}" if unit else name, *values, deviation_text])
    return (
        judge_criterion(max_deviation <= NEAR and calibration_results()[workload].passes)
        .with_numbers(largest=max_deviation)
        .with_tables(number_table("Table 2", "statistic | published | stand-in | difference, %", rows))
    )


w_07, w_08, w_09, w_10 = (partial(table_2, workload) for workload in STAND_INS)


def w_20(runs: HybridRuns) -> Judgment:
    """Partial Write where writes are small."""
    share = achieved_statistic(CELLO, "writes below 8 KB")
    gain = -runs.technique_change(CELLO, PWRITE)
    fetches = runs.technique_change(CELLO, PWRITE, "hybrid_back_reads")
    is_near = abs(share - SMALL_WRITES) <= SMALL_BAND
    judgment = judge_criterion(gain > 0 and is_near, gain > 0).with_values([share / 100])
    return judgment.with_numbers(share=share, change=-gain, fetches=fetches)

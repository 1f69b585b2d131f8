"""Claims on the workloads (table 2; section 6.1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from ..claims import Judgment, judge_criterion
from ..simulator import calibration
from ..wording import percent
from .names import CELLO, HPLAJW, NONE, PWRITE, TPCC, TPCD
from .systems import HybridRuns

STAND_INS = {TPCD: "tpcd", TPCC: "tpcc", CELLO: "cello-12h", HPLAJW: "hplajw-2h"}
"""Names of the workloads' calibrations."""

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
    details, max_deviation = [], 0.0
    for row in calibration_results()[workload].rows:
        name, unit = row.statistic.name, row.statistic.unit
        if name not in TABLE or row.target is None:
            continue
        statistic_text = f"{name} {row.achieved:,.{row.statistic.decimals}f} {unit}".strip()
        if row.deviation is not None:
            max_deviation = max(max_deviation, abs(row.deviation))
            statistic_text += f" ({percent(row.deviation, 1)} %)"
        details.append(statistic_text)
    return judge_criterion(max_deviation <= NEAR and calibration_results()[workload].passes).with_numbers(
        details=details
    )


w_07, w_08, w_09, w_10 = (partial(table_2, workload) for workload in STAND_INS)


def w_20(runs: HybridRuns) -> Judgment:
    """Partial Write where writes are small."""
    share = achieved_statistic(CELLO, "writes below 8 KB")
    gain = 1 - runs.mean(CELLO, PWRITE) / runs.mean(CELLO, NONE)
    fetches = runs.change(CELLO, PWRITE, NONE, "hybrid_back_reads")
    is_near = abs(share - SMALL_WRITES) <= SMALL_BAND
    judgment = judge_criterion(gain > 0 and is_near, gain > 0).with_values([share / 100])
    return judgment.with_numbers(share=share, change=-gain, fetches=fetches)

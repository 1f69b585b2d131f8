"""Claims on the workloads (table 2; section 6.1)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

from sledlab.calibration import Calibrated, calibrate

from ...markdown import percent
from ..claims import Verdict, verdict
from .runs import CELLO, HPLAJW, NONE, PWRITE, TPCC, TPCD, Runs

STAND_INS = {TPCD: "tpcd", TPCC: "tpcc", CELLO: "cello-12h", HPLAJW: "hplajw-2h"}
"""Workloads by the names of their calibrations."""

TABLE = ("requests", "span", "reads", "mean size", "data touched", "sequential")
"""The rows of table 2, as calibrations name them."""

NEAR = 0.03
SMALL_WRITES, SMALL_BAND = 52.0, 2.0


def calibrate_all() -> None:
    """Compares all stand-ins at once, for it takes a while."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(calibrated, STAND_INS))


@cache
def calibrated(workload: str) -> Calibrated:
    """The stand-in for a workload, compared with what was published."""
    return calibrate(STAND_INS[workload])


def _table_2(workload: str) -> Verdict:
    said, far = [], 0.0
    for row in calibrated(workload).rows:
        name, unit = row.statistic.name, row.statistic.unit
        if name not in TABLE or row.target is None:
            continue
        value = f"{row.achieved:,.{row.statistic.decimals}f}"
        if row.deviation is None:
            said.append(f"{name} {value} {unit}".strip())
            continue
        far = max(far, abs(row.deviation))
        said.append(f"{name} {value} {unit}".strip() + f" ({percent(row.deviation, 1)} %)")
    ours = f"The stand-in: {', '.join(said)}. It was calibrated on these numbers."
    return verdict(ours, holds=far <= NEAR and calibrated(workload).passes)


def w_07(_: Runs) -> Verdict:
    """TPCD."""
    return _table_2(TPCD)


def w_08(_: Runs) -> Verdict:
    """TPCC."""
    return _table_2(TPCC)


def w_09(_: Runs) -> Verdict:
    """The twelve hours of cello."""
    return _table_2(CELLO)


def w_10(_: Runs) -> Verdict:
    """The two hours of hplajw."""
    return _table_2(HPLAJW)


def w_20(runs: Runs) -> Verdict:
    """Partial Write where writes are small."""
    share = next(row.achieved for row in calibrated(CELLO).rows if row.statistic.name == "writes below 8 KB")
    gain = 1 - runs.at(CELLO, PWRITE) / runs.at(CELLO, NONE)
    fetches = runs.at(CELLO, PWRITE, "hybrid_back_reads") / runs.at(CELLO, NONE, "hybrid_back_reads") - 1
    ours = (
        f"{share:.1f} % of the writes of the stand-in are below 8 KB, as it was calibrated to. Partial "
        f"Write takes {percent(-gain, 1)} % of response time and {percent(fetches, 1)} % of reads of the "
        "disk."
    )
    return verdict(
        ours,
        holds=gain > 0 and abs(share - SMALL_WRITES) <= SMALL_BAND,
        partly=gain > 0,
    )


CLAIMS = {"W-07": w_07, "W-08": w_08, "W-09": w_09, "W-10": w_10, "W-20": w_20}

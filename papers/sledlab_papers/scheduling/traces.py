"""The claim on the traces: properties that the stand-ins share with them."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..simulator import calibration
from .plan import SchedulingRuns

TOLERANCE = 0.02


def _value(stand_in: calibration.CalibrationResult, name: str) -> float:
    value = next(row.achieved for row in stand_in.rows if row.statistic.name == name)
    assert value is not None, name
    return value


def h_35(_: SchedulingRuns) -> Judgment:
    """Rates, sequentiality and burstiness."""
    cello, hplajw = calibration.calibrate("cello"), calibration.calibrate("hplajw")
    rates = [_value(stand_in, "rate") for stand_in in (cello, hplajw)]
    runs = [_value(stand_in, "continues one of 32 streams") for stand_in in (cello, hplajw)]
    bursts = [_value(stand_in, "dispersion at 1 s") for stand_in in (cello, hplajw)]
    near = all(
        abs(rate / published - 1) < TOLERANCE for rate, published in zip(rates, (33.0, 20.9), strict=True)
    )
    return judge_criterion(near and runs[1] > runs[0] and (bursts[1] > bursts[0])).with_numbers(
        rates=rates, cello_runs=runs[0], hplajw_runs=runs[1], bursts=bursts
    )

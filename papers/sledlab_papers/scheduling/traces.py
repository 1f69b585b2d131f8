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
    sequential_shares = [_value(stand_in, "continues one of 32 streams") for stand_in in (cello, hplajw)]
    dispersions = [_value(stand_in, "dispersion at 1 s") for stand_in in (cello, hplajw)]
    are_near = all(
        abs(rate / published - 1) < TOLERANCE for rate, published in zip(rates, (33.0, 20.9), strict=True)
    )
    return judge_criterion(
        are_near and sequential_shares[1] > sequential_shares[0] and (dispersions[1] > dispersions[0])
    ).with_numbers(
        rates=rates, cello_runs=sequential_shares[0], hplajw_runs=sequential_shares[1], bursts=dispersions
    )

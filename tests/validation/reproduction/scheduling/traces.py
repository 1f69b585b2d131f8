"""The claim on the traces: what the stand-ins share with them."""

from __future__ import annotations

from sledlab.calibration import Calibrated, calibrate

from ..claims import Verdict, verdict
from .runs import Runs

TOLERANCE = 0.02


def _value(stand_in: Calibrated, name: str) -> float:
    return float(next(row.achieved for row in stand_in.rows if row.statistic.name == name))


def h_35(_: Runs) -> Verdict:
    """Rates, sequentiality and burstiness."""
    cello, hplajw = calibrate("cello"), calibrate("hplajw")
    rates = [_value(stand_in, "rate") for stand_in in (cello, hplajw)]
    runs = [_value(stand_in, "goes on with one of 32 streams") for stand_in in (cello, hplajw)]
    bursts = [_value(stand_in, "dispersion at 1 s") for stand_in in (cello, hplajw)]
    ours = (
        f"The stand-ins of cello and hplajw: {rates[0]:.1f}/s and {rates[1]:.1f}/s; {runs[0]:.0f} % and "
        f"{runs[1]:.0f} % of requests go on with a stream; dispersion of arrivals at 1 s {bursts[0]:.0f} "
        f"and {bursts[1]:.0f}. The traces themselves are not public."
    )
    near = all(abs(rate / printed - 1) < TOLERANCE for rate, printed in zip(rates, (33.0, 20.9), strict=True))
    return verdict(ours, holds=near and runs[1] > runs[0] and bursts[1] > bursts[0])


CLAIMS = {"H-35": h_35}

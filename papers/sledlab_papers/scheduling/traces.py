"""The claim on the traces: properties that the stand-ins share with them."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..printed import PrintedNumber
from ..simulator import calibration
from ..wording import cells, number_table
from .plan import SchedulingRuns

PUBLISHED_RATES = {"cello": 33.0, "hplajw": 20.9}
"""Requests per second."""


def _value(stand_in: calibration.CalibrationResult, name: str) -> float:
    value = next(row.achieved for row in stand_in.rows if row.statistic.name == name)
    assert value is not None, name
    return value


def h_35(_: SchedulingRuns) -> Judgment:
    """Rates, sequentiality and burstiness."""
    rates, sequential_shares, dispersions = (
        [_value(calibration.calibrate(name), statistic) for name in PUBLISHED_RATES]
        for statistic in ("rate", "continues one of 32 streams", "dispersion at 1 s")
    )
    published_rates = PUBLISHED_RATES.values()
    deviations = [abs(rate / published - 1) for rate, published in zip(rates, published_rates, strict=True)]
    are_as_printed = all(
        PrintedNumber(str(published)).is_met([rate])
        for rate, published in zip(rates, published_rates, strict=True)
    )
    judgment = judge_criterion(
        are_as_printed and sequential_shares[1] > sequential_shares[0] and dispersions[1] > dispersions[0]
    )
    columns = (PUBLISHED_RATES, published_rates, rates, sequential_shares, dispersions)
    template = "{} | {:.1f} | {:.1f} | {:.0f} | {:.0f}"
    return judgment.with_numbers(deviation=max(deviations)).with_tables(
        number_table(
            "Hours of the stand-ins",
            "workload | published requests/s | requests/s | continue a stream, % | dispersion at 1 s",
            (cells(template, *row) for row in zip(*columns, strict=True)),
        )
    )

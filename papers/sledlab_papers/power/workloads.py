"""Claims on the workloads (Lin, sections 3.4 and 4.2)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..printed import PrintedNumber
from ..simulator import random_pairs
from ..validation_results import seagate_trace
from .plan import PowerRuns
from .singles import CENTER_PARKING, simulate_snake

PAIRS = 20_000
WANG2005_SEEK_MS = 0.55
PRINTED_SEEK = PrintedNumber("about 1.0 ms")

PRINTED_STATISTICS = {
    "requests": "10,000",
    "read_share": "50 %",
    "sequential_share": "30 %",
    "mean_kb": "8.0 KB",
    "size_scv": "1.0",
}
"""Statistics of the Seagate trace as Lin prints them; sizes are exponential, with a squared CV of 1."""


def y_18(_: PowerRuns) -> Judgment:
    """Seek and service times of random moves."""
    seeks_ms = {
        device: random_pairs(device, PAIRS).summary["positioning_time_ms"]["mean"]
        for device in ("mems-g1", "mems-g2", "mems-g3")
    }
    services_ms = [
        seagate_trace()["mean_service_ms"],
        random_pairs("mems-g1", PAIRS).summary["service_time_ms"]["mean"],
        random_pairs("mems-g2-disksim", PAIRS).response_time.mean,
    ]
    return judge_criterion(PRINTED_SEEK.is_met([seeks_ms["mems-g2"]])).with_numbers(
        seek=", ".join((f"{ms:.2f} ms on {device[-2:].upper()}" for device, ms in seeks_ms.items())),
        wang2005_ms=WANG2005_SEEK_MS,
        services=services_ms,
    )


def y_19(_: PowerRuns) -> Judgment:
    """The statistics of the public trace file."""
    statistics = seagate_trace()
    count, read_share, mean_kb, scv = (
        statistics[name] for name in ("requests", "read_share", "mean_kb", "size_scv")
    )
    agreements = [
        PrintedNumber(printed).is_nearly_met([statistics[name]])
        for name, printed in PRINTED_STATISTICS.items()
    ]
    return judge_comparisons(agreements).with_numbers(
        count=count, reads=read_share, runs_on=statistics["sequential_share"], mean_kb=mean_kb, scv=scv
    )


def y_36(_: PowerRuns) -> Judgment:
    """Mean size of the stand-in."""
    requests = simulate_snake("mems-g3", *CENTER_PARKING).requests
    mean_kb = float(requests["blocks"].mean()) / 2  # type: ignore[arg-type]
    return judge_criterion(abs(mean_kb / 8 - 1) <= 0.05).with_numbers(mean_kb=mean_kb)

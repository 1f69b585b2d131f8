"""Claims on the workloads (Lin, sections 3.4 and 4.2)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion
from ..simulator import random_pairs
from ..validated import seagate_trace
from .plan import PowerRuns
from .singles import simulate_snake

PAIRS = 20_000
PAPER_001_MS = 0.55


def y_18(_: PowerRuns) -> Judgment:
    """Seek and service times of random moves."""
    seek = {
        d: random_pairs(d, PAIRS).summary["positioning_time_ms"]["mean"]
        for d in ("mems-g1", "mems-g2", "mems-g3")
    }
    services = [
        seagate_trace()["mean_service_ms"],
        random_pairs("mems-g1", PAIRS).summary["service_time_ms"]["mean"],
        random_pairs("mems-g2-disksim", PAIRS).response_time.mean,
    ]
    return judge_criterion(abs(seek["mems-g2"] - 1.0) < 0.1).with_numbers(
        seek=", ".join((f"{ms:.2f} ms on {device[-2:].upper()}" for device, ms in seek.items())),
        paper_001_ms=PAPER_001_MS,
        services=services,
    )


def y_19(_: PowerRuns) -> Judgment:
    """The statistics of the public trace file."""
    measured = seagate_trace()
    count, reads, mean_kb, scv = (
        measured[name] for name in ("requests", "read_share", "mean_kb", "size_scv")
    )
    alike = abs(count / 10_000 - 1) < 0.01 and abs(mean_kb / 8 - 1) < 0.05 and abs(scv - 1) < 0.1
    return judge_criterion(alike and abs(reads - 0.5) < 0.05, alike).with_numbers(
        count=count, reads=reads, runs_on=measured["sequential_share"], mean_kb=mean_kb, scv=scv
    )


def y_36(_: PowerRuns) -> Judgment:
    """Mean size of the stand-in."""
    mean_kb = float(simulate_snake("mems-g3", ("power.kind", "immediate")).requests["blocks"].mean()) / 2  # type: ignore[arg-type]
    return judge_criterion(abs(mean_kb / 8 - 1) <= 0.05).with_numbers(mean_kb=mean_kb)

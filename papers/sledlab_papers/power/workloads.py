"""Claims on the workloads (Lin, sections 3.4 and 4.2)."""

from __future__ import annotations

from ..claims import Judgment, judge_comparisons, judge_criterion
from ..printed import PrintedNumber
from ..simulator import parameters, random_pairs
from ..validation_results import seagate_trace
from .parts import PUBLISHED_TABLE, PUBLISHED_WITH_PARTS
from .plan import PowerRuns
from .singles import BLOCK_BYTES

PAIRS = 20_000
WANG2005_SEEK_MS = 0.55
PRINTED_SEEK = PrintedNumber("about 1.0 ms")
PRINTED_SIZE = PrintedNumber("8 KB")

PRINTED_STATISTICS = {
    "requests": "10,000",
    "read_share": "50 %",
    "sequential_share": "30 %",
    "mean_kb": "8.0 KB",
    "size_scv": "1.0",
}
"""Statistics of the Seagate trace as Lin prints them; sizes are exponential, with a squared CV of 1."""


def mean_size_of_table(overhead_ms: float) -> float:
    """Return the mean size in KB that follows from the table of section 5.3: `contradictions/lin.md#table`.

    Args:
        overhead_ms: Time of a request that takes no energy; all other busy time takes that of the sled.
    """
    p, (slow, fast) = parameters("mems-g3"), PUBLISHED_TABLE
    sled_w, tip_w = 1e-3 * p["sled_mw"], 1e-3 * p["tip_mw"]
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    saved_j = PUBLISHED_TABLE[slow][1] - PUBLISHED_WITH_PARTS[slow][1]
    requests = saved_j / ((p["tips_per_block"] - 1) / 2 * tip_w * row_s)
    servicing_j = {speedup: entries[1] for speedup, entries in PUBLISHED_TABLE.items()}
    other_s = {
        speedup: startup_j / sled_w + inactive_j / (1e-3 * p["inactive_mw"]) + requests * 1e-3 * overhead_ms
        for speedup, (_, _, startup_j, inactive_j, _) in PUBLISHED_TABLE.items()
    }
    # The span of the trace is the same at both speeds, and so is the energy of tips.
    less_busy_s = (servicing_j[slow] - servicing_j[fast]) / sled_w
    busy_s = (slow * (other_s[slow] + less_busy_s) - fast * other_s[fast]) / (fast - slow)
    blocks = (servicing_j[fast] - sled_w * busy_s) / requests / (p["tips_per_block"] * tip_w * row_s)
    return float(blocks * BLOCK_BYTES / 1024)


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
    """Mean size that the table of section 5.3 has, and how much time without energy would change that."""
    mean_kb = mean_size_of_table(0.0)
    exact_ms = (8.0 - mean_kb) / (mean_size_of_table(1.0) - mean_kb)
    return judge_criterion(PRINTED_SIZE.is_met([mean_kb])).with_numbers(mean_kb=mean_kb, exact_ms=exact_ms)

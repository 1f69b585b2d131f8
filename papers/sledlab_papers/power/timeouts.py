"""Claims on the idle timeout and on parking at once (Hong 2006, section 5.3.1; Lin, section 3)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgement, judged
from ..runs import Points
from ..validated import seagate_trace
from ..wording import each
from .breakdown import at_printed_idle, unfit
from .plan import PowerRuns
from .singles import fit

FIGURE = "hong2006-figure-11"
LONG, MINUTE_MS = "40", "10000"
"""The timeout that figures end with, and the longest of Lin."""

STARTUPS = "lin-figure-7"
LOSS = 0.04
"""Loss of throughput, as printed."""

NEARLY_ALL = 0.99
"""Share of requests that wait for a start-up from which on a workload counts as sparse."""


def _timeouts(points: Points) -> list[str]:
    return sorted(points.varied, key=float)


def _energies(runs: PowerRuns) -> dict[float, float]:
    """Energy in J by timeout in ms, on the trace as recorded."""
    points = runs.on_seagate(FIGURE)
    return {float(timeout): points.at(timeout, 1.0, "energy_j") for timeout in _timeouts(points)}


def _saving(runs: PowerRuns, timeout: str, speedup: float = 1.0) -> float:
    points = runs.on_seagate(FIGURE)
    return 1 - points.at(0, speedup, "energy_j") / points.at(timeout, speedup, "energy_j")


def _added_ms(runs: PowerRuns, speedup: float = 1.0) -> float:
    points = runs.on_seagate(FIGURE)
    return points.at(0, speedup, "mean_ms") - points.at(LONG, speedup, "mean_ms")


def h_64(runs: PowerRuns) -> Judgement:
    """Energy with timeouts from 40 ms down to 0."""
    measured = _energies(runs)
    saved = _saving(runs, LONG)
    return judged(0.5 <= saved <= 0.65).saying(long=measured[40.0], none=measured[0.0], change=-saved)


def h_65(runs: PowerRuns) -> Judgement:
    """Energy rises with the timeout until no rest is longer, and is flat from there on."""
    measured, trace = _energies(runs), seagate_trace()
    idle_ms, gap_ms = trace["longest_idle_ms"], trace["longest_gap_ms"]
    rising = [measured[a] < measured[b] for a, b in pairwise(measured) if a < idle_ms]
    level = measured[max(measured)]
    flat = [abs(measured[timeout] / level - 1) < 1e-12 for timeout in measured if timeout > idle_ms]
    last = max(timeout for timeout in measured if timeout < idle_ms)
    return judged(all(rising) and all(flat) and (gap_ms < 36), all(rising)).saying(
        none=measured[0.0],
        longer=len(rising) - 1,
        last=last,
        level=level,
        equal=len(flat),
        first=min(t for t in measured if t > idle_ms),
        longest_s=max(measured) / 1000.0,
        idle_ms=idle_ms,
        gap_ms=gap_ms,
    )


def h_66(runs: PowerRuns) -> Judgement:
    """Cost of parking at once, by load."""
    points = runs.on_seagate(FIGURE)
    added = {speedup: _added_ms(runs, speedup) for speedup in points.speedups}
    shares = {speedup: ms / points.at(LONG, speedup, "mean_ms") for speedup, ms in added.items()}
    heaviest = points.stable(0)[-1]
    details = each(
        "{:.3f} ms ({:+1%}) at {:g}", ((ms, shares[speedup], speedup) for speedup, ms in added.items())
    )
    busy = points.at(0, heaviest, "utilization")
    return judged(max(added.values()) <= 0.5 and shares[heaviest] < 0.05, max(added.values()) <= 0.5).saying(
        details=details, heaviest=heaviest, busy=busy
    )


def y_01(runs: PowerRuns) -> Judgement:
    """Savings of parking at once on both workloads, compared with a timeout of one second."""
    seagate = _saving(runs, "1000")
    points = runs.points("lin-policies")
    snake = {
        speedup: -points.change("immediate", "fixed:timeout_ms=1000", speedup, "energy_j")
        for speedup in points.speedups
    }
    share, at_share = at_printed_idle(runs)
    inside = [0.45 <= saved <= 0.65 for saved in (seagate, at_share)]
    return judged(all(inside), any(inside)).saying(
        seagate=-seagate,
        snake=each("{1:-1%} at {0:g}", snake.items()),
        share=share,
        at_share=-at_share,
        unfit=unfit(runs),
    )


def y_10(runs: PowerRuns) -> Judgement:
    """Rise of the energy with the timeout."""
    measured = _energies(runs)
    ratio = measured[40.0] / measured[0.0]
    return judged(2.1 <= ratio <= 3.0).saying(ratio=ratio)


def y_15(runs: PowerRuns) -> Judgement:
    """Rise of the response time when parking at once."""
    points = runs.on_seagate(FIGURE)
    none, long = (points.at(timeout, 1.0, "mean_ms") for timeout in (0, LONG))
    return judged(0.5 <= none / long - 1 <= 0.85).saying(long=long, none=none, change=none / long - 1)


def y_16(runs: PowerRuns) -> Judgement:
    """Difference of response times, and the share of requests that wait for a start-up."""
    points = runs.on_seagate(FIGURE)
    added, startups = _added_ms(runs), points.at(0, 1.0, "startups")
    requests = points.at(0, 1.0, "requests")
    rate = points.at(0, 1.0, "throughput_iops") / points.at(LONG, 1.0, "throughput_iops") - 1
    return judged(0.45 <= added <= 0.5).saying(added=added, startups=startups, requests=requests, rate=rate)


def y_17(runs: PowerRuns) -> Judgement:
    """Throughput of an open trace."""
    points = runs.on_seagate(FIGURE)
    rates = [points.at(timeout, 1.0, "throughput_iops") for timeout in (MINUTE_MS, 0)]
    change = rates[1] / rates[0] - 1
    return judged(-0.06 < change <= -LOSS).saying(rates=rates, change=change)


def y_20(runs: PowerRuns) -> Judgement:
    """Slope of the response time over the start-up time."""
    points = runs.on_seagate(STARTUPS)
    times = sorted(points.varied, key=float)
    requests = points.at(0, 1.0, "requests")
    sparse = [time for time in times if points.at(time, 1.0, "startups") > NEARLY_ALL * requests]
    lines = [
        fit([float(time) for time in some], [points.at(time, 1.0, "mean_ms") for time in some])
        for some in (sparse, times)
    ]
    details = [f"slope {slope:.3f} ms per ms, R2 {r2:.5f}" for slope, r2 in lines]
    rates = [points.at(time, 1.0, "throughput_iops") for time in (times[0], times[-1])]
    slope, r2 = lines[0]
    return judged(r2 > 0.99 and abs(slope - 1) <= 0.02, r2 > 0.99).saying(
        sparse=sparse[-1],
        nearly_all=100 * NEARLY_ALL,
        details=details,
        longest=times[-1],
        share=100 * points.at(times[-1], 1.0, "startups") / requests,
        rates=rates,
    )

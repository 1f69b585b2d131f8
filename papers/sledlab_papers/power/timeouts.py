"""Claims on the idle timeout and on parking at once (Hong 2006, section 5.3.1; Lin, section 3)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgment, judge_criterion, judge_printed
from ..runs import ExperimentRuns
from ..validated import seagate_trace
from ..wording import format_rows
from .breakdown import inconsistency_text, saving_at_published_idle
from .plan import SNAKE, TIMEOUTS, PowerRuns
from .singles import fit_line

FIGURE = TIMEOUTS
LONG, MINUTE_MS = "40", "10000"
"""The timeout that figures end with, and the longest of Lin."""

STARTUPS = "lin-figure-7"
MIN_LOSS = 0.001
"""Loss of throughput below which there is none."""

MIN_STARTUP_SHARE = 0.99
"""Share of requests that wait for a start-up from which on a workload counts as sparse."""


def _timeouts(points: ExperimentRuns) -> list[str]:
    return sorted(points.axis_values, key=float)


def _energies(runs: PowerRuns) -> dict[float, float]:
    """Energy in J by timeout in ms, on the trace as recorded."""
    points = runs.seagate_runs(FIGURE)
    return {float(timeout): points.mean(timeout, 1.0, "energy_j") for timeout in _timeouts(points)}


def _saving(runs: PowerRuns, timeout: str, speedup: float = 1.0) -> float:
    points = runs.seagate_runs(FIGURE)
    return 1 - points.mean(0, speedup, "energy_j") / points.mean(timeout, speedup, "energy_j")


def _added_ms(runs: PowerRuns, speedup: float = 1.0) -> float:
    points = runs.seagate_runs(FIGURE)
    return points.mean(0, speedup, "mean_ms") - points.mean(LONG, speedup, "mean_ms")


def h_64(runs: PowerRuns) -> Judgment:
    """Energy with timeouts from 40 ms down to 0."""
    measured = _energies(runs)
    saved = _saving(runs, LONG)
    return judge_printed([saved], direction=saved > 0).with_numbers(
        long=measured[40.0], none=measured[0.0], change=-saved
    )


def h_65(runs: PowerRuns) -> Judgment:
    """Energy rises with the timeout until no rest is longer, and is flat from there on."""
    measured, trace = _energies(runs), seagate_trace()
    idle_ms, gap_ms = trace["longest_idle_ms"], trace["longest_gap_ms"]
    rising = [measured[a] < measured[b] for a, b in pairwise(measured) if a < idle_ms]
    level = measured[max(measured)]
    flat = [abs(measured[timeout] / level - 1) < 1e-12 for timeout in measured if timeout > idle_ms]
    last = max(timeout for timeout in measured if timeout < idle_ms)
    first = min(timeout for timeout in measured if timeout > idle_ms)
    judged = judge_criterion(all(rising) and all(flat) and (gap_ms < 36), all(rising))
    return judged.with_values([first]).with_numbers(
        none=measured[0.0],
        longer=len(rising) - 1,
        last=last,
        level=level,
        equal=len(flat),
        first=first,
        longest_s=max(measured) / 1000.0,
        idle_ms=idle_ms,
        gap_ms=gap_ms,
    )


def h_66(runs: PowerRuns) -> Judgment:
    """Cost of parking at once, by load."""
    points = runs.seagate_runs(FIGURE)
    added = {speedup: _added_ms(runs, speedup) for speedup in points.speedups}
    shares = {speedup: ms / points.mean(LONG, speedup, "mean_ms") for speedup, ms in added.items()}
    heaviest = points.stable_speedups(0)[-1]
    details = format_rows(
        "{:.3f} ms ({:+1%}) at {:g}", ((ms, shares[speedup], speedup) for speedup, ms in added.items())
    )
    busy = points.mean(0, heaviest, "utilization")
    falls = shares[heaviest] < 0.05
    return judge_printed(added.values(), direction=falls, holds=falls).with_numbers(
        details=details, heaviest=heaviest, busy=busy
    )


def y_01(runs: PowerRuns) -> Judgment:
    """Savings of parking at once on both workloads, compared with a timeout of one second."""
    seagate = _saving(runs, "1000")
    points = runs.experiment("lin-policies")
    snake = {
        speedup: -points.change("immediate", "fixed:timeout_ms=1000", speedup, "energy_j")
        for speedup in points.speedups
    }
    share, at_share = saving_at_published_idle(runs)
    return judge_printed([seagate, at_share], direction=min(seagate, at_share) > 0).with_numbers(
        seagate=-seagate,
        snake=format_rows("{1:-1%} at {0:g}", snake.items()),
        share=share,
        at_share=-at_share,
        unfit=inconsistency_text(runs),
    )


def y_10(runs: PowerRuns) -> Judgment:
    """Rise of the energy with the timeout."""
    measured = _energies(runs)
    ratio = measured[40.0] / measured[0.0]
    return judge_printed([ratio], direction=ratio > 1).with_numbers(ratio=ratio)


def y_15(runs: PowerRuns) -> Judgment:
    """Rise of the response time when parking at once."""
    points, speedup = runs.timeout_runs()
    none, long = (points.mean(timeout, speedup, "mean_ms") for timeout in (0, LONG))
    change = none / long - 1
    return judge_printed([change], direction=change > 0).with_numbers(
        long=long,
        none=none,
        change=change,
        snake=format_rows("{1:+1%} at {0:g}", _snake_changes(runs).items()),
    )


def _snake_changes(runs: PowerRuns) -> dict[float, float]:
    """Rise of the mean response on the stand-in for Snake when parking at once, by speed-up."""
    points = runs.experiment(f"{TIMEOUTS}{SNAKE}")
    return {speedup: points.change(0, LONG, speedup, "mean_ms") for speedup in points.speedups}


def _snake_delays_ms(runs: PowerRuns) -> dict[float, float]:
    """Added response time in ms on the stand-in for Snake when parking at once, by speed-up."""
    points = runs.experiment(f"{TIMEOUTS}{SNAKE}")
    return {
        speedup: points.mean(0, speedup, "mean_ms") - points.mean(LONG, speedup, "mean_ms")
        for speedup in points.speedups
    }


def y_16(runs: PowerRuns) -> Judgment:
    """Difference of response times, and the share of requests that wait for a start-up."""
    points, speedup = runs.timeout_runs()
    added = points.mean(0, speedup, "mean_ms") - points.mean(LONG, speedup, "mean_ms")
    startups, requests = (points.mean(0, speedup, measure) for measure in ("startups", "requests"))
    rates = [points.mean(timeout, speedup, "throughput_iops") for timeout in (0, LONG)]
    return judge_printed([added], direction=added > 0).with_numbers(
        added=added,
        startups=startups,
        requests=requests,
        rate=rates[0] / rates[1] - 1,
        snake=format_rows("{1:.3f} ms at {0:g}", _snake_delays_ms(runs).items()),
    )


def y_17(runs: PowerRuns) -> Judgment:
    """Throughput of an open trace."""
    points, speedup = runs.timeout_runs()
    rates = [points.mean(timeout, speedup, "throughput_iops") for timeout in (MINUTE_MS, 0)]
    change = rates[1] / rates[0] - 1
    return judge_printed([-change], direction=-change > MIN_LOSS).with_numbers(rates=rates, change=change)


def y_20(runs: PowerRuns) -> Judgment:
    """Slope of the response time over the start-up time."""
    points = runs.seagate_runs(STARTUPS)
    times = sorted(points.axis_values, key=float)
    requests = points.mean(0, 1.0, "requests")
    sparse = [time for time in times if points.mean(time, 1.0, "startups") > MIN_STARTUP_SHARE * requests]
    lines = [
        fit_line([float(time) for time in some], [points.mean(time, 1.0, "mean_ms") for time in some])
        for some in (sparse, times)
    ]
    details = [f"slope {slope:.3f} ms per ms, R2 {r2:.5f}" for slope, r2 in lines]
    rates = [points.mean(time, 1.0, "throughput_iops") for time in (times[0], times[-1])]
    slope, r2 = lines[0]
    linear, falls = r2 > 0.99 and abs(slope - 1) <= 0.02, rates[1] < rates[0] * (1 - MIN_LOSS)
    return judge_criterion(linear and falls, linear).with_numbers(
        sparse=sparse[-1],
        nearly_all=100 * MIN_STARTUP_SHARE,
        details=details,
        longest=times[-1],
        share=100 * points.mean(times[-1], 1.0, "startups") / requests,
        rates=rates,
    )

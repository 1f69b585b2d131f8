"""Claims on the idle timeout and on parking at once (Hong 2006, section 5.3.1; Lin, section 3)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgment, judge_criterion, judge_printed
from ..runs import ExperimentRuns
from ..validation_results import seagate_trace
from ..wording import format_rows
from .breakdown import inconsistency_text, saving_at_published_idle
from .plan import SNAKE, TIMEOUTS, PowerRuns
from .singles import fit_line

FIGURE = TIMEOUTS
LONG_MS, LONGEST_MS = "40", "10000"
"""The timeout that figures end with, and the longest of Lin."""

STARTUPS = "lin-figure-7"
MIN_LOSS = 0.001
"""Loss of throughput below which there is none."""

MIN_STARTUP_SHARE = 0.99
"""Share of requests that wait for a start-up from which on a workload counts as sparse."""


def _timeouts(experiment: ExperimentRuns) -> list[str]:
    return sorted(experiment.axis_values, key=float)


def _energies(runs: PowerRuns) -> dict[float, float]:
    """Energy in J by timeout in ms, on the trace as recorded."""
    experiment = runs.seagate_runs(FIGURE)
    return {float(timeout): experiment.mean(timeout, 1.0, "energy_j") for timeout in _timeouts(experiment)}


def _saving(runs: PowerRuns, timeout: str, speedup: float = 1.0) -> float:
    experiment = runs.seagate_runs(FIGURE)
    return 1 - experiment.mean(0, speedup, "energy_j") / experiment.mean(timeout, speedup, "energy_j")


def _added_ms(runs: PowerRuns, speedup: float = 1.0) -> float:
    experiment = runs.seagate_runs(FIGURE)
    return experiment.mean(0, speedup, "mean_ms") - experiment.mean(LONG_MS, speedup, "mean_ms")


def h_64(runs: PowerRuns) -> Judgment:
    """Energy with timeouts from 40 ms down to 0."""
    energies_j = _energies(runs)
    saving = _saving(runs, LONG_MS)
    return judge_printed([saving], direction_holds=saving > 0).with_numbers(
        long=energies_j[40.0], none=energies_j[0.0], change=-saving
    )


def h_65(runs: PowerRuns) -> Judgment:
    """Energy rises with the timeout until no idle period is longer, and is flat from there on."""
    energies_j, trace_statistics = _energies(runs), seagate_trace()
    idle_ms, gap_ms = trace_statistics["longest_idle_ms"], trace_statistics["longest_gap_ms"]
    are_rising = [energies_j[a] < energies_j[b] for a, b in pairwise(energies_j) if a < idle_ms]
    final_j = energies_j[max(energies_j)]
    are_flat = [abs(energies_j[timeout] / final_j - 1) < 1e-12 for timeout in energies_j if timeout > idle_ms]
    last_rising_ms = max(timeout for timeout in energies_j if timeout < idle_ms)
    first_flat_ms = min(timeout for timeout in energies_j if timeout > idle_ms)
    judgment = judge_criterion(all(are_rising) and all(are_flat) and (gap_ms < 36), all(are_rising))
    return judgment.with_values([first_flat_ms]).with_numbers(
        none=energies_j[0.0],
        longer=len(are_rising) - 1,
        last=last_rising_ms,
        level=final_j,
        equal=len(are_flat),
        first=first_flat_ms,
        longest_s=max(energies_j) / 1000.0,
        idle_ms=idle_ms,
        gap_ms=gap_ms,
    )


def h_66(runs: PowerRuns) -> Judgment:
    """Cost of parking at once, by load."""
    experiment = runs.seagate_runs(FIGURE)
    added_ms = {speedup: _added_ms(runs, speedup) for speedup in experiment.speedups}
    shares = {speedup: ms / experiment.mean(LONG_MS, speedup, "mean_ms") for speedup, ms in added_ms.items()}
    heaviest_speedup = experiment.stable_speedups(0)[-1]
    details = format_rows(
        "{:.3f} ms ({:+1%}) at {:g}", ((ms, shares[speedup], speedup) for speedup, ms in added_ms.items())
    )
    utilization = experiment.mean(0, heaviest_speedup, "utilization")
    falls = shares[heaviest_speedup] < 0.05
    return judge_printed(added_ms.values(), direction_holds=falls, rest_holds=falls).with_numbers(
        details=details, heaviest=heaviest_speedup, busy=utilization
    )


def y_01(runs: PowerRuns) -> Judgment:
    """Savings of parking at once on both workloads, compared with a timeout of one second."""
    seagate_saving = _saving(runs, "1000")
    experiment = runs.experiment("lin-policies")
    snake_savings = {
        speedup: -experiment.change("immediate", "fixed:timeout_ms=1000", speedup, "energy_j")
        for speedup in experiment.speedups
    }
    idle_share, saving_at_share = saving_at_published_idle(runs)
    return judge_printed(
        [seagate_saving, saving_at_share], direction_holds=min(seagate_saving, saving_at_share) > 0
    ).with_numbers(
        seagate=-seagate_saving,
        snake=format_rows("{1:-1%} at {0:g}", snake_savings.items()),
        share=idle_share,
        at_share=-saving_at_share,
        unfit=inconsistency_text(runs),
    )


def y_10(runs: PowerRuns) -> Judgment:
    """Rise of the energy with the timeout."""
    energies_j = _energies(runs)
    ratio = energies_j[40.0] / energies_j[0.0]
    return judge_printed([ratio], direction_holds=ratio > 1).with_numbers(ratio=ratio)


def y_15(runs: PowerRuns) -> Judgment:
    """Rise of the response time when parking at once."""
    experiment, speedup = runs.timeout_runs()
    parking_ms, waiting_ms = (experiment.mean(timeout, speedup, "mean_ms") for timeout in (0, LONG_MS))
    change = parking_ms / waiting_ms - 1
    return judge_printed([change], direction_holds=change > 0).with_numbers(
        long=waiting_ms,
        none=parking_ms,
        change=change,
        snake=format_rows("{1:+1%} at {0:g}", _snake_changes(runs).items()),
    )


def _snake_changes(runs: PowerRuns) -> dict[float, float]:
    """Rise of the mean response on the stand-in for Snake when parking at once, by speed-up."""
    experiment = runs.experiment(f"{TIMEOUTS}{SNAKE}")
    return {speedup: experiment.change(0, LONG_MS, speedup, "mean_ms") for speedup in experiment.speedups}


def _snake_delays_ms(runs: PowerRuns) -> dict[float, float]:
    """Added response time in ms on the stand-in for Snake when parking at once, by speed-up."""
    experiment = runs.experiment(f"{TIMEOUTS}{SNAKE}")
    return {
        speedup: experiment.mean(0, speedup, "mean_ms") - experiment.mean(LONG_MS, speedup, "mean_ms")
        for speedup in experiment.speedups
    }


def y_16(runs: PowerRuns) -> Judgment:
    """Difference of response times, and the share of requests that wait for a start-up."""
    experiment, speedup = runs.timeout_runs()
    added_ms = experiment.mean(0, speedup, "mean_ms") - experiment.mean(LONG_MS, speedup, "mean_ms")
    startups, requests = (experiment.mean(0, speedup, measure) for measure in ("startups", "requests"))
    rates = [experiment.mean(timeout, speedup, "throughput_iops") for timeout in (0, LONG_MS)]
    return judge_printed([added_ms], direction_holds=added_ms > 0).with_numbers(
        added=added_ms,
        startups=startups,
        requests=requests,
        rate=rates[0] / rates[1] - 1,
        snake=format_rows("{1:.3f} ms at {0:g}", _snake_delays_ms(runs).items()),
    )


def y_17(runs: PowerRuns) -> Judgment:
    """Throughput of an open trace."""
    experiment, speedup = runs.timeout_runs()
    rates = [experiment.mean(timeout, speedup, "throughput_iops") for timeout in (LONGEST_MS, 0)]
    change = rates[1] / rates[0] - 1
    return judge_printed([-change], direction_holds=-change > MIN_LOSS).with_numbers(
        rates=rates, change=change
    )


def y_20(runs: PowerRuns) -> Judgment:
    """Slope of the response time over the start-up time."""
    experiment = runs.seagate_runs(STARTUPS)
    startup_times = sorted(experiment.axis_values, key=float)
    requests = experiment.mean(0, 1.0, "requests")
    sparse_times = [
        time
        for time in startup_times
        if experiment.mean(time, 1.0, "startups") > MIN_STARTUP_SHARE * requests
    ]
    lines = [
        fit_line(
            [float(time) for time in selected_times],
            [experiment.mean(time, 1.0, "mean_ms") for time in selected_times],
        )
        for selected_times in (sparse_times, startup_times)
    ]
    details = [f"slope {slope:.3f} ms per ms, R2 {r2:.5f}" for slope, r2 in lines]
    rates = [experiment.mean(time, 1.0, "throughput_iops") for time in (startup_times[0], startup_times[-1])]
    slope, r2 = lines[0]
    is_linear, falls = r2 > 0.99 and abs(slope - 1) <= 0.02, rates[1] < rates[0] * (1 - MIN_LOSS)
    return judge_criterion(is_linear and falls, is_linear).with_numbers(
        sparse=sparse_times[-1],
        nearly_all=100 * MIN_STARTUP_SHARE,
        details=details,
        longest=startup_times[-1],
        share=100 * experiment.mean(startup_times[-1], 1.0, "startups") / requests,
        rates=rates,
    )

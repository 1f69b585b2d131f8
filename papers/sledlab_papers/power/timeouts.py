"""Claims on the idle timeout and on parking at once (Hong 2006, section 5.3.1; Lin, section 3)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgment, judge_criterion, judge_printed
from ..runs import ExperimentRuns
from ..validation_results import seagate_trace
from .breakdown import SNAKE, idle_share_of_full_transfer, max_parking_saving
from .plan import PowerRuns
from .policies import IMMEDIATE, SLED_EXPERIMENT, WAITING
from .singles import fit_line
from .tables import speed_table

FIGURE, LIN_FIGURE, STRATEGIES = "hong2006-figure-11", "lin-figure-4", "hong2006-figure-12"
LONG_MS, LONGEST_MS = "40", "10000"
"""The timeout that figures end with, and the longest of Lin."""

STARTUPS = "lin-figure-7"
STARTUP_J = 50e-6
"""Energy of a start-up, as printed."""

MIN_LOSS = 0.001
"""Loss of throughput below which there is none."""

MAX_HEAVY_SHARE = 0.05
"""Share of the mean response up to which added time counts as next to nothing."""


def _measures(experiment: ExperimentRuns, measure: str) -> dict[float, float]:
    """A measure by what varies, ascending, on the trace at its own speed."""
    return {
        float(value): experiment.mean(value, 1.0, measure)
        for value in sorted(experiment.axis_values, key=float)
    }


def h_64(runs: PowerRuns) -> Judgment:
    """Energy with timeouts from 40 ms down to 0."""
    energies_j = _measures(runs.seagate_runs(FIGURE), "energy_j")
    saving = 1 - energies_j[0.0] / energies_j[40.0]
    return judge_printed([saving], direction_holds=saving > 0).with_numbers(
        long=energies_j[40.0], none=energies_j[0.0], change=-saving
    )


def _judge_rise(runs: PowerRuns, place: str) -> Judgment:
    """Whether energy rises with the timeout up to the longest gap at most, and is flat from there on.

    A timeout that is longer than the last few gaps saves their start-ups, and may take less by as much as one
    of them takes than a timeout that ends just before.
    """
    energies_j, gap_ms = _measures(runs.seagate_runs(place), "energy_j"), seagate_trace()["longest_gap_ms"]
    final_j = energies_j[max(energies_j)]
    flat_ms = [timeout for timeout in energies_j if abs(energies_j[timeout] / final_j - 1) < 1e-12]
    rising_ms = [timeout for timeout in energies_j if timeout < flat_ms[0]]
    is_least = all(energies_j[0.0] < energy_j for timeout, energy_j in energies_j.items() if timeout)
    is_rising = is_least and all(
        energies_j[a] < energies_j[b] + STARTUP_J for a, b in pairwise((*rising_ms, flat_ms[0]))
    )
    stays_flat = flat_ms == [timeout for timeout in energies_j if timeout >= flat_ms[0]]
    is_flat_from_gap = flat_ms[0] <= min(timeout for timeout in energies_j if timeout > gap_ms)
    judgment = judge_criterion(is_rising and stays_flat and is_flat_from_gap, is_least)
    return judgment.with_values([flat_ms[0]]).with_numbers(
        none=energies_j[0.0],
        level=final_j,
        first=flat_ms[0],
        longest_s=max(energies_j) / 1000.0,
        gap_ms=gap_ms,
    )


def h_65(runs: PowerRuns) -> Judgment:
    """Energy over the timeout, on the sled of Hong 2006."""
    return _judge_rise(runs, FIGURE)


def y_11(runs: PowerRuns) -> Judgment:
    """Energy over the timeout, on the sled of Lin."""
    return _judge_rise(runs, LIN_FIGURE)


def y_12(runs: PowerRuns) -> Judgment:
    """The least energy, on the sled of Lin."""
    return _judge_rise(runs, LIN_FIGURE)


def h_66(runs: PowerRuns) -> Judgment:
    """Cost of parking at once: on Seagate, and by load on Snake."""
    responses_ms = _measures(runs.seagate_runs(FIGURE), "mean_ms")
    experiment = runs.experiment(STRATEGIES)
    speedups = experiment.stable_speedups("parking", "none")
    added_ms = {
        speedup: experiment.mean("parking", speedup, "mean_ms") - experiment.mean("none", speedup, "mean_ms")
        for speedup in speedups
    }
    heaviest = speedups[-1]
    heavy_share = added_ms[heaviest] / experiment.mean("none", heaviest, "mean_ms")
    seagate_ms, falls = responses_ms[0.0] - responses_ms[40.0], heavy_share < MAX_HEAVY_SHARE
    return (
        judge_printed(
            [seagate_ms, *added_ms.values()],
            direction_holds=min(seagate_ms, *added_ms.values()) > 0,
            rest_holds=falls,
        )
        .with_numbers(seagate=seagate_ms, snake=max(added_ms.values()), heaviest=heaviest, share=heavy_share)
        .with_tables(
            speed_table("Added to the mean response on Snake, ms, by speed", ("added", "{:.3f}", added_ms))
        )
    )


def y_01(runs: PowerRuns) -> Judgment:
    """Savings of parking at once on both workloads, compared with a timeout of one second."""
    seagate_saving = -runs.seagate_runs(LIN_FIGURE).change(0, 1000, 1.0, "energy_j")
    experiment = runs.experiment(SLED_EXPERIMENT)
    snake_savings = {
        speedup: -experiment.change(IMMEDIATE, WAITING, speedup, "energy_j")
        for speedup in experiment.speedups
    }
    snake_speed = float(runs.mark_value("snake") or SNAKE)
    judgment = judge_printed(
        [snake_savings[snake_speed]],
        [seagate_saving],
        direction_holds=min(seagate_saving, *snake_savings.values()) > 0,
    )
    return judgment.with_numbers(
        seagate=-seagate_saving,
        saved=-snake_savings[snake_speed],
        speed=snake_speed,
        parking=max_parking_saving(),
        half=0.5 / max_parking_saving(),
        full=idle_share_of_full_transfer(runs),
    ).with_tables(
        speed_table("Change of the energy of Snake, by speed", ("energy, %", "{:-%1}", snake_savings))
    )


def y_10(runs: PowerRuns) -> Judgment:
    """Rise of the energy with the timeout."""
    energies_j = _measures(runs.seagate_runs(LIN_FIGURE), "energy_j")
    ratio = energies_j[40.0] / energies_j[0.0]
    return judge_printed([ratio], direction_holds=ratio > 1).with_numbers(ratio=ratio)


def y_15(runs: PowerRuns) -> Judgment:
    """Rise of the response time when parking at once."""
    responses_ms = _measures(runs.seagate_runs(LIN_FIGURE), "mean_ms")
    change = responses_ms[0.0] / responses_ms[40.0] - 1
    experiment = runs.experiment(SLED_EXPERIMENT)
    snake_changes = {
        speedup: experiment.change(IMMEDIATE, WAITING, speedup, "mean_ms") for speedup in experiment.speedups
    }
    return (
        judge_printed([change], direction_holds=change > 0)
        .with_numbers(long=responses_ms[40.0], none=responses_ms[0.0], change=change)
        .with_tables(
            speed_table(
                "Change of the mean response on Snake (stand-in, open), by speed",
                ("response, %", "{:+%1}", snake_changes),
            )
        )
    )


def y_16(runs: PowerRuns) -> Judgment:
    """Difference of response times, and the share of requests that wait for a start-up."""
    experiment = runs.seagate_runs(LIN_FIGURE)
    responses_ms = _measures(experiment, "mean_ms")
    added_ms = responses_ms[0.0] - responses_ms[40.0]
    startups, requests = (experiment.mean(0, 1.0, measure) for measure in ("startups", "requests"))
    return judge_printed([added_ms], direction_holds=added_ms > 0).with_numbers(
        added=added_ms,
        startups=startups,
        requests=requests,
        rate=experiment.change(0, LONG_MS, 1.0, "throughput_iops"),
    )


def y_17(runs: PowerRuns) -> Judgment:
    """Requests completed per second of the run, with parking at once and with the longest timeout."""
    experiment = runs.seagate_runs(LIN_FIGURE)
    rates = [experiment.mean(timeout, 1.0, "throughput_iops") for timeout in (LONGEST_MS, 0)]
    loss = 1 - rates[1] / rates[0]
    return judge_printed([loss], direction_holds=loss > MIN_LOSS).with_numbers(rates=rates, change=-loss)


def y_20(runs: PowerRuns) -> Judgment:
    """Lines of the response time and of the throughput over the start-up time."""
    experiment = runs.seagate_runs(STARTUPS)
    responses_ms, rates = (_measures(experiment, measure) for measure in ("mean_ms", "throughput_iops"))
    (slope, response_r2), (rate_slope, rate_r2) = (
        fit_line(list(line), list(line.values())) for line in (responses_ms, rates)
    )
    is_linear = response_r2 > 0.99 and abs(slope - 1) <= 0.02
    return judge_criterion(is_linear and rate_r2 > 0.99 and rate_slope < 0, is_linear).with_numbers(
        slope=slope,
        r2=response_r2,
        longest=max(rates),
        rates=[rates[min(rates)], rates[max(rates)]],
        rate_r2=rate_r2,
    )

"""Claims on the idle timeout and on parking at once (Hong 2006, section 5.3.1; Lin, section 3)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgment, judge_criterion, judge_fitted, judge_printed
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..validation_results import seagate_trace
from ..wording import cells, number_table
from .breakdown import SNAKE, idle_share_of_full_transfer, max_parking_saving
from .plan import PowerRuns
from .policies import IMMEDIATE, SLED_EXPERIMENT, WAITING
from .singles import fit_line
from .tables import speed_table

FIGURE, LIN_FIGURE, STRATEGIES = "hong2006-figure-11", "lin-figure-4", "hong2006-figure-12"
LONG_MS, LONGEST_MS = "40", "10000"
"""The timeout that figures end with, and the longest of Lin."""

STARTUPS = "lin-figure-7"
PRESET_STARTUP_MS = 0.5
STARTUP_J = 50e-6
"""Energy of a start-up, as printed."""

PRINTED_RISE = PrintedNumber("up to 0.5 ms")
"""Rise of the mean response by parking at once (Hong 2006)."""

MIN_LOSS = 0.001
"""Loss of throughput below which there is none."""


def _measures(experiment: ExperimentRuns, measure: str) -> dict[float, float]:
    """A measure by what varies, ascending, on the trace at its own speed."""
    return {
        float(value): experiment.mean(value, 1.0, measure)
        for value in sorted(experiment.axis_values, key=float)
    }


def _judge_chosen(value: float) -> Judgment:
    """Judge a number that follows from a choice, as met or not: its sign alone would count as fitted, too."""
    return judge_printed([value], direction_holds=False)


def h_64(runs: PowerRuns) -> Judgment:
    """Energy with timeouts from 40 ms down to 0."""
    energies_j = _measures(runs.seagate_runs(FIGURE), "energy_j")
    saving = 1 - energies_j[0.0] / energies_j[40.0]
    return _judge_chosen(saving).with_numbers(long=energies_j[40.0], none=energies_j[0.0], change=-saving)


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
    seagate_ms, falls = responses_ms[0.0] - responses_ms[40.0], added_ms[heaviest] < added_ms[speedups[0]]
    is_as_printed = PRINTED_RISE.is_met([seagate_ms, *added_ms.values()])
    return (
        judge_criterion(is_as_printed and falls, direction_holds=is_as_printed)
        .with_values([seagate_ms, *added_ms.values()])
        .with_numbers(
            seagate=seagate_ms,
            snake=max(added_ms.values()),
            light=added_ms[speedups[0]],
            heavy=added_ms[heaviest],
            heaviest=heaviest,
            share=heavy_share,
        )
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
    return _judge_chosen(ratio).with_numbers(ratio=ratio)


def y_15(runs: PowerRuns) -> Judgment:
    """Rise of the response time when parking at once."""
    responses_ms = _measures(runs.seagate_runs(LIN_FIGURE), "mean_ms")
    change = responses_ms[0.0] / responses_ms[40.0] - 1
    experiment = runs.experiment(SLED_EXPERIMENT)
    snake_changes = {
        speedup: experiment.change(IMMEDIATE, WAITING, speedup, "mean_ms") for speedup in experiment.speedups
    }
    return (
        _judge_chosen(change)
        .with_numbers(long=responses_ms[40.0], none=responses_ms[0.0], change=change)
        .with_tables(
            speed_table(
                "Change of the mean response on Snake against a timeout of one second, by speed",
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
    return _judge_chosen(loss).with_numbers(rates=rates, change=-loss)


def y_20(runs: PowerRuns) -> Judgment:
    """Response time and throughput over the start-up time, for which every request waits."""
    experiment = runs.seagate_runs(STARTUPS)
    responses_ms, rates = (_measures(experiment, measure) for measure in ("mean_ms", "throughput_iops"))
    times_ms = list(rates)
    slopes = [(responses_ms[b] - responses_ms[a]) / (b - a) for a, b in pairwise(times_ms)]

    def fit_row(longest_ms: float) -> list[str]:
        fitted_ms = [each for each in times_ms if each <= longest_ms]
        (slope, r2), (_, rate_r2) = (
            fit_line(fitted_ms, [line[each] for each in fitted_ms]) for line in (responses_ms, rates)
        )
        return cells("{:g} | {:.3f} | {:.4f} | {:.4f}", longest_ms, slope, r2, rate_r2)

    return (
        judge_fitted(min(slopes) > 0 and rates[times_ms[-1]] < (1 - MIN_LOSS) * rates[times_ms[0]])
        .with_numbers(
            first=slopes[0],
            second_ms=times_ms[1],
            last=slopes[-1],
            longest=times_ms[-1],
            rates=[rates[times_ms[0]], rates[times_ms[-1]]],
        )
        .with_tables(
            number_table(
                "Lines through start-up times from 0 on",
                "up to, ms | response, ms per ms | its R2 | R2 of throughput",
                map(fit_row, (each for each in times_ms if each >= PRESET_STARTUP_MS)),
            )
        )
    )

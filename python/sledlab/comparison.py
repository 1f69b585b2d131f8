"""Runs of one trace side by side, in words and rows: schedulers at several speed-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.result import Result

HEAD = (
    "speed-up",
    "scheduler",
    "mean",
    "median",
    "99 %",
    "slowest",
    "requests/s",
    "busy",
    "queue",
    "mJ each",
)
"""Columns of the table that sets runs side by side; times in ms."""


def rows(runs: Sequence[Result]) -> list[tuple[str, ...]]:
    """One row per run, by speed-up and then in the order given; a star marks a growing queue."""
    ordered = sorted(runs, key=lambda run: wording.speedup(run.config))
    return [_row(run) for run in ordered]


def _row(run: Result) -> tuple[str, ...]:
    times = run.response_time
    return (
        f"{wording.speedup(run.config):g}",
        wording.scheduler_name(run.config) + (" *" if run.saturated else ""),
        *(
            wording.figure(value)
            for value in (times.mean, times.p50, times.p99, times.max, run.throughput_iops)
        ),
        wording.percent(run.utilization),
        wording.figure(run.queue_length.mean),
        wording.figure(run.energy.total / max(run.count, 1) * 1000),
    )


def contest(runs: Sequence[Result]) -> str:
    """The schedulers that compete."""
    return " against ".join(dict.fromkeys(wording.scheduler_name(run.config) for run in runs))


def verdict(runs: Sequence[Result]) -> str:
    """What a comparison of two schedulers at several speed-ups says, in a sentence or two."""
    steady = [wording.speedup(run.config) for run in runs if not run.saturated]
    names = list(dict.fromkeys(wording.scheduler_name(run.config) for run in runs))
    if len(names) < 2 or not steady:
        return wording.answer(runs[-1])
    pairs = _pairs(runs, names[0], names[1])
    light, heavy = (
        pairs[0],
        max(pairs, key=lambda pair: pair[0].response_time.mean / pair[1].response_time.mean),
    )
    duels = dict.fromkeys((_duel(*light), _duel(*heavy)))
    return f"{' '.join(duels)}{_unfair(pairs)}{_limits(runs, names)}"


def _pairs(runs: Sequence[Result], first: str, second: str) -> list[tuple[Result, Result]]:
    """Runs of the two schedulers at the same speed-up, by speed-up, preferring those that kept up."""
    table = {(wording.scheduler_name(run.config), wording.speedup(run.config)): run for run in runs}
    speeds = sorted({speed for name, speed in table if (first, speed) in table and (second, speed) in table})
    pairs = [(table[first, speed], table[second, speed]) for speed in speeds]
    return [pair for pair in pairs if not any(run.saturated for run in pair)] or pairs


def _duel(first: Result, second: Result) -> str:
    fast = wording.speedup(first.config)
    load = "As recorded" if fast == 1 else f"At {fast:g} times the recorded speed"
    a, b = first.response_time.mean, second.response_time.mean
    names = wording.scheduler_name(first.config), wording.scheduler_name(second.config)
    change = abs(a - b) / a
    if change < 0.02:
        same = wording.milliseconds(a)
        return f"{load}, {names[0]} and {names[1]} answer in the same time, {same} on average."
    return (
        f"{load}, {names[1]} answers in {wording.milliseconds(b)} on average where {names[0]} takes "
        f"{wording.milliseconds(a)}: {wording.percent(change)} {'less' if b < a else 'more'}."
    )


def _unfair(pairs: Sequence[tuple[Result, Result]]) -> str:
    """Where the slowest request suffers most under the second scheduler, if it does anywhere."""
    first, second = max(pairs, key=lambda pair: pair[1].response_time.max / pair[0].response_time.max)
    a, b = first.response_time.max, second.response_time.max
    if b < 1.1 * a:
        return ""
    return (
        f" The price is paid by few: at {wording.speedup(first.config):g} times the slowest request takes "
        f"{wording.milliseconds(b)} instead of {wording.milliseconds(a)}."
    )


def _limits(runs: Sequence[Result], names: Sequence[str]) -> str:
    """Up to which speed-up each scheduler kept up, where it did not throughout."""
    kept: dict[str, list[float]] = {
        name: [
            wording.speedup(run.config)
            for run in runs
            if wording.scheduler_name(run.config) == name and not run.saturated
        ]
        for name in names
    }
    if not any(run.saturated for run in runs):
        return ""
    texts = [f"{name} keeps up to {max(speeds):g} times" for name, speeds in kept.items() if speeds]
    return f" {' and '.join(texts)} the recorded speed."

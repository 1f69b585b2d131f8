"""Schedulers raced against each other over a range of loads: curves, a ranking, a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sledlab.comparison.outcome import Comparison

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sledlab.catalogue import Chosen
    from sledlab.traces import Trace

__all__ = ["Comparison", "compare"]


def compare(
    source: Trace | Chosen | str | Path | Any,
    device: Chosen | str | Path,
    *,
    schedulers: Sequence[Chosen | str] | str = "all",
    speedups: Sequence[float] | None = None,
    seeds: int = 1,
    vary: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    replay: str = "open",
    warmup: int = 0,
    limit: int | None = None,
    duration_s: float | None = None,
    outside: Literal["reject", "wrap", "clip", "scale"] = "reject",
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Comparison:
    """Races schedulers: replays a trace or a workload under each of them, at several speeds.

    Args:
        source: A trace or a workload, as in `simulate`.
        device: A device, its name or its file.
        schedulers: Schedulers or their names; `all` is every one that can race.
        speedups: Factors that divide the times between arrivals: 1, 2, 4, 8 and 16 unless given; 1
            alone when the replay is closed.
        seeds: How many seeds to repeat everything with, from `seed` on; workloads only.
        vary: One more key to vary, with its values, such as `{"device.sleds": [1, 4]}`; or a word of yours
            with sets of settings by name, such as
            `{"saving": {"none": {}, "merging": {"merge.kind": "chains"}}}`.
        jobs: Runs at the same time; as many as there are processors unless given. 1 runs everything
            in this very process, but for schedulers in Python.
        out: A directory for tables and report, in which a comparison that was stopped goes on.
        replay: As in `simulate`, like all that follow.
        warmup: Requests at the start that do not count.
        limit: Requests after which a replay ends.
        duration_s: Simulated time after which nothing more is issued, in s.
        outside: What a request past the end of the device gets.
        seed: Root of all random numbers, and the first of several seeds.
        settings: Further settings by key.

    Returns:
        Everything that was measured, as frames.

    Raises:
        Error: Something in the input or the options is wrong, or a run failed; the message names it.

    Example:
        >>> import sledlab as sl
        >>> race = sl.compare(
        ...     sl.workload("uniform"), "mems-g2", schedulers=["fcfs", "sptf"], speedups=[1, 1.4],
        ...     limit=2000, jobs=1,
        ... )
        >>> race.points.height
        4
        >>> race.points.sort("mean_ms")["scheduler"].first()
        'sptf'
    """
    from sledlab.comparison.plan import Plan
    from sledlab.comparison.run import run
    from sledlab.simulation import composed, replay_settings

    choices = replay_settings(replay, warmup, limit, duration_s, outside, seed, settings)
    base, trace = composed(source, device, choices)
    plan = Plan.made(base, trace, schedulers=schedulers, speedups=speedups, seeds=seeds, vary=vary)
    return run(plan, jobs=jobs, out=out)

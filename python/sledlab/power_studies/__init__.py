"""How a device spends its energy on a workload, and what would spend less: the power study (AN-12)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sledlab.power_studies.outcome import PowerStudy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.catalogue import Chosen
    from sledlab.traces import Trace

__all__ = ["PowerStudy", "power_study"]


def power_study(
    source: Trace | Chosen | str | Path | Any,
    devices: Sequence[Chosen | str | Path] | Chosen | str | Path,
    *,
    policies: Sequence[Chosen | str] | str = "all",
    timeouts_ms: Sequence[float] | None = None,
    startups_ms: Sequence[float] | None = None,
    loads: Sequence[float] | None = None,
    strategies: Sequence[str] | str = "all",
    battery_wh: float = 10.0,
    seeds: int = 1,
    jobs: int | None = None,
    out: str | Path | None = None,
    scheduler: Chosen | str = "fcfs",
    replay: str = "open",
    warmup: int = 0,
    limit: int | None = None,
    duration_s: float | None = None,
    outside: Literal["reject", "wrap", "clip", "scale"] = "reject",
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> PowerStudy:
    """Studies where the energy of devices goes and what would save some.

    Args:
        source: A trace or a workload, as in `simulate`.
        devices: One device or several, to see side by side.
        policies: Power policies to compare; `all` is every one there is.
        timeouts_ms: Idle times after which the device parks, to sweep, in ms.
        startups_ms: Times a start-up takes, to sweep, in ms; 0, 1/2, 1, 2 and 4 times the device's own
            unless given.
        loads: Factors that divide the times between arrivals; 1, 2, 5 and 10 unless given, 1 alone when
            the replay is closed.
        strategies: Ways to save energy, alone and together: `base`, `immediate`, `merging`, `subsector`,
            `all`. The word `all` by itself stands for every one the device knows.
        battery_wh: Charge of the battery that the study is about, in Wh.
        seeds: How many seeds to repeat everything with, from `seed` on; workloads only.
        jobs: Runs at the same time; as many as there are processors unless given.
        out: A directory for tables and report, in which a study that was stopped goes on.
        scheduler: As in `simulate`, like all that follow.
        replay: How requests are offered; closed replays need a think time.
        warmup: Requests at the start that do not count.
        limit: Requests after which a replay ends.
        duration_s: Simulated time after which nothing more is issued, in s.
        outside: What a request past the end of the device gets.
        seed: Root of all random numbers, and the first of several seeds.
        settings: Further settings by key.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: Something in the input or the options is wrong, or a run failed; the message names it.

    Example:
        >>> import sledlab as sl
        >>> study = sl.power_study(
        ...     sl.workload("uniform", mean_interarrival_ms=20), "mems-g2", limit=300, loads=[1], jobs=1
        ... )
        >>> energy = study.tables["timeouts"].sort("timeout_ms")["energy_j"]
        >>> energy.is_sorted()
        True
        >>> study.tables["break_even"]["break_even_ms"].item() < 1
        True
    """
    from sledlab.catalogue import Chosen
    from sledlab.power_studies.plan import Plan
    from sledlab.power_studies.run import run
    from sledlab.simulation import composed, replay_settings

    choices = replay_settings(replay, warmup, limit, duration_s, outside, seed, settings)
    given = [devices] if isinstance(devices, (str, Path, Chosen)) else devices
    bases, trace = [], None
    for device in given:
        base, trace = composed(source, device, choices, scheduler)
        bases.append((device, base))
    plan = Plan.made(
        bases,
        trace,
        policies=policies,
        timeouts_ms=timeouts_ms,
        startups_ms=startups_ms,
        loads=loads,
        strategies=strategies,
        battery_wh=battery_wh,
        seeds=seeds,
    )
    return run(plan, jobs=jobs, out=out)

"""MEMS in front of a disk: which form, how much of it, and what it is worth (paper 001; AN-04 to AN-06)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sledlab.hybrid_studies.outcome import HybridStudy
from sledlab.hybrid_studies.tuned import TunedHybrid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sledlab.catalogue import Chosen
    from sledlab.hybrid_studies.plan import Plan
    from sledlab.traces import Trace

__all__ = ["HybridStudy", "TunedHybrid", "hybrid_study", "tune_hybrid"]


def hybrid_study(
    source: Trace | Chosen | str | Path | Any,
    device: Chosen | str | Path = "atlas-10k-50mb",
    front: Chosen | str | Path = "mems-g2",
    *,
    configurations: Sequence[str] | str | None = None,
    mems_mb: Sequence[float] | float | None = None,
    segments_kb: Sequence[int] | int | None = None,
    price_ratios: Sequence[float] | float | None = None,
    replacement: Sequence[Chosen | str] | Chosen | str = "lru",
    at_mb: float = 256.0,
    at_segment_kb: int | None = None,
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
) -> HybridStudy:
    """Studies what MEMS in front of a disk is worth for a workload.

    Every store has the same requests, fitted to the disk, and a controller cache of 4 MB. Disks spin from
    the start and nothing parks, unless `settings` say otherwise (`device.startup_ms`, `power.kind`).

    Args:
        source: A trace or a workload, as in `simulate`.
        device: The disk.
        front: The MEMS device in front of it, or alone.
        configurations: What to compare: `disk`, `mems`, `disk-ram`, `mwb`, `mcd-none`, `mcd-shortcut`,
            `mcd-immediate-report`, `mcd-partial-write`, `mcd-all`, `mirror`, or `all`; all but `mirror`
            unless given.
        mems_mb: MEMS of the caching disk to sweep, in 2^20 bytes; 64, 128, 256, 512 and 3072 unless given.
        segments_kb: Its segments to sweep, in 1024 bytes; from 4 to 256, doubling, unless given. An empty
            list leaves the sweep out.
        price_ratios: Prices of non-volatile memory over those of MEMS; 1 to 10 unless given.
        replacement: Replacement policies of the caching disk; the first one is that of all other sections.
        at_mb: MEMS of the configurations, and their non-volatile memory, in 2^20 bytes.
        at_segment_kb: Segments of the configurations, in 1024 bytes; the first power of two that holds a
            mean request unless given.
        seeds: How many seeds to repeat everything with, from `seed` on; workloads only.
        jobs: Runs at the same time; as many as there are processors unless given.
        out: A directory for tables and report, in which a study that was stopped goes on.
        scheduler: As in `simulate`, like all that follow.
        replay: How requests are offered.
        warmup: Requests at the start that do not count.
        limit: Requests after which a replay ends.
        duration_s: Simulated time after which nothing more is issued, in s.
        outside: What a request past the end of the disk gets.
        seed: Root of all random numbers, and the first of several seeds.
        settings: Further settings by key; `front.*` are parameters of the MEMS device, `hybrid.*` of those
            hybrids that have them.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: Something in the input or the options is wrong, or a run failed; the message names it.

    Example:
        >>> import sledlab as sl
        >>> few = {"mems_mb": [64], "segments_kb": [8], "price_ratios": [4], "limit": 300, "jobs": 1}
        >>> study = sl.hybrid_study(sl.workload("cello"), configurations=["disk", "mems"], **few)
        >>> study.tables["configurations"]["faster_than_disk"].max() > 1
        True
    """
    from sledlab.hybrid_studies.run import run
    from sledlab.simulation import replay_settings

    choices = replay_settings(replay, warmup, limit, duration_s, outside, seed, settings)
    plan = _planned(
        source,
        device,
        front,
        scheduler,
        choices,
        configurations=configurations,
        mems_mb=mems_mb,
        segments_kb=segments_kb,
        price_ratios=price_ratios,
        replacement=replacement,
        at_mb=at_mb,
        at_segment_kb=at_segment_kb,
        seeds=seeds,
    )
    return run(plan, jobs=jobs, out=out)


def tune_hybrid(
    source: Trace | Chosen | str | Path | Any,
    device: Chosen | str | Path = "atlas-10k-50mb",
    front: Chosen | str | Path = "mems-g2",
    *,
    budget: float,
    price_per_mb: float | None = None,
    segments_kb: Sequence[int] | int | None = None,
    replacement: Sequence[Chosen | str] | Chosen | str | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    scheduler: Chosen | str = "fcfs",
    limit: int | None = None,
    outside: Literal["reject", "wrap", "clip", "scale"] = "reject",
    seed: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> TunedHybrid:
    """Chooses segments, replacement policy and size of a MEMS caching disk for a workload.

    Args:
        source: A trace or a workload, as in `simulate`.
        device: The disk.
        front: The MEMS device in front of it.
        budget: MEMS that is allowed, in 2^20 bytes; with `price_per_mb`, money.
        price_per_mb: What 2^20 bytes of MEMS cost, in any currency.
        segments_kb: Segments to try, in 1024 bytes; from 4 to 256, doubling, unless given.
        replacement: Policies to try; `lru`, `slru`, `arc` and `lfuda` unless given.
        jobs: Runs at the same time; as many as there are processors unless given.
        out: A directory for the runs and the experiment, in which tuning that was stopped goes on.
        scheduler: As in `simulate`, like all that follow.
        limit: Requests after which a replay ends.
        outside: What a request past the end of the disk gets.
        seed: Root of all random numbers.
        settings: As in `hybrid_study`.

    Returns:
        The choice, every run that led to it, and an experiment to run it again.

    Raises:
        Error: Something in the input or the options is wrong, or a run failed; the message names it.

    Example:
        >>> import sledlab as sl
        >>> found = sl.tune_hybrid(
        ...     sl.workload("cello"), budget=16, segments_kb=[8, 64], replacement="lru", limit=2000, jobs=1
        ... )
        >>> found.choice["mems_mb"] <= 16
        True
    """
    from sledlab.hybrid_studies.configurations import ALL
    from sledlab.hybrid_studies.plan import budget_mb, whole
    from sledlab.hybrid_studies.tuning import POLICIES, tune
    from sledlab.simulation import replay_settings

    choices = replay_settings("open", 0, limit, None, outside, seed, settings)
    plan = _planned(
        source,
        device,
        front,
        scheduler,
        choices,
        configurations=ALL,
        mems_mb=[],
        segments_kb=[],
        price_ratios=[],
        replacement=list(POLICIES) if replacement is None else replacement,
        at_mb=budget_mb(budget, price_per_mb),
    )
    tried = None if segments_kb is None else whole(segments_kb)
    return tune(plan, tried, price_per_mb=price_per_mb, jobs=jobs, out=out)


def _planned(
    source: Any,
    device: Chosen | str | Path,
    front: Chosen | str | Path,
    scheduler: Chosen | str,
    choices: Mapping[str, Any],
    **swept: Any,
) -> Plan:
    """A plan of what functions are given."""
    from sledlab.hybrid_studies.plan import Front, Plan, set_aside
    from sledlab.settings import word
    from sledlab.simulation import composed

    aside, rest = set_aside({key: value for key, value in choices.items() if value is not None})
    base, trace = composed(source, device, rest, scheduler)
    in_front, extras = (
        {key: word(value) for key, value in aside[table].items()} for table in ("front", "hybrid")
    )
    return Plan.made(base, trace, front=Front.of(front, in_front), extras=extras, **swept)

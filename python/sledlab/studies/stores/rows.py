"""Rows of studies of stores: hits of cache and MEMS, hits that policies would have, labels of runs."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from sledlab import _native
from sledlab.show import model_names, wording
from sledlab.show.facts import common_facts, requests_fact, setting_facts
from sledlab.show.ranking import compare_times
from sledlab.studies.stores.configurations import DISK
from sledlab.study.axes import depends_on_seed
from sledlab.study.columns import Column
from sledlab.study.plan import plain
from sledlab.study.statistics import SeedMeans, average, mean
from sledlab.traces.hits import hit_ratios

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledlab.studies.stores.plan import Stores, StoresPlan
    from sledlab.study.measure import RunFigures
    from sledlab.study.outcome import Outcome


@dataclass(frozen=True)
class HitShares:
    """Shares of the requests that hit in the cache and in MEMS."""

    cache_read_hits: Annotated[float | None, Column("share of reads answered by the controller cache")]
    mems_read_hits: Annotated[float | None, Column("share of reads that hit MEMS")]
    mems_write_hits: Annotated[float | None, Column("share of writes that found room on MEMS at once")]
    superseded: Annotated[
        float | None, Column("share of written blocks that are overwritten before they are destaged")
    ]
    live_share: Annotated[float | None, Column("share of the room on MEMS that holds data in use")]

    @classmethod
    def from_runs(cls, runs: Iterable[RunFigures]) -> HitShares:
        """The means over runs."""
        columns = zip(*(astuple(_hit_shares(run.counts)) for run in runs), strict=True)
        return cls(*map(mean, columns))


@dataclass(frozen=True, kw_only=True)
class StoreRow:
    """A store and its results."""

    configuration: Annotated[str, Column("name of the store in options")]
    run: SeedMeans
    hits: HitShares


@dataclass(frozen=True)
class Hits:
    """Hits that a replacement policy would have on the requests alone, without any timing."""

    policy: Annotated[str, Column("the replacement policy")]
    room: Annotated[int, Column("segments that MEMS holds")]
    uses: Annotated[int, Column("segments that the requests touch, each use counted")]
    hit_ratio: Annotated[float | None, Column("share of the uses that are hits")]
    read_hit_ratio: Annotated[float | None, Column("share of the uses by reads that are hits")]
    write_hit_ratio: Annotated[float | None, Column("share of the uses by writes that are hits")]


def describe_stores(plan: StoresPlan) -> tuple[dict[str, Any], dict[str, Any]]:
    """The disk with its controller cache, and the axes with facts about the requests, as plain data."""
    stores, config = plan.stores, plain(plan.bases[DISK].to_toml())
    axes = {name: list(value) if isinstance(value, tuple) else value for name, value in plan.axes.items()}
    description = {
        "front": stores.mems_name,
        "mems_devices": stores.sleds,
        **axes,
        "hybrid": dict(stores.extras),
        "seed": list(plan.seeds),
        "scheduler": config["scheduler"]["kind"],
        "requests": asdict(stores.facts),
    }
    return config, description


def mean_columns(runs: Sequence[RunFigures]) -> dict[str, Any]:
    """The part that all rows have: the mean of the runs, with counts of cache and hybrid as shares."""
    return {"run": replace(average(runs), counts={}), "hits": HitShares.from_runs(runs)}


def _hit_shares(counts: Mapping[str, float]) -> HitShares:
    def share(hits_name: str, *total_names: str) -> float | None:
        """A count divided by the sum of others; None where that is 0 or there is no such part."""
        total = sum(counts.get(name, 0) for name in total_names)
        return counts[hits_name] / total if total else None

    return HitShares(
        share("cache_read_hits", "cache_read_hits", "cache_read_misses"),
        share("hybrid_read_hits", "hybrid_reads"),
        share("hybrid_write_hits", "hybrid_writes"),
        share("hybrid_superseded_blocks", "hybrid_written_blocks"),
        counts.get("hybrid_live_share"),
    )


def policy_hits(stores: Stores, policies: Sequence[str], mb: float, segment_kb: int) -> list[Hits]:
    """Hits of policies on the requests, in `mb` of MEMS."""
    size_mb = stores.segment_count(mb, segment_kb) * segment_kb * 1024 / 1e6
    for policy in policies:
        _native.check_replacement(policy, stores.bases[DISK].allowed_plugins())
    ratios = hit_ratios(stores.requests, replacement=policies, cache_mb=[size_mb], segment_kb=segment_kb)
    return [Hits(**row) for row in ratios.frame.drop("cache_mb").to_dicts()]


def controller_cache(config: Mapping[str, Any]) -> str:
    """The kind and size of the controller cache, in words; empty without one.

    Examples:
        >>> controller_cache({"cache": {"kind": "write-back", "capacity_blocks": 8192}})
        'write-back, 4 MiB'
    """
    cache = config["cache"]
    return (
        "" if cache["kind"] == "none" else f"{cache['kind']}, {wording.size(cache['capacity_blocks'] / 2048)}"
    )


def controller_cache_sentence(config: Mapping[str, Any]) -> str:
    """A sentence: the controller cache in front of every store."""
    cache = controller_cache(config)
    if not cache:
        return "No store has a controller cache."
    return (
        f"Every store, the plain disk included, has a controller cache in front ({cache}; "
        "--set cache.kind=none for none)."
    )


def disk_gains_text(mean_ms: float, disk_ms: float | None, uncached_ms: float | None) -> str:
    """The gains of a store over the disk with and without controller cache, in words; empty without both."""
    means_ms_by_name = {
        "the disk" if uncached_ms else "the disk alone": disk_ms,
        "the disk without that cache": uncached_ms,
    }
    comparisons = [
        f"{compare_times(mean_ms, each_ms)} {name} ({wording.milliseconds(each_ms)})"
        for name, each_ms in means_ms_by_name.items()
        if each_ms is not None
    ]
    return wording.join_names(comparisons)


def title(study: Outcome) -> str:
    """Title of a study: the requests and the stores that they ran on."""
    disk = model_names.device_name(study.config)
    return f"{model_names.source_name(study.config)} on {disk} with {study.axes['front']}"


def facts(study: Outcome) -> Sequence[tuple[str, str]]:
    """Facts about the runs, as pairs of a name and a text."""
    axes, shared_facts = study.axes, common_facts(study.config)
    sleds, seeds = axes["mems_devices"], axes["seed"]
    requests_name, requests_text = requests_fact(axes["requests"])
    return [
        *shared_facts[1:-1],
        ("disk", model_names.device_name(study.config)),
        ("front", axes["front"] + (f", {sleds} of them where it stands alone" if sleds > 1 else "")),
        (requests_name if len(seeds) == 1 else f"{requests_name} of seed {seeds[0]}", requests_text),
        ("controller cache", controller_cache(study.config) or "none"),
        ("scheduler", model_names.label(axes["scheduler"])),
        ("replacement", ", ".join(axes["replacement"])),
        ("seeds", ", ".join(map(str, seeds)) if depends_on_seed(study.config) else ""),
        *setting_facts(study.config, study.toml),
        shared_facts[-1],
    ]

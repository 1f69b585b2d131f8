"""What a hybrid study found out: its tables, with means over the seeds against disk and MEMS."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from sledlab.model.device import describe
from sledlab.studies.hybrid.plan import BELADY, HybridPlan
from sledlab.studies.hybrid.stores import ALL, CACHING, DISK, KNOWN, MEMS, NONE
from sledlab.study.columns import Column
from sledlab.study.outcome import Outcome
from sledlab.study.plan import plain
from sledlab.study.statistics import Averaged, averaged, mean
from sledlab.traces.hits import hit_ratios

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.studies.hybrid.stores import Stores
    from sledlab.study.columns import Row
    from sledlab.study.measure import Found, Measured
    from sledlab.study.plan import Case, Plan, Point

BLOCK_MB = 512 / 1e6


@dataclass(frozen=True)
class Held:
    """What cache and MEMS held of the requests."""

    cache_read_hits: Annotated[float | None, Column("share of reads answered by the controller cache")]
    mems_read_hits: Annotated[float | None, Column("share of reads found on MEMS")]
    mems_write_hits: Annotated[float | None, Column("share of writes that found room on MEMS at once")]
    superseded: Annotated[float | None, Column("share of written blocks written again before destaged")]
    live_share: Annotated[float | None, Column("share of the room on MEMS that holds data in use")]

    @classmethod
    def of(cls, runs: Iterable[Measured]) -> Held:
        """The means over runs."""
        columns = zip(*(astuple(_held(run.counts)) for run in runs), strict=True)
        return cls(*map(mean, columns))


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A store and what was measured of it."""

    configuration: Annotated[str, Column("the store, as options name it")]
    run: Averaged
    held: Held


@dataclass(frozen=True, kw_only=True)
class Compared(Stored):
    """A configuration."""

    label: Annotated[str, Column("the store as people write it")]
    faster_than_disk: Annotated[float | None, Column("mean response of the disk alone over its own")] = None
    share_of_mems: Annotated[float | None, Column("mean response of MEMS alone over its own")] = None
    saved: Annotated[float | None, Column("share of the mean response of mcd-none that it saves")] = None


@dataclass(frozen=True, kw_only=True)
class Sized(Stored):
    """A caching disk of some size."""

    mems_mb: Annotated[float, Column("its MEMS", "2^20 bytes")]
    segment_kb: Annotated[int, Column("its segments", "1024 bytes")]


@dataclass(frozen=True, kw_only=True)
class Replaced(Stored):
    """A caching disk under a replacement policy."""

    policy: Annotated[str, Column("what makes room in it")]


@dataclass(frozen=True, kw_only=True)
class Priced(Stored):
    """Memory that costs as much as the MEMS of the caching disk."""

    ratio: Annotated[float, Column("price of memory over that of MEMS")] = 0.0
    memory_mb: Annotated[float, Column("memory of equal cost", "2^20 bytes")] = 0.0
    mcd_ms: Annotated[float, Column("mean response of the caching disk", "ms")] = 0.0
    mcd_saturated: Annotated[bool, Column("whether its queue kept growing")] = False
    mcd_faster: Annotated[float, Column("mean response with memory over that with MEMS")] = 0.0


@dataclass(frozen=True)
class Hits:
    """What a policy would find in the requests alone."""

    policy: Annotated[str, Column("the replacement policy")]
    room: Annotated[int, Column("segments that MEMS holds")]
    uses: Annotated[int, Column("segments that the requests touch, each use counted")]
    hit_ratio: Annotated[float | None, Column("share of the uses that are found")]
    read_hit_ratio: Annotated[float | None, Column("the same of reads")]
    write_hit_ratio: Annotated[float | None, Column("the same of writes")]


@dataclass(frozen=True)
class Traffic:
    """What a device was asked for."""

    configuration: Annotated[str, Column("the store, as options name it")]
    label: Annotated[str, Column("the store as people write it")]
    device: Annotated[str, Column("`disk` or `mems`")]
    reads: Annotated[float, Column("accesses that read")]
    read_mb: Annotated[float, Column("what they read", "10^6 bytes")]
    writes: Annotated[float, Column("accesses that write")]
    written_mb: Annotated[float, Column("what they write", "10^6 bytes")]
    read_kb: Annotated[float | None, Column("mean size of a read", "1024 bytes")] = None
    write_kb: Annotated[float | None, Column("mean size of a write", "1024 bytes")] = None


@dataclass(frozen=True, repr=False, kw_only=True)
class HybridStudy(Outcome):
    """What MEMS in front of a disk is worth for a workload, and which form of it.

    Times are in ms; sizes of MEMS and memory in 2^20 bytes, segments in 1024 bytes. Displays itself in a
    notebook, and prints as the text of `sledlab hybrid`.

    Attributes:
        configurations: Response by configuration, a row each.
        techniques: What each technique of the caching disk saves.
        sizes: Caching disks by size and segment.
        traffic: What disk and MEMS were asked for.
        replacement: Caching disks by replacement policy.
        hits: What the policies would find in the requests alone, and Belady's bound (MT-10).
        prices: Memory of equal cost against the caching disk (AN-06).

    Examples:
        >>> import sledlab as sl
        >>> few = {"mems_mb": [64], "segments_kb": [8], "price_ratios": [4], "limit": 300, "jobs": 1}
        >>> study = sl.hybrid_study(sl.workload("cello"), configurations=["disk", "mems", "mcd-all"], **few)
        >>> study.of("mems").run.mean_ms < study.of("disk").run.mean_ms
        True
        >>> study.plot("sizes").axes[0].get_xlabel()
        'segment (KB)'
    """

    kinds: ClassVar[Mapping[str, type]] = {
        "configurations": Compared,
        "techniques": Compared,
        "sizes": Sized,
        "traffic": Traffic,
        "replacement": Replaced,
        "hits": Hits,
        "prices": Priced,
    }

    configurations: Sequence[Compared]
    techniques: Sequence[Compared]
    sizes: Sequence[Sized]
    traffic: Sequence[Traffic]
    replacement: Sequence[Replaced]
    hits: Sequence[Hits]
    prices: Sequence[Priced]
    rows: Mapping[str, Sequence[Row]] = field(init=False)
    costs: Mapping[str, Sequence[Row]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Puts the tables under their names."""
        object.__setattr__(self, "rows", {name: getattr(self, name) for name in self.kinds})

    @property
    def study(self) -> Mapping[str, Any]:
        """What was swept, and what the requests are like, as plain data."""
        return self.axes

    def of(self, configuration: str) -> Compared | None:
        """The row of a configuration, if it was compared."""
        return next((row for row in self.configurations if row.configuration == configuration), None)

    def plot(self, section: str = "configurations") -> Figure:
        """Draws a section.

        Args:
            section: `configurations`, `sizes`, `techniques`, `traffic`, `replacement` or `prices`.

        Raises:
            Error: There is no such section, or it was left out.
        """
        return self._draw(section)


def conclude(plan: Plan, found: Mapping[Point, Found]) -> HybridStudy:
    """The study of the runs found."""
    assert isinstance(plan, HybridPlan)
    rows: dict[str, list[Any]] = {name: [] for name in HybridStudy.kinds}
    for case in plan.cases:
        runs = [found[point].row for point in plan.points_of(case)]
        rows[case.section].append(HybridStudy.kinds[case.section](**dict(case.labels), **stored(runs)))
        if case.section == "configurations":
            rows["traffic"] += _traffic(plan, case, runs)
    rows["configurations"] = against_baselines(rows["configurations"])
    rows["techniques"] = _techniques(rows["configurations"])
    rows["hits"] = _hits(plan)
    rows["prices"] = _prices(rows["prices"])
    config, axes = described(plan)
    return HybridStudy(**rows, config=config, axes=axes, toml=plan.toml)


def described(plan: HybridPlan) -> tuple[dict[str, Any], dict[str, Any]]:
    """The disk with its controller cache, and what was swept with what requests, as plain data."""
    stores, config = plan.stores, plain(plan.bases[DISK].to_toml())
    swept = {name: list(value) if isinstance(value, tuple) else value for name, value in plan.axes.items()}
    said = {
        "front": stores.mems_name,
        "mems_devices": stores.sleds,
        **swept,
        "hybrid": dict(stores.extras),
        "seeds": list(plan.seeds),
        "scheduler": config["scheduler"]["kind"],
        "requests": asdict(stores.facts),
    }
    return config, said


def stored(runs: Sequence[Measured]) -> dict[str, Any]:
    """What every row of runs has: their mean, and shares instead of the counts of cache and hybrid."""
    return {"run": replace(averaged(runs), counts={}), "held": Held.of(runs)}


def _held(counts: Mapping[str, float]) -> Held:
    def share(part: str, *whole: str) -> float | None:
        """A count over the sum of others; none where there is nothing of the kind."""
        total = sum(counts.get(name, 0) for name in whole)
        return counts[part] / total if total else None

    return Held(
        share("cache_read_hits", "cache_read_hits", "cache_read_misses"),
        share("hybrid_read_hits", "hybrid_reads"),
        share("hybrid_write_hits", "hybrid_writes"),
        share("hybrid_superseded_blocks", "hybrid_written_blocks"),
        counts.get("hybrid_live_share"),
    )


def against_baselines(rows: Sequence[Compared]) -> list[Compared]:
    """Rows with how much faster than the disk they are, and what share of MEMS' speed they have (MT-11)."""
    means = {row.configuration: row.run.mean_ms for row in rows}

    def over(name: str, row: Compared) -> float | None:
        return means[name] / row.run.mean_ms if name in means else None

    return [replace(row, faster_than_disk=over(DISK, row), share_of_mems=over(MEMS, row)) for row in rows]


def _techniques(rows: Sequence[Compared]) -> list[Compared]:
    """The caching disk with no technique, each alone and all, against none of them (AN-04)."""
    mine = [row for row in rows if KNOWN[row.configuration].hybrid == CACHING]
    none = next((row.run.mean_ms for row in mine if row.configuration == NONE), None)
    if none is None or len(mine) < 2:
        return []
    return [replace(row, saved=1 - row.run.mean_ms / none) for row in mine]


def _traffic(plan: Plan, case: Case, runs: Sequence[Measured]) -> list[Traffic]:
    """What each device was asked for, one row for each (MT-12)."""
    labels = dict(case.labels)
    alone = MEMS if describe(plan.bases[case.base])["kind"] == "mems" else DISK
    names = (
        {DISK: "hybrid_back", MEMS: "hybrid_front"} if KNOWN[labels["configuration"]].hybrid else {alone: ""}
    )
    found = []
    for device, prefix in names.items():
        asked = zip(*(_accesses(run, prefix) for run in runs), strict=True)
        reads, read_mb, writes, written_mb = (mean(values) or 0.0 for values in asked)
        sizes = (_kilobytes(read_mb, reads), _kilobytes(written_mb, writes))
        found.append(
            Traffic(
                labels["configuration"], labels["label"], device, reads, read_mb, writes, written_mb, *sizes
            )
        )
    return found


def _accesses(run: Measured, prefix: str) -> tuple[float, ...]:
    """Reads, their MB, writes and their MB: of a device of a hybrid, behind a cache, or as the host asked."""
    counts = run.counts
    if prefix:
        blocks = [counts[f"{prefix}_{name}"] for name in ("reads", "read_blocks", "writes", "written_blocks")]
    elif "cache_destages" in counts:
        fetched = counts["cache_fetched_blocks"] + counts["cache_read_ahead_blocks"]
        blocks = [
            counts["cache_read_misses"],
            fetched,
            counts["cache_destages"],
            counts["cache_destaged_blocks"],
        ]
    else:
        blocks = [run.reads, run.read_bytes // 512, run.writes, run.written_bytes // 512]
    reads, read_blocks, writes, written_blocks = map(float, blocks)
    return reads, read_blocks * BLOCK_MB, writes, written_blocks * BLOCK_MB


def _kilobytes(megabytes: float, accesses: float) -> float | None:
    """Mean size in 1024 bytes."""
    return megabytes * 1e6 / 1024 / accesses if accesses else None


def _hits(plan: HybridPlan) -> list[Hits]:
    """What the policies would find in the trace, and the bound of Belady, a row each (MT-10)."""
    policies, segment_kb = plan.axes["replacement"], plan.axes["at_segment_kb"]
    if len(policies) < 2:
        return []
    return hits_of(plan.stores, (*policies, BELADY), plan.axes["at_mb"], segment_kb)


def hits_of(stores: Stores, policies: Sequence[str], mb: float, segment_kb: int) -> list[Hits]:
    """What policies would find of the requests in so much MEMS."""
    size_mb = (stores.room(mb, segment_kb) + 0.5) * segment_kb * 1024 / 1e6
    found = hit_ratios(stores.requests, policies=policies, cache_mb=[size_mb], segment_kb=segment_kb)
    return [Hits(**row) for row in found.frame.drop("cache_mb").fill_nan(None).to_dicts()]


def _prices(rows: Sequence[Priced]) -> list[Priced]:
    """Memory of equal cost against the caching disk (AN-06)."""
    base = next((row.run for row in rows if row.configuration == ALL), None)
    if base is None:
        return []
    mean_ms, late, others = base.mean_ms, base.saturated, (row for row in rows if row.configuration != ALL)
    return [
        replace(row, mcd_ms=mean_ms, mcd_saturated=late, mcd_faster=row.run.mean_ms / mean_ms)
        for row in others
    ]

"""The outcome of a hybrid study: its tables, with means over the seeds, compared with disk and MEMS."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from sledlab.runs.systems import system_label
from sledlab.studies.costs.cost import MEMORY, device_names, optional_store_parts
from sledlab.studies.costs.prices import prices
from sledlab.studies.costs.system_cost import SystemCost, accesses, system_cost
from sledlab.studies.stores.configurations import (
    ALL,
    CACHING_DISK,
    CONFIGURATIONS,
    DISK,
    MEMS,
    NONE,
    UNCACHED,
)
from sledlab.studies.stores.plan import StoresPlan
from sledlab.studies.stores.rows import Hits, StoreRow, describe_stores, mean_columns, policy_hits
from sledlab.study.columns import Column
from sledlab.study.outcome import Outcome
from sledlab.study.plan import plain
from sledlab.study.statistics import average, case_runs, mean
from sledlab.traces.hits import BELADY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from matplotlib.figure import Figure

    from sledlab.study.columns import Row
    from sledlab.study.measure import RunFigures, SystemRun
    from sledlab.study.plan import Case, Plan, RunSpec


@dataclass(frozen=True, kw_only=True)
class ComparedConfiguration(StoreRow):
    """A configuration, compared with the baselines."""

    label: Annotated[str, Column("display name of the store")]
    cost: SystemCost
    faster_than_disk: Annotated[
        float | None, Column("mean response of the disk alone over that of the store")
    ] = None
    faster_than_uncached_disk: Annotated[
        float | None, Column("mean response of the disk without controller cache over that of the store")
    ] = None
    share_of_mems: Annotated[float | None, Column("mean response of MEMS alone over that of the store")] = (
        None
    )
    saved: Annotated[float | None, Column("share of the mean response of mcd-none that the store saves")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class SizedConfiguration(StoreRow):
    """A caching disk with a size of MEMS and of segments."""

    mems_mb: Annotated[float, Column("MEMS of the caching disk", "2^20 bytes")]
    segment_kb: Annotated[int, Column("segment size of the caching disk", "1024 bytes")]


@dataclass(frozen=True, kw_only=True)
class PolicyRow(StoreRow):
    """A caching disk under a replacement policy."""

    policy: Annotated[str, Column("the replacement policy")]


@dataclass(frozen=True, kw_only=True)
class PricedMemory(StoreRow):
    """Memory that costs as much as the MEMS of the caching disk."""

    ratio: Annotated[float, Column("price of non-volatile memory over the price of MEMS")] = 0.0
    memory_mb: Annotated[
        float, Column("non-volatile memory that costs as much as the MEMS", "2^20 bytes")
    ] = 0.0
    mcd_ms: Annotated[float, Column("mean response of the caching disk", "ms")] = 0.0
    mcd_saturated: Annotated[bool, Column("whether the queue of the caching disk kept growing")] = False
    mcd_faster: Annotated[float, Column("mean response with memory over that with MEMS")] = 0.0


@dataclass(frozen=True)
class Traffic:
    """Reads and writes that a device served."""

    configuration: Annotated[str, Column("name of the store in options")]
    label: Annotated[str, Column("display name of the store")]
    device: Annotated[str, Column("`disk` or `mems`")]
    reads: Annotated[float, Column("accesses that read")]
    read_bytes: Annotated[float, Column("bytes read", "bytes")]
    writes: Annotated[float, Column("accesses that write")]
    written_bytes: Annotated[float, Column("bytes written", "bytes")]
    mean_read_kb: Annotated[float | None, Column("mean size of a read", "1024 bytes")]
    mean_write_kb: Annotated[float | None, Column("mean size of a write", "1024 bytes")]


@dataclass(frozen=True, repr=False, kw_only=True)
class HybridStudy(Outcome):
    """The outcome of a hybrid study: speed of each form and size of MEMS in front of a disk, and prices.

    Times are in ms; sizes of MEMS and memory in 2^20 bytes, segments in 1024 bytes. Displays itself in a
    notebook, and prints as the text of `sledlab hybrid`.

    Attributes:
        configurations: Response by configuration, a row each.
        techniques: Response with each technique of the caching disk, alone and all together.
        sizes: Caching disks by size and segment.
        traffic: Reads and writes of the disk and of the MEMS.
        replacement: Caching disks by replacement policy.
        hits: Hit ratios of the policies on the requests alone, without timing, and Belady's bound.
        prices: Memory of equal cost against the caching disk.

    Examples:
        >>> import sledlab as sl
        >>> few = {"mems_mb": [64], "segment_kb": [8], "price_ratio": [4], "limit": 300, "parallel": 1}
        >>> study = sl.hybrid_study(sl.workload("cello"), configuration=["disk", "mems", "mcd-all"], **few)
        >>> study.find("mems").run.mean_ms < study.find("disk").run.mean_ms
        True
        >>> study.plot("sizes").axes[0].get_xlabel()
        'segment (KB)'
    """

    kinds: ClassVar[Mapping[str, type]] = {
        "configurations": ComparedConfiguration,
        "techniques": ComparedConfiguration,
        "sizes": SizedConfiguration,
        "traffic": Traffic,
        "replacement": PolicyRow,
        "hits": Hits,
        "prices": PricedMemory,
    }

    configurations: Sequence[ComparedConfiguration]
    techniques: Sequence[ComparedConfiguration]
    sizes: Sequence[SizedConfiguration]
    traffic: Sequence[Traffic]
    replacement: Sequence[PolicyRow]
    hits: Sequence[Hits]
    prices: Sequence[PricedMemory]
    rows: Mapping[str, Sequence[Row]] = field(init=False)
    costs: Mapping[str, Sequence[Row]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Put the tables under their names."""
        object.__setattr__(self, "rows", {name: getattr(self, name) for name in self.kinds})

    @classmethod
    def from_tables(cls, rows: Mapping[str, Any], costs: Mapping[str, Any], **others: Any) -> Self:
        """Return the study with these tables."""
        return cls(**rows, **others)

    @property
    def study(self) -> Mapping[str, Any]:
        """The axes, and facts about the requests, as plain data."""
        return self.axes

    @property
    def front(self) -> str:
        """The name of the front device."""
        return system_label(str(self.axes["front"]))

    def find(self, configuration: str) -> ComparedConfiguration | None:
        """The row of a configuration, if it was compared."""
        return next((row for row in self.configurations if row.configuration == configuration), None)

    def plot(self, section: str = "configurations", *, width: str | None = None) -> Figure:
        """Draw a section.

        Args:
            section: `configurations`, `sizes`, `techniques`, `traffic`, `replacement` or `prices`.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such section, or it was omitted.
        """
        return self._draw(section, width=width)


def conclude(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> HybridStudy:
    """The outcome, made of the results of all runs."""
    assert isinstance(plan, StoresPlan)
    rows: dict[str, list[Any]] = {name: [] for name in HybridStudy.kinds}
    price_list = prices(plan.axes.get("price"))
    names = {MEMORY}
    for case, runs in case_runs(plan, results).items():
        columns = {**dict(case.labels), **mean_columns(runs)}
        if case.section == "configurations":
            store_config = plain(plan.texts[plan.specs_of(case)[0]])
            names |= device_names(store_config)
            parts = optional_store_parts(store_config, price_list)
            columns["cost"] = system_cost(store_config, average(runs), parts, price_list)
            rows["traffic"] += _traffic(case, runs)
        rows[case.section].append(HybridStudy.kinds[case.section](**columns))
    rows["configurations"] = compare_baselines(rows["configurations"])
    rows["techniques"] = _techniques(rows["configurations"])
    rows["hits"] = _hits(plan)
    rows["prices"] = _prices(rows["prices"])
    price_list.check({"node": set(), "device": names, "network": set()})
    config, axes = describe_stores(plan)
    axes["prices"] = price_list.select({"node": set(), "device": names, "network": set()})
    return HybridStudy(**rows, config=config, axes=axes, toml=plan.toml)


def compare_baselines(rows: Sequence[ComparedConfiguration]) -> list[ComparedConfiguration]:
    """Rows with gains over the disk, with and without controller cache, and their share of MEMS alone."""
    means = {row.configuration: row.run.mean_ms for row in rows}

    def gain(name: str, row: ComparedConfiguration) -> float | None:
        return means[name] / row.run.mean_ms if name in means else None

    return [
        replace(
            row,
            faster_than_disk=gain(DISK, row),
            faster_than_uncached_disk=gain(UNCACHED, row),
            share_of_mems=gain(MEMS, row),
        )
        for row in rows
    ]


def _techniques(rows: Sequence[ComparedConfiguration]) -> list[ComparedConfiguration]:
    """The caching disk with no technique, each alone and all, compared with none of them."""
    caching_disks = [row for row in rows if CONFIGURATIONS[row.configuration].hybrid == CACHING_DISK]
    none_ms = next((row.run.mean_ms for row in caching_disks if row.configuration == NONE), None)
    if none_ms is None or len(caching_disks) < 2:
        return []
    return [replace(row, saved=1 - row.run.mean_ms / none_ms) for row in caching_disks]


def _traffic(case: Case, runs: Sequence[RunFigures]) -> list[Traffic]:
    """Read and writes that each device served, a row for each device."""
    device_name = MEMS if case.base == MEMS else DISK
    is_hybrid = CONFIGURATIONS[case["configuration"]].hybrid is not None
    prefixes_by_device = {DISK: "hybrid_back", MEMS: "hybrid_front"} if is_hybrid else {device_name: ""}
    rows = []
    for device, prefix in prefixes_by_device.items():
        columns = zip(*(accesses(run, prefix) for run in runs), strict=True)
        reads, read_bytes, writes, written_bytes = (mean(values) or 0.0 for values in columns)
        sizes = _kilobytes(read_bytes, reads), _kilobytes(written_bytes, writes)
        totals = (reads, read_bytes, writes, written_bytes, *sizes)
        rows.append(Traffic(case["configuration"], case["label"], device, *totals))
    return rows


def _kilobytes(moved_bytes: float, accesses: float) -> float | None:
    """Mean size of an access in 1024 bytes."""
    return moved_bytes / 1024 / accesses if accesses else None


def _hits(plan: StoresPlan) -> list[Hits]:
    """Hit ratios of the policies on the requests alone, and the bound of Belady, a row each."""
    policies, segment_kb = plan.axes["replacement"], plan.axes["at_segment_kb"]
    if len(policies) < 2:
        return []
    return policy_hits(plan.stores, (*policies, BELADY), plan.axes["at_mb"], segment_kb)


def _prices(rows: Sequence[PricedMemory]) -> list[PricedMemory]:
    """Memory of equal price, compared with the caching disk."""
    mcd_run = next((row.run for row in rows if row.configuration == ALL), None)
    if mcd_run is None:
        return []
    mean_ms, is_overloaded, memory_rows = (
        mcd_run.mean_ms,
        mcd_run.saturated,
        (row for row in rows if row.configuration != ALL),
    )
    return [
        replace(row, mcd_ms=mean_ms, mcd_saturated=is_overloaded, mcd_faster=row.run.mean_ms / mean_ms)
        for row in memory_rows
    ]

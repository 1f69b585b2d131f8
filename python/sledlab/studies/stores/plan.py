"""Stores that studies of hybrids compare: a disk, MEMS, a disk with more memory, hybrids of disk and MEMS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment
from sledlab.errors import Error, unknown
from sledlab.model.catalog import hybrid, with_settings
from sledlab.model.device import describe
from sledlab.model.settings import document, word
from sledlab.runs.systems import system_label
from sledlab.studies.stores.configurations import (
    CONFIGURATIONS,
    DISK,
    DISK_RAM,
    FRONT,
    MEMS,
    MIRROR,
    TECHNIQUES,
    UNCACHED,
)
from sledlab.study.axes import check_unset
from sledlab.study.plan import Plan, check_source, explicit_tables, plain
from sledlab.traces.facts import TraceFacts
from sledlab.traces.fitted_requests import fit_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sledlab.study.plan import Case, Question, Settings
    from sledlab.traces.read import Trace

EQUAL_SHARE = 0.02
"""A smaller gain than this share is not worth more MEMS or money."""

LINE_BLOCKS = 16
"""Blocks of a cache line, unless the user sets another number."""

MB_BLOCKS = 2048


STUDY_PARAMETERS = ("front_mb", "segment_kb", "replacement", *TECHNIQUES)
"""Parameters of hybrids that the study itself sets, so that users cannot."""


def configuration_settings(
    name: str, mb: float, segment_kb: int, extras: Mapping[str, str], replacement: str = "lru"
) -> Settings:
    """The settings of a configuration.

    Args:
        name: Name of the configuration.
        mb: Its MEMS, or its non-volatile memory, in 2^20 bytes.
        segment_kb: Segments of a caching disk, in 1024 bytes.
        extras: Further parameters of hybrids; each kind takes those that it has.
        replacement: The replacement policy of a caching disk.
    """
    if name == DISK_RAM:
        return memory(mb)
    if name == UNCACHED:
        return (("cache.kind", "none"),)
    kind = CONFIGURATIONS[name].hybrid
    if kind is None:
        return ()
    values: dict[str, str] = {"kind": kind, "front_mb": repr(float(mb)), "segment_kb": str(segment_kb)}
    values |= {key: str(key in CONFIGURATIONS[name].techniques).lower() for key in TECHNIQUES}
    values |= {"replacement": replacement, **extras}
    parameter_names = ("kind", *(spec.name for spec in hybrid.show(kind).parameters))
    return tuple((f"hybrid.{key}", value) for key, value in values.items() if key in parameter_names)


def memory(mb: float) -> Settings:
    """Settings of a controller cache of `mb` times 2^20 bytes."""
    lines = int(mb * MB_BLOCKS) // LINE_BLOCKS
    return (("cache.kind", "write-back"), ("cache.capacity_blocks", str(max(lines, 1) * LINE_BLOCKS)))


@dataclass(frozen=True)
class Stores:
    """The devices and requests from which a study builds its stores.

    Attributes:
        explicit: The user's experiment with the defaults of the study written out: cache and power.
        bases: The disk, and the MEMS devices that could take its place, each with its controller cache.
        front: Settings of the MEMS device in front of a disk, its preset first.
        extras: Further parameters of hybrids.
        requests: The requests, the same for every run.
        facts: Statistics of the requests.
    """

    explicit: Experiment
    bases: Mapping[str, Experiment]
    front: Settings
    extras: Mapping[str, str]
    requests: Trace
    facts: TraceFacts

    @classmethod
    def from_question(cls, question: Question) -> Stores:
        """The stores of a question, with defaults for what was not given.

        `front.*` are parameters of the MEMS device, also where it is no front; `hybrid.*` those of hybrids.

        Raises:
            Error: A setting is invalid.
        """
        tables = explicit_tables(question.base)
        front = {"preset": FRONT, **tables.pop("front", {})}
        extras = {key: word(value) for key, value in tables.pop("hybrid", {}).items()}
        _check_extras(extras)
        base = Experiment(document(tables)).with_plugins(question.plugins)
        check_unset(base, ("system.kind", "system.devices"), "configurations and sizes")
        check_source(base, question.trace)
        disk = _with_defaults(base, {"power.kind": "never", "cache.kind": "write-back"})
        device = describe(disk)
        config = plain(disk.to_toml())
        requests = fit_trace(config, question.trace, device["capacity_blocks"], question.plugins)
        disk = disk.with_setting("replay.outside", "reject")
        if "trace" in config:
            disk = disk.with_setting("trace.devices", "one")
        facts = TraceFacts.from_trace(requests)
        if facts.end_block > device["capacity_blocks"]:
            raise Error(
                f"the requests reach block {facts.end_block - 1:,}, the disk ends at "
                f"{device['capacity_blocks']:,}",
                remedy="use --outside wrap, clip or scale, or choose a larger disk",
            )
        covers_disk = requests.format == "generated"  # a generator addresses the whole disk
        mems = _mems_array(disk, front, device["capacity_blocks"] if covers_disk else facts.end_block)
        front_settings = tuple((f"front.{key}", word(value)) for key, value in front.items())
        explicit = _with_defaults(question.base, _defaults(config))
        return cls(explicit, {DISK: disk, MEMS: mems}, front_settings, extras, requests, facts)

    @property
    def mems_name(self) -> str:
        """Name of the MEMS device."""
        return self.front[0][1]

    @property
    def front_label(self) -> str:
        """Name of the front device in tables."""
        return system_label(self.mems_name)

    @property
    def sleds(self) -> int:
        """Number of MEMS devices that hold all requested blocks."""
        return int(self.bases[MEMS].setting("system.devices") or 1)

    @property
    def has_cache(self) -> bool:
        """Whether the stores have a controller cache."""
        return self.bases[DISK].setting("cache.kind") != "none"

    def with_baselines(self, names: Iterable[str]) -> tuple[str, ...]:
        """Configurations, with the disk without a controller cache next to the disk that has one."""
        baselines = (DISK, UNCACHED) if self.has_cache else (DISK,)
        configurations = [
            each for name in names for each in (baselines if name in (DISK, UNCACHED) else (name,))
        ]
        return tuple(dict.fromkeys(configurations))

    def settings(self, name: str, mb: float, segment_kb: int, replacement: str) -> Settings:
        """The settings of a configuration; a mirror's front has as many sleds as the requests need."""
        store_settings = configuration_settings(name, mb, segment_kb, self.extras, replacement)
        if CONFIGURATIONS[name].hybrid is None:
            return store_settings
        sled_settings = (("front.sleds", str(self.sleds)),) if name == MIRROR and self.sleds > 1 else ()
        return (*store_settings, *self.front, *sled_settings)

    def plan(self, cases: Sequence[Case], seeds: tuple[int, ...], axes: Mapping[str, Any]) -> StoresPlan:
        """The plan of a study with these rows."""
        return StoresPlan(self.bases, self.requests, cases, seeds, axes, explicit=self.explicit, stores=self)

    def segment_count(self, mb: float, segment_kb: int) -> int:
        """Number of segments, each with its header, that `mb` of MEMS hold."""
        header_kb = int(self.extras.get("header_blocks", "1")) / 2
        return int(mb * 1024 / (segment_kb + header_kb))


def _check_extras(extras: Mapping[str, str]) -> None:
    """Refuse settings of hybrids that no hybrid has, or that the study itself sets."""
    known_keys = sorted(
        {f"hybrid.{spec.name}" for hybrid_kind in hybrid.list() for spec in hybrid_kind.parameters}
    )
    for key in extras:
        if key == "kind" or key in STUDY_PARAMETERS:
            raise Error(
                f"`hybrid.{key}` is set, but it is an axis of the study",
                remedy="omit it, or name the disk without a device in front; "
                "choose configurations, sizes, segments and policies instead",
            )
        if f"hybrid.{key}" not in known_keys:
            raise unknown("key", f"hybrid.{key}", known_keys)


def _defaults(config: Mapping[str, Any]) -> dict[str, str]:
    """The settings of an experiment that the study chooses where the user does not."""
    cache = config["cache"] if config["cache"]["kind"] != "none" else {"kind": "none"}
    cache_settings = {f"cache.{name}": word(value) for name, value in cache.items()}
    return {**cache_settings, "power.kind": word(config["power"]["kind"])}


def _with_defaults(experiment: Experiment, defaults: Mapping[str, str]) -> Experiment:
    missing = {key: value for key, value in defaults.items() if experiment.setting(key) is None}
    return with_settings(experiment, missing)


def _mems_array(disk: Experiment, front: Mapping[str, Any], end_block: int) -> Experiment:
    """MEMS devices in place of the disk: as many, in a row, as hold all blocks up to `end_block`."""
    parameters = {f"device.{key}": value for key, value in front.items() if key != "preset"}
    mems = with_settings(disk.with_device(str(front["preset"])), parameters)
    count = -(-end_block // describe(mems)["capacity_blocks"])
    if count > 1:
        mems = with_settings(mems, {"system.kind": "concatenation", "system.devices": count})
    return mems


@dataclass(frozen=True, kw_only=True)
class StoresPlan(Plan):
    """A plan, with the devices and requests from which its stores are built."""

    stores: Stores

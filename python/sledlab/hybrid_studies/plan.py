"""What a hybrid study runs: for each section, which store under which settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from sledlab import _native, swept
from sledlab.catalogue import entries, require
from sledlab.comparison.plan import named, plain
from sledlab.devices import describe
from sledlab.errors import Error
from sledlab.hybrid_studies.configurations import (
    ALL,
    DISK,
    DISK_RAM,
    KNOWN,
    MEMS,
    MIRROR,
    check_extras,
    chosen,
    memory,
    settings_of,
)
from sledlab.hybrid_studies.requests import Facts, Requests, requests_of
from sledlab.settings import word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sledlab.hybrid_studies.configurations import Settings
    from sledlab.traces import Trace

T = TypeVar("T")

SIZES_MB = (64.0, 128.0, 256.0, 512.0, 3072.0)
"""MEMS to sweep unless others are given, in 2^20 bytes (AN-05)."""

SEGMENTS_KB = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0)
"""Segments to sweep unless others are given, in 1024 bytes."""

RATIOS = tuple(float(ratio) for ratio in range(1, 11))
"""Prices of non-volatile memory over those of MEMS, unless others are given (AN-06)."""

AT_MB = 256.0
"""MEMS of the configurations unless said, in 2^20 bytes: 3 % of the disk of paper 001."""

BELADY = "belady"
"""The replacement policy that knows the future, which no device does."""

ASIDE = ("front", "hybrid")
"""Tables that make sense only where there is a hybrid."""

TAKEN = ("system.kind", "system.devices", "cache.capacity_blocks")
"""Keys that the study itself sets."""


@dataclass(frozen=True)
class Point:
    """One run of a study.

    Attributes:
        device: `disk` or `mems`: what stands alone, or behind.
        settings: What differs from that device with its controller cache.
        seed: Root of all random numbers.
    """

    device: str
    settings: Settings
    seed: int

    def keys(self) -> dict[str, Any]:
        """What tells the point from others."""
        return {"device": self.device, **dict(self.settings), "seed": self.seed}

    def __str__(self) -> str:
        """The point as messages name it."""
        said = "".join(f", {key} = {value}" for key, value in self.settings)
        return f"{self.device}, seed {self.seed}{said}"


@dataclass(frozen=True)
class Case:
    """A row of a section before it is measured, once for each seed.

    Attributes:
        section: Which table it belongs to.
        labels: Columns that tell it from the other rows.
        device: As of its points.
        settings: As of its points.
    """

    section: str
    labels: tuple[tuple[str, Any], ...]
    device: str
    settings: Settings


@dataclass(frozen=True)
class Front:
    """The MEMS device that stands in front of the disk, or alone.

    Attributes:
        name: Its preset or file.
        changes: Its parameters where they differ.
    """

    name: str
    changes: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, given: Any, changes: Mapping[str, str] | None = None) -> Front:
        """A device by name, file or chosen, with further changes.

        Raises:
            Error: It is no device.
        """
        device = require("device", given)
        said = {key: word(value) for key, value in device.parameters.items()}
        return cls(device.name, tuple((said | dict(changes or {})).items()))

    @property
    def settings(self) -> Settings:
        """What puts it in front of a disk."""
        return (("front.preset", self.name), *((f"front.{key}", value) for key, value in self.changes))

    def alone(self, base: _native.Experiment) -> _native.Experiment:
        """An experiment with this in the place of its device."""
        base = base.with_device(self.name)
        for key, value in self.changes:
            base = base.with_setting(f"device.{key}", value)
        return base


@dataclass(frozen=True)
class Plan:
    """All runs of a study, checked.

    Attributes:
        bases: The disk, and the MEMS devices that could take its place, each with its controller cache.
        front: The MEMS device.
        trace: The requests, the same for every run.
        facts: What they are like.
        configurations: Names of what is compared.
        sizes_mb: MEMS to sweep, rising, in 2^20 bytes.
        segments_kb: Segments to sweep, rising, in 1024 bytes.
        ratios: Prices of non-volatile memory over those of MEMS, rising.
        replacement: Replacement policies of the caching disk.
        at_mb: MEMS of the configurations.
        at_segment_kb: Their segments.
        extras: Further parameters of hybrids.
        seeds: Roots of random numbers.
    """

    bases: Mapping[str, _native.Experiment]
    front: Front
    trace: Trace
    facts: Facts
    configurations: tuple[str, ...]
    sizes_mb: tuple[float, ...]
    segments_kb: tuple[int, ...]
    ratios: tuple[float, ...]
    replacement: tuple[str, ...]
    at_mb: float
    at_segment_kb: int
    extras: Mapping[str, str]
    seeds: tuple[int, ...]

    @classmethod
    def made(
        cls,
        base: _native.Experiment,
        trace: Trace | None = None,
        *,
        front: Front,
        extras: Mapping[str, str] | None = None,
        configurations: Any = None,
        mems_mb: Any = None,
        segments_kb: Any = None,
        price_ratios: Any = None,
        replacement: Any = None,
        at_mb: float | None = None,
        at_segment_kb: int | None = None,
        seeds: int | None = None,
    ) -> Plan:
        """Checks everything that can be checked before the work starts, and fills in what was not said.

        Raises:
            Error: Something makes no sense.
        """
        extras = dict(extras or {})
        check_extras(extras)
        names = chosen(configurations)
        disk, requests, facts = _disk(base, trace)
        at_segment = facts.segment_kb() if at_segment_kb is None else at_segment_kb
        plan = cls(
            bases={DISK: disk, MEMS: _mems(disk, front, requests, facts)},
            front=front,
            trace=requests,
            facts=facts,
            configurations=names,
            sizes_mb=_swept("size", SIZES_MB if mems_mb is None else mems_mb),
            segments_kb=whole(SEGMENTS_KB if segments_kb is None else segments_kb),
            ratios=_swept("price ratio", RATIOS if price_ratios is None else price_ratios),
            replacement=_policies("lru" if replacement is None else replacement),
            at_mb=swept.numbers("size", AT_MB if at_mb is None else at_mb, above=True)[0],
            at_segment_kb=whole(at_segment)[0],
            extras=extras,
            seeds=swept.seeds(plain(disk.to_toml()), 1 if seeds is None else seeds),
        )
        for point in plan.points:
            plan.text(point)
        return plan

    @property
    def base(self) -> _native.Experiment:
        """The disk."""
        return self.bases[DISK]

    @cached_property
    def cases(self) -> list[Case]:
        """All rows of all sections."""
        return list(self._cases())

    def _cases(self) -> Iterator[Case]:
        def case(section: str, name: str, labels: Mapping[str, Any], settings: Settings) -> Case:
            on = MEMS if name == MEMS else DISK
            return Case(section, tuple({"configuration": name, **labels}.items()), on, settings)

        for name in self.configurations:
            yield case("configurations", name, {}, self.settings(name))
        for mb in self.sizes_mb:
            for segment_kb in self.segments_kb:
                labels = {"mems_mb": mb, "segment_kb": segment_kb}
                yield case("sizes", ALL, labels, self.settings(ALL, mb, segment_kb))
        if len(self.replacement) > 1:
            for policy in self.replacement:
                own = self.settings(ALL, replacement=policy)
                yield case("replacement", ALL, {"policy": policy}, own)
        if self.ratios:
            yield case("prices", ALL, {"ratio": None, "memory_mb": None}, self.settings(ALL))
        for ratio in self.ratios:
            labels = {"ratio": ratio, "memory_mb": self.at_mb / ratio}
            yield case("prices", DISK_RAM, labels, memory(self.at_mb / ratio))

    def settings(
        self,
        name: str,
        mb: float | None = None,
        segment_kb: int | None = None,
        replacement: str | None = None,
    ) -> Settings:
        """What a configuration sets; size, segments and policy are those of the study unless said."""
        own = settings_of(
            name,
            self.at_mb if mb is None else mb,
            self.at_segment_kb if segment_kb is None else segment_kb,
            self.extras,
            self.replacement[0] if replacement is None else replacement,
        )
        return own if KNOWN[name].hybrid is None else (*own, *self._in_front(name))

    def _in_front(self, name: str) -> Settings:
        """The MEMS device; for a mirror with as many sleds as the requests need."""
        sleds = self.bases[MEMS].setting("system.devices")
        if name != MIRROR or sleds is None:
            return self.front.settings
        return (*self.front.settings, ("front.sleds", sleds))

    def points_of(self, case: Case) -> list[Point]:
        """The runs of a row, one for each seed."""
        return [Point(case.device, case.settings, seed) for seed in self.seeds]

    @cached_property
    def points(self) -> list[Point]:
        """All different runs."""
        return list(dict.fromkeys(point for case in self.cases for point in self.points_of(case)))

    def text(self, point: Point) -> str:
        """The complete experiment of a point.

        Raises:
            Error: It makes no sense; the message names the point.
        """
        try:
            experiment = self.bases[point.device]
            for key, value in point.settings:
                experiment = experiment.with_setting(key, value)
            return experiment.with_setting("seed", str(point.seed)).to_toml()
        except Error as error:
            raise named(error, point) from error


def set_aside(settings: Mapping[str, T]) -> tuple[dict[str, dict[str, T]], dict[str, T]]:
    """Settings of the MEMS device and of hybrids, by their table, and the others.

    Example:
        >>> set_aside({"front.sleds": "2", "seed": "3"})
        ({'front': {'sleds': '2'}, 'hybrid': {}}, {'seed': '3'})
    """
    aside: dict[str, dict[str, T]] = {table: {} for table in ASIDE}
    rest = {}
    for key, value in settings.items():
        table, _, name = key.partition(".")
        if table in aside:
            aside[table][name] = value
        else:
            rest[key] = value
    return aside, rest


def _disk(base: _native.Experiment, trace: Trace | None) -> tuple[_native.Experiment, Trace, Facts]:
    """The disk with its cache, spinning, and the requests."""
    for key in TAKEN:
        if base.setting(key) is not None:
            raise Error(
                f"`{key}` is set, which the study itself changes",
                remedy="leave it out; choose configurations and sizes instead",
            )
    disk = _unless_said(base, {"power.kind": "never", "cache.kind": "write-back"})
    device = describe(disk)
    if "startup_ms" in device and device["kind"] == "disk":
        disk = _unless_said(disk, {"device.startup_ms": "0"})
    config = plain(disk.to_toml())
    if "trace" not in config and "workload" not in config and trace is None:
        raise Error(
            "no trace and no workload was given", remedy="choose one with --trace FILE or --workload NAME"
        )
    requests = requests_of(config, trace, device["capacity_blocks"])
    disk = disk.with_setting("replay.outside", "reject")
    if "trace" in config:
        disk = disk.with_setting("trace.devices", "one")
    facts = Facts.of(requests)
    if facts.end_block > device["capacity_blocks"]:
        raise Error(
            f"the requests reach block {facts.end_block - 1:,}, the disk ends at "
            f"{device['capacity_blocks']:,}",
            remedy="say what they get with --outside wrap, clip or scale, or choose a larger disk",
        )
    return disk, requests, facts


def _unless_said(experiment: _native.Experiment, wanted: Mapping[str, str]) -> _native.Experiment:
    for key, value in wanted.items():
        if experiment.setting(key) is None:
            experiment = experiment.with_setting(key, value)
    return experiment


def _mems(disk: _native.Experiment, front: Front, requests: Trace, facts: Facts) -> _native.Experiment:
    """MEMS devices in the place of the disk: as many, one after the other, as the requests need."""
    alone = front.alone(disk)
    room = describe(alone)["capacity_blocks"]
    opener = requests.opener
    assert isinstance(opener, Requests)
    end = facts.end_block if requests.format != "generated" else opener.capacity_blocks
    count = -(-end // room)
    if count > 1:
        alone = alone.with_setting("system.kind", "concatenation").with_setting("system.devices", str(count))
    return alone


def _swept(what: str, given: Any) -> tuple[float, ...]:
    """Numbers to sweep; an empty list leaves the section out."""
    return () if isinstance(given, (list, tuple)) and not given else swept.numbers(what, given, above=True)


def budget_mb(budget: Any, price_per_mb: Any = None) -> float:
    """The MEMS that a budget buys, in 2^20 bytes; the budget itself where there is no price.

    Raises:
        Error: One of them is not above 0.

    Example:
        >>> budget_mb(256), budget_mb(100, 0.5)
        (256.0, 200.0)
    """
    money = swept.numbers("budget", budget, above=True)[0]
    return money if price_per_mb is None else money / swept.numbers("price", price_per_mb, above=True)[0]


def whole(given: Any) -> tuple[int, ...]:
    """Segments in 1024 bytes, each a whole number."""
    found = _swept("segment", given)
    for value in found:
        if value != int(value):
            raise Error(f"`{value:g}` is not a segment", remedy="give whole numbers of KB, such as 4,8,16")
    return tuple(int(value) for value in found)


def _policies(given: Any) -> tuple[str, ...]:
    """Replacement policies as words; the word `all` leaves out what no device can know."""
    real = [entry.name for entry in entries("replacement_policies") if entry.name != BELADY]
    words = swept.models("replacement", "replacement policies", given, real)
    for policy in words:
        _native.check_replacement(policy)
    return words

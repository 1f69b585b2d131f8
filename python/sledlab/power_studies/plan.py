"""What a power study runs: for each section, which device under which settings at which load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native, swept
from sledlab.catalogue import Chosen, entries
from sledlab.comparison.plan import check_trace, named, plain
from sledlab.devices import describe
from sledlab.errors import Error
from sledlab.power_studies import strategies as ways

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.traces import Trace

    Settings = tuple[tuple[str, str], ...]

TIMEOUTS_MS = (0.0, 1.0, 2.0, 5.0, 10.0, 40.0, 100.0, 1000.0, 10_000.0, 100_000.0)
"""Timeouts to sweep unless others are given: from those that matter to a sled to those of a disk."""

STARTUP_FACTORS = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Start-up times to sweep unless others are given, as multiples of the device's own."""

LOADS = (1.0, 2.0, 5.0, 10.0)
"""Speed-ups of an open replay unless others are given."""

OWN, IMMEDIATE, NEVER = "fixed", "immediate", "never"
"""The device's own timeout, and the two extremes."""

TAKEN = ("power.kind", "merge.kind")
"""Keys that the study itself sets."""


@dataclass(frozen=True)
class Point:
    """One run of a study.

    Attributes:
        device: What the device is called.
        scheduler: The scheduler that all runs share.
        settings: What differs from the device as it was given.
        speedup: Divides the times between arrivals.
        seed: Root of all random numbers.
    """

    device: str
    scheduler: str
    settings: Settings
    speedup: float
    seed: int

    def keys(self) -> dict[str, Any]:
        """What tells the point from others."""
        return {"device": self.device, **dict(self.settings), "speedup": self.speedup, "seed": self.seed}

    def __str__(self) -> str:
        """The point as messages name it."""
        said = "".join(f", {key} = {value}" for key, value in self.settings)
        return f"{self.device} at speed-up {self.speedup:g}, seed {self.seed}{said}"


@dataclass(frozen=True)
class Case:
    """A row of a section before it is measured, once for each seed.

    Attributes:
        section: Which table it belongs to.
        device: What the device is called.
        labels: Further columns that tell it from the other rows.
        settings: As of its points.
        speedup: As of its points.
    """

    section: str
    device: str
    labels: tuple[tuple[str, Any], ...]
    settings: Settings
    speedup: float


@dataclass(frozen=True)
class Plan:
    """All runs of a study, checked.

    Attributes:
        bases: The devices by what they are called, each with all that the runs have in common.
        trace: Replayed instead of what the bases name.
        policies: Power policies, with parameters where they have some.
        timeouts_ms: Rising.
        startups_ms: For each device, rising.
        loads: Rising.
        strategies: For each device those it knows.
        battery_wh: Charge of the battery.
        seeds: Roots of random numbers.
    """

    bases: Mapping[str, _native.Experiment]
    trace: Trace | None
    policies: tuple[str, ...]
    timeouts_ms: tuple[float, ...]
    startups_ms: Mapping[str, tuple[float, ...]]
    loads: tuple[float, ...]
    strategies: Mapping[str, tuple[str, ...]]
    battery_wh: float
    seeds: tuple[int, ...]

    @classmethod
    def made(
        cls,
        bases: Sequence[tuple[Any, _native.Experiment]],
        trace: Trace | None = None,
        *,
        policies: Sequence[Chosen | str] | str | None = None,
        timeouts_ms: Sequence[float] | None = None,
        startups_ms: Sequence[float] | None = None,
        loads: Sequence[float] | None = None,
        strategies: Sequence[str] | str | None = None,
        battery_wh: float = 10.0,
        seeds: int | None = None,
    ) -> Plan:
        """Checks everything that can be checked before the work starts, and fills in what was not said.

        Raises:
            Error: Something makes no sense.
        """
        devices = _devices(bases)
        first = plain(next(iter(devices.values())).to_toml())
        closed = _checked_replay(first, loads)
        if not swept.is_number(battery_wh) or battery_wh <= 0:
            raise Error(f"`{battery_wh}` is not a charge in Wh", remedy="give a number above 0, such as 10")
        if loads is None:
            loads = (float(first["replay"]["speedup"]),) if closed else LOADS
        plan = cls(
            bases=devices,
            trace=trace,
            policies=_policies("all" if policies is None else policies),
            timeouts_ms=swept.numbers("timeout", TIMEOUTS_MS if timeouts_ms is None else timeouts_ms),
            startups_ms={name: _startups(base, startups_ms) for name, base in devices.items()},
            loads=swept.numbers("load", loads, above=True),
            strategies=ways.known("all" if strategies is None else strategies, devices),
            battery_wh=float(battery_wh),
            seeds=swept.seeds(first, 1 if seeds is None else seeds),
        )
        check_trace(first.get("trace"))
        for point in plan.points:
            plan.text(point)
        return plan

    @property
    def base(self) -> _native.Experiment:
        """What names the trace, if a file holds it."""
        return next(iter(self.bases.values()))

    @cached_property
    def scheduler(self) -> str:
        """The scheduler that all runs share, as it was named."""
        return self.base.setting("scheduler.kind") or "fcfs"

    @property
    def schedulers(self) -> tuple[str, ...]:
        """The one scheduler."""
        return (self.scheduler,)

    @cached_property
    def pace(self) -> float:
        """The speed-up of everything but the section on loads: the workload's own pace unless it is set."""
        return float(plain(self.base.to_toml())["replay"]["speedup"])

    @cached_property
    def cases(self) -> list[Case]:
        """All rows of all sections."""
        return [case for device in self.bases for case in self._of(device)]

    def _of(self, device: str) -> Iterator[Case]:
        def case(section: str, labels: Mapping[str, Any], settings: Any, speedup: float = self.pace) -> Case:
            return Case(section, device, tuple(labels.items()), tuple(settings), speedup)

        def policy(word: str) -> tuple[tuple[str, str], ...]:
            return (("power.kind", word),)

        yield case("rests", {}, policy(NEVER))
        for word in (OWN, IMMEDIATE):
            yield case("states", {"policy": word}, policy(word))
        for timeout_ms in self.timeouts_ms:
            yield case("timeouts", {"timeout_ms": timeout_ms}, policy(f"fixed:timeout_ms={timeout_ms!r}"))
        key = startup_key(self.bases[device])
        for startup_ms in self.startups_ms[device]:
            own = (*policy(IMMEDIATE), (key, repr(startup_ms)))
            yield case("startup", {"startup_ms": startup_ms}, own)
        for word in self.policies:
            yield case("policies", {"policy": word}, policy(word))
        for load in self.loads:
            for word in (OWN, IMMEDIATE):
                yield case("loads", {"policy": word, "load": load}, policy(word), load)
            for way in self.strategies[device]:
                settings = ways.settings(way, self.bases[device])
                yield case("strategies", {"strategy": way, "load": load}, settings, load)

    def points_of(self, case: Case) -> list[Point]:
        """The runs of a row, one for each seed."""
        return [Point(case.device, self.scheduler, case.settings, case.speedup, seed) for seed in self.seeds]

    @cached_property
    def points(self) -> list[Point]:
        """All different runs, those with the highest load first: the more load, the longer the queue."""
        unique = dict.fromkeys(point for case in self.cases for point in self.points_of(case))
        return sorted(unique, key=lambda point: -point.speedup)

    def text(self, point: Point) -> str:
        """The complete experiment of a point.

        Raises:
            Error: It makes no sense; the message names the point.
        """
        try:
            experiment = self.bases[point.device]
            for key, value in point.settings:
                experiment = experiment.with_setting(key, value)
            if point.speedup != self.pace:
                experiment = experiment.with_setting("replay.speedup", repr(point.speedup))
            return experiment.with_setting("seed", str(point.seed)).to_toml()
        except Error as error:
            raise named(error, point) from error


def startup_key(base: _native.Experiment) -> str:
    """The key of the time that a device takes to start from where it rests."""
    off = describe(base).get("rest_state") == "off"
    return "device.off_startup_ms" if off else "device.startup_ms"


def _parks(base: _native.Experiment) -> bool:
    """Whether a device ever rests so that it must start again."""
    return startup_key(base).partition(".")[2] in describe(base)


def _devices(given: Sequence[tuple[Any, _native.Experiment]]) -> dict[str, _native.Experiment]:
    """The devices by what they are called."""
    if not given:
        raise Error("no device was given", remedy="name one, such as mems-g2 (sledlab device list)")
    found: dict[str, _native.Experiment] = {}
    for device, base in given:
        name = _device_name(device)
        if name in found:
            raise Error(f"the device `{name}` was given twice", remedy="leave one of them out")
        for key in TAKEN:
            if base.setting(key) is not None:
                raise Error(
                    f"`{key}` is set, which the study itself changes",
                    remedy="leave it out; choose policies and strategies instead",
                )
        base.check()
        if not _parks(base):
            raise Error(
                f"the device `{name}` never parks, so there is nothing to study",
                remedy="choose a sled or a disk, such as mems-g2 or mobile-disk",
            )
        found[name] = base
    return found


def _device_name(device: Any) -> str:
    """`mems-g2`, or `mems-g2 active_tips=3200`; a device file without its path."""
    word = swept.spelled(device) if isinstance(device, Chosen) else str(device)
    name, *parameters = word.split(":")
    return " ".join([Path(name).stem if name.endswith(".toml") else name, *parameters])


def _checked_replay(config: Mapping[str, Any], loads: Any) -> bool:
    """Whether the replay is closed; one without a think time has no rests to study."""
    mode = str(config["replay"]["mode"])
    if not mode.startswith("closed"):
        return False
    if mode.count(":") < 2 or mode.rpartition(":")[2].rstrip("mnsu").strip("0.") == "":
        raise Error(
            f"replay `{mode}` keeps the device busy: it never rests, so there is nothing to decide",
            remedy="replay open, or with a think time, such as closed:1:20ms",
        )
    if loads is not None and swept.numbers("load", loads, above=True) != (1.0,):
        raise Error(
            "a closed replay has no load to vary: the next request waits for the last one",
            remedy="leave the loads out, or vary the think time",
        )
    return True


def _policies(given: Any) -> tuple[str, ...]:
    """Policies as words; an unknown one is refused without naming a point, as it would be so for all."""
    everything = [entry.name for entry in entries("power_policies")]
    words = swept.models("power", "power policies", given, everything)
    known = _native.Experiment().with_device("mems-g2").with_workload("uniform")
    for word in words:
        known.with_setting("power.kind", word).check()
    return words


def _startups(base: _native.Experiment, given: Any) -> tuple[float, ...]:
    """Start-up times to sweep, in ms."""
    if given is not None:
        return swept.numbers("start-up time", given)
    own = float(describe(base)[startup_key(base).partition(".")[2]])
    return swept.numbers("start-up time", [factor * own for factor in STARTUP_FACTORS])

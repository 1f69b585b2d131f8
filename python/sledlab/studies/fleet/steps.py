"""What is run for a fleet, step by step: surveys, each volume alone, devices as they are placed, the mix.

What is found decides what runs next. The steps are the same while points are measured and when the outcome is
made of what is kept: only who measures differs.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sledlab.errors import Error
from sledlab.show.wording import listed
from sledlab.studies.fleet.choice import Alone, Offer, best
from sledlab.studies.fleet.placement import Item, Room
from sledlab.studies.fleet.plan import FleetPlan, survey_name
from sledlab.studies.fleet.search import TriedPlacement, search
from sledlab.study.histogram import Histogram
from sledlab.study.plan import Case
from sledlab.traces.volumes import merged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.studies.fleet.kinds import Kind
    from sledlab.studies.fleet.measuring import FleetPoint
    from sledlab.studies.fleet.placement import Layout
    from sledlab.study.bench import Measure
    from sledlab.study.histogram import Spread
    from sledlab.study.plan import Plan
    from sledlab.traces.volumes import Survey

NAMED = 3
"""Volumes of a device that messages name."""


class FruitlessError(Error):
    """Too much failed for any conclusion."""


class FilledDevice(NamedTuple):
    """A device, or a group of them, with what lies on it.

    Attributes:
        kind: The name of its kind.
        volumes: Names of the volumes.
        offsets: Where each begins, in blocks.
    """

    kind: str
    volumes: tuple[str, ...]
    offsets: tuple[int, ...]

    def __str__(self) -> str:
        """What messages call it: the same text for no other device."""
        which = hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:8]
        return f"{self.kind} with {listed(self.volumes, NAMED)} ({which})"


@dataclass(frozen=True)
class Laid:
    """Volumes on devices of one kind, run.

    Attributes:
        kind: The kind.
        fill: Up to which share devices that are shared were filled; none where none are.
        devices: What was found of each device, or group of them.
        left: Volumes that lie on none, and why.
    """

    kind: Kind
    fill: float | None
    devices: Mapping[FilledDevice, FleetPoint]
    left: Mapping[str, str]

    @property
    def times(self) -> Histogram:
        """Response times of all requests."""
        return Histogram.merged(told.histogram for told in self.devices.values())

    @cached_property
    def volumes(self) -> dict[str, tuple[int, Spread]]:
        """The device that each volume is on, by its number, and its response times there."""
        return {
            volume: (number, times.spread)
            for number, (device, told) in enumerate(self.devices.items())
            for volume, times in zip(device.volumes, told.histograms, strict=True)
        }

    @property
    def count(self) -> int:
        """How many devices there are."""
        return self.kind.devices * len(self.devices)


@dataclass(frozen=True)
class FleetSteps:
    """Everything that was found out of a fleet.

    Attributes:
        surveys: Of each volume that can be replayed.
        failed: What is wrong with the others.
        span_s: The time of the last arrival on the clock of the fleet.
        alone: Each volume alone on each kind, by the name of the kind and of the volume.
        tried: Placements that were tried for the goal, by kind.
        laid: All volumes on each kind.
        best: The kind that serves each volume best; an empty name where none can hold it.
        mix: Each volume on that kind, by kind; empty where there is no goal, or one kind.
    """

    surveys: Mapping[str, Survey]
    failed: Mapping[str, str]
    span_s: float
    alone: Mapping[str, Mapping[str, Alone]]
    tried: Mapping[str, Sequence[TriedPlacement]]
    laid: Mapping[str, Laid]
    best: Mapping[str, str]
    mix: Mapping[str, Laid]


class Walk:
    """Takes the steps.

    Attributes:
        plan: What is asked; its cases survey the volumes.
        batches: The plans that were measured.
    """

    def __init__(self, plan: FleetPlan, measure: Measure) -> None:
        """`measure` finds what is at the points of a plan."""
        self.plan = plan
        self.batches: list[FleetPlan] = []
        self._measure = measure
        self._surveys: dict[str, Survey] = {}
        self._failed: dict[str, str] = {}
        self._why = {point.base: why for point, why in plan.failed.items()}

    def steps(self) -> FleetSteps:
        """All of them.

        Raises:
            FruitlessError: No volume can be replayed, or a device cannot that several share.
        """
        self._survey()
        span_s = max((each.last_s for each in self._surveys.values()), default=0.0)
        alone = self._alone(span_s)
        if not self._surveys:
            name, why = next(iter(self._failed.items()))
            raise FruitlessError(f"no volume of the fleet can be replayed; `{name}`: {why}")
        laid, tried = {}, {}
        for kind in self.plan.kinds.values():
            laid[kind.name], tried[kind.name] = self._placed(kind, _items(alone[kind.name].values()))
        chosen = self._best(alone, laid)
        mix = {}
        if self.plan.goal is not None and len(self.plan.kinds) > 1:
            for name, kind in self.plan.kinds.items():
                volumes = [each for each in alone[name].values() if chosen[each.volume] == name]
                if volumes:
                    mix[name] = self._lay(kind, _items(volumes), laid[name].fill)
        return FleetSteps(self._surveys, self._failed, span_s, alone, tried, laid, chosen, mix)

    def _survey(self) -> None:
        """Surveys all volumes; notes what is wrong with those that cannot be replayed."""
        found = self._points(self.plan, "surveying volumes")
        for name in self.plan.volumes:
            told = found.get(survey_name(name))
            if told is None:
                self._failed[name] = self._why.get(survey_name(name), "")
            elif not told.requests:
                self._failed[name] = "it holds no reads and no writes"
            else:
                self._surveys[name] = told.surveyed

    def _alone(self, span_s: float) -> dict[str, dict[str, Alone]]:
        """Each volume alone on each kind that can hold it."""
        devices = [
            FilledDevice(kind.name, (volume,), (0,))
            for kind in self.plan.kinds.values()
            for volume, survey in self._surveys.items()
            if survey.end_blocks <= kind.blocks
        ]
        told = self._run(devices, "replaying volumes alone")
        for device in devices:
            if device not in told:
                self._failed[device.volumes[0]] = self._why.get(str(device), "")
        self._surveys = {name: each for name, each in self._surveys.items() if name not in self._failed}
        return {
            name: {
                volume: Alone(kind, volume, survey, span_s, told.get(FilledDevice(name, (volume,), (0,))))
                for volume, survey in self._surveys.items()
            }
            for name, kind in self.plan.kinds.items()
        }

    def _placed(self, kind: Kind, items: Sequence[Item]) -> tuple[Laid, Sequence[TriedPlacement]]:
        """All volumes on a kind: on as few devices as the goal allows, where there is one."""
        plan = self.plan
        wanted = plan.goal
        if wanted is None or not plan.placement.shares:
            return self._lay(kind, items, plan.fill if plan.placement.shares else None), ()
        known: dict[Layout, Laid] = {}

        def at(fill: float) -> TriedPlacement:
            layout = plan.placement.place(items, Room(kind.blocks, fill, kind.devices))
            if layout not in known:
                known[layout] = self._lay(kind, items, fill)
            laid = known[layout]
            value_ms = laid.times.measure_ms(wanted.measure)
            meets = laid.count > 0 and value_ms <= wanted.limit_ms
            return TriedPlacement(fill, laid.count, len(laid.left), value_ms, meets)

        tried = search(plan.fill, at)
        met = [each.fill for each in tried if each.meets]
        return self._lay(kind, items, max(met, default=plan.fill)), tried

    def _best(self, alone: Mapping[str, Mapping[str, Alone]], laid: Mapping[str, Laid]) -> dict[str, str]:
        """The kind that serves each volume best, as it is placed there; alone where it lies on no device."""
        plan, found = self.plan, {}
        for volume in self._surveys:
            offers = []
            for name, each in laid.items():
                single = alone[name][volume]
                _, times = each.volumes.get(volume, (None, single.times))
                if times is not None:
                    offers.append(Offer(single, times, each.fill))
            found[volume] = best(offers, plan.goal, plan.prices)
        return found

    def _lay(self, kind: Kind, items: Sequence[Item], fill: float | None) -> Laid:
        """Places volumes on a kind and runs the devices."""
        layout = self.plan.placement.place(items, Room(kind.blocks, fill or 0.0, kind.devices))
        devices = [
            FilledDevice(kind.name, tuple(items[at].name for at in each.volumes), each.offsets)
            for each in layout.devices
        ]
        found = self._run(devices, f"replaying {kind.name}")
        if broken := next((each for each in devices if each not in found), None):
            raise FruitlessError(f"{broken}: {self._why.get(str(broken), 'it cannot be replayed')}")
        return Laid(kind, fill, found, {items[each.volume].name: each.why for each in layout.left})

    def _run(self, devices: Sequence[FilledDevice], doing: str) -> dict[FilledDevice, FleetPoint]:
        """Runs devices, each a point of a plan; without those that failed."""
        if not devices:
            return {}
        names = {device: str(device) for device in devices}
        plan = replace(
            self.plan,
            bases={name: self.plan.kinds[device.kind].experiment for device, name in names.items()},
            traces={
                name: merged([self.plan.volumes[each] for each in device.volumes], device.offsets)
                for device, name in names.items()
            },
            cases=[
                Case("devices", (), name, (), self._requests(device), name) for device, name in names.items()
            ],
        )
        found = self._points(plan, doing)
        return {device: found[name] for device, name in names.items() if name in found}

    def _requests(self, device: FilledDevice) -> float:
        return float(sum(self._surveys[each].requests for each in device.volumes))

    def _points(self, plan: FleetPlan, doing: str) -> dict[str, FleetPoint]:
        """What is found at the points of a plan that did not fail, by the names of what they start from."""
        self.batches.append(plan)
        return {point.base: found.row for point, found in self._measure(plan, doing).items()}


def _items(found: Any) -> list[Item]:
    """Volumes as a placement sees them."""
    return [Item(each.volume, each.survey.end_blocks, each.load) for each in found]


def race(plan: Plan, measure: Measure) -> Plan:
    """Takes the steps, and gives the plan of everything that ran."""
    assert isinstance(plan, FleetPlan)
    walk = Walk(plan, measure)
    with suppress(FruitlessError):  # whoever concludes knows why
        walk.steps()
    bases: dict[str, Any] = {}
    traces: dict[str, Any] = {}
    cases: dict[str, Case] = {}
    for batch in walk.batches:
        bases |= batch.bases
        traces |= batch.traces
        cases |= {case.base: case for case in batch.cases}
    return replace(plan, bases=bases, traces=traces, cases=list(cases.values()))

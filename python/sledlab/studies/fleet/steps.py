"""The steps of a fleet's study: surveys, each volume alone, devices as they are placed, the mix.

The results of a step decide the runs of the next. The steps are the same when runs are measured and when
the outcome is computed from saved results; only the `measure` that they call differs.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from sledlab.errors import Error
from sledlab.show.wording import list_names
from sledlab.studies.fleet.choice import Offer, SingleVolumeRun, best
from sledlab.studies.fleet.histogram import Histogram
from sledlab.studies.fleet.placement import DeviceCapacity, Item
from sledlab.studies.fleet.plan import FleetPlan, survey_name
from sledlab.studies.fleet.search import TriedPlacement, search
from sledlab.study.plan import Case
from sledlab.traces.volumes import merge_volumes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.studies.fleet.histogram import ResponseStatistics
    from sledlab.studies.fleet.kinds import Kind
    from sledlab.studies.fleet.measurement import FleetRun
    from sledlab.studies.fleet.placement import Layout
    from sledlab.study.bench import Measure
    from sledlab.study.plan import Plan
    from sledlab.traces.volumes import Survey

MAX_NAMED = 3
"""Volumes of a device that a message names."""


class TooManyFailuresError(Error):
    """Too many runs failed for an outcome."""


class FilledDevice(NamedTuple):
    """A device, or a group of devices, with its volumes.

    Attributes:
        kind: The name of its kind.
        volumes: Names of the volumes.
        offsets: First block of each volume.
    """

    kind: str
    volumes: tuple[str, ...]
    offsets: tuple[int, ...]

    def __str__(self) -> str:
        """Its name in messages, which no other device has."""
        digest = hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:8]
        return f"{self.kind} with {list_names(self.volumes, MAX_NAMED)} ({digest})"


@dataclass(frozen=True)
class PlacementResult:
    """Results of volumes placed on devices of one kind.

    Attributes:
        kind: The kind.
        fill: Share up to which shared devices were filled; None where none is shared.
        devices: Results of each device, or group of devices.
        unplaced: Volumes that are on no device, and why.
    """

    kind: Kind
    fill: float | None
    devices: Mapping[FilledDevice, FleetRun]
    unplaced: Mapping[str, str]

    @property
    def times(self) -> Histogram:
        """Response times of all requests."""
        return Histogram.merge(run.histogram for run in self.devices.values())

    @cached_property
    def volumes(self) -> dict[str, tuple[int, ResponseStatistics | None]]:
        """For each volume the number of its device, and its response times there; None without requests."""
        return {
            volume: (number, times.statistics)
            for number, (device, run) in enumerate(self.devices.items())
            for volume, times in zip(device.volumes, run.histograms, strict=True)
        }

    @cached_property
    def overloaded_volumes(self) -> set[str]:
        """Volumes on devices whose queue kept growing."""
        return {
            volume
            for device, run in self.devices.items()
            if run.device_row.saturated
            for volume in device.volumes
        }

    @property
    def count(self) -> int:
        """Number of devices; an array counts as one."""
        return self.kind.group * len(self.devices)


@dataclass(frozen=True)
class FleetSteps:
    """Results of all steps.

    Attributes:
        surveys: Surveys of the volumes that can be replayed, by name.
        failed: Errors of the volumes that cannot be replayed, by name.
        span_s: Time of the last arrival on the clock of the fleet, in s.
        alone: Each volume alone on each kind, by names of kind and volume.
        tried_placements: Placements that were tried for the goal, by kind.
        placements: All volumes on each kind.
        best: Name of the kind that serves each volume best; empty where none can hold it.
        mix: The volumes on the kinds that serve them best, by kind; empty without a goal, or with one kind.
    """

    surveys: Mapping[str, Survey]
    failed: Mapping[str, str]
    span_s: float
    alone: Mapping[str, Mapping[str, SingleVolumeRun]]
    tried_placements: Mapping[str, Sequence[TriedPlacement]]
    placements: Mapping[str, PlacementResult]
    best: Mapping[str, str]
    mix: Mapping[str, PlacementResult]


class StepRunner:
    """Execution of the steps of a fleet's study.

    Attributes:
        plan: The first plan, whose cases survey the volumes.
        batches: The plans that were measured.
    """

    def __init__(self, plan: FleetPlan, measure: Measure) -> None:
        """`measure` finds the results of the runs of a plan."""
        self.plan = plan
        self.batches: list[FleetPlan] = []
        self._measure = measure
        self._surveys: dict[str, Survey] = {}
        self._failed: dict[str, str] = {}
        self._reasons = {spec.base: reason for spec, reason in plan.failed.items()}

    def steps(self) -> FleetSteps:
        """Take all steps.

        Raises:
            TooManyFailuresError: No volume can be replayed, or a shared device failed.
        """
        self._survey()
        span_s = max((each.last_s for each in self._surveys.values()), default=0.0)
        runs_alone = self._replay_alone(span_s)
        if not self._surveys:
            name, reason = next(iter(self._failed.items()))
            raise TooManyFailuresError(f"no volume of the fleet can be replayed; `{name}`: {reason}")
        placements, tried = {}, {}
        for kind in self.plan.kinds.values():
            placements[kind.name], tried[kind.name] = self._place_volumes(
                kind, _items(runs_alone[kind.name].values())
            )
        best_kinds = self._best(runs_alone, placements)
        mix = {}
        if self.plan.goal is not None and len(self.plan.kinds) > 1:
            for name, kind in self.plan.kinds.items():
                volumes = [each for each in runs_alone[name].values() if best_kinds[each.volume] == name]
                if volumes:
                    mix[name] = self._replay_placement(kind, _items(volumes), placements[name].fill)
        return FleetSteps(self._surveys, self._failed, span_s, runs_alone, tried, placements, best_kinds, mix)

    def _survey(self) -> None:
        """Survey all volumes; record the errors of those that cannot be replayed."""
        runs_by_name = self._results(self.plan, "surveying volumes")
        for name in self.plan.volumes:
            run = runs_by_name.get(survey_name(name))
            if run is None:
                self._failed[name] = self._reasons.get(survey_name(name), "")
            elif not run.requests:
                self._failed[name] = "it holds no reads and no writes"
            else:
                self._surveys[name] = run.volume_survey

    def _replay_alone(self, span_s: float) -> dict[str, dict[str, SingleVolumeRun]]:
        """Each volume alone on each kind that can hold it."""
        devices = [
            FilledDevice(kind.name, (volume,), (0,))
            for kind in self.plan.kinds.values()
            for volume, survey in self._surveys.items()
            if survey.end_blocks <= kind.blocks
        ]
        runs = self._run(devices, "replaying volumes alone")
        for device in devices:
            if device not in runs:
                self._failed[device.volumes[0]] = self._reasons.get(str(device), "")
        self._surveys = {name: each for name, each in self._surveys.items() if name not in self._failed}
        return {
            name: {
                volume: SingleVolumeRun(
                    kind, volume, survey, span_s, runs.get(FilledDevice(name, (volume,), (0,)))
                )
                for volume, survey in self._surveys.items()
            }
            for name, kind in self.plan.kinds.items()
        }

    def _place_volumes(
        self, kind: Kind, items: Sequence[Item]
    ) -> tuple[PlacementResult, Sequence[TriedPlacement]]:
        """All volumes on a kind: with a goal, on the fewest devices that meet it."""
        plan = self.plan
        response_goal = plan.goal
        if response_goal is None or not plan.placement.shares_devices:
            return self._replay_placement(
                kind, items, plan.fill if plan.placement.shares_devices else None
            ), ()
        results_by_layout: dict[Layout, PlacementResult] = {}

        def try_fill(fill: float) -> TriedPlacement:
            layout = plan.placement.place(items, DeviceCapacity(kind.blocks, fill, kind.devices))
            if layout not in results_by_layout:
                results_by_layout[layout] = self._replay_placement(kind, items, fill)
            placement = results_by_layout[layout]
            value_ms = placement.times.measure_ms(response_goal.measure)
            meets = value_ms is not None and value_ms <= response_goal.limit_ms
            overloaded = sum(run.device_row.saturated for run in placement.devices.values())
            return TriedPlacement(fill, placement.count, len(placement.unplaced), value_ms, meets, overloaded)

        tried = search(plan.fill, try_fill)
        met_fills = [each.fill for each in tried if each.meets]
        return self._replay_placement(kind, items, max(met_fills, default=plan.fill)), tried

    def _best(
        self,
        runs_alone: Mapping[str, Mapping[str, SingleVolumeRun]],
        placements: Mapping[str, PlacementResult],
    ) -> dict[str, str]:
        """The kind that serves each volume best as it is placed there, or alone where it is on no device."""
        plan, best_kinds = self.plan, {}
        for volume in self._surveys:
            offers = []
            for name, placement in placements.items():
                single = runs_alone[name][volume]
                _, placed = placement.volumes.get(volume, (None, None))
                is_overloaded = (
                    single.is_overloaded if placed is None else volume in placement.overloaded_volumes
                )
                if (times := placed or single.times) is not None:
                    offers.append(Offer(single, times, is_overloaded, placement.fill))
            best_kinds[volume] = best(offers, plan.goal, plan.prices)
        return best_kinds

    def _replay_placement(self, kind: Kind, items: Sequence[Item], fill: float | None) -> PlacementResult:
        """Place volumes on a kind and run the devices."""
        layout = self.plan.placement.place(items, DeviceCapacity(kind.blocks, fill or 0.0, kind.devices))
        devices = [
            FilledDevice(kind.name, tuple(items[index].name for index in each.volumes), each.offsets)
            for each in layout.devices
        ]
        runs = self._run(devices, f"replaying {kind.name}")
        if failed_device := next((each for each in devices if each not in runs), None):
            raise TooManyFailuresError(
                f"{failed_device}: {self._reasons.get(str(failed_device), 'it cannot be replayed')}"
            )
        return PlacementResult(
            kind, fill, runs, {items[each.volume].name: each.why for each in layout.unplaced}
        )

    def _run(self, devices: Sequence[FilledDevice], caption: str) -> dict[FilledDevice, FleetRun]:
        """Run devices, each a run of a plan; without those that failed."""
        if not devices:
            return {}
        names = {device: str(device) for device in devices}
        plan = replace(
            self.plan,
            bases={name: self.plan.kinds[device.kind].experiment for device, name in names.items()},
            traces={
                name: merge_volumes([self.plan.volumes[each] for each in device.volumes], device.offsets)
                for device, name in names.items()
            },
            cases=[
                Case("devices", (), name, (), self._requests(device), name) for device, name in names.items()
            ],
        )
        runs_by_name = self._results(plan, caption)
        return {device: runs_by_name[name] for device, name in names.items() if name in runs_by_name}

    def _requests(self, device: FilledDevice) -> float:
        return float(sum(self._surveys[each].requests for each in device.volumes))

    def _results(self, plan: FleetPlan, caption: str) -> dict[str, FleetRun]:
        """Results of the runs of a plan that did not fail, by the names of their bases."""
        self.batches.append(plan)
        return {spec.base: run.row for spec, run in self._measure(plan, caption).items()}


def _items(runs: Any) -> list[Item]:
    """Volumes as a placement takes them."""
    return [Item(each.volume, each.survey.end_blocks, each.load) for each in runs]


def extend_plan(plan: Plan, measure: Measure) -> Plan:
    """Take the steps, and return the plan of all runs that ran."""
    assert isinstance(plan, FleetPlan)
    runner = StepRunner(plan, measure)
    with suppress(TooManyFailuresError):  # `conclude` raises it again
        runner.steps()
    bases: dict[str, Any] = {}
    traces: dict[str, Any] = {}
    cases: dict[str, Case] = {}
    for batch in runner.batches:
        bases |= batch.bases
        traces |= batch.traces
        cases |= {case.base: case for case in batch.cases}
    return replace(plan, bases=bases, traces=traces, cases=list(cases.values()))

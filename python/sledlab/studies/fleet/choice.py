"""Load, energy and money of each volume on each kind of device, and the kind that serves it best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sledlab.study.cost import KWH_J, YEAR_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.goal import ResponseGoal
    from sledlab.studies.fleet.kinds import Kind
    from sledlab.studies.fleet.measurement import FleetRun
    from sledlab.study.histogram import ResponseStatistics
    from sledlab.study.measure import RunFigures
    from sledlab.study.prices import Prices
    from sledlab.traces.volumes import Survey


def energy_j(run: RunFigures, span_s: float) -> float:
    """Return the energy of a device over the time of the fleet.

    A run ends with its last completion; for the remaining time of the fleet the device is idle, at the
    mean power of its idle periods in the run.
    """
    resting_s = run.idle_time_s + run.inactive_time_s
    states_s = resting_s + run.seek_time_s + run.access_time_s + run.startup_time_s
    if resting_s <= 0 or run.elapsed_s <= 0:
        return run.energy_j
    mechanisms = states_s / run.elapsed_s
    rest_w = mechanisms * (run.idle_j + run.inactive_j) / resting_s
    return run.energy_j + rest_w * max(span_s - run.elapsed_s, 0.0)


def energy_usd(joules: float, span_s: float, prices: Prices) -> float:
    """Return the cost of energy over the years of `prices`, repeating the time of the fleet."""
    if span_s <= 0:
        return 0.0
    return joules / span_s * prices.years * YEAR_S / KWH_J * prices.kwh


@dataclass(frozen=True)
class SingleVolumeRun:
    """The results of a volume alone on a device of a kind.

    Attributes:
        kind: The kind of device.
        volume: Name of the volume.
        survey: Survey of its requests.
        span_s: The time of the fleet, in s.
        result: Results of the run; None where the volume does not fit on the device.
    """

    kind: Kind
    volume: str
    survey: Survey
    span_s: float
    result: FleetRun | None

    @cached_property
    def run(self) -> RunFigures | None:
        """The row of the device."""
        return self.result.device_row if self.result else None

    @cached_property
    def times(self) -> ResponseStatistics | None:
        """The volume's response times on the device."""
        return self.result.histogram.statistics if self.result else None

    @cached_property
    def load(self) -> float:
        """The share of the fleet's time in which the volume keeps the device busy; 0 where it does not fit.

        On a group it is the share of all its devices together. For a volume that overloads the device while
        its requests arrive, it is the share of the time from its first to its last arrival, which is above 1.
        """
        if self.run is None:
            return 0.0
        busy_s = self.kind.devices * self.run.utilization * self.run.elapsed_s
        lasts_s = self.survey.last_s - self.survey.first_s if self.run.saturated else self.span_s
        return busy_s / lasts_s if lasts_s > 0 else 0.0

    @cached_property
    def energy_j(self) -> float | None:
        """Energy of the device over the time of the fleet."""
        return None if self.run is None else energy_j(self.run, self.span_s)

    def meets(self, goal: ResponseGoal | None) -> bool | None:
        """Return whether response times meet a goal; None without a goal, or if the volume does not fit."""
        if goal is None or self.times is None:
            return None
        return self.times.measure_ms(goal.measure) <= goal.limit_ms

    def usd(self, prices: Prices, fill: float | None) -> float | None:
        """Return the cost of the volume over the years: its share of a device filled to `fill`, and energy.

        Without sharing it is the complete device; None where a part has no price.
        """
        if self.kind.usd is None or self.energy_j is None:
            return None
        share = 1.0
        if fill:
            maximum = max(self.load / self.kind.devices, self.survey.end_blocks / self.kind.blocks)
            share = min(maximum / fill, 1.0)
        return share * (self.kind.usd + energy_usd(self.energy_j, self.span_s, prices))


@dataclass(frozen=True)
class Offer:
    """A kind of device as a home for a volume.

    Attributes:
        alone: Results of the volume alone on the kind.
        times: Its response times on the kind, as placed with other volumes.
        fill: Share up to which devices are filled; None where none is shared.
    """

    alone: SingleVolumeRun
    times: ResponseStatistics
    fill: float | None

    def usd(self, prices: Prices) -> float | None:
        """Return the price of the volume over the years."""
        return self.alone.usd(prices, self.fill)


def best(offers: Sequence[Offer], goal: ResponseGoal | None, prices: Prices) -> str:
    """Return the kind that serves a volume best, by name; empty where none can hold it.

    That is the cheapest of those that meet the goal; where there is no goal, or none meets it, the fastest of
    all. Where a part has no price, kinds are compared by energy instead.
    """
    if not offers:
        return ""
    meeting = [each for each in offers if goal and each.times.measure_ms(goal.measure) <= goal.limit_ms]
    if not meeting:
        measure = "p99" if goal is None else goal.measure
        return min(offers, key=lambda each: each.times.measure_ms(measure)).alone.kind.name
    costs = [each.usd(prices) for each in meeting]
    known = [cost for cost in costs if cost is not None]
    ranks = known if len(known) == len(costs) else [each.alone.energy_j or 0.0 for each in meeting]
    return min(zip(ranks, meeting, strict=True), key=lambda pair: pair[0])[1].alone.kind.name

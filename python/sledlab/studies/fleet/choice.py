"""What each volume asks of each kind of device, and which of them serves it best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sledlab.study.cost import KWH_J, YEAR_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.goal import ResponseGoal
    from sledlab.studies.fleet.kinds import Kind
    from sledlab.studies.fleet.measuring import FleetPoint
    from sledlab.study.histogram import Spread
    from sledlab.study.measure import Measured
    from sledlab.study.prices import Prices
    from sledlab.traces.volumes import Survey


def energy_j(run: Measured, span_s: float) -> float:
    """Energy of a device over the time of the fleet.

    A run ends with its last completion; what is left of the time of the fleet, the device rests, at the mean
    power of its rests in the run.
    """
    resting_s = run.idle_s + run.inactive_s
    states_s = resting_s + run.seek_s + run.access_s + run.startup_s
    if resting_s <= 0 or run.elapsed_s <= 0:
        return run.energy_j
    mechanisms = states_s / run.elapsed_s
    rest_w = mechanisms * (run.idle_j + run.inactive_j) / resting_s
    return run.energy_j + rest_w * max(span_s - run.elapsed_s, 0.0)


def energy_usd(joules: float, span_s: float, prices: Prices) -> float:
    """What energy costs over the years of the prices, where the time of the fleet goes on again and again."""
    if span_s <= 0:
        return 0.0
    return joules / span_s * prices.years * YEAR_S / KWH_J * prices.kwh


@dataclass(frozen=True)
class Alone:
    """A volume alone on a device of a kind.

    Attributes:
        kind: The kind.
        volume: Its name.
        survey: What is known of it.
        span_s: The time of the fleet.
        told: What was found; none where it does not fit.
    """

    kind: Kind
    volume: str
    survey: Survey
    span_s: float
    told: FleetPoint | None

    @cached_property
    def run(self) -> Measured | None:
        """The row of the device."""
        return self.told.measured if self.told else None

    @cached_property
    def times(self) -> Spread | None:
        """Its response times."""
        return self.told.histogram.spread if self.told else None

    @cached_property
    def load(self) -> float:
        """The share of the time of the fleet in which it keeps the device busy; 0 where it does not fit.

        Of a group it is that of its devices together. Of a volume that is too much for the device while it
        lasts, it is the share of the time between its first and its last arrival, which is above 1.
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
        """Whether its response times keep to a goal; nothing without one, or where it does not fit."""
        if goal is None or self.times is None:
            return None
        return self.times.measure_ms(goal.measure) <= goal.limit_ms

    def usd(self, prices: Prices, fill: float | None) -> float | None:
        """Money for it over the years: its share of a device that is filled so far, and of the energy.

        That is the whole device where none is shared; nothing is known where something has no price.
        """
        if self.kind.usd is None or self.energy_j is None:
            return None
        share = 1.0
        if fill:
            most = max(self.load / self.kind.devices, self.survey.end_blocks / self.kind.blocks)
            share = min(most / fill, 1.0)
        return share * (self.kind.usd + energy_usd(self.energy_j, self.span_s, prices))


@dataclass(frozen=True)
class Offer:
    """A kind of device for a volume.

    Attributes:
        alone: The volume alone on it.
        times: Its response times there as it is placed.
        fill: Up to which share devices are filled; none where none are shared.
    """

    alone: Alone
    times: Spread
    fill: float | None

    def usd(self, prices: Prices) -> float | None:
        """Money for the volume over the years."""
        return self.alone.usd(prices, self.fill)


def best(offers: Sequence[Offer], goal: ResponseGoal | None, prices: Prices) -> str:
    """The kind that serves a volume best, by name; nothing where none can hold it.

    Of those that keep to the goal the cheapest, of all where there is none or none keeps to it the fastest.
    Where something has no price, energy takes its place.
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

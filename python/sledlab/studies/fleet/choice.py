"""Load, energy and money of each volume on each kind of device, and the kind that serves it best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sledlab.show.ranking import Ranking
from sledlab.studies.costs.cost import energy_usd
from sledlab.studies.fleet.power import power_w

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.costs.goal import ResponseGoal
    from sledlab.studies.costs.prices import Prices
    from sledlab.studies.fleet.histogram import ResponseStatistics
    from sledlab.studies.fleet.kinds import Kind
    from sledlab.studies.fleet.measurement import FleetRun
    from sledlab.study.measure import RunFigures
    from sledlab.traces.volumes import Survey


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
        """The time that the volume keeps the device busy over the time of the fleet; 0 where it does not fit.

        The time is that of the busiest of several sleds, or of the busier device of a hybrid; on a group, it
        is that of the busiest device times their number. For a volume that overloads the device while its
        requests arrive, the load is over the time from the first to the last arrival, and above 1. If all
        operations of the fleet arrive at time 0, it is over the time until the last completion.
        """
        if self.run is None or self.result is None:
            return 0.0
        busy_s = self.kind.devices * self.result.imbalance * self.run.utilization * self.run.elapsed_s
        arrivals_s = self.survey.last_s - self.survey.first_s if self.run.saturated else 0.0
        interval_s = arrivals_s or self.span_s or self.run.elapsed_s
        return busy_s / interval_s if interval_s > 0 else 0.0

    @cached_property
    def is_overloaded(self) -> bool:
        """Whether the queue kept growing, so that response times depend on the length of the run."""
        return self.run is not None and self.run.saturated

    @cached_property
    def power_w(self) -> float | None:
        """Mean power of the device, in W; see `power_w` in `power`."""
        return None if self.run is None else power_w(self.run, self.kind, self.span_s)

    @cached_property
    def energy_j(self) -> float | None:
        """Energy of the device over the time of the fleet, at its mean power."""
        return None if self.power_w is None else self.power_w * self.span_s

    def meets(self, goal: ResponseGoal | None) -> bool | None:
        """Return whether response times meet a goal; None without a goal, or if the volume does not fit."""
        if goal is None or self.times is None:
            return None
        return self.times.measure_ms(goal.measure) <= goal.limit_ms

    def usd(self, prices: Prices, fill: float | None) -> float | None:
        """Return the cost of the volume over the years: its share of a device filled to `fill`, and energy.

        Without sharing it is the complete device; None where a part has no price.
        """
        if self.kind.usd is None or self.power_w is None:
            return None
        share = 1.0
        if fill:
            largest_share = max(self.load / self.kind.devices, self.survey.end_blocks / self.kind.blocks)
            share = min(largest_share / fill, 1.0)
        return share * (self.kind.usd + energy_usd(self.power_w, prices))


@dataclass(frozen=True)
class Offer:
    """A kind of device as a home for a volume.

    Attributes:
        alone: Results of the volume alone on the kind.
        times: Its response times on the kind, as placed with other volumes.
        is_overloaded: Whether the queue of the device kept growing, as placed with other volumes.
        fill: Share up to which devices are filled; None where none is shared.
    """

    alone: SingleVolumeRun
    times: ResponseStatistics
    is_overloaded: bool
    fill: float | None

    def usd(self, prices: Prices) -> float | None:
        """Return the price of the volume over the years."""
        return self.alone.usd(prices, self.fill)


def best(offers: Sequence[Offer], goal: ResponseGoal | None, prices: Prices) -> str:
    """Return the kind that serves a volume best, by name; empty where none can hold it.

    That is the cheapest of those that meet the goal; where there is no goal, or none meets it, the fastest of
    all: an overloaded one only if all are. Where a part has no price, kinds are compared by energy instead.
    """
    if not offers:
        return ""
    meeting_offers = [
        each for each in offers if goal and each.times.measure_ms(goal.measure) <= goal.limit_ms
    ]
    if not meeting_offers:
        measure = "p99" if goal is None else goal.measure
        fastest = Ranking.of(
            offers, lambda each: each.times.measure_ms(measure), lambda each: each.is_overloaded
        )
        return fastest.first.alone.kind.name
    is_priced = all(each.usd(prices) is not None for each in meeting_offers)
    cheapest = Ranking.of(meeting_offers, lambda each: each.usd(prices) if is_priced else each.alone.energy_j)
    return cheapest.first.alone.kind.name

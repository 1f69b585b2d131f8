"""The system to choose for a goal: the cheapest that meets it, and what would change the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.show.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.studies.costs.goal import ResponseGoal
    from sledlab.studies.side_by_side.rows import DeviceMean, SystemPart
    from sledlab.study.statistics import SeedMeans

MONTHS = 12


@dataclass(frozen=True)
class EqualCostPrice:
    """The price of a part at which another system becomes as cheap as the chosen one.

    Attributes:
        device: The other system.
        part: Name of the part.
        by_capacity: Whether the price is for 10^9 bytes, not for a device.
        price: The price now, in USD.
        limit: The price at which both cost the same, in USD.
    """

    device: str
    part: str
    by_capacity: bool
    price: float
    limit: float

    @property
    def ratio(self) -> float:
        """How many times higher or lower the price would be."""
        return max(self.limit / self.price, self.price / self.limit)


def value_ms(run: SeedMeans, goal: ResponseGoal) -> float:
    """Return the statistic of response times that a goal limits."""
    return float(getattr(run, f"{goal.measure}_ms"))


def rank(rows: Sequence[DeviceMean], goal: ResponseGoal | None) -> list[DeviceMean]:
    """Return systems at one load: those that meet the goal by cost, then the others by their response times.

    Without a goal they stay in their order. Where one has no price, power is compared instead of cost.
    """
    if goal is None:
        return list(rows)
    is_priced = all(row.cost.month_usd is not None for row in rows)
    meeting = Ranking.of(
        (row for row in rows if row.meets),
        lambda row: row.cost.month_usd if is_priced else row.cost.power_w,
    )
    others = Ranking.of(
        (row for row in rows if not row.meets),
        lambda row: value_ms(row.run, goal),
        lambda row: row.run.saturated,
    )
    return [*meeting.rows, *others.rows]


def break_even(
    chosen: DeviceMean, others: Sequence[DeviceMean], parts: Mapping[str, Sequence[SystemPart]], years: float
) -> EqualCostPrice | None:
    """Return the smallest change of one price that makes another system as cheap as the chosen one.

    Args:
        chosen: The cheapest system.
        others: The systems that could take its place.
        parts: The parts of each system, by its name.
        years: Time over which prices are written off.
    """
    return min(
        (each for other in others for each in _break_evens(chosen, other, parts, years)),
        key=lambda each: each.ratio,
        default=None,
    )


def _break_evens(
    chosen: DeviceMean, other: DeviceMean, parts: Mapping[str, Sequence[SystemPart]], years: float
) -> Iterator[EqualCostPrice]:
    """Yield the price of each part at which two systems cost the same."""
    if chosen.cost.month_usd is None or other.cost.month_usd is None:
        return
    lead_usd = MONTHS * years * (other.cost.month_usd - chosen.cost.month_usd)
    surplus: dict[str, float] = {}
    known = {}
    for sign, row in ((1, chosen), (-1, other)):
        for part in parts[row.who.name]:
            surplus[part.part] = surplus.get(part.part, 0.0) + sign * part.quantity
            known[part.part] = part
    for name, quantity in surplus.items():
        part = known[name]
        if quantity == 0 or part.price_usd == 0:
            continue
        limit = part.price_usd + lead_usd / quantity
        if limit > 0:
            yield EqualCostPrice(other.who.name, name, part.by_capacity, part.price_usd, limit)

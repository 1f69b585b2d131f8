"""The fleet to buy for a goal: one kind of device, or the mix where it is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.ranking import Ranking
from sledlab.studies.fleet.rows import MIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.fleet.rows import FleetRow


def recommend(fleets: Sequence[FleetRow]) -> FleetRow:
    """Return the fleet to buy for a goal.

    Of fleets of one kind that meet the goal, the cheapest. If none meets the goal, the nearest: of the
    fleets with room for the most volumes, the one with the most volumes within the goal, of these the
    cheapest. The mix replaces the chosen fleet only if it is worse in nothing (the goal, volumes that have a
    device, volumes within the goal, cost) and better in something.

    Args:
        fleets: A row for each kind of device, and for the mix if there is one. All rows have a goal.
    """
    singles = [row for row in fleets if row.fleet != MIX]
    single = Ranking.of(singles, lambda row: _rank(row, singles)).first
    mix = next((row for row in fleets if row.fleet == MIX), None)
    return mix if mix is not None and _is_better(mix, single) else single


def cost(row: FleetRow, fleets: Sequence[FleetRow]) -> float:
    """Return the cost by which fleets are compared, in USD: energy alone where a fleet has no price."""
    is_priced = all(each.total_usd is not None for each in fleets)
    return (row.total_usd or 0.0) if is_priced else row.energy_usd


def _rank(row: FleetRow, fleets: Sequence[FleetRow]) -> tuple[float, ...]:
    """Sorting key of fleets of one kind, the best first."""
    met_rank, usd = -(row.volumes_meet or 0), cost(row, fleets)
    return (0, usd, met_rank) if row.meets else (1, row.left, met_rank, usd)


def _is_better(mix: FleetRow, single: FleetRow) -> bool:
    """Return whether the mix is worse than a fleet in nothing, and better in something."""

    def merits(row: FleetRow) -> tuple[float, ...]:
        return (
            float(bool(row.meets)),
            -float(row.left),
            float(row.volumes_meet or 0),
            -cost(row, (mix, single)),
        )

    pairs = list(zip(merits(mix), merits(single), strict=True))
    return all(mix_merit >= single_merit for mix_merit, single_merit in pairs) and any(
        mix_merit > single_merit for mix_merit, single_merit in pairs
    )

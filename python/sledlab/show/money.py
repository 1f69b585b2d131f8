"""What clusters and jobs cost, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.wording import money

if TYPE_CHECKING:
    from collections.abc import Mapping

MANY = 1000
"""Money is said for so many jobs, for one costs little."""

COLUMN = f"per {MANY:,}"
"""The column of what many jobs cost."""

NOTE = f"$: the price of the cluster, and what {MANY:,} such jobs cost: their share of it, and energy."


def of_many(job_usd: float | None, digits: int = 3) -> str:
    """What many jobs cost, by what one does in USD."""
    return money(None if job_usd is None else MANY * job_usd, digits)


def assumed(used: Mapping[str, Any]) -> str:
    """The prices that are behind it, by those of `Prices.used`."""
    of = {"node": " a node", "device": "", "device_gb": " a GB", "network": " a port"}
    named = [f"{name} {money(usd)}{what}" for table, what in of.items() for name, usd in used[table].items()]
    return (
        f"Prices: {', '.join(named)}; {money(used['kwh'])} a kWh; written off over {used['years']:g} years "
        "of use without a break. Most are assumptions: say your own."
    )

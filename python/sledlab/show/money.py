"""Amounts of money, prices of clusters and costs of jobs as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.wording import figure

if TYPE_CHECKING:
    from collections.abc import Mapping

JOB_COUNT = 1000
"""Number of jobs whose cost is shown, as one job costs little."""

COLUMN = f"per {JOB_COUNT:,}"
"""Name of the column with the cost of `JOB_COUNT` jobs."""

NOTE = (
    f"Per {JOB_COUNT:,}: the cost of {JOB_COUNT:,} such jobs, their share of the price of the cluster and "
    "energy."
)


def money(usd: float | None, digits: int = 3) -> str:
    """Return an amount of money in USD, with at least `digits` significant digits; a dash for `None`.

    Examples:
        >>> money(11686.0), money(0.3068), money(None)
        ('$11,686', '$0.307', '–')
    """
    return "–" if usd is None else f"${figure(usd, digits)}"


def jobs_cost(job_usd: float | None, digits: int = 3) -> str:
    """The cost of `JOB_COUNT` jobs, given the cost of one in USD."""
    return money(None if job_usd is None else JOB_COUNT * job_usd, digits)


def price_assumptions(prices: Mapping[str, Any]) -> str:
    """A sentence with the assumed prices, as `Prices.used` gives them."""
    units_by_table = {"node": " a node", "device": "", "device_gb": " a GB", "network": " a port"}
    texts = [
        f"{name} {money(usd)}{unit}"
        for table, unit in units_by_table.items()
        for name, usd in prices[table].items()
    ]
    return (
        f"Prices: {', '.join(texts)}; {money(prices['kwh'])} a kWh; depreciated over "
        f"{prices['years']:g} years of continuous use. Most are assumptions: set your own with --price."
    )

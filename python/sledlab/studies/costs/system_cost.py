"""Power, cost and lifetime of a system that serves requests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sledlab.studies.costs.cost import (
    BLOCK_BYTES,
    YEAR_S,
    energy_usd,
    is_hybrid,
    month_usd,
    part_name,
    used_gigabytes,
)
from sledlab.study.columns import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.studies.costs.cost import PricedPart
    from sledlab.studies.costs.prices import Prices
    from sledlab.study.measure import RunFigures

SPREADING = ("single", "concatenation", "stripe")
"""Arrays that write a block once."""


@dataclass(frozen=True)
class SystemCost:
    """Power, cost and lifetime of a system under a load."""

    power_w: Annotated[float, Column("mean power of the devices over the run", "W")]
    devices_usd: Annotated[
        float | None, Column("price of the devices; of a front device by GB, the part that is used", "USD")
    ] = None
    whole_usd: Annotated[
        float | None, Column("price of the devices if the front device is bought as a whole", "USD")
    ] = None
    energy_usd: Annotated[float | None, Column("energy over the years, at the mean power", "USD")] = None
    month_usd: Annotated[
        float | None, Column("a month: price of the devices over the years, and energy", "USD")
    ] = None
    lifetime_years: Annotated[
        float | None, Column("until the first device wears out under this load; none without wear", "years")
    ] = None


def system_cost(
    config: Mapping[str, Any], run: RunFigures, parts: Sequence[PricedPart] | None, prices: Prices
) -> SystemCost:
    """Return power, cost and lifetime of a system.

    Args:
        config: The experiment, complete, as plain data.
        run: The results of the run, or their means.
        parts: The parts of the system with their prices; `None` where a part has no price.
        prices: The prices of all parts.
    """
    watts = run.energy_j / run.elapsed_s if run.elapsed_s > 0 else 0.0
    lifetimes = list(_lifetimes_years(config, run, prices))
    lifetime_years = min(lifetimes, default=None)
    if parts is None:
        return SystemCost(watts, lifetime_years=lifetime_years)
    usd = sum(part.usd for part in parts)
    return SystemCost(
        watts,
        usd,
        sum(part.whole * part.price for part in parts),
        energy_usd(watts, prices),
        month_usd(usd, watts, prices),
        lifetime_years,
    )


def _lifetimes_years(config: Mapping[str, Any], run: RunFigures, prices: Prices) -> Iterator[float]:
    """Yield the time until each device that wears, or the part that is used, is written too often."""
    if config["system"]["kind"] not in SPREADING or run.elapsed_s <= 0:
        return
    prefixes = {"device": "hybrid_back", "front": "hybrid_front"} if is_hybrid(config) else {"device": ""}
    for table, prefix in prefixes.items():
        endurance = prices.endurance.get(part_name(config[table]))
        written_bytes = accesses(run, prefix)[3]
        if endurance is not None and written_bytes > 0:
            used, _ = used_gigabytes(config, table)
            yield endurance * used * 1e9 / (written_bytes / run.elapsed_s) / YEAR_S


def accesses(run: RunFigures, prefix: str) -> tuple[float, ...]:
    """Return reads, their bytes, writes and their bytes of a device of a system.

    Args:
        run: The results of the run, or their means.
        prefix: `hybrid_front` or `hybrid_back`; empty for a device alone, or behind a cache.
    """
    counts = run.counts
    if prefix:
        reads, writes = counts[f"{prefix}_reads"], counts[f"{prefix}_writes"]
        read_blocks, written_blocks = counts[f"{prefix}_read_blocks"], counts[f"{prefix}_written_blocks"]
    elif "cache_destages" in counts:
        reads, writes = counts["cache_fetches"], counts["cache_destages"]
        read_blocks, written_blocks = counts["cache_fetched_blocks"], counts["cache_destaged_blocks"]
    else:
        return run.reads, run.read_bytes, run.writes, run.written_bytes
    return reads, read_blocks * BLOCK_BYTES, writes, written_blocks * BLOCK_BYTES

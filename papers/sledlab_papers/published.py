"""Numbers on devices that the papers print, compared with sledlab's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .simulator import parameters, random_pairs

PAIRS = 100_000
"""Number of random pairs of places."""

GENERATIONS = ("mems-g1", "mems-g2", "mems-g3")

MIN_X_DOMINANCE = 0.75
"""Least share of moves in which x takes longer: our number for *dominant* (Lee 2009, section 2.1)."""


@dataclass(frozen=True)
class Quantity:
    """A published number and ours.

    `band` is the relative deviation allowed; without one, ours has to round to the printed number.
    """

    name: str
    unit: str
    published: float
    ours: float
    digits: int
    band: float | None = None

    @property
    def deviation(self) -> float:
        """Relative deviation from the published number."""
        return self.ours / self.published - 1

    @property
    def holds(self) -> bool:
        """Whether the deviation is allowed."""
        if self.band is not None:
            return abs(self.deviation) < self.band
        return f"{self.ours:.{self.digits}f}" == f"{self.published:.{self.digits}f}"


def quantities() -> tuple[Quantity, ...]:
    """Quantities of Chiu 2004, Table 1, and Hong 2006, Table I; both spring conventions, as none is named.

    The capacity is that of Hong 2006 and Wang 2005. Chiu 2004 prints 4.00 GB for the same sled: all its bits.
    """
    compared_quantities = []
    for convention in ("edge", "travel"):
        positioning_ms = random_pairs("mems-g2", PAIRS, spring_convention=convention).summary[
            "positioning_time_ms"
        ]
        condition = f"G2, spring factor at the {convention}"
        compared_quantities += [
            Quantity(f"mean random seek ({condition})", "ms", 0.55, positioning_ms["mean"], 3, 0.06),
            Quantity(f"longest seek ({condition})", "ms", 0.81, positioning_ms["max"], 3, 0.06),
        ]
    capacity_gib = parameters("mems-g2")["capacity_blocks"] * 512 / 2**30
    compared_quantities.append(Quantity("capacity (G2)", "GiB", 3.2, capacity_gib, 1))
    published_rows = zip(GENERATIONS, (0.431, 0.215, 0.144), (25.6, 89.6, 320.0), strict=True)
    for device, settle_ms, peak_mb_s in published_rows:
        generation = device[-2:].upper()
        compared_quantities.append(
            Quantity(f"settling ({generation})", "ms", settle_ms, _settle_ms(device), 3)
        )
        compared_quantities.append(
            Quantity(f"peak rate ({generation})", "MB/s", peak_mb_s, _peak_mb_s(device), 1)
        )
    return tuple(compared_quantities)


def _settle_ms(device: str) -> float:
    return float(random_pairs(device, PAIRS).requests["settle_ns"].to_numpy().max()) / 1e6


def _peak_mb_s(device: str) -> float:
    """Rate of all active tips during the data bits of a simulated pass; without servo bits, as published."""
    p = parameters(device)
    row_s = float(np.median(random_pairs(device, PAIRS).requests["transfer_ns"].to_numpy())) / 1e9
    data_s = row_s * p["tip_sector_bits"] / (p["tip_sector_bits"] + p["servo_bits"])
    return float(p["active_tips"] / p["tips_per_block"] * 512 / data_s / 1e6)


def x_dominance_share(device: str, *, has_settling: bool = True) -> float:
    """Share of random pairs for which x takes at least as long as y with turnarounds (L-02)."""
    requests = random_pairs(device, PAIRS).requests
    x_ns = requests["seek_x_ns"] + (requests["settle_ns"] if has_settling else 0)
    y_ns = requests["seek_y_ns"] + requests["turnaround_ns"]
    return float((x_ns >= y_ns).to_numpy().mean())

"""Numbers that papers and the reference simulator's documentation print, compared with sledlab's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..markdown import table
from ..simulator import parameters, random_pairs
from ..words import cells, percent
from .agreement import agreement
from .section import ValidationSection

PAIRS = 100_000
"""Number of random pairs of places."""

GENERATIONS = ("mems-g1", "mems-g2", "mems-g3")

X_DOMINATES = 0.75
"""Least share of moves in which x takes longer (paper 002, section 2.1, as a number)."""

CHECK_BAND = 0.01


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
    def off(self) -> float:
        """Relative deviation from the published number."""
        return self.ours / self.published - 1

    @property
    def holds(self) -> bool:
        """Whether the deviation is allowed."""
        if self.band is not None:
            return abs(self.off) < self.band
        return f"{self.ours:.{self.digits}f}" == f"{self.published:.{self.digits}f}"


def quantities() -> tuple[Quantity, ...]:
    """Quantities of paper 004, Table 1, and paper 000, Table I; both spring conventions, as none is named.

    The capacity is that of papers 000 and 001. Paper 004 prints 4.00 GB for the same sled: all its bits.
    """
    found = []
    for convention in ("edge", "travel"):
        times = random_pairs("mems-g2", PAIRS, spring_convention=convention).summary["positioning_time_ms"]
        where = f"G2, spring factor at the {convention}"
        found += [
            Quantity(f"mean random seek ({where})", "ms", 0.55, times["mean"], 3, 0.06),
            Quantity(f"longest seek ({where})", "ms", 0.81, times["max"], 3, 0.06),
        ]
    gib = parameters("mems-g2")["capacity_blocks"] * 512 / 2**30
    found.append(Quantity("capacity (G2)", "GiB", 3.2, gib, 1))
    printed = zip(GENERATIONS, (0.431, 0.215, 0.144), (25.6, 89.6, 320.0), strict=True)
    for device, settle_ms, peak_mb_s in printed:
        short = device[-2:].upper()
        found.append(Quantity(f"settling ({short})", "ms", settle_ms, _settle_ms(device), 3))
        found.append(Quantity(f"peak rate ({short})", "MB/s", peak_mb_s, _peak_mb_s(device), 1))
    return tuple(found)


def _settle_ms(device: str) -> float:
    return float(random_pairs(device, PAIRS).requests["settle_ns"].to_numpy().max()) / 1e6


def _peak_mb_s(device: str) -> float:
    """Rate of all active tips during the data bits of a simulated pass; servo bits left out, as printed."""
    p = parameters(device)
    row_s = float(np.median(random_pairs(device, PAIRS).requests["transfer_ns"].to_numpy())) / 1e9
    data_s = row_s * p["tip_sector_bits"] / (p["tip_sector_bits"] + p["servo_bits"])
    return float(p["active_tips"] / p["tips_per_block"] * 512 / data_s / 1e6)


def x_dominates(device: str) -> float:
    """Share of random pairs for which x with settling takes at least as long as y with turnarounds (L-02)."""
    rows = random_pairs(device, PAIRS).requests
    x = rows["seek_x_ns"] + rows["settle_ns"]
    y = rows["seek_y_ns"] + rows["turnaround_ns"]
    return float((x >= y).to_numpy().mean())


@dataclass(frozen=True)
class PublishedNumbers:
    """The printed numbers, and by device the share of moves in which x takes longer than y."""

    quantities: tuple[Quantity, ...]
    x_dominates: dict[str, float]


def _numbers() -> PublishedNumbers:
    return PublishedNumbers(
        quantities(), {device[-2:].upper(): x_dominates(device) for device in GENERATIONS}
    )


def _numbers_words(found: PublishedNumbers) -> dict[str, object]:
    rows = [
        [
            q.name,
            f"{q.published:.{q.digits if q.band is None else 2}f} {q.unit}",
            f"{q.ours:.{q.digits}f} {q.unit}",
            percent(q.off),
            "as printed" if q.band is None else f"{100 * q.band:g}",
        ]
        for q in found.quantities
    ]
    shares = [[d, f"{100 * x:.1f}", f"> {100 * X_DOMINATES:g}"] for d, x in found.x_dominates.items()]
    return {
        "pairs": f"{PAIRS:,}",
        "quantities": table(["quantity", "published", "sledlab", "off by, %", "band, %"], rows),
        "x_dominates": table(["device", "x dominates, % of moves", "band"], shares),
    }


NUMBERS = ValidationSection("published", PublishedNumbers, _numbers, _numbers_words)


@dataclass(frozen=True)
class CheckValue:
    """Mean response of the reference simulator's validation workload, as published, and ours."""

    device: str
    springs: bool
    published_ms: float
    ours_ms: float

    @property
    def off(self) -> float:
        """Relative deviation from the published number."""
        return self.ours_ms / self.published_ms - 1


PUBLISHED_MS = {
    (device, springs): ms
    for springs, values in ((True, (2.01, 1.16, 0.85)), (False, (2.00, 1.18, 0.87)))
    for device, ms in zip(("G1", "G2", "G3"), values, strict=True)
}
"""Published mean responses by device, with and without springs."""


def check_value(device: str, *, springs: bool) -> CheckValue:
    """The check value of a device, replayed through its `-disksim` profile."""
    found = agreement(f"memsvalid_{device}_k{'75' if springs else '00'}")
    return CheckValue(device, springs, PUBLISHED_MS[device, springs], found.mean_ms)


def _checks() -> tuple[CheckValue, ...]:
    return tuple(check_value(device, springs=springs) for device, springs in PUBLISHED_MS)


def _checks_words(found: tuple[CheckValue, ...]) -> dict[str, object]:
    rows = [
        [
            c.device,
            "with" if c.springs else "without",
            *cells("{0.published_ms:.2f} | {0.ours_ms:.4f} | {0.off:+%2}", c),
        ]
        for c in found
    ]
    head = "device | springs | published, ms | sledlab, ms | off by, %"
    return {"band": f"{100 * CHECK_BAND:g}", "values": table(head, rows, words=2)}


CHECKS = ValidationSection("check_values", tuple[CheckValue, ...], _checks, _checks_words)

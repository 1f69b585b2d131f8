"""Claims that follow from parameters (Hong 2006, sections 1 and 2; table I)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..claims import Judgment, judge_criterion, judge_printed
from ..hybrid.parameters import average_seek_ms
from ..power.singles import idle_mw
from ..printed import PrintedNumber
from ..published import Quantity, quantities
from ..simulator import parameters
from ..wording import format_rows

GENERATIONS = ("mems-g1", "mems-g2", "mems-g3")
DISKS = ("atlas-10k", "mobile-disk")
"""Disks compared with: one of a server and one of a laptop; their powers are assumptions."""

TENS = "10 to 99 mW/GB"
CAPACITY_GIB = 3.2
STANDARD_GRAVITY = 9.8
"""In m/s2, with the precision of the paper's table."""


def _g2_parameters() -> Mapping[str, Any]:
    return parameters("mems-g2")


def _capacity_gib(device: str) -> float:
    return float(parameters(device)["capacity_blocks"]) * 512 / 2**30


def _published_quantity(name: str) -> Quantity:
    return next(quantity for quantity in quantities() if quantity.name.startswith(name))


def h_01(_: Path) -> Judgment:
    """Seeks and power compared with those of disks; sledlab's models have no density of a disk."""
    disk_ms, sled_ms = average_seek_ms("atlas-10k"), _published_quantity("mean random seek").ours
    p = _g2_parameters()
    active_mw = p["sled_mw"] + p["active_tips"] * p["tip_mw"]
    power_ratios = {
        name: (parameters(name)["active_mw"] / active_mw, parameters(name)["idle_mw"] / idle_mw("mems-g2"))
        for name in DISKS
    }
    uses_less_power = all(min(ratios) > 1 for ratios in power_ratios.values())
    judgment = judge_criterion(holds=False, direction_holds=8 <= disk_ms / sled_ms <= 15 and uses_less_power)
    return judgment.with_values([disk_ms / sled_ms]).with_numbers(
        disk_ms=disk_ms,
        sled_ms=sled_ms,
        times=disk_ms / sled_ms,
        details=format_rows("`{0}` {1[0]:.1f} and {1[1]:.1f} times", power_ratios.items()),
    )


def h_02(_: Path) -> Judgment:
    """Capacities of the three generations."""
    capacities = {name: _capacity_gib(name) for name in GENERATIONS}
    details = ", ".join(f"{name[-2:].upper()} {gib:.2f} GiB" for name, gib in capacities.items())
    return judge_criterion(all(2 <= gib <= 10 for gib in capacities.values())).with_numbers(details=details)


def h_05(_: Path) -> Judgment:
    """Power over capacity, parked and idle."""
    capacity_gb = _capacity_gib("mems-g2") * 2**30 / 1e9
    mw_per_gb = [mw / capacity_gb for mw in (_g2_parameters()["inactive_mw"], idle_mw("mems-g2"))]
    are_tens = [PrintedNumber(TENS).is_met([mw]) for mw in mw_per_gb]
    return judge_printed(mw_per_gb, direction_holds=any(are_tens)).with_numbers(
        measured=mw_per_gb, gb=capacity_gb
    )


def h_06(_: Path) -> Judgment:
    """Tips, and how many of them are active."""
    tip_counts = [
        (parameters(name)["usable_tips"], parameters(name)["active_tips"]) for name in GENERATIONS[1:]
    ]
    return judge_criterion(tip_counts == [(6400, 1280), (6400, 3200)]).with_numbers(measured=tip_counts)


def h_07(_: Path) -> Judgment:
    """Bits under a tip."""
    p = _g2_parameters()
    bits = [1e3 * p[travel] / p["bit_nm"] for travel in ("travel_x_um", "travel_y_um")]
    return judge_criterion(bits == [2500, 2500]).with_numbers(p=p, bits=bits)


def h_08(_: Path) -> Judgment:
    """Capacity of the layout."""
    p, gib = _g2_parameters(), _capacity_gib("mems-g2")
    rows = int(
        (1e3 * p["travel_y_um"] / p["bit_nm"] - p["servo_bits"]) // (p["tip_sector_bits"] + p["servo_bits"])
    )
    columns, groups = round(1e3 * p["travel_x_um"] / p["bit_nm"]), p["usable_tips"] // p["tips_per_block"]
    is_exact = rows * columns * groups == p["capacity_blocks"]
    return judge_criterion(is_exact and abs(gib / CAPACITY_GIB - 1) <= 0.02).with_numbers(
        rows=rows, columns=columns, groups=groups, p=p, gib=gib, off=gib / CAPACITY_GIB - 1
    )


def h_09(_: Path) -> Judgment:
    """All active tips transfer at once in a pass."""
    p, rate = _g2_parameters(), _published_quantity("peak rate (G2)")
    data_share = p["tip_sector_bits"] / (p["tip_sector_bits"] + p["servo_bits"])
    return judge_criterion(rate.holds).with_numbers(rate=rate, streamed=rate.ours * data_share)


def h_10(_: Path) -> Judgment:
    """Settling of a move."""
    settling = _published_quantity("settling (G2)")
    return judge_criterion(abs(settling.deviation) <= 0.01).with_numbers(
        settling=settling, p=_g2_parameters()
    )


def h_11(_: Path) -> Judgment:
    """Speed of the medium under a tip."""
    p = _g2_parameters()
    mm_s = p["tip_rate_kbit_s"] * p["bit_nm"] * 1e-3
    return judge_criterion(abs(mm_s - 28) < 1e-9).with_numbers(p=p, mm_s=mm_s)


def h_12(_: Path) -> Judgment:
    """Acceleration, spring and travel."""
    p = _g2_parameters()
    accelerations = [p[f"acceleration_{axis}_m_s2"] for axis in "xy"]
    constants = (*accelerations, p["spring_factor"], p["travel_x_um"], p["travel_y_um"])
    g = accelerations[0] / STANDARD_GRAVITY
    return judge_criterion(constants == (803.6, 803.6, 0.75, 100, 100)).with_numbers(p=p, g=g)

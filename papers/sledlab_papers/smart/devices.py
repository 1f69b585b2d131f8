"""Claims on devices, platform and data, which follow from parameters (sections 2, 3, 5; tables 1 and 2)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed
from ..simulator import parameters, random_pairs
from .plan import SmartRuns
from .published_times import DISK

GENERATIONS = ("mems-g1", "mems-g2", "mems-g3")
STANDARD_GRAVITY = 9.80665


def c_01(_: SmartRuns) -> Judgment:
    """Table 1 as printed."""
    generations = [parameters(name) for name in GENERATIONS]
    keys = ("bit_nm", "tip_rate_kbit_s", "usable_tips", "active_tips", "sleds", "direction")
    rows = [tuple(p[key] for key in keys) for p in generations]
    g = [p["acceleration_x_m_s2"] / STANDARD_GRAVITY for p in generations]
    published_rows = [
        (50, 400, 6400, 640, 1, "up"),
        (40, 700, 6400, 1280, 1, "free"),
        (30, 1000, 6400, 3200, 1, "free"),
    ]
    are_near = all(
        abs(ours / published - 1) < 0.005 for ours, published in zip(g, (70, 82, 105), strict=True)
    )
    return judge_criterion(rows == published_rows and are_near).with_numbers(
        g=", ".join(f"{each:.1f}" for each in g),
        m_s2=", ".join(f"{p['acceleration_x_m_s2']:g}" for p in generations),
        directions=", ".join(p["direction"] for p in generations),
    )


def c_02(_: SmartRuns) -> Judgment:
    """Time constants of settling, derived from the resonance."""
    settle_ms = [1e3 * p["settle_constants"] / (6.283185307 * p["resonant_hz"]) for p in _generations()]
    is_exact = all(
        abs(ours / each - 1) < 0.01 for ours, each in zip(settle_ms, (0.431, 0.215, 0.144), strict=True)
    )
    return judge_criterion(is_exact).with_numbers(measured=", ".join(f"{each:.3f}" for each in settle_ms))


def _generations() -> list[dict[str, float]]:
    return [parameters(name) for name in GENERATIONS]


def c_03(_: SmartRuns) -> Judgment:
    """Ten bits for a byte."""
    rates_mb_s = [p["active_tips"] * p["tip_rate_kbit_s"] / 10 / 1e3 for p in _generations()]
    is_exact = all(
        abs(ours - each) < 0.05 for ours, each in zip(rates_mb_s, (25.6, 89.6, 320.0), strict=True)
    )
    return judge_criterion(is_exact).with_numbers(measured=", ".join(f"{each:.1f}" for each in rates_mb_s))


def _raw_gb() -> list[float]:
    return [(p["travel_x_um"] * 1e3 / p["bit_nm"]) ** 2 * p["usable_tips"] / 10 / 1e9 for p in _generations()]


def _usable_gb() -> list[float]:
    return [p["capacity_blocks"] * 512 / 1e9 for p in _generations()]


def c_04(_: SmartRuns) -> Judgment:
    """Raw capacity, compared with the capacity of the layout."""
    raw_gb = _raw_gb()
    is_exact = all(abs(ours - each) < 0.006 for ours, each in zip(raw_gb, (2.56, 4.00, 7.11), strict=True))
    return judge_criterion(is_exact).with_numbers(
        measured=", ".join(f"{each:.2f}" for each in raw_gb),
        usable=", ".join(f"{each:.2f}" for each in _usable_gb()),
    )


def c_05(_: SmartRuns) -> Judgment:
    """Capacity and tips of G1, compared with the preset of the other device."""
    g1, other = parameters("mems-g1"), parameters("mems-2000")
    raw_gb, usable_gib = _raw_gb()[0], other["capacity_blocks"] * 512 / 2**30
    tips = g1["active_tips"], other["active_tips"]
    return judge_criterion(round(raw_gb, 2) == 2.56 and tips == (640, 1280)).with_numbers(
        raw=raw_gb, usable=usable_gib, tips=tips
    )


def c_06(_: SmartRuns) -> Judgment:
    """G2 is the device of the other paper."""
    p = parameters("mems-g2")
    bits = p["travel_x_um"] * 1e3 / p["bit_nm"]
    is_exact = (bits, p["usable_tips"], p["active_tips"]) == (2500, 80 * 80, 1280)
    return judge_criterion(is_exact).with_numbers(bits=bits, tips=p["usable_tips"], active=p["active_tips"])


def c_07(_: SmartRuns) -> Judgment:
    """Table 2; the seek is measured on reads at random places."""
    p = parameters(DISK)
    result = random_pairs(DISK, 20_000)
    requests = result.requests
    assert requests is not None
    seek_ms = float(requests["seek_x_ns"].mean()) / 1e6  # type: ignore[arg-type]
    last_zone = p["zones"][-1]
    cylinders, mb_s = last_zone["first_cylinder"] + last_zone["cylinders"], 512 / p["bus_sector_us"]
    is_as_printed = (round(p["rpm"], -2), p["heads"], cylinders, round(mb_s, 3)) == (6400, 18, 2630, 10)
    write_seek_ms = seek_ms + p["write_settle_ms"]
    return judge_printed(
        [seek_ms], [write_seek_ms], direction_holds=is_as_printed, rest_holds=is_as_printed
    ).with_numbers(
        p=p,
        seek=seek_ms,
        write_seek=write_seek_ms,
        full_stroke=p["seek_table"][-1][1],
        cylinders=cylinders,
        mb_s=mb_s,
    )

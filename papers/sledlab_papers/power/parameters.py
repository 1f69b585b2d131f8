"""Claims that follow from parameters and arithmetic (Hong 2006, 3.1 and 5; Lin, 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..claims import Judgment, judge_criterion
from ..simulator import parameters
from ..wording import format_rows
from .plan import PowerRuns
from .singles import parts_of_states, simulate_reads

SILICON_KG_M3 = 2330.0
WAFER_M = 0.5e-3
"""A usual thickness in m; the papers give neither mass nor thickness of the sled."""

KINETIC_J = 1e-7

INODE_BYTES = 128


def _g2() -> Mapping[str, Any]:
    return parameters("mems-g2")


def h_14(_: PowerRuns) -> Judgment:
    """Power of a tip, the sled, a thousand tips, and a parked device."""
    p = _g2()
    thousand = p["sled_mw"] + 1000 * p["tip_mw"]
    exact = (p["tip_mw"], p["sled_mw"], thousand, p["inactive_mw"], p["startup_ms"])
    return judge_criterion(exact == (1.0, 100.0, 1100.0, 50.0, 0.5)).with_numbers(p=p, thousand=thousand)


def h_17(_: PowerRuns) -> Judgment:
    """Energy of a start-up, measured."""
    result = simulate_reads("mems-g2", ((0.0, 0, 1), (50.0, 0, 1)))
    each = result.energy.startup / result.startups
    return judge_criterion(abs(each - 5e-05) < 1e-12).with_numbers(
        each=each, result=result, many=1.88225 / 5e-05, too_many=1.88225 / 5e-06
    )


def h_19(_: PowerRuns) -> Judgment:
    """Kinetic energy; the papers give no mass, so the media are assumed to be silicon."""
    p = _g2()
    speed_m_s = p["tip_rate_kbit_s"] * 1e3 * p["bit_nm"] * 1e-9
    area_m2 = p["usable_tips"] * p["travel_x_um"] * p["travel_y_um"] * 1e-12
    mass_kg = area_m2 * WAFER_M * SILICON_KG_M3
    energy_j = mass_kg * speed_m_s**2 / 2
    return judge_criterion(KINETIC_J / 10 < energy_j < KINETIC_J * 10).with_numbers(
        area_cm2=area_m2 * 10000.0,
        wafer_mm=WAFER_M * 1000.0,
        mass_g=mass_kg * 1000.0,
        energy_j=energy_j,
        speed_mm_s=speed_m_s * 1000.0,
        kinetic_j=KINETIC_J,
        printed_g=2 * KINETIC_J / speed_m_s**2 * 1000.0,
    )


def h_20(_: PowerRuns) -> Judgment:
    """Start-up times and energies of a disk and of a sled."""
    disk, sled = parameters("mobile-disk"), _g2()
    times = disk["startup_ms"] / sled["startup_ms"]
    powers = disk["startup_mw"] / disk["idle_mw"]
    return judge_criterion(times > 1000 and powers > 1).with_numbers(
        startup_s=disk["startup_ms"] / 1000.0, powers=powers, times=times, sled=sled
    )


def h_68(_: PowerRuns) -> Judgment:
    """Blocks in one row of tip sectors, derived from the time that a transfer takes."""
    measured = []
    for device in ("mems-g2", "mems-g2-3200"):
        p = parameters(device)
        maximum = p["active_tips"] // p["tips_per_block"]
        row_ns = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e6
        rows = [
            round(simulate_reads(device, ((0.0, 0, blocks),)).requests["transfer_ns"][0] / row_ns)
            for blocks in (maximum, maximum + 1)
        ]
        measured.append((maximum, rows))
    details = " and ".join(f"{maximum} sectors ({maximum / 2:g} KB)" for maximum, _ in measured)
    return judge_criterion(
        [maximum for maximum, _ in measured] == [20, 50] and all((r == [1, 2] for _, r in measured))
    ).with_numbers(details=details)


def h_75(_: PowerRuns) -> Judgment:
    """Tip sectors and logical sectors."""
    p = _g2()
    data_bytes = p["tip_sector_bits"] // 10
    sector = data_bytes * p["tips_per_block"]
    exact = (p["servo_bits"], p["tip_sector_bits"], p["tips_per_block"], sector, sector // INODE_BYTES)
    return judge_criterion(exact == (10, 80, 64, 512, 4)).with_numbers(
        p=p,
        data_bytes=data_bytes,
        sector=sector,
        inode_bytes=INODE_BYTES,
        inode_tips=INODE_BYTES // data_bytes,
        inodes=sector // INODE_BYTES,
    )


def y_06(_: PowerRuns) -> Judgment:
    """Power by state of a run."""
    result = simulate_reads(
        "mems-g2",
        ((0.0, 0, 16), (50.0, 1_000_000, 16), (51.5, 5_000, 16)),
        ("power.kind", "fixed:timeout_ms=10"),
    )
    states = {name: 1e3 * joule / time for name, (joule, time) in parts_of_states(result).items() if time}
    details = format_rows("{} {:,.0f} mW", states.items())
    exact = {"seek": 100.0, "access": 100.0 + 16 * 64, "inactive": 50.0, "startup": 100.0}
    near = all(abs(states[name] - mw) < 1e-6 * mw for name, mw in exact.items())
    return judge_criterion(near and 100.0 < states["idle"] < states["access"]).with_numbers(details=details)


def y_23(_: PowerRuns) -> Judgment:
    """Active tips of two reads one after another, and of both merged."""
    two = simulate_reads("mems-g3", ((0.0, 0, 16), (0.0, 16, 16)))
    one = simulate_reads("mems-g3", ((0.0, 0, 32),))
    tip_mw = parameters("mems-g3")["tip_mw"]
    tips = [result.summary["tip_time_s"] * tip_mw * 1e3 for result in (two, one)]
    sled = [1e6 * (r.energy.seek + r.energy.access) - tip for r, tip in zip((two, one), tips, strict=True)]
    return judge_criterion(abs(tips[0] - tips[1]) < 1e-06 and sled[1] < sled[0]).with_numbers(
        tips=tips, sled=sled
    )


def y_24(_: PowerRuns) -> Judgment:
    """Tips that are active at once."""
    p = parameters("mems-g3")
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    tips = [
        round(simulate_reads("mems-g3", ((0.0, 0, blocks),)).summary["tip_time_s"] / row_s)
        for blocks in (16, 32)
    ]
    return judge_criterion(tips == [1024, 2048] and p["active_tips"] == 3200).with_numbers(tips=tips, p=p)


def y_33(_: PowerRuns) -> Judgment:
    """Active tips of whole blocks, and of the requested parts."""
    full = simulate_reads("mems-g3", ((0.0, 0, 1),)).summary
    part = simulate_reads(
        "mems-g3", ((0.0, 0, 1),), ("replay.last_block", "random"), ("device.subsector_access", True)
    ).summary
    p = parameters("mems-g3")
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    tips = [round(summary["tip_time_s"] / row_s) for summary in (full, part)]
    return judge_criterion(tips[0] == 64 and 0 < tips[1] < 64).with_numbers(tips=tips)

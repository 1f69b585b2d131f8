"""Claims that follow from parameters and arithmetic (paper 000, 3.1 and 5; paper 003, 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...replays import parameters
from ..claims import Verdict, verdict
from .runs import Runs
from .singles import parts_of_states, reads

SILICON_KG_M3 = 2330.0
WAFER_M = 0.5e-3
"""A usual thickness; the papers give neither mass nor thickness of the sled."""

KINETIC_J = 1e-7

INODE_BYTES = 128


def _g2() -> Mapping[str, Any]:
    return parameters("mems-g2")


def powers(_: Runs) -> Verdict:
    """Of a tip, the sled, a thousand tips, and a parked device."""
    p = _g2()
    thousand = p["sled_mw"] + 1000 * p["tip_mw"]
    ours = (
        f"Presets: tip {p['tip_mw']:g} mW, sled {p['sled_mw']:g} mW, {thousand:g} mW with 1000 tips; parked "
        f"{p['inactive_mw']:g} mW, {p['startup_ms']:g} ms to get going."
    )
    exact = (p["tip_mw"], p["sled_mw"], thousand, p["inactive_mw"], p["startup_ms"])
    return verdict(ours, holds=exact == (1.0, 100.0, 1100.0, 50.0, 0.5))


def startup(_: Runs) -> Verdict:
    """Energy of a start-up, measured."""
    result = reads("mems-g2", ((0.0, 0, 1), (50.0, 0, 1)))
    each = result.energy.startup / result.startups
    ours = (
        f"{each:.1e} J for each of {result.startups} start-ups of a run: the power of the moving sled for "
        "the "
        "start-up time; no tip is on. Paper 003 prints 0.000005 J, but its table agrees with 5e-5 J: its "
        f"1.882250 J are {1.882250 / 5e-5:,.0f} start-ups then, and not {1.882250 / 5e-6:,.0f}, several "
        "times as "
        "many as there were requests."
    )
    return verdict(ours, holds=abs(each - 5e-5) < 1e-12)


def h_19(_: Runs) -> Verdict:
    """Kinetic energy, for want of a mass with that of the media as silicon."""
    p = _g2()
    speed_m_s = p["tip_rate_kbit_s"] * 1e3 * p["bit_nm"] * 1e-9
    area_m2 = p["usable_tips"] * p["travel_x_um"] * p["travel_y_um"] * 1e-12
    mass_kg = area_m2 * WAFER_M * SILICON_KG_M3
    energy_j = mass_kg * speed_m_s**2 / 2
    ours = (
        f"No mass is printed. Media of {area_m2 * 1e4:.2f} cm2 on {WAFER_M * 1e3:g} mm of silicon weigh "
        f"{mass_kg * 1e3:.2f} g and have {energy_j:.1e} J at {speed_m_s * 1e3:g} mm/s; {KINETIC_J:g} J is "
        f"that of {2 * KINETIC_J / speed_m_s**2 * 1e3:.2f} g. Either is below 1 % of the 5e-5 J of a "
        "start-up."
    )
    return verdict(ours, holds=KINETIC_J / 10 < energy_j < KINETIC_J * 10)


def h_20(_: Runs) -> Verdict:
    """Transitions of a disk and of a sled."""
    disk, sled = parameters("mobile-disk"), _g2()
    times = disk["startup_ms"] / sled["startup_ms"]
    powers = disk["startup_mw"] / disk["idle_mw"]
    ours = (
        f"`mobile-disk` needs {disk['startup_ms'] / 1e3:g} s at {powers:g} times its idle power, "
        f"{times:,.0f} "
        f"times as long as the {sled['startup_ms']:g} ms of a sled. The disk is an assumption of ours."
    )
    return verdict(ours, holds=times > 1000 and powers > 1)


def h_68(_: Runs) -> Verdict:
    """Blocks in one row of tip sectors, by the time that a transfer takes."""
    found = []
    for device in ("mems-g2", "mems-g2-3200"):
        p = parameters(device)
        most = p["active_tips"] // p["tips_per_block"]
        row_ns = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e6
        rows = [
            round(reads(device, ((0.0, 0, blocks),)).requests["transfer_ns"][0] / row_ns)
            for blocks in (most, most + 1)
        ]
        found.append((most, rows))
    said = " and ".join(f"{most} sectors ({most / 2:g} KB)" for most, _ in found)
    ours = (
        f"With 1280 and 3200 active tips, reads of {said} take the time of one row of tip sectors, and of "
        "one "
        "sector more that of two."
    )
    return verdict(ours, holds=[most for most, _ in found] == [20, 50] and all(r == [1, 2] for _, r in found))


def layout(_: Runs) -> Verdict:
    """Tip sectors and logical sectors."""
    p = _g2()
    data_bytes = p["tip_sector_bits"] // 10
    sector = data_bytes * p["tips_per_block"]
    ours = (
        f"Presets: {p['servo_bits']} servo and {p['tip_sector_bits']} encoded bits, {data_bytes} bytes; "
        f"{p['tips_per_block']} of them are {sector} bytes. {INODE_BYTES} bytes are on "
        f"{INODE_BYTES // data_bytes} tips, 1/{sector // INODE_BYTES} of a sector."
    )
    exact = (p["servo_bits"], p["tip_sector_bits"], p["tips_per_block"], sector, sector // INODE_BYTES)
    return verdict(ours, holds=exact == (10, 80, 64, 512, 4))


def y_06(_: Runs) -> Verdict:
    """Power by state of a run."""
    result = reads(
        "mems-g2",
        ((0.0, 0, 16), (50.0, 1_000_000, 16), (51.5, 5_000, 16)),
        ("power.kind", "fixed:timeout_ms=10"),
    )
    states = {name: 1e3 * joule / time for name, (joule, time) in parts_of_states(result).items() if time}
    ours = "Energy over time, by state, of three reads of 8 KB: " + ", ".join(
        f"{name} {mw:,.0f} mW" for name, mw in states.items()
    )
    exact = {"seek": 100.0, "access": 100.0 + 16 * 64, "inactive": 50.0, "startup": 100.0}
    near = all(abs(states[name] - mw) < 1e-6 * mw for name, mw in exact.items())
    ours += ". Idle is seeking back and forth and reading servo bits with the tips of the last request."
    return verdict(ours, holds=near and 100.0 < states["idle"] < states["access"])


def y_23(_: Runs) -> Verdict:
    """Tips of two reads one after another and of both in one."""
    two = reads("mems-g3", ((0.0, 0, 16), (0.0, 16, 16)))
    one = reads("mems-g3", ((0.0, 0, 32),))
    tip_mw = parameters("mems-g3")["tip_mw"]
    tips = [result.summary["tip_time_s"] * tip_mw * 1e3 for result in (two, one)]
    sled = [1e6 * (r.energy.seek + r.energy.access) - tip for r, tip in zip((two, one), tips, strict=True)]
    ours = (
        f"Two neighbouring reads of 8 KB on G3 take {tips[0]:.2f} uJ of tips one after another and "
        f"{tips[1]:.2f} "
        f"uJ as one; the sled {sled[0]:.2f} and {sled[1]:.2f} uJ."
    )
    return verdict(ours, holds=abs(tips[0] - tips[1]) < 1e-6 and sled[1] < sled[0])


def y_24(_: Runs) -> Verdict:
    """Tips that are on at once."""
    p = parameters("mems-g3")
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    tips = [round(reads("mems-g3", ((0.0, 0, blocks),)).summary["tip_time_s"] / row_s) for blocks in (16, 32)]
    ours = f"{tips[0]} and {tips[1]} of {p['active_tips']} tips are on for the one row that 8 and 16 KB take."
    return verdict(ours, holds=tips == [1024, 2048] and p["active_tips"] == 3200)


def y_33(_: Runs) -> Verdict:
    """Tips by block and by wanted part."""
    whole = reads("mems-g3", ((0.0, 0, 1),)).summary
    part = reads(
        "mems-g3", ((0.0, 0, 1),), ("replay.last_block", "random"), ("device.subsector_access", True)
    ).summary
    p = parameters("mems-g3")
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    tips = [round(summary["tip_time_s"] / row_s) for summary in (whole, part)]
    ours = f"A block lights {tips[0]} tips; a block of which a random part is wanted {tips[1]} in this run."
    return verdict(ours, holds=tips[0] == 64 and 0 < tips[1] < 64)


CLAIMS = {
    "H-14": powers,
    "H-16": powers,
    "H-17": startup,
    "H-19": h_19,
    "H-20": h_20,
    "H-68": h_68,
    "H-75": layout,
    "Y-04": powers,
    "Y-05": startup,
    "Y-06": y_06,
    "Y-23": y_23,
    "Y-24": y_24,
    "Y-32": layout,
    "Y-33": y_33,
}

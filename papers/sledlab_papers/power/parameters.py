"""Claims that follow from parameters and arithmetic (Hong 2006, 3.1 and 5; Lin, 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..claims import Judgment, judge_criterion
from ..simulator import parameters
from ..wording import format_rows
from .plan import PowerRuns
from .singles import energy_and_time_by_state, simulate_reads

SILICON_KG_M3 = 2330.0
WAFER_M = 0.5e-3
"""A usual thickness in m; the papers give neither mass nor thickness of the sled."""

KINETIC_J = 1e-7

INODE_BYTES = 128


def _g2_parameters() -> Mapping[str, Any]:
    return parameters("mems-g2")


def h_14(_: PowerRuns) -> Judgment:
    """Power of a tip, the sled, a thousand tips, and a parked device."""
    p = _g2_parameters()
    thousand_tips_mw = p["sled_mw"] + 1000 * p["tip_mw"]
    constants = (p["tip_mw"], p["sled_mw"], thousand_tips_mw, p["inactive_mw"], p["startup_ms"])
    return judge_criterion(constants == (1.0, 100.0, 1100.0, 50.0, 0.5)).with_numbers(
        p=p, thousand=thousand_tips_mw
    )


def h_17(_: PowerRuns) -> Judgment:
    """Energy of a start-up, measured."""
    result = simulate_reads("mems-g2", ((0.0, 0, 1), (50.0, 0, 1)))
    startup_j = result.energy.startup / result.startups
    return judge_criterion(abs(startup_j - 5e-05) < 1e-12).with_numbers(
        each=startup_j, result=result, many=1.88225 / 5e-05, too_many=1.88225 / 5e-06
    )


def h_19(_: PowerRuns) -> Judgment:
    """Kinetic energy; the papers give no mass, so the media are assumed to be silicon."""
    p = _g2_parameters()
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
    disk_parameters, sled_parameters = parameters("mobile-disk"), _g2_parameters()
    startup_ratio = disk_parameters["startup_ms"] / sled_parameters["startup_ms"]
    power_ratio = disk_parameters["startup_mw"] / disk_parameters["idle_mw"]
    return judge_criterion(startup_ratio > 1 and power_ratio > 1).with_numbers(
        startup_s=disk_parameters["startup_ms"] / 1000.0,
        powers=power_ratio,
        times=startup_ratio,
        sled=sled_parameters,
    )


def h_68(_: PowerRuns) -> Judgment:
    """Blocks in one row of tip sectors, derived from the time that a transfer takes."""
    blocks_and_rows = []
    for device in ("mems-g2", "mems-g2-3200"):
        p = parameters(device)
        max_blocks = p["active_tips"] // p["tips_per_block"]
        row_ns = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e6
        rows = [
            round(simulate_reads(device, ((0.0, 0, blocks),)).requests["transfer_ns"][0] / row_ns)
            for blocks in (max_blocks, max_blocks + 1)
        ]
        blocks_and_rows.append((max_blocks, rows))
    details = " and ".join(
        f"{max_blocks} sectors ({max_blocks / 2:g} KB)" for max_blocks, _ in blocks_and_rows
    )
    return judge_criterion(
        [max_blocks for max_blocks, _ in blocks_and_rows] == [20, 50]
        and all((r == [1, 2] for _, r in blocks_and_rows))
    ).with_numbers(details=details)


def h_75(_: PowerRuns) -> Judgment:
    """Tip sectors and logical sectors."""
    p = _g2_parameters()
    data_bytes = p["tip_sector_bits"] // 10
    sector_bytes = data_bytes * p["tips_per_block"]
    constants = (
        p["servo_bits"],
        p["tip_sector_bits"],
        p["tips_per_block"],
        sector_bytes,
        sector_bytes // INODE_BYTES,
    )
    return judge_criterion(constants == (10, 80, 64, 512, 4)).with_numbers(
        p=p,
        data_bytes=data_bytes,
        sector=sector_bytes,
        inode_bytes=INODE_BYTES,
        inode_tips=INODE_BYTES // data_bytes,
        inodes=sector_bytes // INODE_BYTES,
    )


def y_06(_: PowerRuns) -> Judgment:
    """Power by state of a run."""
    result = simulate_reads(
        "mems-g2",
        ((0.0, 0, 16), (50.0, 1_000_000, 16), (51.5, 5_000, 16)),
        ("power.kind", "fixed:timeout_ms=10"),
    )
    power_mw = {
        name: 1e3 * energy_j / time_s
        for name, (energy_j, time_s) in energy_and_time_by_state(result).items()
        if time_s
    }
    details = format_rows("{} {:,.0f} mW", power_mw.items())
    expected_mw = {"seek": 100.0, "access": 100.0 + 16 * 64, "inactive": 50.0, "startup": 100.0}
    are_near = all(abs(power_mw[name] - mw) < 1e-6 * mw for name, mw in expected_mw.items())
    return judge_criterion(are_near and 100.0 < power_mw["idle"] < power_mw["access"]).with_numbers(
        details=details
    )


def y_23(_: PowerRuns) -> Judgment:
    """Active tips of two reads one after another, and of both merged."""
    separate_run = simulate_reads("mems-g3", ((0.0, 0, 16), (0.0, 16, 16)))
    merged_run = simulate_reads("mems-g3", ((0.0, 0, 32),))
    tip_mw = parameters("mems-g3")["tip_mw"]
    tip_uj = [result.summary["tip_time_s"] * tip_mw * 1e3 for result in (separate_run, merged_run)]
    sled_uj = [
        1e6 * (r.energy.seek + r.energy.access) - tips_uj
        for r, tips_uj in zip((separate_run, merged_run), tip_uj, strict=True)
    ]
    return judge_criterion(abs(tip_uj[0] - tip_uj[1]) < 1e-06 and sled_uj[1] < sled_uj[0]).with_numbers(
        tips=tip_uj, sled=sled_uj
    )


def y_24(_: PowerRuns) -> Judgment:
    """Tips that are active at once."""
    p = parameters("mems-g3")
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    tip_counts = [
        round(simulate_reads("mems-g3", ((0.0, 0, blocks),)).summary["tip_time_s"] / row_s)
        for blocks in (16, 32)
    ]
    return judge_criterion(tip_counts == [1024, 2048] and p["active_tips"] == 3200).with_numbers(
        tips=tip_counts, p=p
    )


def y_33(_: PowerRuns) -> Judgment:
    """Active tips of whole blocks, and of the requested parts."""
    whole_summary = simulate_reads("mems-g3", ((0.0, 0, 1),)).summary
    part_summary = simulate_reads(
        "mems-g3", ((0.0, 0, 1),), ("replay.last_block", "random"), ("device.subsector_access", True)
    ).summary
    p = parameters("mems-g3")
    row_s = (p["tip_sector_bits"] + p["servo_bits"]) / p["tip_rate_kbit_s"] * 1e-3
    tip_counts = [round(summary["tip_time_s"] / row_s) for summary in (whole_summary, part_summary)]
    return judge_criterion(tip_counts[0] == 64 and 0 < tip_counts[1] < 64).with_numbers(tips=tip_counts)

"""Claims that follow from parameters and arithmetic (tables 1 and 2; sections 1, 2, 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..claims import Judgment, judge_criterion, judge_printed
from ..printed import PrintedNumber
from ..published import PAIRS, quantities
from ..simulator import parameters, random_pairs
from ..wording import format_rows, number_table
from .names import CELLO, HPLAJW, TITLES, TPCC, TPCD
from .singles import CACHING_DISK, WRITE_BUFFER, simulate_on_disk, stream_rate_mb_s
from .systems import SEGMENT_KB, HybridRuns

AVERAGE_SEEK_MS = {"reads": 5.7, "writes": 6.19}
"""Average seek times as the paper prints them."""

DISK_GB, MEMS_MB, SWEPT_MB = 8.6, 256, (64, 512)

DEFAULT_CONVENTION = "edge"
"""Displacement at which the spring force of `mems-g2` is its factor of the actuator force."""

MAX_SEEK_DEVIATION = 0.1
"""Relative difference from a printed seek time up to which it is met in direction."""

ACTIVE_TIPS = (200, 2000)

RAISED_MB_S = 50.0


def w_04(runs: HybridRuns) -> Judgment:
    """Average and longest seek, by the convention of the spring factor of the set or of a reading."""
    convention = runs.mark_value("spring") or DEFAULT_CONVENTION
    mean, longest = (each for each in quantities() if f"spring factor at the {convention}" in each.name)
    largest = max(abs(mean.deviation), abs(longest.deviation))
    return judge_printed(
        [mean.ours], [longest.ours], direction_holds=largest <= MAX_SEEK_DEVIATION
    ).with_numbers(mean=mean, longest=longest)


def w_05(_: HybridRuns) -> Judgment:
    """Capacity, tips and peak rate."""
    tips = parameters("mems-g2")["active_tips"]
    quantities_by_name = {quantity.name: quantity for quantity in quantities()}
    capacity, rate = quantities_by_name["capacity (G2)"], quantities_by_name["peak rate (G2)"]
    return judge_criterion(capacity.holds and rate.holds and (tips == 1280)).with_numbers(
        capacity=capacity, tips=tips, rate=rate
    )


def w_06(_: HybridRuns) -> Judgment:
    """Active tips of the presets."""
    tips = {name: parameters(f"mems-{name.lower()}")["active_tips"] for name in ("G1", "G2", "G3")}
    is_inside = {name: ACTIVE_TIPS[0] <= count <= ACTIVE_TIPS[1] for name, count in tips.items()}
    return judge_criterion(is_inside == {"G1": True, "G2": True, "G3": False}).with_numbers(
        tips=format_rows("{} {}", tips.items())
    )


def w_23(runs: HybridRuns) -> Judgment:
    """MEMS as a share of the printed capacity of the disk."""
    shares = [100 * mb / (DISK_GB * 1024) for mb in (MEMS_MB, *SWEPT_MB)]
    rounded_shares = [round(shares[0]), round(shares[1], 2), round(shares[2])]
    # The paper calls 0.73 % about 0.75 %.
    return judge_criterion(rounded_shares == [3, 0.73, 6]).with_numbers(
        mems_mb=MEMS_MB,
        shares=shares,
        swept_mb=SWEPT_MB,
        gib=_gib(parameters(runs.disk)),
    )


def w_30(runs: HybridRuns) -> Judgment:
    """Sizes of segments and logs in the runs."""
    log_kb = simulate_on_disk(runs.disk, CELLO, *WRITE_BUFFER).config["hybrid"]["log_kb"]
    sizes_kb = {workload: SEGMENT_KB[workload] for workload in (TPCD, TPCC, CELLO, HPLAJW)}
    details = ", ".join(f"{TITLES[workload]} {kb} KB" for workload, kb in sizes_kb.items())
    return judge_criterion(list(sizes_kb.values()) == [256, 8, 8, 64] and log_kb == 128).with_numbers(
        details=details, log_kb=log_kb
    )


def w_45(runs: HybridRuns) -> Judgment:
    """Time of a random access on each of the three."""
    disk_ms, mems_ms = (
        random_pairs(device, PAIRS).summary["service_time_ms"]["mean"] for device in (runs.disk, "mems-g2")
    )
    ram_us = simulate_on_disk(runs.disk, CELLO).config["cache"]["access_us"]
    ram_times = disk_ms * 1000.0 / ram_us
    return judge_printed(
        [disk_ms / mems_ms], [math.log10(ram_times)], direction_holds=ram_times > disk_ms / mems_ms > 1
    ).with_numbers(disk=disk_ms, mems=mems_ms, times=disk_ms / mems_ms, ram_us=ram_us, ram_times=ram_times)


def w_46(_: HybridRuns) -> Judgment:
    """Prices and capacities are inputs."""
    gib = parameters("mems-g2")["capacity_blocks"] * 512 / 2**30
    return judge_criterion(1 <= gib <= 10).with_numbers(gib=gib)


def average_seek_ms(disk: str) -> float:
    """The mean of the seek curve over all pairs of different cylinders."""
    p = parameters(disk)
    cylinders = sum(zone["cylinders"] for zone in p["zones"])
    table = p["seek_table"]
    total = pair_count = 0.0
    row = 0
    for distance in range(1, cylinders):
        while row + 1 < len(table) - 1 and table[row + 1][0] <= distance:
            row += 1
        (distance_below, seek_below_ms), (distance_above, seek_above_ms) = (
            table[row],
            table[min(row + 1, len(table) - 1)],
        )
        share = (
            (distance - distance_below) / (distance_above - distance_below)
            if distance_above > distance_below
            else 0.0
        )
        pairs = cylinders - distance
        total += pairs * (seek_below_ms + share * (seek_above_ms - seek_below_ms))
        pair_count += pairs
    return total / pair_count


def _gib(disk: Mapping[str, Any]) -> float:
    """The capacity of a disk, given by its parameters."""
    return float(disk["capacity_blocks"]) * 512 / 2**30


def w_49(runs: HybridRuns) -> Judgment:
    """The disk, its cache and the buffer; and the same with half of the surfaces."""
    p = parameters(runs.disk)
    read_ms = average_seek_ms(runs.disk)
    seeks_ms = {"reads": read_ms, "writes": read_ms + p["write_settle_ms"]}
    printed_seeks = {name: PrintedNumber(f"{ms} ms") for name, ms in AVERAGE_SEEK_MS.items()}
    seeks_fit = all(printed_seeks[name].is_met([ms]) for name, ms in seeks_ms.items())
    seeks_are_near = all(printed_seeks[name].is_nearly_met([ms]) for name, ms in seeks_ms.items())
    outer_mb_s = p["zones"][0]["sectors_per_track"] * 512 * p["rpm"] / 60 / 1e6
    config = simulate_on_disk(runs.disk, CELLO, *CACHING_DISK).config
    cache_mb, buffer_kb = config["cache"]["capacity_blocks"] / 2048, config["hybrid"]["buffer_kb"]
    stream_mb_s, gib = stream_rate_mb_s(runs.disk), _gib(p)
    half_surfaces = p["heads"] // 2
    half_gib, half_stream_mb_s = gib / 2, stream_rate_mb_s(runs.disk, half_surfaces)
    is_exact = p["rpm"] == 10_025 and cache_mb == 4 and buffer_kb == 2048
    capacity_fits = abs(gib / DISK_GB - 1) <= 0.01
    rate_fits = stream_mb_s <= RAISED_MB_S <= outer_mb_s
    return (
        judge_criterion(
            is_exact and rate_fits and seeks_fit and capacity_fits, is_exact and rate_fits and seeks_are_near
        )
        .with_numbers(p=p, measured=seeks_ms, streams=stream_mb_s, gib=gib, half=half_surfaces)
        .with_tables(
            number_table(
                "Disk, controller cache and buffer",
                f"quantity | published | ours | with {half_surfaces} surfaces",
                [
                    ["revolutions a minute", "10,025", f"{p['rpm']:,}", "the same"],
                    ["capacity, GiB", f"{DISK_GB}", f"{gib:.2f}", f"{half_gib:.2f}"],
                    *(
                        [f"average seek of {name}, ms", f"{AVERAGE_SEEK_MS[name]}", f"{ms:.2f}", "the same"]
                        for name, ms in seeks_ms.items()
                    ),
                    [
                        "rate under the head, outermost track, MB/s",
                        *(f"{RAISED_MB_S:g}", f"{outer_mb_s:.1f}", "the same"),
                    ],
                    [
                        "rate of successive reads of 4 MB, MB/s",
                        *(f"{RAISED_MB_S:g}", f"{stream_mb_s:.1f}", f"{half_stream_mb_s:.1f}"),
                    ],
                    ["controller cache, MB", "4", f"{cache_mb:g}", "the same"],
                    ["buffer, MB", "2", f"{buffer_kb / 1024:g}", "the same"],
                ],
            )
        )
    )

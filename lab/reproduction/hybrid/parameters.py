"""Claims that follow from parameters and arithmetic (tables 1 and 2; sections 1, 2, 5 and 6)."""

from __future__ import annotations

from ...simulator import parameters, random_pairs
from ...validation.published import PAIRS, quantities
from ...words import each
from ..claims import Judgement, judged
from .names import CELLO, HPLAJW, TITLES, TPCC, TPCD
from .singles import on_disk
from .systems import SEGMENT_KB, Systems

DISK = "atlas-10k-50mb"
AVERAGE_SEEK_MS = {"reads": 5.7, "writes": 6.19}
"""As the paper prints them."""

DISK_GB, MEMS_MB, SWEPT_MB = 8.6, 256, (64, 512)
PRINTED_SECTORS = 17_938_986
"""Of the disk, by its maker."""

ACTIVE_TIPS = (200, 2000)


def w_04(_: Systems) -> Judgement:
    """Average and longest seek, under both readings of the spring factor."""
    seeks = [quantity for quantity in quantities() if "seek" in quantity.name]
    said = each("{0.name} {0.ours:.3f} ms ({0.off:+1%})", seeks, "; ")
    return judged(all(abs(quantity.off) <= 0.1 for quantity in seeks)).saying(said=said)


def w_05(_: Systems) -> Judgement:
    """Capacity, tips and peak rate."""
    tips = parameters("mems-g2")["active_tips"]
    found = {quantity.name: quantity for quantity in quantities()}
    capacity, rate = found["capacity (G2)"], found["peak rate (G2)"]
    return judged(capacity.holds and rate.holds and (tips == 1280)).saying(
        capacity=capacity, tips=tips, rate=rate
    )


def w_06(_: Systems) -> Judgement:
    """Active tips of the presets."""
    tips = {name: parameters(f"mems-{name.lower()}")["active_tips"] for name in ("G1", "G2", "G3")}
    inside = {name: ACTIVE_TIPS[0] <= count <= ACTIVE_TIPS[1] for name, count in tips.items()}
    return judged(inside == {"G1": True, "G2": True, "G3": False}).saying(tips=each("{} {}", tips.items()))


def w_23(_: Systems) -> Judgement:
    """MEMS as a share of the disk."""
    sectors = parameters(DISK)["capacity_blocks"]
    shares = [100 * mb * 2**20 / (sectors * 512) for mb in (MEMS_MB, *SWEPT_MB)]
    off = sectors / PRINTED_SECTORS - 1
    exact = [round(shares[0]), round(shares[1], 2), round(shares[2])]
    # 0.73 % is what the paper calls about 0.75 %.
    return judged(exact == [3, 0.73, 6] and abs(off) < 0.002).saying(
        sectors=sectors, gib=sectors * 512 / 2**30, off=off, mems_mb=MEMS_MB, shares=shares, swept_mb=SWEPT_MB
    )


def w_30(_: Systems) -> Judgement:
    """Sizes of segments and logs in the runs."""
    log_kb = on_disk("cello", ("hybrid.kind", "write-buffer")).config["hybrid"]["log_kb"]
    sizes = {workload: SEGMENT_KB[workload] for workload in (TPCD, TPCC, CELLO, HPLAJW)}
    said = ", ".join(f"{TITLES[workload]} {kb} KB" for workload, kb in sizes.items())
    return judged(list(sizes.values()) == [256, 8, 8, 64] and log_kb == 128).saying(said=said, log_kb=log_kb)


def w_45(_: Systems) -> Judgement:
    """What a random access takes on each of the three."""
    disk, mems = (
        random_pairs(device, PAIRS).summary["service_time_ms"]["mean"] for device in (DISK, "mems-g2")
    )
    ram_us = on_disk("cello", ("cache.kind", "write-back")).config["cache"]["access_us"]
    return judged(8 <= disk / mems <= 15 and ram_us <= 1).saying(
        disk=disk, mems=mems, times=disk / mems, ram_us=ram_us, ram_times=disk * 1000.0 / ram_us
    )


def w_46(_: Systems) -> Judgement:
    """Prices and capacities are inputs."""
    gib = parameters("mems-g2")["capacity_blocks"] * 512 / 2**30
    return judged(1 <= gib <= 10).saying(gib=gib)


def _average_seek_ms() -> float:
    """The mean of the seek curve over all pairs of different cylinders."""
    p = parameters(DISK)
    cylinders = sum(zone["cylinders"] for zone in p["zones"])
    table = p["seek_table"]
    total = weight = 0.0
    place = 0
    for distance in range(1, cylinders):
        while place + 1 < len(table) - 1 and table[place + 1][0] <= distance:
            place += 1
        (near, near_ms), (far, far_ms) = table[place], table[min(place + 1, len(table) - 1)]
        share = (distance - near) / (far - near) if far > near else 0.0
        pairs = cylinders - distance
        total += pairs * (near_ms + share * (far_ms - near_ms))
        weight += pairs
    return total / weight


def w_49(_: Systems) -> Judgement:
    """The disk, its cache and the buffer."""
    p = parameters(DISK)
    read_ms = _average_seek_ms()
    found = {"reads": read_ms, "writes": read_ms + p["write_settle_ms"]}
    off = {name: ms / AVERAGE_SEEK_MS[name] - 1 for name, ms in found.items()}
    outer = p["zones"][0]["sectors_per_track"] * 512 * p["rpm"] / 60 / 1e6
    config = on_disk("cello", ("hybrid.kind", "caching-disk"), ("cache.kind", "write-back")).config
    cache_mb, buffer_kb = config["cache"]["capacity_blocks"] / 2048, config["hybrid"]["buffer_kb"]
    exact = p["rpm"] == 10_025 and cache_mb == 4 and buffer_kb == 2048 and p["media_speedup"] == 2
    return judged(exact and all(abs(share) <= 0.03 for share in off.values())).saying(
        p=p, found=found, off=off, outer=outer, cache_mb=cache_mb, buffer_mb=buffer_kb / 1024
    )

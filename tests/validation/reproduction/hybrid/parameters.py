"""Claims that follow from parameters and arithmetic (tables 1 and 2; sections 1, 2, 5 and 6)."""

from __future__ import annotations

from ...markdown import percent
from ...published import PAIRS, quantities
from ...replays import parameters, random_pairs
from ..claims import Verdict, verdict
from .runs import CELLO, HPLAJW, SEGMENT_KB, TITLES, TPCC, TPCD, Runs
from .singles import on_disk

DISK = "atlas-10k-50mb"
AVERAGE_SEEK_MS = {"reads": 5.7, "writes": 6.19}
"""As the paper prints them."""

DISK_GB, MEMS_MB, SWEPT_MB = 8.6, 256, (64, 512)
PRINTED_SECTORS = 17_938_986
"""Of the disk, by its maker."""

ACTIVE_TIPS = (200, 2000)


def w_04(_: Runs) -> Verdict:
    """Average and longest seek, under both readings of the spring factor."""
    seeks = [quantity for quantity in quantities() if "seek" in quantity.name]
    said = "; ".join(
        f"{quantity.name} {quantity.ours:.3f} ms ({percent(quantity.off, 1)} %)" for quantity in seeks
    )
    return verdict(f"{said}.", holds=all(abs(quantity.off) <= 0.1 for quantity in seeks))


def w_05(_: Runs) -> Verdict:
    """Capacity, tips and peak rate."""
    tips = parameters("mems-g2")["active_tips"]
    found = {quantity.name: quantity for quantity in quantities()}
    capacity, rate = found["capacity (G2)"], found["peak rate (G2)"]
    ours = f"{capacity.ours:.3f} GiB, {tips} tips, {rate.ours:.1f} MB/s without servo bits."
    return verdict(ours, holds=capacity.holds and rate.holds and tips == 1280)


def w_06(_: Runs) -> Verdict:
    """Active tips of the presets."""
    tips = {name: parameters(f"mems-{name.lower()}")["active_tips"] for name in ("G1", "G2", "G3")}
    inside = {name: ACTIVE_TIPS[0] <= count <= ACTIVE_TIPS[1] for name, count in tips.items()}
    ours = "Active tips: " + ", ".join(f"{name} {count}" for name, count in tips.items()) + "."
    return verdict(ours, holds=inside == {"G1": True, "G2": True, "G3": False})


def w_23(_: Runs) -> Verdict:
    """MEMS as a share of the disk."""
    sectors = parameters(DISK)["capacity_blocks"]
    shares = [100 * mb * 2**20 / (sectors * 512) for mb in (MEMS_MB, *SWEPT_MB)]
    off = sectors / PRINTED_SECTORS - 1
    ours = (
        f"The model of the disk has {sectors:,} sectors, {sectors * 512 / 2**30:.2f} GiB "
        f"({percent(off, 2)} % of what its maker prints). {MEMS_MB} MB are {shares[0]:.2f} % of it, "
        f"{SWEPT_MB[0]} and {SWEPT_MB[1]} MB {shares[1]:.2f} and {shares[2]:.2f} %."
    )
    exact = [round(shares[0]), round(shares[1], 2), round(shares[2])]
    # 0.73 % is what the paper calls about 0.75 %.
    return verdict(ours, holds=exact == [3, 0.73, 6] and abs(off) < 0.002)


def w_30(_: Runs) -> Verdict:
    """Sizes of segments and logs in the runs."""
    log_kb = on_disk("cello", ("hybrid.kind", "write-buffer")).config["hybrid"]["log_kb"]
    sizes = {workload: SEGMENT_KB[workload] for workload in (TPCD, TPCC, CELLO, HPLAJW)}
    said = ", ".join(f"{TITLES[workload]} {kb} KB" for workload, kb in sizes.items())
    ours = f"The experiments have {said}; logs have {log_kb} KB unless said."
    return verdict(ours, holds=list(sizes.values()) == [256, 8, 8, 64] and log_kb == 128)


def w_45(_: Runs) -> Verdict:
    """What a random access takes on each of the three."""
    disk, mems = (
        random_pairs(device, PAIRS).summary["service_time_ms"]["mean"] for device in (DISK, "mems-g2")
    )
    ram_us = on_disk("cello", ("cache.kind", "write-back")).config["cache"]["access_us"]
    ours = (
        f"A read of one block at a random place takes {disk:.2f} ms on the disk, {mems:.2f} ms on the sled "
        f"({disk / mems:.1f} times as fast), and {ram_us:g} us in RAM without the bus "
        f"({disk * 1e3 / ram_us:,.0f} times)."
    )
    return verdict(ours, holds=8 <= disk / mems <= 15 and ram_us <= 1)


def w_46(_: Runs) -> Verdict:
    """Prices and capacities are inputs."""
    gib = parameters("mems-g2")["capacity_blocks"] * 512 / 2**30
    ours = (
        "Nothing to measure: prices are inputs of the comparisons below (W-48, W-55). A G2 sled has "
        f"{gib:.1f} GiB."
    )
    return verdict(ours, holds=1 <= gib <= 10)


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


def w_49(_: Runs) -> Verdict:
    """The disk, its cache and the buffer."""
    p = parameters(DISK)
    read_ms = _average_seek_ms()
    found = {"reads": read_ms, "writes": read_ms + p["write_settle_ms"]}
    off = {name: ms / AVERAGE_SEEK_MS[name] - 1 for name, ms in found.items()}
    outer = p["zones"][0]["sectors_per_track"] * 512 * p["rpm"] / 60 / 1e6
    config = on_disk("cello", ("hybrid.kind", "caching-disk"), ("cache.kind", "write-back")).config
    cache_mb, buffer_kb = config["cache"]["capacity_blocks"] / 2048, config["hybrid"]["buffer_kb"]
    ours = (
        f"{p['rpm']:,} rpm; average seek {found['reads']:.2f} ms for reads ({percent(off['reads'], 1)} %) "
        f"and {found['writes']:.2f} ms for writes ({percent(off['writes'], 1)} %), over all pairs of "
        f"cylinders. The outermost track passes under the head at {outer:.1f} MB/s; a sector of it is "
        f"transferred {p['media_speedup']:g} times as fast, all else unchanged. Controller cache "
        f"{cache_mb:g} MB, buffer {buffer_kb / 1024:g} MB."
    )
    exact = p["rpm"] == 10_025 and cache_mb == 4 and buffer_kb == 2048 and p["media_speedup"] == 2
    return verdict(ours, holds=exact and all(abs(share) <= 0.03 for share in off.values()))


CLAIMS = {
    "W-04": w_04,
    "W-05": w_05,
    "W-06": w_06,
    "W-23": w_23,
    "W-30": w_30,
    "W-45": w_45,
    "W-46": w_46,
    "W-49": w_49,
}

"""The numbers that Chiu 2004 prints, and the constants that are fitted to some of them."""

from __future__ import annotations

from dataclasses import dataclass

DISK, G1, G2, G3 = "hp-c2490a", "mems-g1-disksim", "mems-g2-disksim", "mems-g3-disksim"
DISK_HOST = ":host=hp-c2490a-disksim"
"""Ending of the disk's name in tables of results: the host that it was validated with."""
MEMS = (G1, G2, G3)
DEVICES = (DISK, *MEMS)
NAMES = {DISK: "HP C2490A", G1: "G1", G2: "G2", G3: "G3"}
PART_NAMES = {"store": "I/O", "compute": "computation", "network": "communication"}


@dataclass(frozen=True)
class Stage:
    """A stage of a job on a number of nodes."""

    job: str
    phase: str
    nodes: int


@dataclass(frozen=True)
class PublishedTime:
    """A printed time of a stage in s: that of its store, its network or its processor."""

    stage: Stage
    device: str
    part: str
    seconds: float
    fitted_constant: str = ""
    """The constant that is fitted to it; empty for none."""


LOOP = Stage("join", "nested loop", 32)
HASH_4, HASH_16 = Stage("join", "hash", 4), Stage("join", "hash", 16)
JOIN_4, JOIN_16 = Stage("join", "re-distribution", 4), Stage("join", "re-distribution", 16)
SAMPLING = Stage("sort", "sampling", 32)
SORT_4, SORT_16 = Stage("sort", "re-distribution", 4), Stage("sort", "re-distribution", 16)
INTERNAL, MERGE = Stage("sort", "internal sort", 8), Stage("sort", "merge", 4)

REQUEST, BLOCK = "node.request_us", "node.block_kb"

PUBLISHED_TIMES = (
    # Table 3.
    PublishedTime(LOOP, DISK, "store", 8207.20, BLOCK),
    PublishedTime(LOOP, G1, "store", 1656.78),
    PublishedTime(LOOP, G2, "store", 1097.25),
    PublishedTime(LOOP, G3, "store", 812.04),
    PublishedTime(LOOP, DISK, "compute", 2.03, "node.cycles.probe"),
    PublishedTime(LOOP, G1, "compute", 2.13),
    PublishedTime(LOOP, G2, "compute", 2.54),
    PublishedTime(LOOP, G3, "compute", 2.05),
    # Section 5.1.
    PublishedTime(HASH_4, G2, "store", 219.45),
    PublishedTime(JOIN_4, G2, "network", 272.59, "node.cycles.pack of a join"),
    PublishedTime(HASH_16, G3, "store", 41.96),
    PublishedTime(JOIN_16, G3, "network", 50.77),
    # Table 4. The software time of a request is fitted to the five ratios of I/O times.
    PublishedTime(SORT_4, DISK, "store", 573.77, REQUEST),
    PublishedTime(SORT_4, DISK, "network", 49.18, "node.cycles.pack of a sort"),
    PublishedTime(SORT_4, G3, "store", 72.58, REQUEST),
    PublishedTime(SORT_4, G3, "network", 49.02),
    PublishedTime(INTERNAL, DISK, "store", 501.43, REQUEST),
    PublishedTime(INTERNAL, DISK, "compute", 37.65, "node.cycles.compare"),
    PublishedTime(INTERNAL, G2, "store", 77.35, REQUEST),
    PublishedTime(INTERNAL, G2, "compute", 37.87),
    PublishedTime(MERGE, DISK, "store", 1060.52, REQUEST),
    PublishedTime(MERGE, DISK, "compute", 36.17, "node.cycles.merge"),
    PublishedTime(MERGE, G3, "store", 121.50, REQUEST),
    PublishedTime(MERGE, G3, "compute", 35.62),
    PublishedTime(SAMPLING, DISK, "store", 90.09, REQUEST),
    PublishedTime(SAMPLING, DISK, "network", 0.22),
    PublishedTime(SAMPLING, G3, "store", 10.53, REQUEST),
    PublishedTime(SAMPLING, G3, "network", 0.21),
    PublishedTime(SORT_16, DISK, "store", 195.07, REQUEST),
    PublishedTime(SORT_16, DISK, "network", 11.72),
    PublishedTime(SORT_16, G2, "store", 32.14, REQUEST),
    PublishedTime(SORT_16, G2, "network", 10.91),
)


def published_time(stage: Stage, device: str, part: str) -> PublishedTime:
    """The printed time of a stage."""
    return next(
        each for each in PUBLISHED_TIMES if (each.stage, each.device, each.part) == (stage, device, part)
    )


def published_ratio(stage: Stage, device: str) -> float:
    """The printed I/O time of the disk over that of a device."""
    return published_time(stage, DISK, "store").seconds / published_time(stage, device, "store").seconds


TABLE_4 = ((SORT_4, G3), (INTERNAL, G2), (MERGE, G3), (SAMPLING, G3), (SORT_16, G2))
"""Stages of table 4, and the sled of each."""

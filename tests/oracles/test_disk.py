"""Service times of a disk without a buffer, from docs/device.md and Ruemmler and Wilkes 1994.

A disk is at a cylinder and a head, and its platters turn with the simulated time. An access waits for the
overhead, for the longer of seek and head switch, before a write for settling, and for its first sector; every
further track costs a movement and another wait.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.oracles.experiments import Request, generators, random_experiments, simulate

BASE = "mobile-disk"
ROUNDING_NS = 8


@dataclass
class Track:
    """Where a block lies."""

    cylinder: int
    head: int
    sector: int
    sectors: int
    start: int
    """Offset of the first sector of the track from the index mark, in sectors."""


@dataclass
class Disk:
    """A disk; times in ns."""

    params: dict[str, Any]
    at: tuple[int, int] = (0, 0)
    curve: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        cylinders = sum(zone["cylinders"] for zone in self.params["zones"])
        distances = (1, (cylinders - 1) / 3, cylinders - 1)
        times = [self.params[f"{name}_seek_ms"] for name in ("single_cylinder", "average", "full_stroke")]
        self.curve = tuple(np.linalg.solve([[1, math.sqrt(d), d] for d in distances], times))
        self.turn_ns = 60e9 / self.params["rpm"]

    def track(self, block: int) -> Track:
        heads = self.params["heads"]
        for zone in self.params["zones"]:
            sectors = zone["sectors_per_track"]
            in_zone = zone["cylinders"] * heads * sectors
            if block < in_zone:
                break
            block -= in_zone
        number, sector = divmod(block, sectors)
        cylinder, order = divmod(number, heads)
        skew = cylinder * ((heads - 1) * zone["track_skew_sectors"] + zone["cylinder_skew_sectors"])
        start = zone["first_sector_offset"] + skew + order * zone["track_skew_sectors"]
        # The first cylinder of every zone is not reversed.
        is_reversed = self.params["lbn_order"] == "serpentine" and cylinder % 2
        head = heads - 1 - order if is_reversed else order
        return Track(zone["first_cylinder"] + cylinder, head, sector, sectors, start)

    def move_ns(self, to: tuple[int, int], *, writes: bool) -> float:
        """Seek or head switch, and settling after it."""
        if to == self.at:
            return 0.0
        distance = abs(to[0] - self.at[0])
        a, b, c = self.curve
        seek_ms = a + b * math.sqrt(distance) + c * distance if distance else 0.0
        switch_ms = self.params["head_switch_ms"] if to[1] != self.at[1] else 0.0
        settle_ms = self.params["write_settle_ms"] if writes else 0.0
        return (max(seek_ms, switch_ms) + settle_ms) * 1e6

    def end_ns(self, start_ns: float, request: Request) -> tuple[float, float]:
        """End of a request that begins to be served at a time, and how close it came to missing a sector."""
        now, margin = start_ns + self.params["command_overhead_ms"] * 1e6, math.inf
        block, left = request.lbn, request.blocks
        while left:
            track = self.track(block)
            count = min(left, track.sectors - track.sector)
            now += self.move_ns((track.cylinder, track.head), writes=request.op == "W")
            self.at = (track.cylinder, track.head)
            begin = (track.start + track.sector) / track.sectors * self.turn_ns
            wait = (begin - now) % self.turn_ns
            margin = min(margin, wait, self.turn_ns - wait)
            now += wait + count / track.sectors * self.turn_ns / self.params["media_speedup"]
            block, left = block + count, left - count
        return now, margin


def random_disk(generator: random.Random) -> dict[str, Any]:
    zones, first = [], 0
    for _ in range(generator.randint(1, 4)):
        cylinders, sectors = generator.randint(20, 400), generator.randint(20, 300)
        zones.append(
            {
                "first_cylinder": first,
                "cylinders": cylinders,
                "sectors_per_track": sectors,
                "track_skew_sectors": generator.randrange(sectors),
                "cylinder_skew_sectors": generator.randrange(sectors),
                "first_sector_offset": generator.randrange(sectors),
            }
        )
        first += cylinders
    single = generator.uniform(0.5, 2)
    average = single + generator.uniform(2, 5)
    drawn = {
        "zones": zones,
        "heads": generator.randint(1, 8),
        "rpm": generator.choice([3600, 5400, 7200, 10000, 15000]),
        "lbn_order": generator.choice(["normal", "serpentine"]),
        "single_cylinder_seek_ms": single,
        "average_seek_ms": average,
        "full_stroke_seek_ms": average + generator.uniform(0.8, 1.2) * (average - single),
        "head_switch_ms": generator.uniform(0, 3),
        "write_settle_ms": generator.uniform(0, 1),
        "command_overhead_ms": generator.uniform(0, 1),
        "media_speedup": generator.choice([1.0, 2.0]),
    }
    return {f"device.{key}": value for key, value in drawn.items()}


def random_requests(generator: random.Random, capacity: int) -> list[Request]:
    requests, lbn, time_us = [], 0, 0
    for _ in range(40):
        near = lbn + generator.choice([0, 1, 8, 300])
        lbn = min(generator.choice([near, generator.randrange(capacity)]), capacity - 1000)
        time_us += generator.randint(0, 40_000)
        blocks = generator.choice([1, 1, 8, 64, 1000])
        requests.append(Request(time_us, generator.choice("RW"), lbn, blocks))
    return requests


@random_experiments(quick=60, slow=1000)
def test_requests_end_when_the_definition_says(seeds):
    for generator in generators(seeds):
        settings = random_disk(generator)
        heads = settings["device.heads"]
        capacity = sum(z["cylinders"] * z["sectors_per_track"] for z in settings["device.zones"]) * heads
        requests = random_requests(generator, capacity)
        result = simulate(requests, BASE, power="never", settings=settings)
        disk = Disk(result.summary["config"]["device"])
        for request, row in zip(requests, result.requests.sort("id").to_dicts(), strict=True):
            track = disk.track(request.lbn)
            move_ns = disk.move_ns((track.cylinder, track.head), writes=request.op == "W")
            assert row["seek_x_ns"] + row["settle_ns"] == pytest.approx(move_ns, abs=2), request
            end_ns, margin_ns = disk.end_ns(row["start_ns"], request)
            apart_ns = row["completion_ns"] - end_ns
            # A sector that begins within nanoseconds of the end of a movement may take another revolution.
            turns = round(apart_ns / disk.turn_ns) if margin_ns < ROUNDING_NS else 0
            rounding_ns = ROUNDING_NS + request.blocks // 20
            assert apart_ns - turns * disk.turn_ns == pytest.approx(0, abs=rounding_ns), request

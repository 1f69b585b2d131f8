"""Disk models compared with measurements of their drives, and the effect of their hosts' overheads.

`python -m validation.sections.drives NAME` fits the host of a drive to its measured stream, and to each half.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells

from ..reference import REFERENCE
from ..results import PROJECT
from ..simulator import Times, demerit_ms, parameters, replay_measured
from .section import ValidationSection

DISKS = REFERENCE.root / "disks"
MISSING_MESSAGE = f"no measured drives in {DISKS} (set SLEDLAB_REFERENCE)"
HOSTS = PROJECT / "presets" / "hosts"

DRIVES = {
    "atlas-10k": "atlas10k",
    "atlas-iii": "atlas_III",
    "barracuda": "barracuda",
    "cheetah-4lp": "cheetah4LP",
    "cheetah-9lp": "cheetah9LP",
    "ibm-18es": "ibm18es",
    "hp-c2247a": "hp_c2247a",
    "hp-c2490a": "hp_c2490a",
    "hp-c3323a": "hp_c3323a",
    "dec-rz26": "dec_rz26",
    "seagate-st41601n": "st41601n",
}
"""Presets, and the names of their drives in the data."""


def is_present() -> bool:
    """Return whether the measured streams exist."""
    return (DISKS / "validate" / "measured").is_dir()


def stream(drive: str) -> Path:
    """Return the file of requests measured on a drive."""
    return DISKS / "validate" / "measured" / f"{DRIVES[drive]}.trace.gz"


class Host(NamedTuple):
    """Overheads of a measuring host, in us: for commands by kind, and for a sector on the bus."""

    read_hit: float = 0.0
    read_miss: float = 0.0
    write: float = 0.0
    bus: float = 0.0
    bus_write: float = 0.0


@cache
def published_bus(drive: str) -> tuple[float, float]:
    """Return the published bus time of a sector on the measuring host in us, for reads and writes."""
    bus = json.loads((DISKS / "drives" / f"{DRIVES[drive]}.json").read_text())["bus"]
    return bus["effective_read_sector_transfer_us"], bus["effective_write_sector_transfer_us"]


@cache
def preset_host(drive: str) -> Host:
    """Return the host of a drive in sledlab's preset, relative to the published bus."""
    host = tomllib.loads((HOSTS / f"{drive}.toml").read_text(encoding="utf-8"))
    bus, bus_write = published_bus(drive)
    return Host(
        host["read_hit_us"],
        host["read_miss_us"],
        host["write_us"],
        round(host["bus_sector_us"] - bus, 6),
        round(host["bus_write_sector_us"] - bus_write, 6),
    )


@cache
def replay(drive: str, host: Host) -> tuple[Times, Times]:
    """Return measured and simulated service times in ns."""
    drive_parameters = parameters(drive)
    overheads = {"read_hit": host.read_hit, "read_miss": host.read_miss, "write": host.write}
    changes = {
        key: max(0.0, value + overhead)
        for key, value in drive_parameters.items()
        for kind, overhead in overheads.items()
        if key.startswith(f"{kind}_") and "_after_" in key
    }
    changes["extra_disconnect_command_us"] = max(
        0.0, drive_parameters["extra_disconnect_command_us"] + host.write
    )
    bus, bus_write = published_bus(drive)
    changes |= {"bus_sector_us": bus + host.bus, "bus_write_sector_us": bus_write + host.bus_write}
    return replay_measured(drive, stream(drive), changes)


def demerit(drive: str, host: Host, part: slice = slice(None)) -> float:
    """Return the demerit figure of a drive on a host, over a part of its stream, in ms."""
    measured_ns, simulated_ns = replay(drive, host)
    return demerit_ms(measured_ns[part].tolist(), simulated_ns[part].tolist())


@dataclass(frozen=True)
class RecordedStream:
    """The reference simulator's service times of a stream."""

    measured_ns: list[int]
    simulated_ns: list[int]

    def demerit(self, part: slice = slice(None)) -> float:
        """Return the demerit figure over a part of the stream, in ms."""
        return demerit_ms(self.measured_ns[part], self.simulated_ns[part])


@cache
def recorded_rows(drive: str) -> list[dict[str, str]]:
    """Return the requests of a stream, as the reference simulator served them."""
    with gzip.open(DISKS / "validate" / "disksim" / f"{DRIVES[drive]}.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


@cache
def recorded_stream(drive: str) -> RecordedStream:
    """Return the reference simulator's service times of the same requests."""
    rows = recorded_rows(drive)
    times_ns = [
        [round(float(row[f"{kind}_service_ms"]) * 1e6) for row in rows] for kind in ("measured", "sim")
    ]
    return RecordedStream(*times_ns)


@cache
def recorded_hits_ms(drive: str, blocks: int) -> list[float]:
    """Return the reference simulator's service times of reads of `blocks` from the buffer, after a read.

    A read of another size takes longer by the bus time of its further sectors.
    """
    bus_us, _ = published_bus(drive)
    return [
        float(row["sim_service_ms"]) - (int(row["blocks"]) - blocks) * bus_us / 1e3
        for previous, row in pairwise(recorded_rows(drive))
        if previous["rw"] == row["rw"] == "R" and row["cache_outcome"] == "FULL"
    ]


def halves(drive: str) -> tuple[slice, slice]:
    """Return the first and the second half of a stream."""
    middle = len(recorded_stream(drive).measured_ns) // 2
    return slice(None, middle), slice(middle, None)


STEPS = (100.0, 100.0, 100.0, 4.0, 4.0)
MIN_STEP = 20.0


def fit(drive: str, part: slice = slice(None)) -> Host:
    """Return the host with the smallest demerit figure over a part of a stream, by coordinate descent.

    The objective is the mean demerit figure of the quarters of the part, so that errors in different quarters
    cannot compensate each other.
    """

    def cost(host: Host) -> float:
        measured_ns, simulated_ns = (times[part] for times in replay(drive, host))
        quarters = zip(np.array_split(measured_ns, 4), np.array_split(simulated_ns, 4), strict=True)
        return sum(demerit_ms(a.tolist(), b.tolist()) for a, b in quarters) / 4

    host, steps = Host(), np.array(STEPS)
    lowest_cost = cost(host)
    while steps[0] > MIN_STEP:
        has_improved = False
        for i, step in enumerate(steps):
            for change in (step, -step):
                candidate = Host(*(value + change * (i == j) for j, value in enumerate(host)))
                candidate_cost = cost(candidate)
                if candidate_cost < lowest_cost - 1e-5:
                    host, lowest_cost, has_improved = candidate, candidate_cost, True
                    break
        if not has_improved:
            steps = steps / 2
    return host


@dataclass(frozen=True)
class Demerit:
    """Demerit figures in ms, over the whole stream and over its halves."""

    whole: float
    first: float
    second: float


@dataclass(frozen=True)
class Drive:
    """A drive: service times in ms, and demerit figures."""

    drive: str
    requests: int
    measured_ms: float
    simulated_ms: float
    reference: Demerit
    published_host: float
    fitted_host: Demerit
    second_by_first: float
    """Demerit figure over the second half, with a host that was fitted to the first."""
    first_by_second: float


def measure() -> tuple[Drive, ...]:
    """Compare all drives; the fits to halves take most of the time."""
    return tuple(_drive(drive) for drive in DRIVES)


def _drive(drive: str) -> Drive:
    parts = (slice(None), *halves(drive))
    _, first_half, second_half = parts
    host = preset_host(drive)
    measured_ns, simulated_ns = replay(drive, host)
    return Drive(
        drive,
        len(measured_ns),
        float(measured_ns.mean()) / 1e6,
        float(simulated_ns.mean()) / 1e6,
        Demerit(*(recorded_stream(drive).demerit(part) for part in parts)),
        demerit(drive, Host()),
        Demerit(*(demerit(drive, host, part) for part in parts)),
        demerit(drive, fit(drive, first_half), second_half),
        demerit(drive, fit(drive, second_half), first_half),
    )


def _template_values(drives: tuple[Drive, ...]) -> dict[str, object]:
    head = "drive | requests | measured, ms | sledlab, ms | reference | published host | fitted host"
    row_format = "`{0.drive}` | {0.requests:,} | {0.measured_ms:.2f} | {0.simulated_ms:.2f}"
    row_format += " | {0.reference.whole:.3f} | {0.published_host:.3f} | {0.fitted_host.whole:.3f}"
    for demerit_name in ("fitted_host", "reference"):
        row_format += f" | {{0.{demerit_name}.first:.3f}} / {{0.{demerit_name}.second:.3f}}"
    cross_format = (
        "`{0.drive}` | {0.second_by_first:.3f} | {0.reference.second:.3f} | {0.first_by_second:.3f} | "
        "{0.reference.first:.3f}"
    )
    better = sum(
        (drive.second_by_first < drive.reference.second) + (drive.first_by_second < drive.reference.first)
        for drive in drives
    )
    sides = "second half, fitted to the first | reference | first half, fitted to the second"
    return {
        "demerits": table(
            f"{head} | by halves | reference by halves", [cells(row_format, drive) for drive in drives]
        ),
        "better": better,
        "cases": 2 * len(drives),
        "crossed": table(f"drive | {sides} | reference", [cells(cross_format, drive) for drive in drives]),
    }


def _short_measurement() -> list[float]:
    """Return the mean simulated service time of each drive, in ns, without fitting its host."""
    return [float(replay(drive, preset_host(drive))[1].mean()) for drive in DRIVES]


SECTION = ValidationSection("drives", tuple[Drive, ...], measure, _template_values, _short_measurement)


def main() -> int:
    """Print the hosts fitted to the whole stream and to its halves."""
    for drive in sys.argv[1:] or DRIVES:
        first_half, second_half = halves(drive)
        print(f"{drive}: shipped {preset_host(drive)}, whole stream {fit(drive)}")
        for name, fitted_half, other_half in (
            ("first", first_half, second_half),
            ("second", second_half, first_half),
        ):
            host = fit(drive, fitted_half)
            print(
                f"  fitted to the {name} half: {host}; other half {demerit(drive, host, other_half):.4f} ms, "
                f"{demerit(drive, Host(), other_half):.4f} without, "
                f"reference {recorded_stream(drive).demerit(other_half):.4f}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Controllers of five drives in 129 scenarios, compared with recorded runs of the reference simulator.

The drives have its settings, except for the sector under the head: as published, and as in the presets.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
import sledlab as sl
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells

from ..reference import BUNDLED
from .disk_scenarios import FAMILIES, Scenario
from .section import ValidationSection

RECORDED = BUNDLED.root / "scenarios.csv.gz"

BUSES = ("fast", "published")
"""The bus of the presets, and that of the host on which a drive was measured."""

REFERENCE_SETTINGS = {
    "appended_writes": "separate",
    "zero_latency_reads": False,
    "writes_empty_segments": True,
}
"""Settings in which presets deviate from the reference simulator."""

CAUSES = {
    "sequential reads of 64 KB": "unread sectors",
    "reads of buffered blocks": "overhead",
    "reads of partly buffered blocks": "overhead",
    "backward reads": "overhead",
    "reads every 500 blocks": "overhead",
    "two read streams": "kept sector",
    "five read streams": "kept sector, overhead",
    "a read and a write stream": "write-back, kept sector",
    "write, read the same page": "write-back",
    "write, read the same page and more": "write-back",
    "write, read next to it": "overhead",
    "read, write ahead of it, read there": "write-back, overwritten blocks",
    "ten writes, then their reads": "write-back",
    "random reads of a track": "two segments, overhead, kept sector",
    "random reads and writes of a track": "write-back, two segments, overwritten blocks, kept sector",
    "reads of the end of a track and behind it": "overhead",
    "reads of 16 blocks over borders": "awaited sector",
    "writes of 200 blocks over borders": "large writes",
    "writes of 700 blocks over borders": "large writes",
    "random mix, whole disk": "large writes",
    "random mix, 2,000 blocks": "write-back, overwritten blocks, overhead",
}
"""Causes of differences, as the text names them, by family."""


@dataclass(frozen=True)
class ScenarioRun:
    """A scenario on a drive, and its service times in the reference simulator."""

    scenario: Scenario
    drive: str
    bus: str
    keeps_sector_under_head: bool
    service_us: tuple[float, ...]


@cache
def recorded_runs() -> tuple[ScenarioRun, ...]:
    """Return the recorded runs of all scenarios."""
    with gzip.open(RECORDED, "rt", encoding="utf-8", newline="") as file:
        return tuple(
            ScenarioRun(
                Scenario(row["family"], int(row["gap_us"])),
                row["drive"],
                row["bus"],
                row["keeps_sector_under_head"] == "true",
                tuple(map(float, row["service_us"].split())),
            )
            for row in csv.DictReader(file)
        )


def replay(run: ScenarioRun) -> npt.NDArray[np.float64]:
    """Return the service times of the requests in us."""
    requests = run.scenario.requests(run.drive)
    trace = sl.trace(
        {
            "time_us": [0] * len(requests),
            "op": [request.op for request in requests],
            "offset_bytes": [512 * request.block for request in requests],
            "length_bytes": [512 * request.blocks for request in requests],
        }
    )
    device = sl.device(
        run.drive,
        host=f"{run.drive}-disksim" if run.bus == "published" else "none",
        keeps_sector_under_head=run.keeps_sector_under_head,
        **REFERENCE_SETTINGS,
    )
    gap_us = run.scenario.gap_us
    result = sl.simulate(
        trace, device, replay=f"closed:1:{gap_us}us" if gap_us else "closed:1", requests=True
    )
    return result.requests.sort("id")["response_ns"].to_numpy() / 1e3


@dataclass(frozen=True)
class RunComparison:
    """Requests of a run, those with another service time, and the sums of service times in us."""

    requests: int
    different: int
    recorded_us: float
    ours_us: float


@cache
def comparison(run: ScenarioRun) -> RunComparison:
    """Replay a run. A service time differs by more than 1 % (at least 1 us) or by more than 50 us."""
    recorded_us, ours_us = np.array(run.service_us), replay(run)
    tolerance_us = np.clip(0.01 * recorded_us, 1, 50)
    different = int(np.sum(np.abs(ours_us - recorded_us) > tolerance_us))
    return RunComparison(len(ours_us), different, float(recorded_us.sum()), float(ours_us.sum()))


@dataclass(frozen=True)
class FamilyRow(RunComparison):
    """All runs of a family with one bus and one treatment of the sector under the head."""

    family: str
    bus: str
    keeps_sector_under_head: bool

    @property
    def deviation(self) -> float:
        """Relative deviation of the mean service time."""
        return self.ours_us / self.recorded_us - 1


def family_rows(runs: Iterable[ScenarioRun]) -> tuple[FamilyRow, ...]:
    """Return the sums over the runs of each family."""
    groups: dict[tuple[str, str, bool], list[RunComparison]] = {}
    for run in runs:
        key = run.scenario.family, run.bus, run.keeps_sector_under_head
        groups.setdefault(key, []).append(comparison(run))
    return tuple(
        FamilyRow(
            sum(part.requests for part in parts),
            sum(part.different for part in parts),
            sum(part.recorded_us for part in parts),
            sum(part.ours_us for part in parts),
            *key,
        )
        for key, parts in groups.items()
    )


def sample() -> tuple[ScenarioRun, ...]:
    """Return a sample of the runs, on all drives and buses."""
    return recorded_runs()[::29]


def measure() -> tuple[FamilyRow, ...]:
    """Replay all runs."""
    return family_rows(recorded_runs())


def _short_measurement() -> tuple[FamilyRow, ...]:
    """Replay a sample of the runs."""
    return family_rows(sample())


def _template_values(rows: tuple[FamilyRow, ...]) -> dict[str, object]:
    by_key = {(row.family, row.bus, row.keeps_sector_under_head): row for row in rows}
    variants = [(bus, keeps_sector) for keeps_sector in (False, True) for bus in BUSES]
    table_rows = []
    for family in FAMILIES:
        family_parts = [by_key[family, *variant] for variant in variants]
        results = [cell for part in family_parts for cell in cells("{0.different} | {0.deviation:+%1}", part)]
        table_rows.append([family, f"{family_parts[0].requests:,}", *results, CAUSES.get(family, "")])
    columns = "fast bus: differ | mean, % | published bus: differ | mean, %"
    return {
        "scenarios": len({run.scenario for run in recorded_runs()}),
        "requests": f"{sum(row.requests for row in rows):,}",
        "different": f"{sum(row.different for row in rows):,}",
        "families": table(f"family | requests | {columns} | kept: {columns} | causes", table_rows),
    }


SECTION = ValidationSection(
    "disk_controllers", tuple[FamilyRow, ...], measure, _template_values, _short_measurement
)

"""A job on a relation in the tabular placement (section 2.2.2; Yu, Agrawal and El Abbadi 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..claims import Judgment, judge_criterion
from ..markdown import table
from ..runs import PlannedExperiment
from ..wording import cells, number_table
from . import relation
from .future_work import COMPONENT_NAMES
from .future_work_plan import Replay
from .plan import SmartRuns, StageTimes, read_rows

EXPERIMENT = "chiu2004-tabular"
JOB = str(Path(relation.__file__))
DEVICE = "mems-g2"
TABULAR = f"{DEVICE}:layout=tabular"
"""Names of devices in tables of results."""

MAX_LOSS = 0.05
"""Relative difference of the time of whole tuples that counts as none."""


def _planned_scan(store: str, needed: int, *devices: str) -> PlannedExperiment:
    settings = (f"store={store}", f"needed={needed}", f"records={relation.RECORDS}")
    options = (word for setting in settings for word in ("--job-set", setting))
    return PlannedExperiment(
        EXPERIMENT,
        ("--job", JOB, *options, "--device", ",".join(devices)),
        f"-{store}-{needed}",
        f"`{EXPERIMENT}`, {store}, {needed} of {relation.ATTRIBUTES} attributes",
    )


ROWS, ONE, ALL = PLACEMENTS = (
    _planned_scan("rows", 1, DEVICE),
    _planned_scan("columns", 1, DEVICE, TABULAR),
    _planned_scan("columns", relation.ATTRIBUTES, DEVICE, TABULAR),
)
"""Whole tuples, which take the same time whatever a job needs of them; one attribute; all attributes."""


@dataclass(frozen=True)
class ScanTime:
    """Times of a scan in s, those of the store and the processor on the node that works longest."""

    elapsed_s: float
    store_s: float
    compute_s: float
    bottleneck: str
    """The component that saves most time if it is twice as fast."""


def scan_time(runs: SmartRuns, planned: PlannedExperiment, device: str) -> ScanTime:
    """The times of a scan on a device."""
    place = runs.directory / planned.place
    phases = read_rows(place / "phases.csv", StageTimes, has_device_settings=True)
    replays = read_rows(place / "runs.csv", Replay, has_device_settings=True)
    scan = next(row for row in phases if row.device == device)
    replay = next(row for row in replays if row.device == device)
    return ScanTime(
        scan.elapsed_s,
        scan.longest_store_s,
        scan.longest_compute_s,
        COMPONENT_NAMES[replay.bottleneck],
    )


def c_53(runs: SmartRuns) -> Judgment:
    """Time of the store for one attribute and for all, in the tabular placement and in columns."""
    rows = scan_time(runs, ROWS, DEVICE)
    one_attribute, columns = (scan_time(runs, ONE, device) for device in (TABULAR, DEVICE))
    all_attributes = scan_time(runs, ALL, TABULAR)
    is_halved = one_attribute.store_s < rows.store_s / 2
    is_as_fast = all_attributes.store_s <= (1 + MAX_LOSS) * rows.store_s
    table_rows = [
        cells("{} | {:figure} | {:figure} | {}", name, scan.elapsed_s, scan.store_s, scan.bottleneck)
        for name, scan in scan_times(runs).items()
    ]
    judgment = judge_criterion(is_halved and is_as_fast, is_halved).with_tables(
        number_table("Scans on 4 nodes", "scan of | takes (s) | store (s) | bottleneck", table_rows)
    )
    return judgment.with_numbers(
        store=one_attribute.store_s / rows.store_s - 1,
        column_store=columns.store_s / rows.store_s - 1,
        over_columns=one_attribute.store_s / columns.store_s - 1,
        every=all_attributes.store_s / rows.store_s - 1,
        attributes=relation.ATTRIBUTES,
    )


def scan_times(runs: SmartRuns) -> dict[str, ScanTime]:
    """The times of all scans, by what is scanned."""
    return {
        "whole tuples": scan_time(runs, ROWS, DEVICE),
        "columns, one attribute": scan_time(runs, ONE, DEVICE),
        "tabular, one attribute": scan_time(runs, ONE, TABULAR),
        "columns, all attributes": scan_time(runs, ALL, DEVICE),
        "tabular, all attributes": scan_time(runs, ALL, TABULAR),
    }


def placement_table(runs: SmartRuns) -> str:
    """Times of the scans."""
    rows = [
        cells(
            "{} | {:figure} | {:figure} | {:figure} | {}",
            name,
            scan.elapsed_s,
            scan.store_s,
            scan.compute_s,
            scan.bottleneck,
        )
        for name, scan in scan_times(runs).items()
    ]
    return table("scan of | takes (s) | store (s) | processor (s) | bottleneck", rows)

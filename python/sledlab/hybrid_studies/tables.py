"""From runs to tables: means over the seeds, and what they are against disk and MEMS."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledlab.comparison.statistics import half_width
from sledlab.hybrid_studies.configurations import ALL, DISK, KNOWN, MEMS, NONE
from sledlab.hybrid_studies.measuring import TRAFFIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sledlab.hybrid_studies.plan import Case, Plan, Point

Row = dict[str, Any]

NAMES = ("configurations", "techniques", "sizes", "traffic", "replacement", "hits", "prices")
"""The tables of a study, in the order of the report."""

MEANS = (
    "requests",
    "elapsed_s",
    "mean_ms",
    "p50_ms",
    "p95_ms",
    "p99_ms",
    "read_ms",
    "write_ms",
    "energy_j",
    "cache_read_hits",
    "mems_read_hits",
    "mems_write_hits",
    "superseded",
    "live_share",
)
"""Columns of which a row has the mean over the seeds; none where no run has it."""


def tables(plan: Plan, found: Mapping[Point, Row]) -> dict[str, list[Row]]:
    """All tables as plain rows."""
    sections: dict[str, list[Row]] = {name: [] for name in NAMES}
    for case in plan.cases:
        runs = [found[point] for point in plan.points_of(case)]
        sections[case.section].append(_averaged(case, runs))
        if case.section == "configurations":
            sections["traffic"] += _traffic(case, runs)
    configurations = [
        _against_baselines(row, sections["configurations"]) for row in sections["configurations"]
    ]
    return sections | {
        "configurations": configurations,
        "techniques": _techniques(configurations),
        "hits": _hits(plan),
        "prices": _prices(sections["prices"]),
    }


def _averaged(case: Case, runs: Sequence[Row]) -> Row:
    """The means over the seeds of one row.

    With one seed the interval of the mean response is that of the run by batch means.
    """
    row: Row = {**dict(case.labels), "seeds": len(runs)}
    row |= {name: mean([run[name] for run in runs]) for name in MEANS}
    row["mean_ci95_ms"] = (
        runs[0]["mean_ci95_ms"] if len(runs) == 1 else half_width([run["mean_ms"] for run in runs])
    )
    row["saturated"] = any(run["saturated"] for run in runs)
    return row


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that there are.

    Example:
        >>> mean([1.0, None, 2.0]), mean([None])
        (1.5, None)
    """
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _against_baselines(row: Row, rows: Sequence[Row]) -> Row:
    """A row with how much faster than the disk it is, and what share of MEMS' speed it has (MT-11)."""
    means = {each["configuration"]: each["mean_ms"] for each in rows}
    disk, mems = means.get(DISK), means.get(MEMS)
    return row | {
        "label": KNOWN[row["configuration"]].label,
        "faster_than_disk": disk / row["mean_ms"] if disk else None,
        "share_of_mems": mems / row["mean_ms"] if mems else None,
    }


def _techniques(rows: Sequence[Row]) -> list[Row]:
    """The caching disk with no technique, each alone and all, against none of them (AN-04)."""
    mine = [row for row in rows if KNOWN[row["configuration"]].hybrid == "caching-disk"]
    none = next((row["mean_ms"] for row in mine if row["configuration"] == NONE), None)
    if none is None or len(mine) < 2:
        return []
    columns = ("configuration", "label", "mean_ms", "p99_ms", "read_ms", "write_ms", "saturated")
    return [{name: row[name] for name in columns} | {"saved": 1 - row["mean_ms"] / none} for row in mine]


def _traffic(case: Case, runs: Sequence[Row]) -> list[Row]:
    """What each device was asked for, one row for each (MT-12)."""
    out = []
    for device in runs[0]["traffic"]:
        means = {name: mean([run["traffic"][device][name] for run in runs]) or 0.0 for name in TRAFFIC}
        sizes = {
            "read_kb": _kilobytes(means["read_mb"], means["reads"]),
            "write_kb": _kilobytes(means["written_mb"], means["writes"]),
        }
        name = dict(case.labels)["configuration"]
        out.append({"configuration": name, "label": KNOWN[name].label, "device": device, **means, **sizes})
    return out


def _kilobytes(megabytes: float, accesses: float) -> float | None:
    """Mean size in 1024 bytes."""
    return megabytes * 1e6 / 1024 / accesses if accesses else None


def _hits(plan: Plan) -> list[Row]:
    """What the policies would find in the trace, and the bound of Belady, a row each (MT-10)."""
    if len(plan.replacement) < 2:
        return []
    from sledlab.hits import hit_ratios
    from sledlab.hybrid_studies.plan import BELADY

    segments = room(plan, plan.at_mb, plan.at_segment_kb)
    found = hit_ratios(
        plan.trace,
        policies=(*plan.replacement, BELADY),
        cache_mb=[(segments + 0.5) * plan.at_segment_kb * 1024 / 1e6],
        segment_kb=plan.at_segment_kb,
    )
    return found.frame.drop("cache_mb").to_dicts()


def room(plan: Plan, mb: float, segment_kb: int) -> int:
    """Segments that so much MEMS holds, each with its header."""
    header_kb = int(plan.extras.get("header_blocks", "1")) / 2
    return int(mb * 1024 / (segment_kb + header_kb))


def _prices(rows: Sequence[Row]) -> list[Row]:
    """Memory of equal cost against the caching disk (AN-06)."""
    base = next((row for row in rows if row["configuration"] == ALL), None)
    if base is None:
        return []
    return [
        {
            **row,
            "mcd_ms": base["mean_ms"],
            "mcd_saturated": base["saturated"],
            "mcd_faster": row["mean_ms"] / base["mean_ms"],
        }
        for row in rows
        if row is not base
    ]

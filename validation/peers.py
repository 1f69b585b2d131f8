"""Write docs/peers.md: other simulators that sledlab was compared with.

Its numbers are those of docs/validation.md and of the benchmarks, except for those measured once, which
the template names with their versions.
"""

from __future__ import annotations

import json

from .markdown import find_section, table_rows
from .page import DOCUMENTS, fill, write
from .results import VALIDATION

PAGE = "peers.md"

OTHER_RULES = ("knowledge", "stale angle")
"""Reasons in the table of open arrivals for runs in which both simulators follow other rules."""

Row = dict[str, str]


def page(validation_page: str) -> str:
    """Return the page, from docs/validation.md and the files of the benchmarks."""

    def rows(title: str, column: str) -> list[Row]:
        return table_rows(find_section(validation_page, f"## {title}") or "", column)

    sleds = rows("Agreement with the reference simulator, request by request", "family")
    same_bus = [row for row in sleds if "exclusive" not in row["what"]]
    other_bus = [row for row in sleds if "exclusive" in row["what"]]
    open_runs = rows("Disks under open arrivals", "recorded run")
    same_rules = [row for row in open_runs if row["reason"] not in OTHER_RULES]
    drives = rows("Disks against real drives", "published host")
    better = [row for row in drives if _number(row["fitted host"]) < _number(row["reference"])]
    arrays = [row for row in rows("Arrays of disks on one bus", "array") if "shared" in row["bus"]]
    flash = rows("Flash against MQSim", "run")
    collected = [row for row in flash if "write amplification, MQSim" in row]
    return fill(
        "peers.md",
        sled_runs=sum(int(_number(row["runs"])) for row in sleds),
        sled_requests=f"{sum(int(_number(row['requests'])) for row in sleds):,}",
        sled_mean=f"{_largest(same_bus, 'mean, %'):.2f}",
        other_bus_mean=f"{_largest(other_bus, 'mean, %'):.2f}",
        open_runs=len(same_rules),
        open_mean=f"{_largest(same_rules, 'deviation, %'):.1f}",
        other_rules=len(open_runs) - len(same_rules),
        array_mean=f"{_largest(arrays, 'deviation, %'):.1f}",
        drives=len(drives),
        better_drives=len(better),
        flash_runs=len(flash),
        flash_load=f"{_largest(flash, 'load, %'):.0f}",
        empty_ratio=f"{100 * _farthest([row for row in flash if row not in collected]):.1f}",
        collected_ratio=f"{100 * _farthest(collected):.1f}",
        file_rate=_rate("results", "FCFS from a DiskSim ascii file"),
        flash_rate=_rate("results", "FCFS from memory, flash ssd-tlc, mixed"),
        lru_rate=_rate("plug_ins", "cache under `lru`"),
    )


def _number(cell: str) -> float:
    return float(cell.replace(",", ""))


def _largest(rows: list[Row], column: str) -> float:
    return max(abs(_number(row[column])) for row in rows)


def _farthest(rows: list[Row]) -> float:
    return max(abs(_number(row["ratio"]) - 1) for row in rows)


def _rate(benchmark: str, what: str) -> str:
    """Return a measured rate, in millions a second."""
    text = (VALIDATION / "benches" / f"{benchmark}.json").read_text(encoding="utf-8")
    value: float = next(row["value"] for row in json.loads(text)["rows"] if row["what"] == what)
    return f"{value:.2g}"


def write_page() -> None:
    """Write the page."""
    write(page((DOCUMENTS / "validation.md").read_text(encoding="utf-8")), PAGE)

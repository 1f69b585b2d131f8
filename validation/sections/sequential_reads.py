"""Sequential reads with short gaps on five drives, compared with recorded runs of the reference simulator.

A read arrives while read-ahead has its first sector under the head. Whether the read may use that sector
decides whether it waits a revolution (`keeps_sector_under_head`; *Allow almost read hits* of the reference
simulator).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import sledlab as sl
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells

from .section import ValidationSection

RECORDED = Path(__file__).with_suffix(".csv")

REQUESTS = {4: 400, 64: 120}
"""Number of requests of a run, by their size in KB."""


@dataclass(frozen=True)
class SequentialRun:
    """Sequential reads from block 0 on, each issued a gap after the completion of the previous one."""

    drive: str
    keeps_sector_under_head: bool
    kilobytes: int
    gap_us: int
    recorded_mb_per_s: float

    @property
    def name(self) -> str:
        """Drive, switch, size and gap of the run."""
        state_text = "kept" if self.keeps_sector_under_head else "discarded"
        return f"{self.drive}-{state_text}-{self.kilobytes}k-{self.gap_us}us"


@dataclass(frozen=True)
class SequentialRow(SequentialRun):
    """A run and the throughput of its replay."""

    mb_per_s: float

    @property
    def deviation(self) -> float:
        """Relative deviation of the throughput from the recorded one."""
        return self.mb_per_s / self.recorded_mb_per_s - 1


def runs() -> list[SequentialRun]:
    """Return the recorded runs, on the bus of the presets."""
    with RECORDED.open(encoding="utf-8", newline="") as file:
        return [
            SequentialRun(
                row["drive"],
                row["keeps_sector_under_head"] == "true",
                int(row["kilobytes"]),
                int(row["gap_us"]),
                float(row["megabytes_per_s"]),
            )
            for row in csv.DictReader(file)
        ]


@cache
def comparison(run: SequentialRun) -> SequentialRow:
    """Replay a run. The reference simulator does not read on arrival."""
    count, length = REQUESTS[run.kilobytes], run.kilobytes * 1024
    requests = {
        "time_us": [0] * count,
        "op": ["R"] * count,
        "offset_bytes": [length * i for i in range(count)],
        "length_bytes": [length] * count,
    }
    device = sl.device(
        run.drive, keeps_sector_under_head=run.keeps_sector_under_head, zero_latency_reads=False
    )
    replay = f"closed:1:{run.gap_us}us" if run.gap_us else "closed:1"
    result = sl.simulate(sl.trace(requests), device, replay=replay)
    last_ns = int(result.requests["completion_ns"].to_numpy().max())
    return SequentialRow(**vars(run), mb_per_s=count * length / last_ns * 1e3)


def measure() -> tuple[SequentialRow, ...]:
    """Replay all runs."""
    return tuple(comparison(run) for run in runs())


def _template_values(rows_of_runs: tuple[SequentialRow, ...]) -> dict[str, object]:
    throughput_format = "{0.recorded_mb_per_s} | {0.mb_per_s:.2f} | {0.deviation:+%1}"
    run_format = f"`{{0.drive}}` | {{0.kilobytes}} | {{0.gap_us}} | {throughput_format}"
    rows_that_keep = {
        row.name.replace("-kept-", "-discarded-"): row for row in rows_of_runs if row.keeps_sector_under_head
    }
    rows = [
        cells(run_format, row) + cells(throughput_format, rows_that_keep[row.name])
        for row in rows_of_runs
        if not row.keeps_sector_under_head
    ]
    columns = "recorded, MB/s | sledlab, MB/s | deviation, %"
    return {"runs": table(f"drive | KB | gap, us | {columns} | kept: {columns}", rows)}


SECTION = ValidationSection("sequential_reads", tuple[SequentialRow, ...], measure, _template_values)

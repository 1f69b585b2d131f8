"""Flash, compared with recorded runs of MQSim (Tavakkol et al., FAST 2018)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import Any

import sledlab as sl
from sledlab.model.catalog import ModelChoice
from sledlab.study.measure import arrival_rate
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells

from ..reference import ROOT
from .section import ValidationSection

MISSING_MESSAGE = f"no runs of MQSim in {ROOT / 'flash'} (set SLEDLAB_REFERENCE)"

FOLDERS = ("flash", "flash-gc")
"""Folders of recorded runs: on an empty drive, and on one in the steady state of garbage collection."""

DRIVE: dict[str, Any] = {
    "channels": 4,
    "dies_per_channel": 4,
    "blocks_per_die": 512,
    "pages_per_block": 256,
    "page_kb": 16,
    "over_provisioning": 1 / 0.91 - 1,
    "filled": 0.0,
    "queue_depth": 512,
    "read_us": 75.0,
    "program_us": 750.0,
    "erase_us": 3800.0,
    # Two bytes in 6 ns.
    "channel_mb_s": 1e3 / 3,
    # Times of commands, and 4 GB/s, of which a packet of 128 bytes takes 28 bytes more: from MQSim's sources.
    "command_us": 0.1,
    "channel_command_us": 0.29,
    "bus_mb_s": 4000 * 128 / 156,
    "allocation": "CWDP",
    "cache_registers": False,
    "reads_first": True,
    # MQSim reads the old blocks of a page over the channel, but sends only the new ones to the die.
    "copyback": True,
    "startup_ms": 0.0,
    "idle_timeout_ms": 1e9,
}
"""The drive of the runs: `ssdconfig.xml`."""

COLLECTING_DRIVE: dict[str, Any] = {
    "blocks_per_die": 2048,
    "pages_per_block": 32,
    "filled": 1.0,
    "precondition": "random",
    "garbage_collection": "block",
    # Collection begins below 25 erased blocks; one more block is kept for a table of pages.
    "gc_free_blocks": 25,
    "queue_depth": 65_000,
}
"""Differences of the drive in the steady state of garbage collection."""

HIDDEN_SHARES = {"op7": 0.07, "op12": 0.125, "op28": 0.28}
"""Shares of the physical pages that the host does not see, by the word in the name of the run."""

HIGH_LOAD = 0.7
"""Load above which small differences delay many requests."""

AMPLIFICATION_BAND = 0.02
"""Largest deviation of the write amplification that passes the test."""

OUTSTANDING = 4096
"""Requests that are outstanding where the load of saturation is measured: 256 for each die."""


@dataclass(frozen=True)
class FlashRun:
    """A recorded run; times in us."""

    folder: str
    name: str
    mean_us: float
    """Mean response time. MQSim rounds it down to whole microseconds; half of one is added."""
    write_amplification: float | None
    """Pages programmed for each page that the host wrote, where blocks were collected."""

    def device(self, **changes: object) -> ModelChoice:
        """Return the drive of the run, with changes."""
        parameters = dict(DRIVE)
        if self.folder == "flash-gc":
            hidden_share = HIDDEN_SHARES[self.name.split("-")[1]]
            parameters |= {**COLLECTING_DRIVE, "over_provisioning": 1 / (1 - hidden_share) - 1}
        return sl.device("ssd-tlc", **{**parameters, **changes})


@dataclass(frozen=True)
class FlashComparison:
    """Results of a replay and of the recorded run."""

    run: FlashRun
    ours_us: float
    write_amplification: float | None
    load: float
    """Requests that arrive, as a share of those that the drive completes with `OUTSTANDING` outstanding."""

    @property
    def ratio(self) -> float:
        """Mean response time, as a multiple of the recorded one."""
        return self.ours_us / self.run.mean_us

    @property
    def band(self) -> float:
        """Largest deviation of the mean response time that passes the test."""
        is_near_saturation = self.load > HIGH_LOAD
        return 0.05 if is_near_saturation or self.run.folder == "flash-gc" else 0.02

    @property
    def amplification_ratio(self) -> float | None:
        """Write amplification, as a multiple of the recorded one; none where no block was collected."""
        recorded, ours = self.run.write_amplification, self.write_amplification
        return None if recorded is None or ours is None else ours / recorded


def is_present() -> bool:
    """Return whether the recorded runs exist."""
    return all((ROOT / folder / "runs.csv").is_file() for folder in FOLDERS)


def runs() -> list[FlashRun]:
    """Return all recorded runs; none if they are missing."""
    recorded_runs: list[FlashRun] = []
    for folder in FOLDERS if is_present() else ():
        with (ROOT / folder / "runs.csv").open(encoding="utf-8") as file:
            recorded_runs += [_recorded_run(folder, row) for row in csv.DictReader(file)]
    return recorded_runs


def _recorded_run(folder: str, row: dict[str, str]) -> FlashRun:
    amplification = row.get("write_amplification")
    return FlashRun(
        folder, row["trace"], int(row["mean_us"]) + 0.5, float(amplification) if amplification else None
    )


def comparison(run: FlashRun, **changes: object) -> FlashComparison:
    """Replay a run on its drive, with changes, and compare the results."""
    trace = sl.read_trace(ROOT / run.folder / f"{run.name}.csv.zst")
    device = run.device(**changes)
    result, saturated = (
        sl.simulate(trace, device, replay=replay) for replay in ("open", f"closed:{OUTSTANDING}")
    )
    load = arrival_rate(result, trace) / saturated.throughput_iops
    amplification = result.summary["flash"]["write_amplification"]
    return FlashComparison(run, 1000 * result.response_time.mean, amplification, load)


def measure() -> tuple[FlashComparison, ...]:
    """Compare all runs."""
    return tuple(map(comparison, runs()))


def _rows(comparisons: tuple[FlashComparison, ...], folder: str) -> list[list[str]]:
    """Return a row for each run of a folder."""
    row_format = "`{0.run.name}` | {0.load:%0} | {0.run.mean_us:,.1f} | {0.ours_us:,.1f} | {0.ratio:.3f}"
    rows = []
    for row in comparisons:
        if row.run.folder != folder:
            continue
        is_collected = row.run.write_amplification is not None
        amplification = "{0.run.write_amplification:.3f} | {0.write_amplification:.3f}"
        rows.append(cells(f"{row_format} | {amplification}" if is_collected else row_format, row))
    return rows


def _deviation(ratios: list[float]) -> str:
    return f"{100 * max(abs(ratio - 1) for ratio in ratios):.1f}"


def _template_values(comparisons: tuple[FlashComparison, ...]) -> dict[str, object]:
    header = "run | load, % | MQSim, us | sledlab, us | ratio"
    groups = {folder: [row for row in comparisons if row.run.folder == folder] for folder in FOLDERS}
    empty, collected = groups.values()
    return {
        "empty_count": len(empty),
        "empty_deviation": _deviation([row.ratio for row in empty]),
        "collected_count": len(collected),
        "collected_deviation": _deviation([row.ratio for row in collected]),
        "amplification_deviation": _deviation([row.amplification_ratio or 1.0 for row in collected]),
        "empty": table(header, _rows(comparisons, "flash"), word_columns=1),
        "collected": table(
            f"{header} | write amplification, MQSim | sledlab", _rows(comparisons, "flash-gc"), word_columns=1
        ),
    }


def _short_measurement() -> list[FlashComparison]:
    """Return the comparison of a run of each kind."""
    last_runs = {run.name.rpartition("-")[0]: run for run in runs()}
    return [comparison(run) for run in last_runs.values()]


SECTION = ValidationSection(
    "flash", tuple[FlashComparison, ...], measure, _template_values, _short_measurement
)

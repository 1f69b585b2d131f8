"""Claims on all workloads together, and on the setting (abstract; sections 1, 2, 5, 6)."""

from __future__ import annotations

import sledlab as sl

from ..claims import Judgment, judge_criterion, judge_fitted
from ..wording import format_rows
from .plan import SmartRuns
from .published_times import DISK, MEMS

NODES = 32
LINE_ITEMS, TEXT_BYTES, DECIMAL_BYTES, WIDE_BYTES = 6_001_215, 127, 167, 179


def c_08(_: SmartRuns) -> Judgment:
    """A definition."""
    return judge_fitted(holds=True)


def c_43(runs: SmartRuns) -> Judgment:
    """The disk's time over that of MEMS, for every job."""
    ratios_by_job = {}
    for job in ("scan", "join", "sort", "apriori-hd", "mafia"):
        page_kb = 8.0 if job == "mafia" else None
        disk_s = runs.job_time_s(job, NODES, DISK, page_kb)
        ratios_by_job[job] = [disk_s / runs.job_time_s(job, NODES, device, page_kb) for device in MEMS]
    details = format_rows(
        "{0} {1}",
        [(job, ", ".join(f"{ratio:.1f}" for ratio in ratios)) for job, ratios in ratios_by_job.items()],
        "; ",
    )
    return judge_criterion(
        all(ratio > 1 for ratios in ratios_by_job.values() for ratio in ratios)
    ).with_numbers(details=details)


def _judge_recorded_node() -> Judgment:
    config = sl.replay("sample:scan", "mems-g3", what_if=False).config
    node, network = config["node"], config["network"]
    is_exact = (node["mhz"], node["memory_mb"], node["page_kb"], node["system_kb"]) == (500, 64, 8, 450)
    return judge_fitted(is_exact and network["bandwidth_mbit_s"] == 100).with_numbers(node=node)


def c_44(_: SmartRuns) -> Judgment:
    """The memory of the system."""
    return _judge_recorded_node()


def c_45(_: SmartRuns) -> Judgment:
    """The node and the network."""
    return _judge_recorded_node()


def c_46(_: SmartRuns) -> Judgment:
    """Line items in both readings."""
    return judge_fitted(abs(LINE_ITEMS * WIDE_BYTES / 2**30 - 1) < 0.001).with_numbers(
        decimal=DECIMAL_BYTES,
        gb=LINE_ITEMS * DECIMAL_BYTES / 1e9,
        wide=WIDE_BYTES,
        gib=LINE_ITEMS * WIDE_BYTES / 2**30,
        text=LINE_ITEMS * TEXT_BYTES / 1e9,
    )


def c_48(_: SmartRuns) -> Judgment:
    """A remark."""
    return judge_fitted(holds=True)

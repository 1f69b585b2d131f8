"""Claims on all workloads together, and on the setting (abstract; sections 1, 2, 5, 6)."""

from __future__ import annotations

import sledlab as sl

from ..claims import Judgment, judge_criterion, judge_fitted
from ..wording import cells, number_table
from .device_tables import device_table
from .plan import SmartRuns
from .published_times import DISK, MEMS

NODES = 32
LINE_ITEMS, TEXT_BYTES, DECIMAL_BYTES, WIDE_BYTES = 6_001_215, 127, 167, 179


def c_08(_: SmartRuns) -> Judgment:
    """A definition."""
    return judge_fitted(holds=True)


def c_43(runs: SmartRuns) -> Judgment:
    """The disk's time over that of MEMS, for every job and number of nodes."""
    ratios_by_case = {}
    for job in ("scan", "join", "sort", "apriori-hd", "mafia"):
        page_kb = 8.0 if job == "mafia" else None
        for nodes in runs.sizes(job):
            disk_s = runs.job_time_s(job, nodes, DISK, page_kb)
            ratios_by_case[job, nodes] = [
                disk_s / runs.job_time_s(job, nodes, device, page_kb) for device in MEMS
            ]
    all_ratios = [ratio for ratios in ratios_by_case.values() for ratio in ratios]
    ratios_on_most_nodes = {job: ratios for (job, nodes), ratios in ratios_by_case.items() if nodes == NODES}
    title = f"Time on the disk over that on MEMS, {NODES} nodes"
    return (
        judge_criterion(min(all_ratios) > 1)
        .with_tables(device_table(title, "job", ratios_on_most_nodes, "{:.1f}", MEMS))
        .with_numbers(least=min(all_ratios), most=max(all_ratios))
    )


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
    readings = {
        "figures 4, 5 and 7": DECIMAL_BYTES,
        "default of jobs": WIDE_BYTES,
        "text, queries": TEXT_BYTES,
    }
    rows = [
        cells("{} | {} | {:.3f} | {:.3f}", name, width, LINE_ITEMS * width / 1e9, LINE_ITEMS * width / 2**30)
        for name, width in readings.items()
    ]
    sizes = number_table("Size of the line items", "reading | bytes each | GB | GiB", rows)
    judgment = judge_fitted(abs(LINE_ITEMS * WIDE_BYTES / 2**30 - 1) < 0.001).with_tables(sizes)
    return judgment.with_numbers(items=LINE_ITEMS)


def c_48(_: SmartRuns) -> Judgment:
    """A remark."""
    return judge_fitted(holds=True)

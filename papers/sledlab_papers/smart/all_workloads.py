"""Claims on all workloads together, and on the setting (abstract; sections 1, 2, 5, 6)."""

from __future__ import annotations

import sledlab as sl

from ..claims import Judgement, by_construction, judged
from ..wording import each
from .plan import SmartRuns
from .published_times import DISK, MEMS

NODES = 32
LINE_ITEMS, TEXT_BYTES, WIDE_BYTES = 6_001_215, 127, 179


def c_08(_: SmartRuns) -> Judgement:
    """A definition."""
    return by_construction(holds=True)


def c_43(runs: SmartRuns) -> Judgement:
    """The disk's time over that of MEMS, for every job."""
    measured = {}
    for job in ("scan", "join", "sort", "apriori-hd", "mafia"):
        page = 8.0 if job == "mafia" else None
        disk = runs.elapsed(job, NODES, DISK, page)
        measured[job] = [disk / runs.elapsed(job, NODES, device, page) for device in MEMS]
    details = each(
        "{0} {1}", [(job, ", ".join(f"{r:.1f}" for r in ratios)) for job, ratios in measured.items()], "; "
    )
    return judged(all(ratio > 1 for ratios in measured.values() for ratio in ratios)).saying(details=details)


def _recorded() -> Judgement:
    config = sl.replay("sample:scan", "mems-g3", what_if=False).config
    node, network = config["node"], config["network"]
    exact = (node["mhz"], node["memory_mb"], node["page_kb"], node["system_kb"]) == (500, 64, 8, 450)
    return by_construction(exact and network["bandwidth_mbit_s"] == 100).saying(node=node)


def c_44(_: SmartRuns) -> Judgement:
    """The memory of the system."""
    return _recorded()


def c_45(_: SmartRuns) -> Judgement:
    """The node and the network."""
    return _recorded()


def c_46(_: SmartRuns) -> Judgement:
    """Line items in both readings."""
    return by_construction(abs(LINE_ITEMS * WIDE_BYTES / 2**30 - 1) < 0.001).saying(
        wide=WIDE_BYTES, gib=LINE_ITEMS * WIDE_BYTES / 2**30, text=LINE_ITEMS * TEXT_BYTES / 1e9
    )


def c_47(_: SmartRuns) -> Judgement:
    """A bound, tested on small queues whose optimum is known: the test is the measurement."""
    return judged(holds=True)


def c_48(_: SmartRuns) -> Judgement:
    """A remark."""
    return by_construction(holds=True)

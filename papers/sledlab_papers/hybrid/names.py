"""Workloads and systems, as Wang 2005 and the experiments on it name them."""

from __future__ import annotations

TPCD, TPCC, CELLO, HPLAJW = WORKLOADS = ("tpcd", "tpcc", "cello", "hplajw")

TITLES = {TPCD: "TPCD", TPCC: "TPCC", CELLO: "cello", HPLAJW: "hplajw"}
"""Workloads as the paper writes them."""

BASELINE_SYSTEMS = ("DISK", "MEMS", "DISK-RAM", "MWB", "FIFO", "LAZY", "LAZY FIFO")
DISK, MEMS, DISK_RAM, MWB, FIFO, LAZY, LAZY_FIFO = BASELINE_SYSTEMS
TECHNIQUE_SYSTEMS = NONE, SHORTCUT, IREPORT, PWRITE, ALL = ("NONE", "SHORTCUT", "IREPORT", "PWRITE", "ALL")
SINGLE_TECHNIQUES = (SHORTCUT, IREPORT, PWRITE)
"""The techniques one by one."""

SYSTEM_KINDS = {
    NONE: "caching-disk:shortcut=false:immediate_report=false:partial_write=false",
    ALL: "caching-disk",
}
"""Systems that are varied where the controller cache writes in idle times."""

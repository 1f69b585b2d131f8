"""Workloads and systems, as Wang 2005 and the experiments on it name them."""

from __future__ import annotations

TPCD, TPCC, CELLO, HPLAJW = WORKLOADS = ("tpcd", "tpcc", "cello", "hplajw")

TITLES = {TPCD: "TPCD", TPCC: "TPCC", CELLO: "cello", HPLAJW: "hplajw"}
"""Workloads as the paper writes them."""

BASELINE_SYSTEMS = ("DISK", "MEMS", "DISK-RAM", "MWB", "IDLE")
DISK, MEMS, DISK_RAM, MWB, IDLE = BASELINE_SYSTEMS
NONE, SHORTCUT, IREPORT, PWRITE, ALL = ("NONE", "SHORTCUT", "IREPORT", "PWRITE", "ALL")
SINGLE_TECHNIQUES = (SHORTCUT, IREPORT, PWRITE)
"""The techniques one by one."""

STAND_INS = {TPCD: "tpcd", TPCC: "tpcc", CELLO: "cello-12h", HPLAJW: "hplajw-2h"}
"""Names of the workloads' calibrations."""

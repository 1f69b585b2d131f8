"""Folders of the checkout, and of the reference data."""

from __future__ import annotations

import os
from pathlib import Path

PAPERS = Path(__file__).parents[1]
PROJECT = PAPERS.parent
"""The checkout of sledlab: verdicts name its tests, and are written into its package."""

EXPERIMENTS = PAPERS / "experiments"
RESULTS = PAPERS / "results"
BUILD = PAPERS / "build"

REFERENCE = Path(os.environ.get("SLEDLAB_REFERENCE") or PROJECT.parent / "shared" / "reference")
"""Reference data, which is not part of the project."""

PAPER_TEXTS = Path(os.environ.get("SLEDLAB_PAPERS") or PROJECT.parent / "shared" / "papers")
"""Text files of the papers, which are not part of the project."""

SEAGATE_TRACE = REFERENCE / "mems" / "traces" / "seagate_gap.txt.gz"
"""The trace that validated DiskSim's Seagate ST41601N."""

AJW_WEEK = REFERENCE / "traces" / "ajw.1week.srt"
"""A week of requests of a user's workstation, recorded by HP in 1992, as distributed with DiskSim."""

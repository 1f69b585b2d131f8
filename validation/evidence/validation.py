"""The sections of docs/validation.md as entries, and the tests that fail if a comparison leaves its band."""

from __future__ import annotations

import subprocess
import sys

from .. import reference
from ..build import source_hash
from ..results import PROJECT
from ..sections import flash
from ..sections.__main__ import PAGE, SECTIONS, write_page
from ..sections.section import ValidationSection
from .entry import EvidenceEntry, Output

TESTS = (
    (sys.executable, "-m", "pytest", "validation/tests", "tests/job", "--everything"),
    ("cargo", "test", "--release", "-p", "sledlab-sim", "--test", "cluster_grid"),
)
"""Commands that fail if a comparison leaves its band."""

CHEAP = ("published", "check_values", "sequential_reads")
"""Sections that are measured in less than a second."""

NEEDS_NO_REFERENCE = (*CHEAP, "disk_controllers")
"""Sections that are measured without reference data."""


def outputs() -> list[Output]:
    """Return the tests, which are first, and the page."""
    tests = EvidenceEntry("validation-tests", source_hash, _run_tests, _missing_reason(), is_cheap=True)
    entries = [_entry(section) for section in SECTIONS if not section.benchmarks]
    return [
        Output("validation/tests", "validate", [tests]),
        Output(f"docs/{PAGE}", "validate", entries, write_page),
    ]


def _entry(section: ValidationSection[object]) -> EvidenceEntry:
    if section is flash.SECTION:
        missing_reason = None if flash.is_present() else flash.MISSING_MESSAGE
    else:
        missing_reason = None if section.name in NEEDS_NO_REFERENCE else _missing_reason()
    is_cheap = section.name in CHEAP
    return EvidenceEntry(
        section.name, section.fingerprint, lambda _: _save(section), missing_reason, is_cheap
    )


def _save(section: ValidationSection[object]) -> None:
    section.save()


def _missing_reason() -> str | None:
    return None if reference.is_present() else reference.MISSING_MESSAGE


def _run_tests(_: str) -> None:
    for command in TESTS:
        subprocess.run(command, cwd=PROJECT, check=True)

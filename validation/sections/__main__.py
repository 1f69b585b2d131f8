"""Write docs/validation.md and peers.md from saved results: `python -m validation.sections [SECTION ...]`.

Measures nothing: `python -m validation.evidence validate` measures the sections whose result has changed.
"""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable
from typing import Any

from sledlab_papers.templates import evidence_marker

from .. import peers
from ..markdown import find_section
from ..page import DOCUMENTS, fill, write
from . import (
    agreement,
    arrays,
    defects,
    disk_controllers,
    disk_open,
    disk_queue,
    drives,
    flash,
    intervals,
    mechanics,
    published,
    sequential_reads,
    speed,
)
from .section import ValidationSection

PAGE = "validation.md"

REPLAY_SECTIONS: tuple[ValidationSection[Any], ...] = (
    published.NUMBERS,
    published.CHECKS,
    agreement.SECTION,
    intervals.SECTION,
    defects.SECTION,
)
"""Sections whose results come from replays alone."""

SECTIONS: tuple[ValidationSection[Any], ...] = (
    mechanics.KINEMATICS,
    mechanics.TABLES,
    *REPLAY_SECTIONS,
    mechanics.OPTIMALITY,
    drives.SECTION,
    disk_open.SECTION,
    disk_queue.SECTION,
    sequential_reads.SECTION,
    disk_controllers.SECTION,
    arrays.SECTION,
    flash.SECTION,
    speed.SECTION,
)


def page(existing_page: str, measured_sections: Iterable[str]) -> str:
    """Return the page: some sections from their saved results, all others as in the existing page.

    Sections on benchmarks are always written from the benchmark files.
    """
    section_names = set(measured_sections)
    introduction = fill("sections/text/introduction.md", evidence=evidence_marker(PAGE))
    return "\n".join(
        [introduction, *(_section_text(section, existing_page, section_names) for section in SECTIONS)]
    )


def _section_text(
    section: ValidationSection[Any], existing_page: str, measured_sections: Container[str]
) -> str:
    if section.benchmarks:
        return section.text(section.measure())
    saved_result = section.load() if section.name in measured_sections else None
    if saved_result is not None:
        return section.text(saved_result)
    text = find_section(existing_page, section.title)
    if text is None:
        raise LookupError(
            f"{PAGE} has no section `{section.title}`: python -m validation.evidence {section.name}"
        )
    return text[:-1] if text.endswith("\n\n") else text


def write_page(measured_sections: Iterable[str]) -> None:
    """Write the page with the saved results of some sections, and that on other simulators."""
    write(page((DOCUMENTS / PAGE).read_text(encoding="utf-8"), measured_sections), PAGE)
    peers.write_page()


def main() -> None:
    """Write the page with the saved results of the sections named."""
    parser = argparse.ArgumentParser(prog="python -m validation.sections", description=__doc__)
    names = [section.name for section in SECTIONS]
    parser.add_argument(
        "section", nargs="*", help=f"section to write from its saved results: {', '.join(names)}"
    )
    write_page(parser.parse_args().section)


if __name__ == "__main__":
    main()

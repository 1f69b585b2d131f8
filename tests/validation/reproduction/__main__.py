"""Runs the experiments and writes the pages of docs/reproduction.

Run it with `python -m tests.validation.reproduction [--page PAGE] [DIRECTORY]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import reference
from .experiments import PROJECT
from .hybrid import page as hybrid_page
from .hybrid import runs as hybrid_runs
from .power import page as power_page
from .power import runs as power_runs
from .scheduling import page as scheduling_page
from .scheduling import runs as scheduling_runs
from .sheet import write

DOCUMENTS = PROJECT / "docs" / "reproduction"


def scheduling(directory: Path) -> str:
    """The page on scheduling, from runs."""
    scheduling_runs.run(directory)
    return scheduling_page.page(scheduling_runs.Runs(directory))


def power(directory: Path) -> str | None:
    """The page on power, from runs; none where the traces of some are missing."""
    if not reference.present():
        return None
    power_runs.run(directory)
    return power_page.page(power_runs.Runs(directory))


def hybrid(directory: Path) -> str:
    """The page on hybrids, from runs."""
    hybrid_runs.run(directory)
    return hybrid_page.page(hybrid_runs.Runs(directory))


PAGES = {"hybrid": hybrid, "power": power, "scheduling": scheduling}


def document(name: str) -> Path:
    """Where a page is."""
    return DOCUMENTS / f"{name}.md"


def main() -> int:
    """Goes on where an earlier run was stopped."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.reproduction", description=__doc__)
    parser.add_argument(
        "directory",
        nargs="?",
        type=Path,
        default=PROJECT / "build" / "reproduction",
        help="where the experiments leave their tables [default: build/reproduction]",
    )
    parser.add_argument("--page", choices=PAGES, help="the only page to write [default: all]")
    given = parser.parse_args()
    for name in [given.page] if given.page else PAGES:
        text = PAGES[name](given.directory)
        if text is None:
            print(f"{document(name)} stays as it is: {reference.MISSING}")
            continue
        found = write(text, document(name))
        print(f"wrote {document(name)}: {', '.join(f'{n} {outcome}' for outcome, n in found.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

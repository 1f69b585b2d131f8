"""Runs the experiments and writes docs/reproduction/scheduling.md.

Run it with `python -m tests.validation.reproduction [DIRECTORY]`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .page import write
from .runs import PROJECT, Runs, run

PAGE = PROJECT / "docs" / "reproduction" / "scheduling.md"


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
    directory = parser.parse_args().directory
    run(directory)
    found = write(Runs(directory), PAGE)
    print(f"wrote {PAGE}: {', '.join(f'{count} {outcome}' for outcome, count in found.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

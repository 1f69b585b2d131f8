"""Records what sledlab's commands print and leave, and compares two such records.

Use:
    python -m lab.golden record DIR --pythonpath CHECKOUT/python
    python -m lab.golden compare DIR_BEFORE DIR_AFTER [--digits N]
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from lab.golden.comparing import Comparer
from lab.golden.recording import record

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Runs the command line and returns its exit code."""
    arguments = parser().parse_args()
    if arguments.what == "record":
        return record(arguments)
    for place in (arguments.before, arguments.after):
        if not (place / "record.json").is_file():
            sys.exit(f"{place} holds no record; make one with `python -m lab.golden record {place}`")
    renamed = dict(pair.split("=", 1) for pair in arguments.renamed)
    return Comparer(arguments.digits, arguments.lines, renamed).compare(arguments.before, arguments.after)


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m lab.golden", description=__doc__.splitlines()[0])
    steps = made.add_subparsers(dest="what", required=True)
    step = steps.add_parser("record", help="run all commands, keep what they print and leave")
    step.add_argument("target", type=Path, metavar="DIR", help="where to keep it; must not exist")
    step.add_argument("--program", default=f"{sys.executable} -m sledlab", help="default: %(default)s")
    step.add_argument("--pythonpath", type=Path, help="the directory that holds the package to run")
    step.add_argument("--scratch", type=Path, help="run here and leave it; must not exist")
    step.add_argument("--sample", type=Path, default=ROOT / "sample", help="default: %(default)s")
    given = os.environ.get("SLEDLAB_REFERENCE") or ROOT.parent / "shared" / "reference"
    reference = "measured drives and files of DiskSim; commands that need them are skipped without"
    step.add_argument("--reference", type=Path, default=Path(given), help=reference)
    step = steps.add_parser("compare", help="print what differs; exit code 1 if anything does")
    step.add_argument("before", type=Path, metavar="DIR_BEFORE")
    step.add_argument("after", type=Path, metavar="DIR_AFTER")
    step.add_argument("--digits", type=int, metavar="N", help="round numbers to N significant digits")
    step.add_argument("--lines", type=int, default=40, metavar="N", help="of a difference; 0 for all")
    same = "a file's new name; compares the two; repeatable"
    step.add_argument("--renamed", action="append", default=[], metavar="OLD=NEW", help=same)
    return made


if __name__ == "__main__":
    sys.exit(main())

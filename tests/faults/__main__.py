"""Plant faults in the sources, and check that a test catches each.

`python -m tests.faults [ID ...] [--list]` plants the entries of `python.toml` and `rust.toml`. In an entry,
`behavior` says in one sentence what the program does wrong, `find` is text that occurs once in `file` and
becomes `replace`, and `test` is the quickest command that fails with the fault. `tier = "test-all"` marks a
fault that only slow tests catch.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FILES = ("python", "rust")
ENVIRONMENT = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",  # a failure due to a planted fault is no regression
}


@dataclass(frozen=True)
class Fault:
    """An entry of a fault file; see the head of this module."""

    language: str
    id: str
    behavior: str
    file: str
    find: str
    replace: str
    test: str
    tier: str = "test"


def faults() -> list[Fault]:
    """Return the faults of all files."""
    paths = [(name, Path(__file__).with_name(f"{name}.toml")) for name in FILES]
    entries = [
        (name, entry)
        for name, path in paths
        if path.is_file()
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]
    ]
    return [Fault(name, **entry) for name, entry in entries]


@contextmanager
def plant(fault: Fault) -> Iterator[None]:
    """Plant a fault, and restore the file at the end."""
    path = PROJECT / fault.file
    original = path.read_text(encoding="utf-8") if path.is_file() else ""
    if original.count(fault.find) != 1:
        raise LookupError(
            f"`find` occurs {original.count(fault.find)} times in {fault.file}: the code changed; "
            f"plant the fault anew by its description: {fault.behavior}"
        )
    try:
        path.write_text(original.replace(fault.find, fault.replace), encoding="utf-8")
        yield
    finally:
        path.write_text(original, encoding="utf-8")


def outcome(fault: Fault) -> str:
    """Return `caught`, `survived`, or why there is neither."""
    text = shlex.split(fault.test)
    if text[0] == "pytest":
        text = [sys.executable, "-m", "pytest", "-q", "-x", *text[1:]]
    try:
        with plant(fault):
            done = subprocess.run(
                text,
                cwd=PROJECT,
                env=os.environ | ENVIRONMENT,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
    except LookupError as error:
        return str(error)
    if done.returncode == 0:
        return "survived"
    # Only a failed test catches a fault: other exit codes are of a wrong command or a build that failed.
    failed = "test result: FAILED" in done.stdout if text[0] == "cargo" else done.returncode == 1
    return "caught" if failed else f"`{fault.test}` did not run:\n{done.stdout[-2000:]}"


def is_dirty() -> bool:
    """Return whether files that git tracks differ from the last commit."""
    command = ["git", "status", "--porcelain", "--untracked-files=no"]
    return bool(subprocess.run(command, cwd=PROJECT, capture_output=True, check=True).stdout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 if a fault survives or cannot be planted."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description="Plant faults that tests must catch."
    )
    parser.add_argument(
        "id", nargs="*", help="fault, or `python` or `rust` for all of one language (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="print the faults without planting them")
    options = parser.parse_args(arguments)
    known = faults()
    if unknown := set(options.id) - {name for fault in known for name in (fault.id, fault.language)}:
        parser.error(f"unknown fault: {', '.join(sorted(unknown))} (--list prints all)")
    choice = [fault for fault in known if not options.id or {fault.id, fault.language} & set(options.id)]
    if options.list:
        for fault in choice:
            print(f"{fault.id} ({fault.tier}): {fault.behavior}")
        return 0
    if is_dirty():
        parser.error("the work tree has changes; commit them first, because faults are planted in its files")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # restore the file on SIGTERM as on Ctrl-C
    missed = 0
    for fault in choice:
        begin = time.monotonic()
        result = outcome(fault)
        missed += result != "caught"
        print(f"{fault.id}: {result} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"{len(choice) - missed} of {len(choice)} faults caught")
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

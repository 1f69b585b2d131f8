"""Tests that check definitions in claims, and whether they passed in their last run, with the experiments.

Pages are written from these results. A test that fails later is found by `make test`, which runs all of them.
"""

from __future__ import annotations

import csv
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from .. import reference, results
from ..results import PROJECT, RESULTS

KEPT = PROJECT / "lab" / "points" / "held.csv"
"""Tests and whether they passed, each with the hash of the simulated sources and of its file."""


def passed(test: str) -> bool:
    """Whether a test passed in its last run; a test that has never run is run now."""
    known = _kept()
    if test not in known:
        again([test])
        known = _kept()
    return known[test][1]


def again(tests: Iterable[str]) -> None:
    """Runs the tests that have changed since their last run, or whose sources have."""
    for test in dict.fromkeys(tests):
        known, digest = _kept(), _digest(test)
        if known.get(test, ("", False))[0] != digest:
            _keep({**known, test: (digest, _run(test))})


def _kept() -> dict[str, tuple[str, bool]]:
    """The hash and the result of each test."""
    if not KEPT.is_file():
        return {}
    with KEPT.open(newline="", encoding="utf-8") as rows:
        return {row["test"]: (row["depends"], row["passed"] == "yes") for row in csv.DictReader(rows)}


def _keep(known: Mapping[str, tuple[str, bool]]) -> None:
    with KEPT.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("test", "depends", "passed"))
        writer.writerows(
            (test, digest, "yes" if ok else "no") for test, (digest, ok) in sorted(known.items())
        )


def _digest(test: str) -> str:
    """The hash of the simulated sources and of a test's file: while it stays, the test need not run."""
    file = (PROJECT / test.split("::", maxsplit=1)[0]).read_bytes()
    return hashlib.sha256(results.sources().encode() + file).hexdigest()[:12]


def _run(test: str) -> bool:
    file, name = test.split("::")
    print(f"{name} ...", flush=True)
    return _rust(Path(file), name) if file.endswith(".rs") else _python(file, name)


def _rust(file: Path, name: str) -> bool:
    """Whether a test of a crate passes, in its sources or in a file of its own."""
    crate, folder = file.parts[1:3]
    where = ["--lib"] if folder == "src" else ["--test", "integration"]
    said = _said(["cargo", "test", "--package", crate, *where, "--", "--include-ignored", name])
    return _all_true(
        ok == "ok" for ok in re.findall(rf"^test (?:\S+::)?{name}(?: - .*)? \.\.\. (\w+)", said, re.M)
    )


def _python(file: str, name: str) -> bool:
    """Whether a test in Python passes with all its parameters; a skipped one does not."""
    said = _said([sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", f"{file}::{name}"])
    return _all_true(
        ok == "PASSED" for ok in re.findall(rf"^(PASSED|FAILED|ERROR|SKIPPED)\b.*{name}", said, re.M)
    )


def _all_true(found: Iterable[bool]) -> bool:
    """Whether there are results and all are true: a name that ran no test checks nothing."""
    each = list(found)
    return bool(each) and all(each)


def _said(command: list[str]) -> str:
    """The output of a command."""
    environment = {**os.environ, "SLEDLAB_RESULTS": str(RESULTS), "SLEDLAB_REFERENCE": str(reference.ROOT)}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr

"""Tests that hold what a claim defines, and whether they passed when they ran last, with the experiments.

Pages are written from that. A test that fails since is found by `make test`, which runs all of these.
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
"""Which tests passed, each with the hash of what is simulated and of its file."""


def passed(test: str) -> bool:
    """Whether a test passed when it last ran; it runs now if it never did."""
    known = _kept()
    if test not in known:
        again([test])
        known = _kept()
    return known[test][1]


def again(tests: Iterable[str]) -> None:
    """Runs the tests that changed, or whose sources did, since they last ran."""
    for test in dict.fromkeys(tests):
        known, digest = _kept(), _digest(test)
        if known.get(test, ("", False))[0] != digest:
            _keep({**known, test: (digest, _run(test))})


def _kept() -> dict[str, tuple[str, bool]]:
    """The hash and the outcome of each test."""
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
    """The hash of what is simulated and of its file: while neither changes it need not run."""
    file = (PROJECT / test.split("::", maxsplit=1)[0]).read_bytes()
    return hashlib.sha256(results.sources().encode() + file).hexdigest()[:12]


def _run(test: str) -> bool:
    file, name = test.split("::")
    print(f"{name} ...", flush=True)
    return _rust(Path(file), name) if file.endswith(".rs") else _python(file, name)


def _rust(file: Path, name: str) -> bool:
    """A test of a crate, in its sources or in a file of its own."""
    crate, folder, *rest = file.parts[1:]
    where = ["--lib"] if folder == "src" else ["--test", Path(rest[0]).stem]
    said = _said(["cargo", "test", "--package", crate, *where, "--", name])
    return _all_true(
        ok == "ok" for ok in re.findall(rf"^test (?:\S+::)?{name}(?: - .*)? \.\.\. (\w+)", said, re.M)
    )


def _python(file: str, name: str) -> bool:
    """A test in Python, with all its parameters; one that is skipped has not passed."""
    said = _said([sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", f"{file}::{name}"])
    return _all_true(
        ok == "PASSED" for ok in re.findall(rf"^(PASSED|FAILED|ERROR|SKIPPED)\b.*{name}", said, re.M)
    )


def _all_true(found: Iterable[bool]) -> bool:
    """Whether there are some and all are so: a name that ran nothing holds nothing."""
    each = list(found)
    return bool(each) and all(each)


def _said(command: list[str]) -> str:
    """What a command prints."""
    environment = {**os.environ, "SLEDLAB_RESULTS": str(RESULTS), "SLEDLAB_REFERENCE": str(reference.ROOT)}
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr

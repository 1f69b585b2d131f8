"""Numbers that the tests of the Rust crates print."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
MOTION = ("kinematics", "reference_tables", "layouts")
"""Tests of the sled's motion, layouts and tables."""
NUMBER = r"([-+0-9.e]+)"


@cache
def output(tests: tuple[str, ...] = MOTION, only: str = "") -> str:
    """Runs tests of sledlab-models, those whose names hold `only`, and gives what they print.

    Raises:
        RuntimeError: One of them failed.
    """
    chosen = [argument for test in tests for argument in ("--test", test)]
    command = ["cargo", "test", "--quiet", "--package", "sledlab-models", *chosen]
    command += ["--", *([only] if only else []), "--nocapture", "--test-threads=1"]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{text}")
    return text


def numbers(pattern: str) -> tuple[float, ...]:
    """The numbers at the places marked `#` in the line that has the other words of `pattern`."""
    found = re.search(re.escape(pattern).replace(r"\#", NUMBER), output())
    if found is None:
        raise RuntimeError(f"the tests of sledlab-models print no line like: {pattern}")
    return tuple(float(number) for number in found.groups())


@dataclass(frozen=True)
class Compared:
    """Values compared with a table, and the largest difference in ms."""

    values: int
    worst_ms: float


def compared(what: str) -> Compared:
    """All comparisons whose description matches the regular expression `what`."""
    pattern = rf"^[.]*{what}: (\d+) values, largest difference {NUMBER} ms$"
    found = re.findall(pattern, output(), re.MULTILINE)
    if not found:
        raise RuntimeError(f"the tests of sledlab-models print no comparison of: {what}")
    return Compared(sum(int(count) for count, _ in found), max(float(worst) for _, worst in found))

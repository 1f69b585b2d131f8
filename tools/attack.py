"""Run commands on random and mutated input files, and report inputs that they handle badly.

A command must end with code 0 or 2, without a traceback or panic, and leave no file behind. Inputs that break
this are saved in `target/attack`.

    make attack SECONDS=60 SEED=1
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools.hostile_inputs import KINDS

if TYPE_CHECKING:
    from tools.hostile_inputs import HostileInput

PROJECT = Path(__file__).parents[1]
SAVED_INPUTS = PROJECT / "target" / "attack"

CODES = (0, 2)
"""Exit codes of commands that handle an input well."""

TRACEBACK = "Traceback (most recent call last)"

CRASHES = (TRACEBACK, "panicked at", "internal error")
"""Texts in the output of a command that handles an input badly."""

PLUGIN = "plug-in"
"""The kind of input whose own traceback is part of an error."""

LIMIT_S = 60
"""Time limit of a command, in seconds; input may request a long run, so reaching it is no failure."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command on one input.

    Attributes:
        kind: Kind of the input.
        verdict: `accepted`, `refused`, `slow`, or the reason of a failure.
        is_failure: Whether the command handled the input badly.
    """

    kind: str
    verdict: str
    is_failure: bool = False


def judge(kind: str, code: int | None, output: str, leftovers: list[str]) -> Outcome:
    """Judge a command by its exit code (`None` at the time limit), its output and the files that it left."""
    if code is None:
        return Outcome(kind, "slow")
    crash = next((text for text in CRASHES if text in output), None)
    if crash is not None and not (crash == TRACEBACK and kind == PLUGIN and code):
        return Outcome(kind, crash, is_failure=True)
    if code not in CODES:
        return Outcome(kind, f"exit code {code}", is_failure=True)
    if leftovers:
        return Outcome(kind, f"file left: {leftovers[0]}", is_failure=True)
    return Outcome(kind, "refused" if code else "accepted")


def run(hostile_input: HostileInput, number: int) -> Outcome:
    """Run the command of an input in a directory of its own; save the input if it fails."""
    with tempfile.TemporaryDirectory(prefix="attack-") as parent:
        directory, temporary_directory = Path(parent) / "work", Path(parent) / "tmp"
        directory.mkdir()
        temporary_directory.mkdir()
        for file, content in hostile_input.files.items():
            (directory / file).parent.mkdir(parents=True, exist_ok=True)
            (directory / file).write_bytes(content)
        environment = {
            **os.environ,
            "TMPDIR": str(temporary_directory),
            "SLEDLAB_DATA": str(Path(parent) / "data"),
        }
        try:
            completed = subprocess.run(
                [sys.executable, "-m", "sledlab", *hostile_input.command],
                cwd=directory,
                env=environment,
                capture_output=True,
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return judge(hostile_input.kind, None, "", [])
        leftovers = {path.name for path in directory.iterdir()} - {
            *hostile_input.files,
            "__pycache__",
            "out",
            "saved",
            "out.svg",
        }
        leftovers |= {path.name for path in temporary_directory.iterdir()}
        output = (completed.stdout + completed.stderr).decode(errors="replace")
        outcome = judge(hostile_input.kind, completed.returncode, output, sorted(leftovers))
        if outcome.is_failure:
            saved_input = SAVED_INPUTS / f"{hostile_input.kind}-{number}"
            shutil.copytree(directory, saved_input, dirs_exist_ok=True)
            report_text = f"{outcome.verdict}\nsledlab {' '.join(hostile_input.command)}\n\n{output}"
            (saved_input / "attack.txt").write_text(report_text, encoding="utf-8")
        return outcome


def attack(seed: int, seconds: float) -> Counter[Outcome]:
    """Run random inputs of all kinds in turn for some seconds; return the number of each outcome."""
    end_s, counts, number = time.monotonic() + seconds, Counter[Outcome](), 0
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        while time.monotonic() < end_s:
            numbers = range(number, number + 4 * workers)
            inputs = [KINDS[each % len(KINDS)](random.Random(f"{seed} {each}")) for each in numbers]
            counts.update(pool.map(run, inputs, numbers))
            number = numbers.stop
    return counts


def report(counts: Counter[Outcome]) -> str:
    """Return a line for each outcome of each kind of input, failures last."""
    outcomes = sorted(counts, key=lambda each: (each.is_failure, each.kind, each.verdict))
    lines = [
        f"{'FAILED ' if each.is_failure else ''}{each.kind}: {each.verdict}: {counts[each]}"
        for each in outcomes
    ]
    failures = sum(number for outcome, number in counts.items() if outcome.is_failure)
    return "\n".join([*lines, f"{counts.total()} inputs, {failures} failures"])


def main() -> int:
    """Attack for some seconds; return 1 if a command handled an input badly."""
    parser = argparse.ArgumentParser(description="Run commands on hostile input files.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    counts = attack(options.seed, options.seconds)
    print(report(counts))
    return 1 if any(each.is_failure for each in counts) else 0


if __name__ == "__main__":
    sys.exit(main())

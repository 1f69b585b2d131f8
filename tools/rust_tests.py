"""Run the Rust tests: `make test-rust`, or with `--ignored` those that are marked as slow too.

The tests must not leave files behind (tests/leftovers.py). The five slowest test programs, or tests if
cargo-nextest is installed, are printed at the end.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.leftovers import LeftoverCheck

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SLOWEST_COUNT = 5
PROGRAM_LINE = re.compile(r"^ *(?:Running|Doc-tests) (?:unittests )?(\S+)(?: \(.*?([\w-]+)-[0-9a-f]+\))?$")
RESULT_LINE = re.compile(r"^test result: .* finished in ([\d.]+)s$")
NEXTEST_LINE = re.compile(r"^ *(?:PASS|FAIL) \[ *([\d.]+)s\] (?:\(.*?\) )?(.+)$")


def durations(lines: Iterable[str]) -> Iterator[tuple[float, str]]:
    """Return the times in the output of cargo, each with the name of a test program or a test.

    >>> list(durations(["     Running tests/schedulers.rs (target/debug/deps/schedulers-0a1b)",
    ...                 "test result: ok. 2 passed; 0 failed; finished in 1.50s"]))
    [(1.5, 'schedulers tests/schedulers.rs')]
    >>> list(durations(["        PASS [   0.005s] sledlab-core time::tests::sums"]))
    [(0.005, 'sledlab-core time::tests::sums')]
    """
    name = ""
    for line in lines:
        if program := PROGRAM_LINE.match(line):
            name = " ".join(filter(None, (program[2], program[1])))
        elif finished := RESULT_LINE.match(line):
            yield float(finished[1]), name
        elif test := NEXTEST_LINE.match(line):
            yield float(test[1]), test[2]


def commands(*, ignored: bool) -> list[list[str]]:
    """Return the commands that run all tests; those that are marked `#[ignore]` only if `ignored`."""
    nextest = subprocess.run(["cargo", "nextest", "--version"], capture_output=True, check=False)
    if nextest.returncode == 0:
        tests = [
            "nextest",
            "run",
            "--workspace",
            "--no-fail-fast",
            *(["--run-ignored", "all"] if ignored else []),
        ]
    else:
        tests = [
            "test",
            "--workspace",
            "--tests",
            "--no-fail-fast",
            *(["--", "--include-ignored"] if ignored else []),
        ]
    return [["cargo", *tests], ["cargo", "test", "--workspace", "--doc"]]


def run(command: list[str], environment: dict[str, str], lines: list[str]) -> int:
    """Run a command and collect its output, which is printed as it comes; return the exit code."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, env=environment, **options) as process:  # type: ignore[call-overload]
        for line in process.stdout:
            sys.stdout.write(line)
            lines.append(line.rstrip())
    return int(process.returncode)


def main() -> int:
    """Run all Rust tests; return the exit code."""
    check, lines = LeftoverCheck(), list[str]()
    try:
        selected = commands(ignored="--ignored" in sys.argv[1:])
        codes = (run(command, os.environ | check.environment, lines) for command in selected)
        code = next(filter(None, codes), 0)
        left = check.leftovers()
    finally:
        check.close()
    print(f"slowest {SLOWEST_COUNT}:")
    for duration_s, name in sorted(durations(lines), reverse=True)[:SLOWEST_COUNT]:
        print(f"{duration_s:8.2f} s  {name}")
    for path in left:
        print(f"left behind: {path}", file=sys.stderr)
    return code or int(bool(left))


if __name__ == "__main__":
    sys.exit(main())

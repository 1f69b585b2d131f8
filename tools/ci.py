"""Run the tiers of continuous integration and report their times: `.ci/run`.

The run fails if a tier takes more than twice its budget. Budgets are minutes of wall-clock time on a machine
with 2 cores, the reference. A fixed computation before and after each tier measures this machine's speed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

BUDGETS_MIN = {
    "setup": 4.0,
    "lint": 4.0,
    "test-all": 15.0,
    "test-conditions": 3.0,
    "test-clients": 10.0,
    "test-web": 5.0,
    "test-data": 1.0,
}
"""Targets of `make`, and their budgets."""
ALLOWANCE = 2.0
CORES = 2
REFERENCE_S = 1.0
"""Time of `computation` on the reference machine."""


@dataclass(frozen=True)
class Timing:
    """The time of one tier.

    Attributes:
        target: The target of `make`.
        elapsed_s: Wall-clock time.
        speed: The speed of this machine relative to the reference machine.
        budget_s: The budget on the reference machine.
    """

    target: str
    elapsed_s: float
    speed: float
    budget_s: float

    @property
    def share(self) -> float:
        """The part of the budget that was used, at the speed of the reference machine."""
        return self.elapsed_s * self.speed / self.budget_s

    @property
    def is_late(self) -> bool:
        """Whether the tier took more than its budget and the allowance."""
        return self.share > ALLOWANCE


def computation(_: int = 0) -> int:
    """Compute a fixed value: interpreted Python, hashing and compression."""
    total = 0
    for number in range(10_000_000):
        total += number * number % 7
    data = b"".join(hashlib.sha256(total.to_bytes(8, "big") + bytes([each])).digest() for each in range(256))
    for _round in range(120):
        data = zlib.compress(data * 20)[:8192]
    return total + len(data)


def measure_speed() -> float:
    """Return the speed of this machine relative to the reference machine: 1 if it is as fast or faster."""
    with ProcessPoolExecutor(CORES) as executor:
        list(executor.map(abs, range(CORES)))  # starts the processes
        begun = time.perf_counter()
        list(executor.map(computation, range(CORES)))
        return min(1.0, REFERENCE_S / (time.perf_counter() - begun))


def run(target: str, budget_s: float) -> Timing:
    """Run a target of `make`; end the program if it fails."""
    print(f"\n== make {target}", file=sys.stderr, flush=True)
    before, begun = measure_speed(), time.perf_counter()
    code = subprocess.run(["make", target], check=False).returncode
    elapsed_s = time.perf_counter() - begun
    timing = Timing(target, elapsed_s, (before + measure_speed()) / 2, budget_s)
    print(f"== {line(timing)}", file=sys.stderr, flush=True)
    if code:
        sys.exit(code)
    return timing


def line(timing: Timing) -> str:
    """Return one line of the report.

    >>> line(Timing("lint", 300, 0.5, 100))
    '   300 s   50 % speed  150 % of budget  make lint'
    >>> line(Timing("lint", 300, 1, 100))
    '   300 s  100 % speed  300 % of budget  make lint: more than twice the budget of 100 s'
    """
    late = f": more than twice the budget of {timing.budget_s:.0f} s" if timing.is_late else ""
    figures = f"{timing.elapsed_s:6.0f} s {timing.speed:5.0%} speed {timing.share:5.0%} of budget"
    return f"{figures.replace('%', ' %')}  make {timing.target}{late}"


def main() -> int:
    """Run all tiers; return 1 if one exceeded its budget."""
    timings = [run(target, minutes * 60) for target, minutes in BUDGETS_MIN.items()]
    print("\n" + "\n".join(map(line, timings)))
    print(f"{sum(each.elapsed_s for each in timings):6.0f} s in total")
    if any(each.is_late for each in timings):
        print("tiers took more than twice their budgets (tools/ci.py)")
        return 1
    print("\nall passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())

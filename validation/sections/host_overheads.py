"""Overheads of the measuring hosts by kind of command, without a fit to the distribution of service times.

`python -m validation.sections.host_overheads NAME` prints the measurements that explain negative values in
`presets/hosts`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..simulator import parameters
from .drives import DRIVES, Host, recorded_rows, replay

MIN_REQUESTS = 8
"""Requests of a size, and of a kind, below which a median says little."""

DELAYS_US = range(-2000, 2001, 100)

Mask = npt.NDArray[np.bool_]


def commands(drive: str, op: str, previous_op: str, *, is_hit: bool = False) -> Mask:
    """Return which requests of a stream follow a request of `previous_op`; reads hit or miss the buffer."""
    return np.array(
        [False]
        + [
            (previous["rw"], row["rw"]) == (previous_op, op)
            and (op == "W" or row["cache_outcome"] == ("FULL" if is_hit else "MISS"))
            for previous, row in pairwise(recorded_rows(drive))
        ]
    )


@dataclass(frozen=True)
class ServiceLine:
    """Service time of commands that only the buffer serves, in us: of a command, and of each sector."""

    command_us: float
    sector_us: float

    @property
    def text(self) -> str:
        """The line as printed."""
        return f"{self.command_us:,.0f} us + {self.sector_us:.1f} us a sector"


def service_lines(drive: str, requests: Mask) -> tuple[ServiceLine, ServiceLine]:
    """Return the measured service times, and those in the model with the published bus and overheads.

    A line is fitted to the medians of requests of equal size.
    """
    sizes = np.array([int(row["blocks"]) for row in recorded_rows(drive)])
    groups = [(size, requests & (sizes == size)) for size in np.unique(sizes[requests])]
    groups = [(size, group) for size, group in groups if group.sum() >= MIN_REQUESTS]
    weights = [group.sum() ** 0.5 for _, group in groups]

    def line(times_ns: npt.NDArray[np.int64]) -> ServiceLine:
        medians_us = [float(np.median(times_ns[group])) / 1e3 for _, group in groups]
        sector_us, command_us = np.polyfit([size for size, _ in groups], medians_us, 1, w=weights)
        return ServiceLine(float(command_us), float(sector_us))

    measured_ns, simulated_ns = replay(drive, Host())
    return line(measured_ns), line(simulated_ns)


@dataclass(frozen=True)
class ArmDelay:
    """The delay of the arm beyond the published overhead with which most requests take the measured turns.

    Attributes:
        delay_us: The delay.
        share: The share of these requests.
        difference_us: The median of their simulated less their measured service times.
    """

    delay_us: int
    share: float
    difference_us: float

    @property
    def text(self) -> str:
        """The delay as printed."""
        return (
            f"the arm starts {self.delay_us:+,} us from the published time, which fits {self.share:.1%}; "
            f"these take {self.difference_us:+.0f} us more in the model"
        )


def arm_delay(drive: str, op: str, requests: Mask) -> ArmDelay:
    """Return the delay of the arm for requests that wait for the medium.

    The start of the arm decides only how many revolutions such a request takes.
    """
    turn_ns = 60e9 / parameters(drive)["rpm"]

    def measured_at(delay_us: int) -> ArmDelay:
        host = Host(read_miss=delay_us) if op == "R" else Host(write=delay_us)
        measured_ns, simulated_ns = replay(drive, host)
        differences_ns = (simulated_ns - measured_ns)[requests]
        differences_ns = differences_ns[np.abs(differences_ns) < turn_ns / 3]
        share = len(differences_ns) / requests.sum()
        return ArmDelay(delay_us, float(share), float(np.median(differences_ns)) / 1e3)

    return max(map(measured_at, DELAYS_US), key=lambda delay: delay.share)


def report(drive: str) -> Iterator[str]:
    """Yield a line for each kind of command with enough requests."""
    buffers_writes = parameters(drive)["buffers_writes"]
    for kind, op, is_hit in (("hits", "R", True), ("misses", "R", False), ("writes", "W", False)):
        for previous_op in "RW":
            requests = commands(drive, op, previous_op, is_hit=is_hit)
            name = f"{drive}: {requests.sum():,} {kind} after {previous_op}"
            if requests.sum() < MIN_REQUESTS**2:
                continue
            if is_hit or (op == "W" and buffers_writes):
                measured, published = service_lines(drive, requests)
                yield f"{name}: {measured.text}, published {published.text}"
            else:
                yield f"{name}: {arm_delay(drive, op, requests).text}"


def main() -> None:
    """Print the measurements of the drives named."""
    for drive in sys.argv[1:] or DRIVES:
        print(*report(drive), sep="\n")


if __name__ == "__main__":
    main()

"""A guarantee of `sledlab serve` and its measurements, and the file of all, ``guarantees.json``."""

import json
from dataclasses import asdict, dataclass

from result_files import FOLDER, write

FILE = FOLDER / "guarantees.json"

GROUPS = ("timing", "loop", "kills", "failures")
"""Groups of guarantees that are measured together, in the order of the table."""


@dataclass(frozen=True)
class Guarantee:
    """A guarantee and its measurements.

    Attributes:
        group: The group that is measured together: one of `GROUPS`.
        name: The guarantee.
        required: The requirement on each run, as text; empty for a measurement without one.
        runs: The result of each run, as text.
        loads: The load average of a minute at the end of each run.
        met: For each run, whether it meets the requirement.
        missing: What the machine lacks to measure it; empty if it is measured.
        machine: The machine.
        date: The day of the measurement.
    """

    group: str
    name: str
    required: str
    runs: list[str]
    loads: list[float]
    met: list[bool]
    missing: str = ""
    machine: str = ""
    date: str = ""

    @property
    def outcome(self) -> str:
        """Whether the guarantee is met."""
        if self.missing:
            return f"not measurable here: no {self.missing}"
        if not self.required:
            return "no requirement"
        return "met" if all(self.met) else f"not met in {self.met.count(False)} of {len(self.met)} runs"

    def row(self) -> dict[str, str]:
        """Return the row of the table."""
        return {
            "guarantee": self.name,
            "required of each run": self.required or "–",
            "runs": "; ".join(self.runs) or "–",
            "load average": ", ".join(f"{load:.1f}" for load in self.loads) or "–",
            "outcome": self.outcome,
        }


@dataclass(frozen=True)
class Outcome:
    """The result of a run as text, and whether it meets the requirement."""

    text: str
    is_met: bool


def read_saved() -> list[Guarantee]:
    """Return the saved measurements."""
    if not FILE.is_file():
        return []
    return [Guarantee(**each) for each in json.loads(FILE.read_text(encoding="utf-8"))["measured"]]


def save(guarantees: list[Guarantee]) -> None:
    """Write the measurements, which replace saved ones of the same groups, and the table of all."""
    groups = {each.group for each in guarantees}
    all_guarantees = [*(each for each in read_saved() if each.group not in groups), *guarantees]
    all_guarantees.sort(key=lambda each: GROUPS.index(each.group))
    days = sorted({each.date for each in all_guarantees})
    machines = "; ".join(sorted({each.machine for each in all_guarantees}))
    caption = f"Measured {' to '.join(dict.fromkeys((days[0], days[-1])))} on {machines}."
    rows = [each.row() for each in all_guarantees]
    write(
        "guarantees",
        {"caption": caption, "rows": rows, "measured": [asdict(each) for each in all_guarantees]},
    )

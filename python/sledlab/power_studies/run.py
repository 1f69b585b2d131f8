"""Running a power study: what is not kept yet, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.comparison.run import carry_out
from sledlab.power_studies.measuring import measure
from sledlab.power_studies.outcome import PowerStudy

if TYPE_CHECKING:
    from pathlib import Path

    from sledlab.power_studies.plan import Plan


def run(plan: Plan, *, jobs: int | None = None, out: str | Path | None = None) -> PowerStudy:
    """Measures all points of a plan that `out` does not hold yet.

    Raises:
        Error: A point failed, named in the message; what was done before is kept.
        KeyboardInterrupt: The user stopped it; what was done is kept.
    """
    return carry_out(
        plan, measure, lambda found: PowerStudy.of(plan, found), jobs=jobs, out=out, doing="studying"
    )

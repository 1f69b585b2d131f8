"""Running a power study: what is not kept yet, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.comparison.run import measure_all
from sledlab.power_studies.measuring import measure
from sledlab.power_studies.outcome import PowerStudy
from sledlab.recording import make_directory

if TYPE_CHECKING:
    from sledlab.power_studies.plan import Plan


def run(plan: Plan, *, jobs: int | None = None, out: str | Path | None = None) -> PowerStudy:
    """Measures all points of a plan that `out` does not hold yet.

    Raises:
        Error: A point failed, named in the message; what was done before is kept.
        KeyboardInterrupt: The user stopped it; what was done is kept.
    """
    directory = make_directory(Path(out)) if out is not None else None
    measured = measure_all(plan, measure, jobs=jobs, directory=directory, doing="studying")
    study = PowerStudy.of(plan, {point: found["row"] for point, found in measured.items()})
    if directory is not None:
        study.write(directory)
    return study

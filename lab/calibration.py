"""Write docs/calibration.md: `python -m lab.calibration`.

The numbers of the page are measured on stand-ins that this module generates.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import fmean

from sledlab_papers.markdown import table
from sledlab_papers.wording import span

from .page import fill, write
from .simulator import StatisticRow, calibration, catalog, cells

PAGE = "calibration.md"

SEEDS = (1, 2, 3, 4, 5)

HOURS = ("cello", "hplajw")
DAY = "snake"
GENERATORS = (*HOURS, DAY, "tpcd", "tpcc")


@cache
def calibrate_seeds(name: str) -> tuple[calibration.CalibrationResult, ...]:
    """Return the calibration of a stand-in for each seed."""
    return tuple(calibration.calibrate(name, seed) for seed in SEEDS)


def mean_rows(name: str) -> list[StatisticRow]:
    """Return the statistics of a stand-in, with the mean over the seeds as the achieved value.

    A published trace is one draw, so what it fixes is the mean of a stand-in: some statistics differ by more
    between two seeds than they may deviate, such as the number of start-ups under the few clusters of snake.
    """
    alike = zip(*(run.rows for run in calibrate_seeds(name)), strict=True)
    return [replace(rows[0], achieved=_mean([row.achieved for row in rows])) for rows in alike]


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def section(name: str) -> str:
    """Return the section that compares one stand-in with published statistics."""
    runs = calibrate_seeds(name)
    choice = calibration.CALIBRATIONS[name]
    head = ("statistic", "source", "target", "achieved", "deviation", "range", "verdict")
    rows = []
    for number, row in enumerate(mean_rows(name)):
        what, target, achieved, deviation, verdict, source = cells(row)
        alike = [run.rows[number] for run in runs]
        deviations = [other.deviation for other in alike if other.deviation is not None]
        deviation_range = span(deviations) if deviations else ""
        rows.append((what, source, target, achieved, deviation, deviation_range, verdict))
    settings = ", ".join(f"`{key} = {value}`" for key, value in choice.parameters.items())
    made = f"the workload `{choice.workload}` with {settings}" if settings else f"the workload `{name}`"
    return f"## {name}\n\nStands in for {choice.original}: {made}.\n\n" + table(head, rows, words=2)


def choices(name: str) -> str:
    """Return the section of the parameters of a generator that were not published."""
    specs = [
        spec
        for spec in catalog.workload.show(name).parameters
        if spec.meaning.startswith(calibration.OPEN_PREFIX)
    ]
    rows = []
    for spec in specs:
        meaning = spec.meaning.removeprefix(calibration.OPEN_PREFIX)
        rows.append(
            (f"`{spec.name}`", meaning[0].upper() + meaning[1:], f"{spec.default:g} {spec.unit}".strip())
        )
    return f"## Choices in {name}\n\n" + table(("parameter", "meaning", "value"), rows, words=2)


def introduction() -> str:
    """Return the introduction of the page."""
    return fill(
        "calibration.md",
        tolerance=f"{100 * calibration.TOLERANCE:.0f}",
        device=calibration.DEVICE,
        first=SEEDS[0],
        last=SEEDS[-1],
    )


def page() -> str:
    """Return the page."""
    sections = [section(name) for name in calibration.CALIBRATIONS]
    return "\n".join([introduction(), *sections, *(choices(name) for name in GENERATORS)])


if __name__ == "__main__":
    write(page(), PAGE)

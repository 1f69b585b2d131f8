"""Write docs/calibration.md: `python -m validation.calibration`.

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
    rows_by_statistic = zip(*(run.rows for run in calibrate_seeds(name)), strict=True)
    return [replace(rows[0], achieved=_mean([row.achieved for row in rows])) for rows in rows_by_statistic]


def _mean(values: list[float | None]) -> float | None:
    known_values = [value for value in values if value is not None]
    return fmean(known_values) if len(known_values) == len(values) else None


def section(name: str) -> str:
    """Return the section that compares one stand-in with published statistics."""
    runs = calibrate_seeds(name)
    calibrated = calibration.CALIBRATIONS[name]
    header = ("statistic", "source", "target", "ajw", "achieved", "deviation", "range", "verdict")
    ajw = {calibration.STATISTICS[key].name: f"{value:,g}" for key, value in calibration.AJW.items()}
    rows = []
    for i, mean_row in enumerate(mean_rows(name)):
        statistic, target, achieved_value, deviation, verdict, source = cells(mean_row)
        seed_rows = [run.rows[i] for run in runs]
        deviations = [row.deviation for row in seed_rows if row.deviation is not None]
        deviation_range = span(deviations) if deviations else ""
        ajw_value = ajw.get(mean_row.statistic.name, "")
        rows.append(
            (statistic, source, target, ajw_value, achieved_value, deviation, deviation_range, verdict)
        )
    settings = ", ".join(f"`{key} = {value}`" for key, value in calibrated.parameters.items())
    description = (
        f"the workload `{calibrated.workload}` with {settings}" if settings else f"the workload `{name}`"
    )
    return f"## {name}\n\nStands in for {calibrated.original}: {description}.\n\n" + table(
        header, rows, word_columns=2
    )


def choices_section(name: str) -> str:
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
    return f"## Choices in {name}\n\n" + table(("parameter", "meaning", "value"), rows, word_columns=2)


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
    return "\n".join([introduction(), *sections, *(choices_section(name) for name in GENERATORS)])


if __name__ == "__main__":
    write(page(), PAGE)

"""The statistics of a stand-in and their targets, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sledlab.studies.calibration import CalibrationResult, StatisticRow

HEAD = ("statistic", "target", "achieved", "deviation", "verdict", "source of the target")
"""Columns of the table."""


def cells(row: StatisticRow) -> tuple[str, str, str, str, str, str]:
    """A row of the table."""
    unit = f" ({row.statistic.unit})" if row.statistic.unit else ""
    target = ""
    if row.target is not None:
        bound = f"at {row.target.kind} " if row.target.kind in ("least", "most") else ""
        target = f"{bound}{row.target.value:,g}" if row.target.value < 1e5 else f"{row.target.value:,.0f}"
    deviation = "" if row.deviation is None else f"{_format_signed(100 * row.deviation)} %"
    source = row.target.source if row.target else ""
    name = f"{row.statistic.name}{unit}"
    return name, target, row.statistic.text(row.achieved), deviation, row.verdict, source


def _format_signed(value: float) -> str:
    text = f"{value:+.1f}"
    return text if float(text) else text[1:]


def choices(result: CalibrationResult) -> str:
    """A sentence with the parameters that had to be chosen."""
    choices_text = ", ".join(f"{key} = {value:g}" for key, value in result.choices.items())
    return f"Choices: {choices_text}; `sledlab show workload` describes them."


def answer(result: CalibrationResult) -> str:
    """A sentence: whether the stand-in meets its published targets."""
    verdict = (
        "meets every published number it was fitted to" if result.passes else "misses some published numbers"
    )
    return f"The stand-in {result.name} (seed {result.seed}) {verdict}."

"""`sledlab workload calibrate`: a stand-in against what was published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from sledlab.cli.options import show_json, show_table

if TYPE_CHECKING:
    from sledlab.calibration import Calibrated, Row


def run(name: str, seed: int, *, as_json: bool) -> bool:
    """Prints the comparison and returns whether everything published is met."""
    from sledlab.calibration import calibrate

    found = calibrate(name, seed)
    if as_json:
        show_json(to_plain(found))
    else:
        _show(found)
    return found.passes


def to_plain(found: Calibrated) -> dict[str, Any]:
    """A calibration as plain data; the verdict of a statistic without a target is empty."""
    return {
        "name": found.name,
        "seed": found.seed,
        "passes": found.passes,
        "rows": [
            {
                "statistic": row.statistic.name,
                "unit": row.statistic.unit,
                "target": row.target and row.target.value,
                "achieved": row.achieved,
                "deviation": row.deviation,
                "verdict": row.verdict,
                "source": row.target.source if row.target else "",
            }
            for row in found.rows
        ],
        "choices": dict(found.choices),
    }


def cells(row: Row) -> tuple[str, str, str, str, str, str]:
    """Statistic with unit, target, achieved, deviation, verdict and source, as people read them."""
    unit = f" ({row.statistic.unit})" if row.statistic.unit else ""
    target = ""
    if row.target is not None:
        bound = f"at {row.target.kind} " if row.target.kind in ("least", "most") else ""
        target = f"{bound}{row.target.value:,g}" if row.target.value < 1e5 else f"{row.target.value:,.0f}"
    deviation = "" if row.deviation is None else f"{_signed(100 * row.deviation)} %"
    source = row.target.source if row.target else ""
    name = f"{row.statistic.name}{unit}"
    return name, target, row.statistic.text(row.achieved), deviation, row.verdict, source


def _signed(value: float) -> str:
    text = f"{value:+.1f}"
    return text if float(text) else text[1:]


def _show(found: Calibrated) -> None:
    head = ("statistic", "target", "achieved", "deviation", "verdict", "source of the target")
    show_table(head, [cells(row) for row in found.rows], right=head[1:4])
    chosen = ", ".join(f"{key} = {value:g}" for key, value in found.choices.items())
    click.echo(f"Choices: {chosen}; `sledlab workload show` says what they mean.")
    met = "meets every published number it was fitted to" if found.passes else "misses what was published"
    click.echo(f"The stand-in {found.name} (seed {found.seed}) {met}.")

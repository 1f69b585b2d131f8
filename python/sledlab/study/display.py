"""Default display of a study: its answer, its tables, and a figure of the first table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import unknown
from sledlab.show import palette, plots
from sledlab.show.document import Document, Drawing, Facts, Grid, Heading, Text
from sledlab.show.facts import common_facts
from sledlab.show.model_names import model_label, title
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import figure
from sledlab.study.column_figure import column_label
from sledlab.study.columns import columns, records
from sledlab.study.statistics import SeedMeans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.study.outcome import Outcome

RUN_COLUMNS = ("throughput_iops", "mean_ms", "p99_ms", "energy_j")
"""Columns of a run that a table shows after the row's own columns."""


def answer(outcome: Outcome) -> str:
    """Return the answer."""
    return outcome.conclusion()


def brief(outcome: Outcome) -> Sequence[Part]:
    """Return the parts for a terminal and a notebook."""
    return [Heading(title(outcome.config), 1), *_tables(outcome), Text(answer(outcome))]


def page(outcome: Outcome) -> Document:
    """Return the page."""
    name = title(outcome.config)
    drawing = Drawing(lambda: draw(outcome), _figure_title(outcome), width="narrow")
    facts: list[Part] = [Heading("Configuration"), Facts(common_facts(outcome.config))]
    parts = [Text(answer(outcome), "answer"), drawing, *_tables(outcome), *facts]
    return Document("study", name, parts, "All times are simulated.")


def draw(outcome: Outcome, column: str = "") -> Figure:
    """Draw a column of the runs of the first table over the column that identifies its rows.

    Raises:
        Error: There is no such column.
    """
    rows = records(next(iter(outcome.rows.values())))
    x, y = _axis_columns(outcome)
    y = column or y
    if y not in rows[0]:
        raise unknown("column", y, list(rows[0]))
    values = [row[y] for row in rows]
    kind = next(iter(outcome.kinds.values()))
    if not all(isinstance(row[x], (int, float)) for row in rows):
        bars = [(str(row[x]), row[y], figure(row[y]), False) for row in rows]
        return plots.bars(bars, column_label(y, columns(kind)[y]))
    fig, axes = plots.single_plot()
    axes.plot([row[x] for row in rows], values, color=palette.BLUE, marker="o")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y")
    axes.set_xlabel(column_label(x, columns(kind)[x]))
    axes.set_ylabel(column_label(y, columns(kind)[y]))
    return fig


def _axis_columns(outcome: Outcome) -> tuple[str, str]:
    kind = next(iter(outcome.kinds.values()))
    return next(name for name in columns(kind) if name not in columns(SeedMeans)), outcome.figure_column


def _figure_title(outcome: Outcome) -> str:
    x, y = _axis_columns(outcome)
    return f"{model_label(y)} by {model_label(x)}"


def _tables(outcome: Outcome) -> list[Part]:
    parts: list[Part] = []
    for name, kind in outcome.kinds.items():
        if len(outcome.kinds) > 1:
            parts.append(Heading(model_label(name)))
        column_names = [
            each for each in columns(kind) if each not in columns(SeedMeans) or each in RUN_COLUMNS
        ]
        head = [column_label(each, columns(kind)[each]) for each in column_names]
        rows = [[_cell(row[each]) for each in column_names] for row in records(outcome.rows[name])]
        parts.append(Grid(head, rows))
    return parts


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else figure(value)


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=draw)

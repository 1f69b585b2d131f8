"""Default display of a study: its answer, its tables, and a figure of the first table."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.show import palette, plots, table_figure
from sledlab.show.document import Document, Drawing, Facts, Grid, Heading, Text
from sledlab.show.facts import common_facts
from sledlab.show.presentation import DocumentPresentation, creator
from sledlab.show.widths import at_width, base_width, fit_width
from sledlab.show.wording import figure, model_label, title
from sledlab.study.columns import columns, records
from sledlab.study.statistics import SeedMeans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.study.columns import Column
    from sledlab.study.outcome import Outcome

RUN_COLUMNS = ("throughput_iops", "mean_ms", "p99_ms", "energy_j")
"""Columns of a run that a table shows after the row's own columns."""


UNITS = {"1024 bytes": "KiB", "2^20 bytes": "MiB"}
"""Units of columns as axes and tables show them."""


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
    facts: list[Part] = [Heading("What ran"), Facts(common_facts(outcome.config))]
    parts = [Text(answer(outcome), "answer"), drawing, *_tables(outcome), *facts]
    return Document("study", name, parts, "All times are simulated.")


def draw(outcome: Outcome) -> Figure:
    """Draw a column of the runs of the first table over the column that identifies its rows."""
    rows = records(next(iter(outcome.rows.values())))
    x, y = _draw(outcome)
    values = [row[y] for row in rows]
    kind = next(iter(outcome.kinds.values()))
    if not all(isinstance(row[x], (int, float)) for row in rows):
        bars = [(str(row[x]), row[y], figure(row[y]), False) for row in rows]
        return plots.bars(bars, _name(y, columns(kind)[y]), 1.35)
    made, axes = plots.single_plot()
    axes.plot([row[x] for row in rows], values, color=palette.BLUE, marker="o")
    axes.set_ylim(bottom=0)
    axes.grid(visible=True, axis="y")
    axes.set_xlabel(_name(x, columns(kind)[x]))
    axes.set_ylabel(_name(y, columns(kind)[y]))
    return made


def _draw(outcome: Outcome) -> tuple[str, str]:
    kind = next(iter(outcome.kinds.values()))
    return next(name for name in columns(kind) if name not in columns(SeedMeans)), outcome.figure_column


def plot_columns(outcome: Outcome, y: str, x: Sequence[str], width: str | None) -> Figure:
    """Draw a column of the first table that has it: over one column as lines, over two as a heat map.

    Args:
        outcome: The outcome of the study.
        y: The column that is drawn.
        x: Columns of the x axis, or of both axes of a heat map; by default the first axis with numbers.
        width: The width of the figure, see `at_width`.

    Raises:
        Error: No table has these columns, or they cannot be drawn.
    """
    tables = {name: records(rows) for name, rows in outcome.rows.items() if rows}
    # A table with a row for each seed is drawn only if no table has means over the seeds.
    order = sorted(tables, key=lambda name: "seed" in tables[name][0])
    matching = [name for name in order if {y, *x} <= tables[name][0].keys()]
    if not matching:
        columns_of_all = dict.fromkeys(column for name in order for column in tables[name][0])
        missing = next((name for name in (y, *x) if name not in columns_of_all), None)
        if missing is not None:
            raise unknown("column", missing, list(columns_of_all))
        raise Error(f"no table has all of {', '.join((y, *x))}", remedy="choose columns of one table")
    rows, kind = tables[matching[0]], outcome.kinds[matching[0]]
    keys = _keys(rows[0], outcome.axes)
    known = columns(kind)

    def label(name: str) -> str:
        return _name(name, known[name]) if name in known else name

    with plots.style(), at_width(width):
        drawn = table_figure.draw(rows, x or [_default_x(rows, keys)], y, keys, label)
        if width is not None:
            fit_width(drawn, base_width())
        return plots.finish_figure(drawn, creator(outcome))


def _keys(row: dict[str, Any], axes: Mapping[str, Any]) -> list[str]:
    """Return the columns that identify a row: axes, varied settings, and the texts and counts in front."""
    measures = columns(SeedMeans)
    leading = takewhile(
        lambda name: name in axes or (name not in measures and not isinstance(row[name], float)), row
    )
    named = [name for name in row if name in axes or "." in name]
    return [name for name in dict.fromkeys((*leading, *named)) if name not in ("seed", "label")]


def _default_x(rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> str:
    """Return the first key with several numbers; otherwise the first with several values."""
    varying = [key for key in keys if len({row[key] for row in rows}) > 1]
    numeric = [key for key in varying if all(isinstance(row[key], (int, float)) for row in rows)]
    found = next(iter([*numeric, *varying, *keys]), None)
    if found is None:
        raise Error("the table has no column that varies", remedy="name one with --x")
    return found


def _figure_title(outcome: Outcome) -> str:
    x, y = _draw(outcome)
    return f"{model_label(y)} by {model_label(x)}"


def _tables(outcome: Outcome) -> list[Part]:
    parts: list[Part] = []
    for name, kind in outcome.kinds.items():
        if len(outcome.kinds) > 1:
            parts.append(Heading(model_label(name)))
        shown = [each for each in columns(kind) if each not in columns(SeedMeans) or each in RUN_COLUMNS]
        head = [_name(each, columns(kind)[each]) for each in shown]
        rows = [[_cell(row[each]) for each in shown] for row in records(outcome.rows[name])]
        parts.append(Grid(head, rows))
    return parts


def _name(name: str, column: Column) -> str:
    """Return the name of a column with its unit.

    Examples:
        >>> from sledlab.study.columns import Column
        >>> _name("mean_ms", Column("mean response time", "ms")), _name("depth", Column("outstanding"))
        ('mean (ms)', 'depth')
        >>> _name("blocks", Column("request size", "blocks"))
        'blocks'
    """
    quantity, _, _ = name.rpartition("_")
    unit = UNITS.get(column.unit, column.unit)
    return f"{model_label(quantity)} ({unit})" if quantity and unit else model_label(name)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return f"{value:,}" if isinstance(value, int) else figure(value)


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=draw)

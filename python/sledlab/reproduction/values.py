"""The values that the panels of a figure show, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.reproduction.rows import value_label
from sledlab.show.wording import figure as format_figure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.reproduction.figure import Figure, FigurePanel
    from sledlab.reproduction.rows import Dot, Series, Tables


@dataclass(frozen=True)
class PanelValues:
    """The values of a panel.

    Attributes:
        title: Title of the panel, with the quantity and its unit.
        columns: Names of the columns.
        rows: Rows of texts.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def figure_values(figure: Figure, tables: Tables) -> list[PanelValues]:
    """Return the values of all panels of a figure that read tables.

    Raises:
        Error: A table is missing.
    """
    panel_values = []
    for panel in figure.panels:
        if panel.kind != "map":
            series_by_part = {name: tables.part(figure, panel, y) for name, y in panel.parts.items()}
            panel_values.append(
                _stack_values(panel, series_by_part)
                if panel.kind == "stack"
                else _series_values(panel, series_by_part[""])
            )
    return panel_values


def _series_values(panel: FigurePanel, series: Series) -> PanelValues:
    """A row for each x, a column for each series."""
    titles_by_series = {
        name: panel.names.get(name, name) if panel.series else panel.labels[1] for name in series
    }
    texts_by_cell = {
        (name, value_label(dot.x)): _dot_text(dot) for name, dots in series.items() for dot in dots
    }
    positions = dict.fromkeys(value_label(dot.x) for dots in series.values() for dot in dots)
    rows = [
        (_label(panel, x_value), *(texts_by_cell.get((name, x_value), "") for name in series))
        for x_value in sorted(positions, key=_sort_key)
        if panel.series or panel.kind != "bars" or not panel.names or x_value in panel.names
    ]
    return PanelValues(_title(panel), (panel.labels[0], *titles_by_series.values()), tuple(rows))


def _stack_values(panel: FigurePanel, parts: Mapping[str, Series]) -> PanelValues:
    """A row for each bar, a column for each part of it."""
    first = next(iter(parts.values()))
    texts_by_cell = {
        (part, name, value_label(dot.x)): _dot_text(dot)
        for part, series in parts.items()
        for name, dots in series.items()
        for dot in dots
    }
    rows = [
        (
            panel.names.get(name, name),
            _label(panel, x_value),
            *(texts_by_cell[part, name, x_value] for part in parts),
        )
        for name, dots in first.items()
        for x_value in (value_label(dot.x) for dot in dots)
    ]
    unit = "J" if panel.share else ""
    return PanelValues(
        _title(panel),
        (panel.series, panel.labels[0], *(f"{part} ({unit})" if unit else part for part in parts)),
        tuple(rows),
    )


def _label(panel: FigurePanel, x_value: str) -> str:
    """The name of a place on the x axis."""
    return x_value if panel.series else panel.names.get(x_value, x_value).replace("\n", "")


def _title(panel: FigurePanel) -> str:
    quantity = "energy (J)" if panel.share else panel.labels[1]
    return f"{panel.title}: {quantity}" if panel.title else quantity


def _dot_text(dot: Dot) -> str:
    return f"{format_figure(dot.y)} (overloaded)" if dot.is_overloaded else format_figure(dot.y)


def _sort_key(x_value: str) -> tuple[bool, float, str]:
    """Sorting key of a place: numbers by size, then words in their order."""
    try:
        return False, float(x_value), ""
    except ValueError:
        return True, 0.0, x_value

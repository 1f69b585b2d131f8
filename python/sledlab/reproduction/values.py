"""The values that the panels of a figure show, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.reproduction.rows import value_label
from sledlab.show.wording import figure as worded

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
    result = []
    for panel in figure.panels:
        if panel.kind != "map":
            parts = {name: tables.part(figure, panel, y) for name, y in panel.parts.items()}
            result.append(_stack_values(panel, parts) if panel.kind == "stack" else _plain(panel, parts[""]))
    return result


def _plain(panel: FigurePanel, series: Series) -> PanelValues:
    """A row for each x, a column for each series."""
    names = {name: panel.names.get(name, name) if panel.series else panel.labels[1] for name in series}
    cells = {(name, value_label(dot.x)): _text(dot) for name, dots in series.items() for dot in dots}
    positions = dict.fromkeys(value_label(dot.x) for dots in series.values() for dot in dots)
    rows = [
        (_label(panel, place), *(cells.get((name, place), "") for name in series))
        for place in sorted(positions, key=_order)
        if panel.series or panel.kind != "bars" or not panel.names or place in panel.names
    ]
    return PanelValues(_title(panel), (panel.labels[0], *names.values()), tuple(rows))


def _stack_values(panel: FigurePanel, parts: Mapping[str, Series]) -> PanelValues:
    """A row for each bar, a column for each part of it."""
    first = next(iter(parts.values()))
    cells = {
        (part, name, value_label(dot.x)): _text(dot)
        for part, series in parts.items()
        for name, dots in series.items()
        for dot in dots
    }
    rows = [
        (panel.names.get(name, name), _label(panel, place), *(cells[part, name, place] for part in parts))
        for name, dots in first.items()
        for place in (value_label(dot.x) for dot in dots)
    ]
    unit = "J" if panel.share else ""
    return PanelValues(
        _title(panel),
        (panel.series, panel.labels[0], *(f"{part} ({unit})" if unit else part for part in parts)),
        tuple(rows),
    )


def _label(panel: FigurePanel, place: str) -> str:
    """The name of a place on the x axis."""
    return place if panel.series else panel.names.get(place, place).replace("\n", "")


def _title(panel: FigurePanel) -> str:
    quantity = "energy (J)" if panel.share else panel.labels[1]
    return f"{panel.title}: {quantity}" if panel.title else quantity


def _text(dot: Dot) -> str:
    return f"{worded(dot.y)} (overloaded)" if dot.late else worded(dot.y)


def _order(place: str) -> tuple[bool, float, str]:
    """Sorting key of a place: numbers by size, then words in their order."""
    try:
        return False, float(place), ""
    except ValueError:
        return True, 0.0, place

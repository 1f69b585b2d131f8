"""Tables of the numbers of a figure, for pages whose script does not run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from sledlab.show.wording import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.show.series import Panel

MAX_ROWS = 12
"""Maximum number of rows of a table: of more positions, some at equal distances are shown."""

MAX_QUANTILES = 8
"""Maximum number of rows of a distribution."""

MAX_BAR_ROWS = 48
"""Maximum number of rows of a table of bars over time."""

MAX_COLUMNS = 6
"""Maximum number of columns of times in a map."""


class PanelTable(NamedTuple):
    """A table: names of its columns, and rows; the other fields as in `sledlab.show.document.Grid`."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    classes: str = ""
    has_groups: bool = False


def tables(panels: Sequence[Panel]) -> list[PanelTable]:
    """Return a table for each plot of a figure.

    Examples:
        >>> from sledlab.show.series import Panel, Series
        >>> panel = Panel("load (1/s)", "mean (ms)", [Series("SPTF", "#000000", [1.5, None])], [10, 20])
        >>> [table] = tables([panel])
        >>> table.head, table.rows
        (('load (1/s)', 'mean (ms)'), [('10', '1.50'), ('20', '')])
    """
    return [_table(panel) for panel in panels]


def _table(panel: Panel) -> PanelTable:
    if panel.named_bars:
        rows = [(bar.name, bar.text.replace("\n", ", ")) for bar in panel.named_bars]
        return PanelTable(("", panel.x_name), rows)
    if panel.times is not None:
        return _map(panel)
    if panel.rows:
        return _bars(panel)
    if any(series.x for series in panel.series):
        return _distributions(panel)
    return _curves(panel)


def _curves(panel: Panel) -> PanelTable:
    """Return a row for each position, and a column for each series."""
    positions = list(panel.steps) or [_number(place) for place in panel.x]
    head = (panel.x_name, *_column_names(panel))
    rows = [
        (positions[place], *(_value(panel, number, place) for number in range(len(panel.series))))
        for place in _spread(len(positions), MAX_ROWS)
    ]
    return PanelTable(head, rows)


def _column_names(panel: Panel) -> list[str]:
    """Return the names of the columns of series, with the unit of the y axis."""
    if len(panel.series) == 1:
        return [panel.y_name]
    unit = re.search(r" \([^()]*\)$", panel.y_name)
    return [f"{series.name}{unit[0] if unit else f', {panel.y_name}'}" for series in panel.series]


def _value(panel: Panel, number: int, place: int) -> str:
    """Return the text of a value, marked if the run was overloaded."""
    series = panel.series[number]
    text = _number(series.values[place])
    is_overloaded = place < len(series.overloaded) and series.overloaded[place]
    return f"{text} overloaded".strip() if is_overloaded else text


def _distributions(panel: Panel) -> PanelTable:
    """Return a row for each position of each series that has its own positions."""
    rows = [
        (series.name, _number(series.x[place]), _number(series.values[place]))
        for series in panel.series
        for place in _spread(len(series.x), MAX_QUANTILES)
    ]
    return PanelTable(("", panel.x_name, panel.y_name), rows, has_groups=True)


def _bars(panel: Panel) -> PanelTable:
    """Return a row for each bar over time, of the first rows."""
    places: dict[int, int] = {}
    rows = []
    for bar in panel.bars[:MAX_BAR_ROWS]:
        step = places.get(bar.row, 0)
        places[bar.row] = step + 1
        rows.append((panel.rows[bar.row], panel.steps[step], _number(bar.start), *map(_number, bar.lengths)))
    names = (f"{series.name} (s)" for series in panel.series)
    return PanelTable(("node", "phase", "start (s)", *names), rows, "left", has_groups=True)


def _map(panel: Panel) -> PanelTable:
    """Return the times to some places of a plane: a row for each y, a column for each x."""
    times = panel.times
    assert times is not None
    columns, rows = _spread(len(panel.x), MAX_COLUMNS), _spread(len(times.y), MAX_ROWS)
    head = (f"{panel.y_name}; {times.y_name}", *(f"x = {_number(panel.x[column])}" for column in columns))
    body = [
        (_number(times.y[row]), *(_number(max(times.x_ms[column], times.y_ms[row])) for column in columns))
        for row in rows
    ]
    return PanelTable(head, body)


def _number(value: float | None) -> str:
    if value is None or value != value:  # noqa: PLR0124 - NaN is not equal to itself
        return ""
    return f"{value:,}" if isinstance(value, int) else figure(value)


def _spread(count: int, limit: int) -> list[int]:
    """Return at most `limit` numbers from 0 to `count` - 1 at equal distances, with both ends.

    Examples:
        >>> _spread(4, 12), _spread(101, 5)
        ([0, 1, 2, 3], [0, 25, 50, 75, 100])
    """
    if count <= limit:
        return list(range(count))
    return [round(place * (count - 1) / (limit - 1)) for place in range(limit)]

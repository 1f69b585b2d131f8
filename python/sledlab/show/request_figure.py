"""Columns of the requests of a run: points over one column, or a heat map of means over two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import QUIET

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.runs.result import Result

UNITS = {"ms": ("ns", 1e6), "s": ("ns", 1e9), "mj": ("uj", 1e3)}
"""Units of columns that are not in the table, with the unit and the divisor of the column that is."""

UNIT_NAMES = {"mj": "mJ", "uj": "µJ"}

MAX_VECTOR_POINTS = 5000
"""More points than this are one picture in a PDF or SVG, which would be too large otherwise."""

MAX_NAMES = 24
"""Most names on the x axis."""

BINS = (24, 16)
"""Columns and lines of a heat map."""


def draw(result: Result, y: str, x: Sequence[str], where: Mapping[str, Any]) -> Figure:
    """Draw a column of the requests of a run over one or two others.

    Args:
        result: The run.
        y: The column that is drawn; `response_ms` is `response_ns` in ms.
        x: Columns of the axes; by default the time of arrival.
        where: Values of columns that requests must have.

    Raises:
        Error: The run did not keep its requests, or they have no such column or value.
    """
    frame = _select(result.requests, where)
    names = [*(x or ["arrival_s"]), y]
    columns = {name: _column(frame, name) for name in names}
    if columns[y].dtype == polars.String:
        raise Error(f"the column `{y}` has no numbers", remedy="choose another column with --y")
    return _heat_map(columns) if len(names) == 3 else _points(frame, columns)


def _select(frame: polars.DataFrame, where: Mapping[str, Any]) -> polars.DataFrame:
    """Return the requests that have some values."""
    for key, value in where.items():
        column = _column(frame, key)
        texts = column.cast(polars.Float64).cast(polars.String) if column.dtype.is_numeric() else column
        wanted = str(float(value)) if column.dtype.is_numeric() and _is_number(value) else str(value)
        selected = frame.filter(texts == wanted)
        if selected.is_empty():
            known = ", ".join(map(str, column.unique().sort().head(8)))
            raise Error(f"no request has {key} = {value}", remedy=f"the first of its values are {known}")
        frame = selected
    return frame


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _column(frame: polars.DataFrame, name: str) -> polars.Series:
    """Return a column, converted where it is in the table in another unit.

    Raises:
        Error: There is no such column.
    """
    if name in frame.columns:
        return frame[name]
    quantity, _, unit = name.rpartition("_")
    source_unit, divisor = UNITS.get(unit, ("", 1.0))
    if f"{quantity}_{source_unit}" not in frame.columns:
        raise unknown("column", name, frame.columns)
    return frame[f"{quantity}_{source_unit}"] / divisor


def _label(name: str) -> str:
    """Return the label of an axis.

    Examples:
        >>> _label("response_ms"), _label("startup_uj"), _label("lbn")
        ('response (ms)', 'startup (µJ)', 'lbn')
    """
    quantity, _, unit = name.rpartition("_")
    is_unit = unit in ("ns", "uj", *UNITS)
    return f"{quantity.replace('_', ' ')} ({UNIT_NAMES.get(unit, unit)})" if is_unit else name


def _points(frame: polars.DataFrame, columns: Mapping[str, polars.Series]) -> Figure:
    """Draw a point for each request, reads and writes apart; boxes where x has names."""
    (x, x_column), (y, y_column) = columns.items()
    fig, axes = plots.single_plot()
    if x_column.dtype == polars.String:
        _boxes(axes, x_column, y_column)
    else:
        operations = frame["op"].unique(maintain_order=True).sort().to_list()
        handles = {}
        for (color, _, marker), operation in zip(plots.LINE_STYLES, operations, strict=False):
            is_chosen = frame["op"] == operation
            points = (x_column.filter(is_chosen), y_column.filter(is_chosen))
            style: Any = {"color": color, "marker": marker, "markersize": 2, "linestyle": ""}
            (handles[operation],) = axes.plot(*points, **style, rasterized=frame.height > MAX_VECTOR_POINTS)
        if len(handles) > 1:
            plots.legend(fig, handles)
        axes.margins(x=0.02)
    _scale(axes, y_column)
    axes.set(xlabel=_label(x), ylabel=_label(y))
    axes.grid(visible=True, axis="y")
    return fig


def _boxes(axes: Axes, x: polars.Series, y: polars.Series) -> None:
    """Draw median, quartiles, and 1st to 99th percentile for each name."""
    names = x.unique().sort().head(MAX_NAMES).to_list()
    style: Any = {"whis": (1, 99), "showfliers": False, "medianprops": {"color": plots.LINE_STYLES[0][0]}}
    axes.boxplot([y.filter(x == name).to_list() for name in names], **style)
    axes.set_xticks(range(1, len(names) + 1), names)
    axes.set_title("box: quartiles; line: 1 to 99 %", fontsize=9, color=QUIET)


def _scale(axes: Axes, values: polars.Series) -> None:
    """Set the y axis, logarithmic where the 1st and 99th percentile are far apart."""
    low, high = (values.quantile(share) or 0.0 for share in (0.01, 0.99))
    if low > 0 and high > plots.LOG_RATIO * low:
        axes.set_yscale("log")
    elif not (values < 0).any():
        axes.set_ylim(bottom=0)
    plain_ticks(axes.yaxis)


def _heat_map(columns: Mapping[str, polars.Series]) -> Figure:
    """Draw the mean of a column in bins of two others."""
    (x, x_column), (z, z_column), (y, y_column) = columns.items()
    for name, column in ((x, x_column), (z, z_column)):
        if not column.dtype.is_numeric():
            raise Error(f"the column `{name}` has no numbers", remedy="draw points, with a single --x")
    places: Any = [column.cast(polars.Float64).to_numpy() for column in (x_column, z_column)]
    sums, *edges = np.histogram2d(*places, bins=BINS, weights=y_column.to_numpy())  # type: ignore[call-overload]
    counts, *_ = np.histogram2d(*places, bins=edges)  # type: ignore[call-overload]
    with np.errstate(invalid="ignore"):
        means = np.where(counts > 0, sums / counts, np.nan)
    fig, axes = plots.single_plot()
    image = axes.pcolormesh(*edges, means.T, cmap="cividis_r", rasterized=True)
    axes.set(xlabel=_label(x), ylabel=_label(z))
    plots.color_bar(fig, image, axes, f"mean {_label(y)}, {len(y_column):,} requests")
    return fig

"""The numbers of figures: declared once, drawn by the script of a page, or by matplotlib where there is none.

A figure that can be explored has a `Panel` for each of its plots. The function that draws the figure reads
its values from the panel, and so does the script of the page (`web/charts`).
"""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_POSITIONS = 420
"""Maximum number of x positions of a curve with its own positions: the pixels of a plot's width."""

MAX_BARS = 450
"""Most bars of a panel: about 20 KB of a page."""

MAX_UNPACKED_VALUES = 40
"""More numbers than this are packed, three letters each."""

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
"""Digits in base 64; three of them are a packed number."""

MIN_POWER, POWERS = -17, 29
"""Smallest power of ten, and number of powers, of the last of a packed number's four digits."""

VALUE_DIGITS, PLACE_DIGITS = 4, 7
"""Significant digits of values, and of places on the x axis."""


@dataclass(frozen=True)
class Series:
    """A curve of a panel.

    Attributes:
        name: Name of the curve.
        color: Its color, `#rrggbb`.
        values: A value for each place on the x axis; `None` for a missing one.
        x: Own x positions instead of those of the panel, ascending; such a curve is a distribution, whose
            values rise to 100 %, and is drawn as steps.
        kind: `line`, `area`, or `bar` for stacked bars.
        low: Lower end of the 95 % confidence interval at each place; empty without intervals.
        high: Upper end of the interval.
        overloaded: Whether the run at each place was overloaded, so that its value is not to be trusted.
        dash: Lengths of strokes and gaps in points; empty for a solid line.
        is_picked: Whether the curve is colored when the page opens; the others are gray.
    """

    name: str
    color: str
    values: Sequence[float | None]
    x: Sequence[float] = ()
    kind: str = "line"
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    overloaded: Sequence[bool] = ()
    dash: Sequence[float] = ()
    is_picked: bool = True


@dataclass(frozen=True)
class Bar:
    """A bar of stretches one after the other in a row; a row has a bar for each of `Panel.steps`.

    Attributes:
        row: Number of the row, from 0.
        start: Time at which the bar begins.
        lengths: Length of a stretch for each of the panel's series.
    """

    row: int
    start: float
    lengths: Sequence[float]


@dataclass(frozen=True)
class NamedBar:
    """A bar with its name on the left and a text at its end.

    Attributes:
        name: Name of the bar.
        value: Its length.
        color: Its color, `#rrggbb`.
        text: Text at its end, of one or two lines.
        heading: Text above the bar, for the first of several that belong together.
    """

    name: str
    value: float
    color: str
    text: str
    heading: str = ""


@dataclass(frozen=True)
class PlaneTimes:
    """Times to all places of a plane, each the longer of a time in x and a time in y.

    Attributes:
        y_name: Label of the y axis, with its unit.
        y: Positions on the y axis, at equal distances.
        x_ms: Time in x in ms, for each place on the x axis of the panel.
        y_ms: Time in y in ms, for each place on the y axis.
        start: The place from which times are measured.
        outlines: Times in ms; the regions reached within them are outlined.
    """

    y_name: str
    y: Sequence[float]
    x_ms: Sequence[float]
    y_ms: Sequence[float]
    start: tuple[float, float]
    outlines: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """One plot of a figure.

    Attributes:
        x_name: Label of the x axis, with its unit.
        y_name: Label of the y axis, with its unit.
        series: The curves, or the kinds of stretches of bars.
        x: Places on the x axis; empty where they are steps, or every series has its own.
        steps: Names of the places 0, 1, 2 ... where these are no numbers; for bars, names of the phases.
        top: Names above the plot, one for each place on the x axis.
        log_x: Whether the x axis is logarithmic.
        log_y: Whether the y axis is logarithmic when the page opens.
        sync_group: Panels of a page with the same word zoom together, and a series is picked in all of them.
        marks: Texts at places of the x axis; those without a place are omitted.
        levels: Texts at values of the y axis.
        rows: Names of rows, from the top, where the panel shows bars over time instead of curves.
        bars: The bars of these rows.
        times: Times to all places, where the panel is a map of seek times.
        named_bars: Bars below each other, from the top, where the panel shows these.
    """

    x_name: str
    y_name: str
    series: Sequence[Series]
    x: Sequence[float] = ()
    steps: Sequence[str] = ()
    top: Sequence[str] = ()
    log_x: bool = False
    log_y: bool = False
    sync_group: str = ""
    marks: Sequence[tuple[str, float | None]] = ()
    levels: Sequence[tuple[str, float]] = ()
    rows: Sequence[str] = ()
    bars: Sequence[Bar] = ()
    times: PlaneTimes | None = None
    named_bars: Sequence[NamedBar] = ()


def distribution_panel(series: Sequence[Series]) -> Panel:
    """Return the panel of distributions of response times; its axis is linear if all times are zero."""
    log_x = any(time > 0 for each in series for time in each.x)
    return Panel("response time (ms)", "requests answered within (%)", series, log_x=log_x)


def to_json(panels: Sequence[Panel]) -> str:
    """Return the panels as JSON for a script element of a page: no text in the JSON can end that element."""
    text = json.dumps(
        [_panel(panel) for panel in panels], ensure_ascii=True, allow_nan=False, separators=(",", ":")
    )
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _panel(panel: Panel) -> dict[str, Any]:
    """Return a panel as plain data; keys with empty or false values are omitted."""
    rows: dict[int, list[Any]] = {}
    for bar in panel.bars:
        lengths = [_round(length, VALUE_DIGITS) for length in bar.lengths]
        rows.setdefault(bar.row, []).append([_round(bar.start, PLACE_DIGITS), *lengths])
    return _to_json(
        {
            "x": _places(panel.x),
            "xName": visible(panel.x_name),
            "yName": visible(panel.y_name),
            "steps": [visible(step) for step in panel.steps],
            "top": [visible(name) for name in panel.top],
            "logX": panel.log_x,
            "logY": panel.log_y,
            "together": panel.sync_group,
            "marks": [
                [visible(text), _round(place, VALUE_DIGITS)]
                for text, place in panel.marks
                if place is not None
            ],
            "levels": [[visible(text), _round(value, VALUE_DIGITS)] for text, value in panel.levels],
            "rows": [visible(row) for row in panel.rows],
            "bars": [rows.get(row, []) for row in range(len(panel.rows))],
            "map": panel.times and _times(panel.times),
            "named": [_named_bar(bar) for bar in panel.named_bars],
        }
    ) | {"series": [_series(series, log_x=panel.log_x) for series in panel.series]}


def _times(times: PlaneTimes) -> dict[str, Any]:
    """Return the times of a map as plain data."""
    return {
        "yName": visible(times.y_name),
        "y": _places(times.y),
        "inX": _numbers(times.x_ms),
        "inY": _numbers(times.y_ms),
        "start": list(times.start),
        "outlines": list(times.outlines),
    }


def _named_bar(bar: NamedBar) -> list[Any]:
    """Return a bar as plain data."""
    return [
        visible(bar.name),
        _round(bar.value, VALUE_DIGITS),
        bar.color,
        visible(bar.text),
        visible(bar.heading),
    ]


def drawn_steps(positions: Sequence[float]) -> list[int]:
    """Return the places of the steps that a plot can tell apart, at most `MAX_POSITIONS`.

    The last step in each of equal parts of the axis is one of them. So a curve of these steps reaches each
    value less than a pixel after the complete curve, also in a tail of few values.

    Args:
        positions: Positions of the steps on the axis, ascending: on a logarithmic axis, logarithms.

    Examples:
        >>> len(drawn_steps([step / 1e5 for step in range(1000)] + [1, 2])), drawn_steps([0.5, 0.7])
        (6, [0, 1])
    """
    finite = [position for position in positions if position > -math.inf]
    if len(positions) <= MAX_POSITIONS:
        return list(range(len(positions)))
    parts, low, high = MAX_POSITIONS - 2, finite[0], finite[-1]
    place_by_part = {
        math.floor(parts * (position - low) / (high - low)) if position > -math.inf else -1: place
        for place, position in enumerate(positions)
    }
    return sorted({0, *place_by_part.values()})


def log_positions(values: Sequence[float]) -> list[float]:
    """Return the positions of values on a logarithmic axis, which has none for zero."""
    return [math.log(value) if value > 0 else -math.inf for value in values]


def _series(series: Series, *, log_x: bool) -> dict[str, Any]:
    """Return a series as plain data; of a distribution, the steps that a plot can tell apart."""
    places = drawn_steps(log_positions(series.x) if log_x else series.x) if series.x else []
    shares = [series.values[place] or 0.0 for place in places]
    # Shares above one half are given by what is missing to 100 %: with four digits, 99.996 % would be 100 %.
    half = bisect_right(shares, 50)
    values = [*shares[:half], *(100 - share for share in shares[half:])] if series.x else series.values
    return _to_json(
        {
            "name": visible(series.name),
            "color": series.color,
            "kind": series.kind if series.kind != "line" else "",
            "values": _numbers(values),
            "at": _numbers([series.x[place] for place in places]),
            "half": half,
            "low": _numbers(series.low),
            "high": _numbers(series.high),
            "late": [place for place, is_overloaded in enumerate(series.overloaded) if is_overloaded],
            "dash": list(series.dash),
            "gray": not series.is_picked,
        }
    )


def _to_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data without keys whose values are empty or false."""
    return {name: value for name, value in data.items() if value not in ("", [], False, None)}


def _places(x: Sequence[float]) -> Any:
    """Return the positions on an axis as a list, or start, distance and number if they are equidistant."""
    if len(x) > 3:
        step = (x[-1] - x[0]) / (len(x) - 1)
        if all(abs(x[0] + index * step - place) <= abs(step) * 1e-6 for index, place in enumerate(x)):
            return {"first": x[0], "step": step, "count": len(x)}
    return [_round(place, PLACE_DIGITS) for place in x]


def _numbers(values: Sequence[float | None]) -> list[float | None] | str:
    """Return the numbers rounded to four digits: as a list, or packed into a text if there are many."""
    rounded = [_round(value, VALUE_DIGITS) for value in values]
    packed = [_pack(value) for value in rounded] if len(rounded) > MAX_UNPACKED_VALUES else [None]
    return rounded if None in packed else "".join(each or "" for each in packed)


def _pack(value: float | None) -> str | None:
    """Return a number of four digits, `None` or zero as three letters; `None` if it is out of range.

    Examples:
        >>> _pack(None), _pack(0), _pack(12.34), _pack(-1)
        ('AAA', 'AAB', 'hBE', None)
    """
    code = 0 if value is None else 1
    if value:
        digits, power = f"{value:.3e}".split("e")
        exponent = int(power) - 3 - MIN_POWER
        if value < 0 or not 0 <= exponent < POWERS:
            return None
        code = 2 + exponent * 9000 + int(digits.replace(".", "")) - 1000
    return "".join(DIGITS[code // 64**exponent % 64] for exponent in (2, 1, 0))


def _round(value: float | None, digits: int) -> float | None:
    """Return a number with `digits` significant digits, an `int` if it is an integer; `None` for NaN."""
    if value is None or value != value:  # noqa: PLR0124 - NaN is not equal to itself
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded == int(rounded) else rounded

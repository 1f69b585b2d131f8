"""Drawing the statements of the paper next to the values of a panel."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_colors, mpl_patches
from sledlab.reproduction.rows import value_label
from sledlab.show.palette import INK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledlab.reproduction.figure import PublishedValue
    from sledlab.reproduction.panel import DrawnPanel

Point = tuple[float, float]

PUBLISHED_COLOR = "#E0A100"
"""Color of the paper's statements, which our series never have."""

MARK_OFFSET = 0.43
"""Distance of the paper's marks from the middle of a bar: right of the bar and of the value written on it."""

PUBLISHED_MARKERS = "DsX^vP"
"""Markers of the paper's statements, a different one for each statement of a figure."""

HATCHES = ("", "////", "||||", "\\\\\\\\")
"""Hatches of areas, a different one for each statement of a figure."""

AREA_ORDER = 0.3
"""Drawing order of areas: below the grid and our values."""

BRACKET_OFFSET = 0.52
"""Distance of a published range from the middle of a bar, whose width is 0.8."""

MIN_BAND_POINTS = 2
"""Least number of points that a band has."""

MARK_ROOM, LOG_MARK_ROOM = 1.06, 1.6
"""Least ratio of the end of the y axis to a published value that is marked, linear and logarithmic."""


@dataclass
class DrawnStatements:
    """The statements of the paper in a panel.

    Attributes:
        drawn_panel: The panel, with our values drawn.
        is_shortened: Whether the runs are shorter than the paper's.
        handles: Statements with their marks, for the legend.
        omitted: Statements that are not drawn: values of the full run, or of series that this run lacks.
    """

    drawn_panel: DrawnPanel
    is_shortened: bool = False
    handles: dict[str, Any] = field(default_factory=dict)
    omitted: list[str] = field(default_factory=list)

    def draw(self) -> None:
        """Draw the statements that apply to this run."""
        panel = self.drawn_panel.panel
        for statement in panel.printed if self.drawn_panel.series else ():
            is_other_size = self.is_shortened and statement.is_absolute and panel.shows_totals
            if is_other_size or not self._has_base(statement):
                self.omitted.append(statement.text)
            else:
                self._draw_statement(statement)

    def _draw_statement(self, statement: PublishedValue) -> None:
        """Draw one statement of the paper."""
        for mark in self._draw_marks(statement):
            self.handles.setdefault(statement.text, mark)

    def _has_base(self, statement: PublishedValue) -> bool:
        """Whether this run has the values that a statement refers to or is drawn at."""
        if statement.by is None or self.drawn_panel.panel.kind == "map":
            positions = [x for x, _ in statement.at]
            return not self.drawn_panel.slots or all(
                value_label(x) in self.drawn_panel.slots for x in positions
            )
        dots = self.drawn_panel.series.get(statement.of, ())
        if statement.at_x is None and len(self._points_within(statement)) < MIN_BAND_POINTS:
            return False
        drawn_labels = {value_label(dot.x) for dot in dots}
        return bool(dots) and all(
            value_label(x) in drawn_labels for x in (statement.from_x, statement.at_x) if x is not None
        )

    def _draw_marks(self, statement: PublishedValue) -> Iterator[Any]:
        """Draw the marks of a statement, and yield each as the legend shows it."""
        if statement.at:
            yield self._draw_points(statement, [(self._x_position(x), y) for x, y in statement.at])
        if statement.by and statement.at_x is not None:
            yield self._draw_relative(statement)
        elif statement.by:
            yield self._draw_band(statement)
        if statement.x:
            yield self._draw_range(statement, statement.x, "x")
        if statement.y:
            yield self._draw_range(statement, statement.y, "y")

    def _x_position(self, x: Any) -> float:
        if not self.drawn_panel.slots:
            return float(x)
        return self.drawn_panel.slots[value_label(x)] + (
            MARK_OFFSET if self.drawn_panel.panel.kind == "bars" else 0.0
        )

    def _draw_points(self, statement: PublishedValue, points: Sequence[tuple[float, float]]) -> Any:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        least_top = max(ys) * (LOG_MARK_ROOM if self.drawn_panel.is_logarithmic else MARK_ROOM)
        if not self.drawn_panel.panel.share and self.drawn_panel.axes.get_ylim()[1] < least_top:
            self.drawn_panel.axes.set_ylim(top=least_top)
        statement_texts = dict.fromkeys(
            printed.text for panel in self.drawn_panel.figure.panels for printed in panel.printed
        )
        return self.drawn_panel.axes.plot(
            xs,
            ys,
            PUBLISHED_MARKERS[[*statement_texts].index(statement.text) % len(PUBLISHED_MARKERS)],
            color=PUBLISHED_COLOR,
            markeredgecolor=INK,
            markersize=8.5 if self._lies_below_dots else 6,
            markeredgewidth=0.9,
            zorder=5,
        )[0]

    @property
    def _lies_below_dots(self) -> bool:
        """Whether our dots lie on the marks, which are larger then."""
        return self.drawn_panel.panel.kind == "stack" and self.drawn_panel.is_logarithmic

    def _draw_relative(self, statement: PublishedValue) -> Any:
        """Draw a value, or a range of values, relative to one of our values."""
        assert statement.by
        base_value = next(
            dot.y
            for dot in self.drawn_panel.series[statement.of]
            if value_label(dot.x) == value_label(statement.from_x)
        )
        x, (low, high) = self._x_position(statement.at_x), (base_value * factor for factor in statement.by)
        if low == high:
            return self._draw_points(statement, [(x, low)])
        top = min(high, self.drawn_panel.axes.get_ylim()[1])
        self.drawn_panel.axes.plot(
            [x, x], [low, top], color=PUBLISHED_COLOR, linewidth=7, alpha=0.7, zorder=4
        )
        if not isfinite(high):
            self._draw_points(statement, [(x, low)])
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.7)

    def _draw_band(self, statement: PublishedValue) -> Any:
        """Draw multiples of one of our series, as a line or a band."""
        assert statement.by
        points = self._points_within(statement)
        xs, ys = [x for x, _ in points], [y for _, y in points]
        low_factor, high_factor = statement.by
        if low_factor == high_factor:
            (line,) = self.drawn_panel.axes.plot(
                xs, [y * low_factor for y in ys], color=PUBLISHED_COLOR, linestyle="--", zorder=4
            )
            return line
        style = self._area_style(statement, 0.4)
        if statement.along == "x":
            sides = [x * low_factor for x in xs], [x * high_factor for x in xs]
            self.drawn_panel.axes.fill_betweenx(ys, *sides, **style)
        else:
            sides = [y * low_factor for y in ys], [y * high_factor for y in ys]
            self.drawn_panel.axes.fill_between(xs, *sides, **style)
        return mpl_patches.Patch(**style)

    def _points_within(self, statement: PublishedValue) -> list[Point]:
        """Points of our series in the range of a statement, and where its line enters and leaves it."""
        low, high = statement.within or (-inf, inf)
        points = [(float(dot.x), dot.y) for dot in self.drawn_panel.series.get(statement.of, ())]
        kept: list[Point] = []
        for index, point in enumerate(points):
            if index:
                kept += self._crossings(points[index - 1], point, (low, high))
            if low <= point[1] <= high:
                kept.append(point)
        return kept

    def _crossings(self, start: Point, end: Point, bounds: tuple[float, float]) -> list[Point]:
        """The points between two others where their line, as drawn, crosses bounds of y."""
        ends = sorted((start[1], end[1]))
        crossed_bounds = sorted(y for y in bounds if ends[0] < y < ends[1])
        if end[1] < start[1]:
            crossed_bounds.reverse()
        return [self._crossing(start, end, y) for y in crossed_bounds]

    def _crossing(self, start: Point, end: Point, y: float) -> Point:
        """The point with a value of y on the drawn line between two points."""
        to_pixels = self.drawn_panel.axes.transData
        (start_x, start_y), (end_x, end_y) = to_pixels.transform([start, end])
        y_pixel = to_pixels.transform((start[0], y))[1]
        x_pixel = start_x + (end_x - start_x) * (y_pixel - start_y) / (end_y - start_y)
        return float(to_pixels.inverted().transform((x_pixel, y_pixel))[0]), y

    def _area_style(self, statement: PublishedValue, alpha: float) -> dict[str, Any]:
        """The style of an area: each statement of a figure has a hatch of its own."""
        texts = dict.fromkeys(
            printed.text
            for panel in self.drawn_panel.figure.panels
            for printed in panel.printed
            if printed.is_area
        )
        hatch = HATCHES[[*texts].index(statement.text) % len(HATCHES)]
        return {
            "facecolor": _mix_with_white(PUBLISHED_COLOR, alpha),
            "edgecolor": PUBLISHED_COLOR,
            "hatch": hatch,
            "linewidth": 0,
            "zorder": AREA_ORDER,
        }

    def _draw_range(self, statement: PublishedValue, span: tuple[float, float], axis: str) -> Any:
        """Draw a value, or a range of values, of one of the axes."""
        low, high = span
        axes = self.drawn_panel.axes
        line, area = (axes.axvline, axes.axvspan) if axis == "x" else (axes.axhline, axes.axhspan)
        if low == high:
            return line(low, color=PUBLISHED_COLOR, linestyle="--", zorder=4)
        if self.drawn_panel.panel.kind == "stack":  # an area would hide the parts of a stack
            return self._draw_brackets(low, high)
        bottom, top = axes.get_xlim() if axis == "x" else axes.get_ylim()
        style = self._area_style(statement, 0.3)
        area(max(low, bottom), min(high, top), **style)
        return mpl_patches.Patch(**style)

    def _draw_brackets(self, low: float, high: float) -> Any:
        """Draw a range of values beside each bar; return the last bracket."""
        style: Any = {"marker": "_", "markersize": 10, "markeredgewidth": 2, "linewidth": 2, "zorder": 4}
        bracket = None
        for position in self.drawn_panel.slots.values():
            x = position + BRACKET_OFFSET
            (bracket,) = self.drawn_panel.axes.plot([x, x], [low, high], color=PUBLISHED_COLOR, **style)
        return bracket


def _mix_with_white(color: str, share: float) -> tuple[float, ...]:
    """A light color without transparency, under which a hatch of an SVG file would disappear."""
    return tuple(1 - share * (1 - channel) for channel in mpl_colors.to_rgb(color))

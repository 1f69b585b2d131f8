"""Drawing the statements of the paper next to the values of a panel."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_patches
from sledlab.reproduction.rows import value_label
from sledlab.show.palette import INK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sledlab.reproduction.figure import PublishedValue
    from sledlab.reproduction.panel import DrawnPanel

PUBLISHED_COLOR = "#E0A100"
"""Color of the paper's statements, which our series never have."""

MARK_OFFSET = 0.43
"""Distance of the paper's marks from the middle of a bar: right of the bar and of the value written on it."""

PUBLISHED_MARKERS = "DsX^vP"
"""Markers of the paper's statements, a different one for each statement of a figure."""

MARK_ROOM = 1.06
"""Least ratio of the end of the y axis to a published value that is marked; more on a logarithmic axis."""


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
        label = (
            f"{statement.text}, for the full run"
            if self.is_shortened and statement.is_absolute
            else statement.text
        )
        for mark in self._draw_marks(statement):
            self.handles.setdefault(label, mark)

    def _has_base(self, statement: PublishedValue) -> bool:
        """Whether this run has the values that a statement refers to or is drawn at."""
        if statement.by is None or self.drawn_panel.panel.kind == "map":
            positions = [x for x, _ in statement.at]
            return not self.drawn_panel.slots or all(
                value_label(x) in self.drawn_panel.slots for x in positions
            )
        dots = self.drawn_panel.series.get(statement.of, ())
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
            yield self._draw_range(statement.x, "x")
        if statement.y:
            yield self._draw_range(statement.y, "y")

    def _x_position(self, x: Any) -> float:
        if not self.drawn_panel.slots:
            return float(x)
        return self.drawn_panel.slots[value_label(x)] + (
            MARK_OFFSET if self.drawn_panel.panel.kind == "bars" else 0.0
        )

    def _draw_points(self, statement: PublishedValue, points: Sequence[tuple[float, float]]) -> Any:
        xs, ys = [x for x, _ in points], [y for _, y in points]
        least_top = max(ys) * (MARK_ROOM**3 if self.drawn_panel.is_logarithmic else MARK_ROOM)
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
            markersize=6,
            markeredgewidth=0.9,
            zorder=5,
        )[0]

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
        low, high = statement.within or (-inf, inf)
        dots = [dot for dot in self.drawn_panel.series.get(statement.of, ()) if low <= dot.y <= high]
        xs, ys = [dot.x for dot in dots], [dot.y for dot in dots]
        low_factor, high_factor = statement.by
        if low_factor == high_factor:
            (line,) = self.drawn_panel.axes.plot(
                xs, [y * low_factor for y in ys], color=PUBLISHED_COLOR, linestyle="--", zorder=4
            )
            return line
        if statement.along == "x":
            sides = [x * low_factor for x in xs], [x * high_factor for x in xs]
            self.drawn_panel.axes.fill_betweenx(ys, *sides, color=PUBLISHED_COLOR, alpha=0.4, linewidth=0)
        else:
            self.drawn_panel.axes.fill_between(
                xs,
                [y * low_factor for y in ys],
                [y * high_factor for y in ys],
                color=PUBLISHED_COLOR,
                alpha=0.4,
                linewidth=0,
            )
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.4)

    def _draw_range(self, span: tuple[float, float], axis: str) -> Any:
        """Draw a value, or a range of values, of one of the axes."""
        low, high = span
        axes = self.drawn_panel.axes
        line, area = (axes.axvline, axes.axvspan) if axis == "x" else (axes.axhline, axes.axhspan)
        if low == high or self.drawn_panel.panel.kind == "stack":  # an area would hide the parts of a stack
            lines = [
                line(value, color=PUBLISHED_COLOR, linestyle="--", zorder=4) for value in dict.fromkeys(span)
            ]
            return lines[0]
        bottom, top = axes.get_xlim() if axis == "x" else axes.get_ylim()
        area(max(low, bottom), min(high, top), color=PUBLISHED_COLOR, alpha=0.3, linewidth=0, zorder=0)
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.3)

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
        drawn: The panel, with our values drawn.
        shortened: Whether the runs are shorter than the paper's.
        handles: Statements with their marks, for the legend.
        omitted: Statements that are not drawn: values of the full run, or of series that this run lacks.
    """

    drawn: DrawnPanel
    shortened: bool = False
    handles: dict[str, Any] = field(default_factory=dict)
    omitted: list[str] = field(default_factory=list)

    def draw(self) -> None:
        """Draws the statements that apply to this run."""
        panel = self.drawn.panel
        for published in panel.printed if self.drawn.series else ():
            is_other_size = self.shortened and published.is_absolute and panel.shows_totals
            if is_other_size or not self._has_base(published):
                self.omitted.append(published.text)
            else:
                self._print(published)

    def _print(self, published: PublishedValue) -> None:
        """Draws one statement of the paper."""
        label = (
            f"{published.text}, for the full run"
            if self.shortened and published.is_absolute
            else published.text
        )
        for mark in self._marks(published):
            self.handles.setdefault(label, mark)

    def _has_base(self, published: PublishedValue) -> bool:
        """Whether this run has the values that a statement refers to or is drawn at."""
        if published.by is None or self.drawn.panel.kind == "map":
            positions = [x for x, _ in published.at]
            return not self.drawn.slots or all(value_label(x) in self.drawn.slots for x in positions)
        dots = self.drawn.series.get(published.of, ())
        at = {value_label(dot.x) for dot in dots}
        return bool(dots) and all(
            value_label(x) in at for x in (published.from_x, published.at_x) if x is not None
        )

    def _marks(self, published: PublishedValue) -> Iterator[Any]:
        """Draws the marks of a statement, and yields each as the legend shows it."""
        if published.at:
            yield self._dots(published, [(self._place(x), y) for x, y in published.at])
        if published.by and published.at_x is not None:
            yield self._relative(published)
        elif published.by:
            yield self._band(published)
        if published.x:
            yield self._range(published.x, "x")
        if published.y:
            yield self._range(published.y, "y")

    def _place(self, x: Any) -> float:
        if not self.drawn.slots:
            return float(x)
        return self.drawn.slots[value_label(x)] + (MARK_OFFSET if self.drawn.panel.kind == "bars" else 0.0)

    def _dots(self, published: PublishedValue, where: Sequence[tuple[float, float]]) -> Any:
        xs, ys = [x for x, _ in where], [y for _, y in where]
        least_top = max(ys) * (MARK_ROOM**3 if self.drawn.is_logarithmic else MARK_ROOM)
        if not self.drawn.panel.share and self.drawn.axes.get_ylim()[1] < least_top:
            self.drawn.axes.set_ylim(top=least_top)
        texts = dict.fromkeys(each.text for panel in self.drawn.figure.panels for each in panel.printed)
        return self.drawn.axes.plot(
            xs,
            ys,
            PUBLISHED_MARKERS[[*texts].index(published.text) % len(PUBLISHED_MARKERS)],
            color=PUBLISHED_COLOR,
            markeredgecolor=INK,
            markersize=6,
            markeredgewidth=0.9,
            zorder=5,
        )[0]

    def _relative(self, published: PublishedValue) -> Any:
        """Draws a value, or a range of values, relative to one of our values."""
        assert published.by
        base = next(
            dot.y
            for dot in self.drawn.series[published.of]
            if value_label(dot.x) == value_label(published.from_x)
        )
        place, (low, high) = self._place(published.at_x), (base * by for by in published.by)
        if low == high:
            return self._dots(published, [(place, low)])
        top = min(high, self.drawn.axes.get_ylim()[1])
        self.drawn.axes.plot(
            [place, place], [low, top], color=PUBLISHED_COLOR, linewidth=7, alpha=0.7, zorder=4
        )
        if not isfinite(high):
            self._dots(published, [(place, low)])
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.7)

    def _band(self, published: PublishedValue) -> Any:
        """Draws multiples of one of our series, as a line or a band."""
        assert published.by
        low, high = published.within or (-inf, inf)
        dots = [dot for dot in self.drawn.series.get(published.of, ()) if low <= dot.y <= high]
        xs, ys = [dot.x for dot in dots], [dot.y for dot in dots]
        first, last = published.by
        if first == last:
            (line,) = self.drawn.axes.plot(
                xs, [y * first for y in ys], color=PUBLISHED_COLOR, linestyle="--", zorder=4
            )
            return line
        if published.along == "x":
            sides = [x * first for x in xs], [x * last for x in xs]
            self.drawn.axes.fill_betweenx(ys, *sides, color=PUBLISHED_COLOR, alpha=0.4, linewidth=0)
        else:
            self.drawn.axes.fill_between(
                xs,
                [y * first for y in ys],
                [y * last for y in ys],
                color=PUBLISHED_COLOR,
                alpha=0.4,
                linewidth=0,
            )
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.4)

    def _range(self, span: tuple[float, float], axis: str) -> Any:
        """Draws a value, or a range of values, of one of the axes."""
        low, high = span
        axes = self.drawn.axes
        line, area = (axes.axvline, axes.axvspan) if axis == "x" else (axes.axhline, axes.axhspan)
        if low == high or self.drawn.panel.kind == "stack":  # an area would hide the parts of a stack
            lines = [
                line(each, color=PUBLISHED_COLOR, linestyle="--", zorder=4) for each in dict.fromkeys(span)
            ]
            return lines[0]
        bottom, top = axes.get_xlim() if axis == "x" else axes.get_ylim()
        area(max(low, bottom), min(high, top), color=PUBLISHED_COLOR, alpha=0.3, linewidth=0, zorder=0)
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.3)

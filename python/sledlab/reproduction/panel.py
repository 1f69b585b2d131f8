"""Drawing a panel of a figure: measured lines, bars or stacks, and the published values."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_patches, mpl_ticker
from sledlab.reproduction.rows import value_label
from sledlab.show.palette import BLUE, GREEN, INK, PURPLE, QUIET, SKY, VERMILION
from sledlab.show.plots import plain_ticks
from sledlab.show.wording import figure as worded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from sledlab.reproduction.figure import Figure, FigurePanel, PublishedValue
    from sledlab.reproduction.rows import Dot, Series, Tables

COLORS = (BLUE, VERMILION, GREEN, PURPLE, SKY, INK)
MARKERS = "os^Dvp"

PUBLISHED_COLOR = "#E0A100"
"""Color of the paper's statements, which our series never have."""

GAP = 0.8
"""Gap between groups of bars, in widths of a bar."""

MAX_TICKS = 9

LOG_AXIS_RATIO = 20
"""Ratio of the greatest to the least value from which on an axis is logarithmic."""

MINOR_TICK_RATIO = 100
"""Ratio of the greatest to the least value up to which a logarithmic axis has ticks between its decades."""

MARK_OFFSET = 0.27
"""Distance of the paper's marks from the middle of a bar, where its value is written, in widths of a bar."""


@dataclass
class DrawnPanel:
    """A panel as it is drawn.

    Attributes:
        figure: The figure.
        panel: The panel.
        axes: The axes to draw on.
        tables: The tables with our values.
        measured_handles: Names of our series with their lines or patches, for the legend.
        published_handles: Statements of the paper with their marks, for the legend.
        changed: Whether the run differs from the published experiment by more than its length.
        shortened: Whether the runs are shorter than the paper's.
        omitted_statements: Statements that are not drawn: values of the full run, or of series that this run
            lacks.
    """

    figure: Figure
    panel: FigurePanel
    axes: Axes
    tables: Tables
    measured_handles: dict[str, Any] = field(default_factory=dict)
    published_handles: dict[str, Any] = field(default_factory=dict)
    changed: bool = False
    shortened: bool = False
    omitted_statements: list[str] = field(default_factory=list)
    _series: Series = field(default_factory=dict)
    _slots: dict[str, float] = field(default_factory=dict)

    def draw(self) -> None:
        """Draws our values, sets the axes, then draws the statements of the paper."""
        parts = {name: self.tables.part(self.figure, self.panel, y) for name, y in self.panel.parts.items()}
        self._series = next(iter(parts.values()))
        if not self._series:
            self.axes.text(0.5, 0.5, "nothing of this in so short a run", ha="center", color=QUIET)
            self.axes.set_axis_off()
            return
        if self.panel.kind == "lines":
            self._lines(self._series)
        elif self.panel.kind == "bars":
            self._bars(self._series)
        else:
            self._stack(parts)
        self._axes()
        for published in self.panel.printed:
            is_other_size = self.shortened and published.is_absolute and self.panel.shows_totals
            if is_other_size or not self._has_base(published):
                self.omitted_statements.append(published.text)
            else:
                self._print(published)

    def _lines(self, result: Series) -> None:
        order = [*self.panel.names] or [*result]
        for name, dots in result.items():
            place = order.index(name)
            color, marker = COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)]
            xs, ys = [dot.x for dot in dots], [dot.y for dot in dots]
            (line,) = self.axes.plot(xs, ys, color=color, marker=marker, markersize=4)
            lateness = [dot for dot in dots if dot.late]
            style: Any = {"linestyle": "none", "marker": marker, "markersize": 4, "color": color}
            self.axes.plot(
                [dot.x for dot in lateness], [dot.y for dot in lateness], markerfacecolor="white", **style
            )
            if name:
                self.measured_handles[self.panel.names.get(name, name)] = line
        self.axes.grid(visible=True)
        if any(dot.late for dots in result.values() for dot in dots):
            self.measured_handles["hollow: overloaded"] = self.axes.plot(
                [], [], "o", color=QUIET, markerfacecolor="white", markersize=4
            )[0]

    def _bars(self, result: Series) -> None:
        dots = self._sort_dots(result[""])
        self._slots = {value_label(dot.x): place for place, dot in enumerate(dots)}
        faces = ["white" if dot.late else BLUE for dot in dots]
        cap = self._cap()
        heights = [min(dot.y, cap) for dot in dots]
        self.axes.bar(range(len(dots)), heights, width=0.64, color=faces, edgecolor=BLUE)
        for place, dot in enumerate(dots):
            self.axes.annotate(
                worded(dot.y) if dot.y <= cap else "overload",
                (place, heights[place]),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=9,
            )
        names = [self.panel.names.get(value_label(dot.x), str(dot.x)) for dot in dots]
        self.axes.set_xticks(range(len(dots)), names, fontsize=9 if len(names) > 4 else 8, color=INK)
        self.axes.margins(y=0.12)
        self.axes.grid(visible=True, axis="y")
        if any(dot.late for dot in dots):
            self.measured_handles["hollow: overloaded"] = mpl_patches.Patch(facecolor="white", edgecolor=BLUE)

    def _sort_dots(self, dots: Sequence[Dot]) -> list[Dot]:
        """The dots in the order of the panel's names; dots without a name are not shown."""
        names = list(self.panel.names)
        shown = [dot for dot in dots if not names or value_label(dot.x) in names]
        return sorted(shown, key=lambda dot: names.index(value_label(dot.x))) if names else shown

    def _stack(self, parts: dict[str, Series]) -> None:
        heights = self._heights(parts)
        left: dict[str, float] = dict.fromkeys(self._slots, 0.0)
        names = list(dict.fromkeys(part for each in self.figure.panels for part in each.parts))
        for part, result in heights.items():
            color = COLORS[names.index(part)]
            positions = [self._slots[slot] for slot in result]
            bottoms = [left[slot] for slot in result]
            self.axes.bar(
                positions, list(result.values()), bottom=bottoms, width=0.8, color=color, linewidth=0
            )
            left |= {slot: left[slot] + height for slot, height in result.items()}
            self.measured_handles[part] = mpl_patches.Patch(color=color)
        self.axes.set_xlim(-1.2, max(self._slots.values()) + 1.2)
        self.axes.grid(visible=True, axis="y")

    def _heights(self, parts: dict[str, Series]) -> dict[str, dict[str, float]]:
        """Heights of each part by slot, the place of a bar on the x axis; also sets slots and ticks."""
        groups = {name: self._visible_dots(dots) for name, dots in self._series.items()}
        place, ticks = 0.0, []
        for name, dots in groups.items():
            start = place
            for dot in dots:
                self._slots[_slot(name, dot.x)] = place
                text = (
                    self.panel.names.get(value_label(dot.x), value_label(dot.x))
                    if not name
                    else value_label(dot.x)
                )
                ticks.append((place, text))
                place += 1
            if name:
                self._group(self.panel.names.get(name, name), (start + place - 1) / 2)
            place += GAP
        self.axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=9, color=INK)
        heights = {
            part: {
                _slot(name, dot.x): dot.y for name, dots in result.items() for dot in self._visible_dots(dots)
            }
            for part, result in parts.items()
        }
        if self.panel.share:
            full = {slot: sum(result[slot] for result in heights.values()) for slot in self._slots}
            heights = {
                part: {slot: 100 * y / full[slot] for slot, y in result.items()}
                for part, result in heights.items()
            }
        return heights

    def _visible_dots(self, dots: Sequence[Dot]) -> list[Dot]:
        return list(dots) if self.panel.series else self._sort_dots(dots)

    def _group(self, name: str, middle: float) -> None:
        """Names a group of bars below its ticks."""
        self.axes.annotate(
            name,
            (middle, 0),
            xycoords=("data", "axes fraction"),
            xytext=(0, -15),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=9,
            color=INK,
        )

    def _axes(self) -> None:
        x, y = self.panel.labels
        pad = 14 if self.panel.kind == "stack" and self.panel.series else None
        self.axes.set_xlabel(x, labelpad=pad)
        self.axes.set_ylabel(y)
        if "y" in self.panel.log or ("auto" in self.panel.log and self._has_wide_range()):
            self.axes.set_yscale("log")
            if not self._has_wide_range(MINOR_TICK_RATIO):
                self.axes.yaxis.set_major_locator(mpl_ticker.LogLocator(subs=(1, 2, 5)))
        self.axes.tick_params(which="minor", length=0)
        plain_ticks(self.axes.yaxis)
        if self.panel.kind == "lines":
            if "x" in self.panel.log:
                self.axes.set_xscale("log")
            values = sorted({dot.x for dots in self._series.values() for dot in dots})
            if "x" in self.panel.log and len(values) <= MAX_TICKS:
                self.axes.set_xticks(values)
            plain_ticks(self.axes.xaxis)
        self._limits()

    def _limits(self) -> None:
        """Sets the declared ranges of the axes; ends axes before values out of range or far overloaded."""
        for name, limit in self.panel.limits.items():
            low, high = limit
            if name == "y" and self.changed:
                high = self._highest() * 1.1
            if low <= 0 and getattr(self.axes, f"get_{name}scale")() == "log":
                continue
            if high <= low:  # no upper limit is declared: up to the highest value, or `_cap`
                high = min(max(dot.y for dot in self._values()) * 1.1, self._cap())
            self.axes.set(**{f"{name}lim": (low, high)})
        if self.panel.share:
            self.axes.set_ylim(0, 100)
        elif self.panel.kind == "lines" and "y" in self.panel.limits and "x" not in self.panel.limits:
            self._end()
        if isfinite(self._cap()) and "y" not in self.panel.limits and self.panel.kind == "lines":
            self.axes.set_ylim(top=self._cap())

    def _highest(self) -> float:
        """The highest value that is not overloaded; of overloaded values alone, the highest."""
        dots = self._values()
        return max(dot.y for dot in [dot for dot in dots if not dot.late] or dots)

    def _end(self) -> None:
        """Ends the x axis after the last value that lies within the y axis."""
        top = self.axes.get_ylim()[1]
        last = max((float(dot.x) for dot in self._values() if dot.y <= top), default=inf)
        if isfinite(last):
            self.axes.set_xlim(right=last * (1.2 if "x" in self.panel.log else 1.03))

    def _values(self) -> list[Dot]:
        """All dots that are shown; of bars, those with a name."""
        dots = [dot for dots in self._series.values() for dot in dots]
        return self._sort_dots(dots) if self.panel.kind == "bars" else dots

    def _has_wide_range(self, times: float = LOG_AXIS_RATIO) -> bool:
        values = [min(dot.y, self._cap()) for dot in self._values()]
        return max(values) > times * min(values)

    def _cap(self) -> float:
        """The end of the y axis: only overloaded values lie above it; infinite if none is far above."""
        maximum = max((dot.y for dot in self._values() if not dot.late), default=inf)
        return 1.5 * maximum if any(dot.y > LOG_AXIS_RATIO * maximum for dot in self._values()) else inf

    def _print(self, published: PublishedValue) -> None:
        """Draws one statement of the paper."""
        label = (
            f"{published.text}, for the full run"
            if self.shortened and published.is_absolute
            else published.text
        )
        for mark in self._marks(published):
            self.published_handles.setdefault(label, mark)

    def _has_base(self, published: PublishedValue) -> bool:
        """Whether this run has the values that a statement refers to or is drawn at."""
        if published.by is None or self.panel.kind == "map":
            positions = [x for x, _ in published.at]
            return not self._slots or all(value_label(x) in self._slots for x in positions)
        dots = self._series.get(published.of, ())
        at = {value_label(dot.x) for dot in dots}
        return bool(dots) and all(
            value_label(x) in at for x in (published.from_x, published.at_x) if x is not None
        )

    def _marks(self, published: PublishedValue) -> Iterator[Any]:
        """Draws the marks of a statement, and yields each as the legend shows it."""
        if published.at:
            yield self._dots([(self._place(x), y) for x, y in published.at])
        if published.by and published.at_x is not None:
            yield self._relative(published)
        elif published.by:
            yield self._band(published)
        if published.x:
            yield self._range(published.x, "x")
        if published.y:
            yield self._range(published.y, "y")

    def _place(self, x: Any) -> float:
        if not self._slots:
            return float(x)
        return self._slots[value_label(x)] + (MARK_OFFSET if self.panel.kind == "bars" else 0.0)

    def _dots(self, where: Sequence[tuple[float, float]]) -> Any:
        xs, ys = [x for x, _ in where], [y for _, y in where]
        return self.axes.plot(
            xs,
            ys,
            "D",
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
            dot.y for dot in self._series[published.of] if value_label(dot.x) == value_label(published.from_x)
        )
        place, (low, high) = self._place(published.at_x), (base * by for by in published.by)
        if low == high:
            return self._dots([(place, low)])
        top = min(high, self.axes.get_ylim()[1])
        self.axes.plot([place, place], [low, top], color=PUBLISHED_COLOR, linewidth=7, alpha=0.7, zorder=4)
        if not isfinite(high):
            self._dots([(place, low)])
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.7)

    def _band(self, published: PublishedValue) -> Any:
        """Draws multiples of one of our series, as a line or a band."""
        assert published.by
        low, high = published.within or (-inf, inf)
        dots = [dot for dot in self._series.get(published.of, ()) if low <= dot.y <= high]
        xs, ys = [dot.x for dot in dots], [dot.y for dot in dots]
        first, last = published.by
        if first == last:
            (line,) = self.axes.plot(
                xs, [y * first for y in ys], color=PUBLISHED_COLOR, linestyle="--", zorder=4
            )
            return line
        if published.along == "x":
            sides = [x * first for x in xs], [x * last for x in xs]
            self.axes.fill_betweenx(ys, *sides, color=PUBLISHED_COLOR, alpha=0.4, linewidth=0)
        else:
            self.axes.fill_between(
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
        line, area = (
            (self.axes.axvline, self.axes.axvspan) if axis == "x" else (self.axes.axhline, self.axes.axhspan)
        )
        if low == high or self.panel.kind == "stack":  # an area would hide the parts of a stack
            lines = [
                line(each, color=PUBLISHED_COLOR, linestyle="--", zorder=4) for each in dict.fromkeys(span)
            ]
            return lines[0]
        bottom, top = self.axes.get_xlim() if axis == "x" else self.axes.get_ylim()
        area(max(low, bottom), min(high, top), color=PUBLISHED_COLOR, alpha=0.3, linewidth=0, zorder=0)
        return mpl_patches.Patch(color=PUBLISHED_COLOR, alpha=0.3)


def _slot(group: str, x: Any) -> str:
    """The key of a bar: its group and its x."""
    return f"{group} {value_label(x)}".strip()

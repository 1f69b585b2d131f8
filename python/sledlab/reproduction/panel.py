"""Drawing a panel of a figure: measured lines, bars or stacks."""

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
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from sledlab.reproduction.figure import Figure, FigurePanel
    from sledlab.reproduction.rows import Dot, Series, Tables

COLORS = (BLUE, VERMILION, GREEN, PURPLE, SKY, INK)
MARKERS = "os^Dvp"

GAP = 0.8
"""Gap between groups of bars, in widths of a bar."""

MAX_TICKS = 9

LOG_AXIS_RATIO = 20
"""Ratio of the greatest to the least value from which on an axis is logarithmic."""

MINOR_TICK_RATIO = 100
"""Ratio of the greatest to the least value up to which a logarithmic axis has ticks between its decades."""

HEADROOM = 0.12
"""Room above bars, as a share of their height."""


@dataclass
class DrawnPanel:
    """A panel as it is drawn.

    Attributes:
        figure: The figure.
        panel: The panel.
        axes: The axes to draw on.
        tables: The tables with our values.
        measured_handles: Names of our series with their lines or patches, for the legend.
        changed: Whether the run differs from the published experiment by more than its length.
        is_logarithmic: Whether the y axis is logarithmic.
        series: Our values; of a stack, those of its first part.
        slots: Places of bars on the x axis.
    """

    figure: Figure
    panel: FigurePanel
    axes: Axes
    tables: Tables
    measured_handles: dict[str, Any] = field(default_factory=dict)
    changed: bool = False
    is_logarithmic: bool = False
    _parts: dict[str, Series] = field(default_factory=dict)
    series: Series = field(default_factory=dict)
    slots: dict[str, float] = field(default_factory=dict)

    def load(self) -> None:
        """Reads the values of the panel."""
        self._parts = {
            name: self.tables.part(self.figure, self.panel, y) for name, y in self.panel.parts.items()
        }
        self.series = next(iter(self._parts.values()))
        self.is_logarithmic = bool(self.series) and (
            "y" in self.panel.log or ("auto" in self.panel.log and self._has_wide_range())
        )

    @property
    def has_own_range(self) -> bool:
        """Whether the range of the y axis is declared, or nothing is drawn."""
        return not self.series or self.panel.share or "y" in self.panel.limits

    def draw_values(self) -> None:
        """Draws our values and sets the axes."""
        if not self.series:
            self.axes.text(0.5, 0.5, "nothing of this in so short a run", ha="center", color=QUIET)
            self.axes.set_axis_off()
            return
        if self.panel.kind == "lines":
            self._lines(self.series)
        elif self.panel.kind == "bars":
            self._bars(self.series)
        else:
            self._stack(self._parts)
        self._axes()

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
        self.slots = {value_label(dot.x): place for place, dot in enumerate(dots)}
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
        self.axes.margins(y=HEADROOM)
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
        left: dict[str, float] = dict.fromkeys(self.slots, 0.0)
        names = list(dict.fromkeys(part for each in self.figure.panels for part in each.parts))
        for part, result in heights.items():
            color = COLORS[names.index(part)]
            positions = [self.slots[slot] for slot in result]
            bottoms = [left[slot] for slot in result]
            self.axes.bar(
                positions, list(result.values()), bottom=bottoms, width=0.8, color=color, linewidth=0
            )
            left |= {slot: left[slot] + height for slot, height in result.items()}
            self.measured_handles[part] = mpl_patches.Patch(color=color)
        self.axes.set_xlim(-1.2, max(self.slots.values()) + 1.2)
        self.axes.set_ylim(0, max(left.values()) * (1 + HEADROOM))
        self.axes.grid(visible=True, axis="y")

    def _heights(self, parts: dict[str, Series]) -> dict[str, dict[str, float]]:
        """Heights of each part by slot, the place of a bar on the x axis; also sets slots and ticks."""
        groups = {name: self._visible_dots(dots) for name, dots in self.series.items()}
        place, ticks = 0.0, []
        for name, dots in groups.items():
            start = place
            for dot in dots:
                self.slots[_slot(name, dot.x)] = place
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
            full = {slot: sum(result[slot] for result in heights.values()) for slot in self.slots}
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
            xytext=(0, -17),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=9,
            color=INK,
        )

    def _axes(self) -> None:
        x, y = self.panel.labels
        pad = 14 if self.panel.kind == "stack" and self.panel.series else None
        has_log_x = "x" in self.panel.log and self.panel.kind == "lines"
        self.axes.set_xlabel(f"{x}, log scale" if has_log_x else x, labelpad=pad)
        self.axes.set_ylabel(f"{y}\nlog scale" if self.is_logarithmic else y)
        if self.is_logarithmic:
            self.axes.set_yscale("log")
            if not self._has_wide_range(MINOR_TICK_RATIO):
                self.axes.yaxis.set_major_locator(mpl_ticker.LogLocator(subs=(1, 2, 5)))
        self.axes.tick_params(which="minor", length=0)
        plain_ticks(self.axes.yaxis)
        if self.panel.kind == "lines":
            if "x" in self.panel.log:
                self.axes.set_xscale("log")
            values = sorted({dot.x for dots in self.series.values() for dot in dots})
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
        dots = [dot for dots in self.series.values() for dot in dots]
        return self._sort_dots(dots) if self.panel.kind == "bars" else dots

    def _has_wide_range(self, times: float = LOG_AXIS_RATIO) -> bool:
        values = [min(dot.y, self._cap()) for dot in self._values()]
        return max(values) > times * min(values)

    def _cap(self) -> float:
        """The end of the y axis: only overloaded values lie above it; infinite if none is far above."""
        maximum = max((dot.y for dot in self._values() if not dot.late), default=inf)
        return 1.5 * maximum if any(dot.y > LOG_AXIS_RATIO * maximum for dot in self._values()) else inf


def _slot(group: str, x: Any) -> str:
    """The key of a bar: its group and its x."""
    return f"{group} {value_label(x)}".strip()

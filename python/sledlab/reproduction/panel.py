"""Drawing a panel of a figure: measured lines, bars or stacks."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_patches, mpl_ticker
from sledlab.reproduction.rows import value_label
from sledlab.show.palette import BLUE, GREEN, INK, PURPLE, QUIET, SKY, VERMILION
from sledlab.show.plots import plain_ticks
from sledlab.show.wording import figure as format_figure

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
        is_changed: Whether the run differs from the published experiment by more than its length.
        is_logarithmic: Whether the y axis is logarithmic.
        series: Our values; of a stack, those of its first part.
        slots: Places of bars on the x axis.
    """

    figure: Figure
    panel: FigurePanel
    axes: Axes
    tables: Tables
    measured_handles: dict[str, Any] = field(default_factory=dict)
    is_changed: bool = False
    is_logarithmic: bool = False
    _series_by_part: dict[str, Series] = field(default_factory=dict)
    series: Series = field(default_factory=dict)
    slots: dict[str, float] = field(default_factory=dict)

    def load(self) -> None:
        """Read the values of the panel."""
        self._series_by_part = {
            name: self.tables.part(self.figure, self.panel, y) for name, y in self.panel.parts.items()
        }
        self.series = next(iter(self._series_by_part.values()))
        self.is_logarithmic = bool(self.series) and (
            "y" in self.panel.log or ("auto" in self.panel.log and self._has_wide_range())
        )

    @property
    def has_own_range(self) -> bool:
        """Whether the range of the y axis is declared, or nothing is drawn."""
        return not self.series or self.panel.share or "y" in self.panel.limits

    def draw_values(self) -> None:
        """Draw our values and set the axes."""
        if not self.series:
            self.axes.text(0.5, 0.5, "nothing of this in so short a run", ha="center", color=QUIET)
            self.axes.set_axis_off()
            return
        if self.panel.kind == "lines":
            self._draw_lines(self.series)
        elif self.panel.kind == "bars":
            self._draw_bars(self.series)
        else:
            self._draw_stack(self._series_by_part)
        self._set_axes()

    def _draw_lines(self, series: Series) -> None:
        order = [*self.panel.names] or [*series]
        for name, dots in series.items():
            index = order.index(name)
            color, marker = COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)]
            xs, ys = [dot.x for dot in dots], [dot.y for dot in dots]
            (line,) = self.axes.plot(xs, ys, color=color, marker=marker, markersize=4)
            overloaded_dots = [dot for dot in dots if dot.is_overloaded]
            style: Any = {"linestyle": "none", "marker": marker, "markersize": 4, "color": color}
            self.axes.plot(
                [dot.x for dot in overloaded_dots],
                [dot.y for dot in overloaded_dots],
                markerfacecolor="white",
                **style,
            )
            if name:
                self.measured_handles[self.panel.names.get(name, name)] = line
        self.axes.grid(visible=True)
        if any(dot.is_overloaded for dots in series.values() for dot in dots):
            self.measured_handles["hollow: overloaded"] = self.axes.plot(
                [], [], "o", color=QUIET, markerfacecolor="white", markersize=4
            )[0]

    def _draw_bars(self, series: Series) -> None:
        dots = self._sort_dots(series[""])
        self.slots = {value_label(dot.x): index for index, dot in enumerate(dots)}
        face_colors = ["white" if dot.is_overloaded else BLUE for dot in dots]
        cap = self._cap()
        heights = [min(dot.y, cap) for dot in dots]
        self.axes.bar(range(len(dots)), heights, width=0.64, color=face_colors, edgecolor=BLUE)
        for index, dot in enumerate(dots):
            self.axes.annotate(
                format_figure(dot.y) if dot.y <= cap else "overload",
                (index, heights[index]),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=9,
            )
        names = [self.panel.names.get(value_label(dot.x), str(dot.x)) for dot in dots]
        self.axes.set_xticks(range(len(dots)), names, fontsize=9 if len(names) > 4 else 8, color=INK)
        self.axes.margins(y=HEADROOM)
        self.axes.grid(visible=True, axis="y")
        if any(dot.is_overloaded for dot in dots):
            self.measured_handles["hollow: overloaded"] = mpl_patches.Patch(facecolor="white", edgecolor=BLUE)

    def _sort_dots(self, dots: Sequence[Dot]) -> list[Dot]:
        """The dots in the order of the panel's names; dots without a name are not shown."""
        names = list(self.panel.names)
        named_dots = [dot for dot in dots if not names or value_label(dot.x) in names]
        return sorted(named_dots, key=lambda dot: names.index(value_label(dot.x))) if names else named_dots

    def _draw_stack(self, parts: dict[str, Series]) -> None:
        heights_by_part = self._stack_heights(parts)
        tops_by_slot: dict[str, float] = dict.fromkeys(self.slots, 0.0)
        names = list(dict.fromkeys(part for panel in self.figure.panels for part in panel.parts))
        for part, heights_by_slot in heights_by_part.items():
            color = COLORS[names.index(part)]
            positions = [self.slots[slot] for slot in heights_by_slot]
            bottoms = [tops_by_slot[slot] for slot in heights_by_slot]
            self.axes.bar(
                positions, list(heights_by_slot.values()), bottom=bottoms, width=0.8, color=color, linewidth=0
            )
            tops_by_slot |= {
                slot: tops_by_slot[slot] + added_height for slot, added_height in heights_by_slot.items()
            }
            self.measured_handles[part] = mpl_patches.Patch(color=color)
        self.axes.set_xlim(-1.2, max(self.slots.values()) + 1.2)
        self.axes.set_ylim(0, max(tops_by_slot.values()) * (1 + HEADROOM))
        self.axes.grid(visible=True, axis="y")

    def _stack_heights(self, parts: dict[str, Series]) -> dict[str, dict[str, float]]:
        """Heights of each part by slot, the place of a bar on the x axis; also sets slots and ticks."""
        dots_by_group = {name: self._visible_dots(dots) for name, dots in self.series.items()}
        position, ticks = 0.0, []
        for name, dots in dots_by_group.items():
            start = position
            for dot in dots:
                self.slots[_slot(name, dot.x)] = position
                label = (
                    self.panel.names.get(value_label(dot.x), value_label(dot.x))
                    if not name
                    else value_label(dot.x)
                )
                ticks.append((position, label))
                position += 1
            if name:
                self._draw_group_name(self.panel.names.get(name, name), (start + position - 1) / 2)
            position += GAP
        self.axes.set_xticks(
            [tick for tick, _ in ticks], [label for _, label in ticks], fontsize=9, color=INK
        )
        heights_by_part = {
            part: {
                _slot(name, dot.x): dot.y
                for name, dots in dots_by_name.items()
                for dot in self._visible_dots(dots)
            }
            for part, dots_by_name in parts.items()
        }
        if self.panel.share:
            totals_by_slot = {
                slot: sum(heights_by_slot[slot] for heights_by_slot in heights_by_part.values())
                for slot in self.slots
            }
            heights_by_part = {
                part: {slot: 100 * y / totals_by_slot[slot] for slot, y in heights_by_slot.items()}
                for part, heights_by_slot in heights_by_part.items()
            }
        return heights_by_part

    def _visible_dots(self, dots: Sequence[Dot]) -> list[Dot]:
        return list(dots) if self.panel.series else self._sort_dots(dots)

    def _draw_group_name(self, name: str, middle: float) -> None:
        """Draw the name of a group of bars below its ticks."""
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

    def _set_axes(self) -> None:
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
            x_values = sorted({dot.x for dots in self.series.values() for dot in dots})
            if "x" in self.panel.log and len(x_values) <= MAX_TICKS:
                self.axes.set_xticks(x_values)
            plain_ticks(self.axes.xaxis)
        self._set_limits()

    def _set_limits(self) -> None:
        """Set the declared ranges of the axes; end axes before values out of range or far overloaded."""
        for name, limit in self.panel.limits.items():
            low, high = limit
            if name == "y" and self.is_changed:
                high = self._highest() * 1.1
            if low <= 0 and getattr(self.axes, f"get_{name}scale")() == "log":
                continue
            if high <= low:  # no upper limit is declared: up to the highest value, or `_cap`
                high = min(max(dot.y for dot in self._shown_dots()) * 1.1, self._cap())
            self.axes.set(**{f"{name}lim": (low, high)})
        if self.panel.share:
            self.axes.set_ylim(0, 100)
        elif self.panel.kind == "lines" and "y" in self.panel.limits and "x" not in self.panel.limits:
            self._end_x_axis()
        if isfinite(self._cap()) and "y" not in self.panel.limits and self.panel.kind == "lines":
            self.axes.set_ylim(top=self._cap())

    def _highest(self) -> float:
        """The highest value that is not overloaded; of overloaded values alone, the highest."""
        dots = self._shown_dots()
        return max(dot.y for dot in [dot for dot in dots if not dot.is_overloaded] or dots)

    def _end_x_axis(self) -> None:
        """End the x axis after the last value that lies within the y axis."""
        top = self.axes.get_ylim()[1]
        last_x = max((float(dot.x) for dot in self._shown_dots() if dot.y <= top), default=inf)
        if isfinite(last_x):
            self.axes.set_xlim(right=last_x * (1.2 if "x" in self.panel.log else 1.03))

    def _shown_dots(self) -> list[Dot]:
        """All dots that are shown; of bars, those with a name."""
        dots = [dot for dots in self.series.values() for dot in dots]
        return self._sort_dots(dots) if self.panel.kind == "bars" else dots

    def _has_wide_range(self, ratio: float = LOG_AXIS_RATIO) -> bool:
        heights = [min(dot.y, self._cap()) for dot in self._shown_dots()]
        return max(heights) > ratio * min(heights)

    def _cap(self) -> float:
        """The end of the y axis: only overloaded values lie above it; infinite if none is far above."""
        maximum = max((dot.y for dot in self._shown_dots() if not dot.is_overloaded), default=inf)
        return 1.5 * maximum if any(dot.y > LOG_AXIS_RATIO * maximum for dot in self._shown_dots()) else inf


def _slot(group: str, x: Any) -> str:
    """The key of a bar: its group and its x."""
    return f"{group} {value_label(x)}".strip()

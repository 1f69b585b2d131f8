"""Drawing a panel of a figure: measured lines, bars or stacks."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_lines, mpl_patches, mpl_ticker
from sledlab.reproduction.rows import value_label
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import BLUE, GREEN, INK, PURPLE, QUIET, SKY, VERMILION
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

MAX_LOG_RATIO = 1e6
"""Greatest ratio of two values of a stack that are both shown."""

MINOR_TICK_RATIO = 100
"""Ratio of the greatest to the least value up to which a logarithmic axis has ticks between its decades."""

HEADROOM = 0.12
"""Room above bars, as a share of their height."""

MIN_VISIBLE_SHARE = 0.01
"""Least share of a bar that can be seen."""

NARROW_NAME_LETTERS = 12
"""Letters of a line of the name of a bar in a narrow panel."""

MAX_NARROW_NAMES = 4
"""Most names of bars that a narrow panel has room for side by side."""


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
        largest_shares: The largest share that each part has of a bar, where bars are stacks.
        is_narrow: Whether the figure is drawn for the window of a phone.
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
    largest_shares: dict[str, float] = field(default_factory=dict)
    is_narrow: bool = False

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

    def _draw_bars(self, series: Series) -> None:
        dots = self._sort_dots(series[""])
        self.slots = {value_label(dot.x): index for index, dot in enumerate(dots)}
        face_colors = ["white" if dot.is_overloaded else BLUE for dot in dots]
        cap = self._cap()
        heights = [min(dot.y, cap) for dot in dots]
        if self.is_logarithmic:  # the height of a bar says nothing there
            for index, color in enumerate(face_colors):
                self.axes.plot(index, heights[index], "o", color=BLUE, markerfacecolor=color, markersize=7)
        else:
            self.axes.bar(range(len(dots)), heights, width=0.64, color=face_colors, edgecolor=BLUE)
        for index, dot in enumerate(dots):
            self.axes.annotate(
                format_figure(dot.y) if dot.y <= cap else "overload",
                (index, heights[index]),
                xytext=(0, 6 if self.is_logarithmic else 2),
                textcoords="offset points",
                ha="center",
                fontsize=9,
            )
        names = [self.panel.names.get(value_label(dot.x), str(dot.x)) for dot in dots]
        is_crowded = self.is_narrow and len(names) > MAX_NARROW_NAMES
        style: Any = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if is_crowded else {}
        self.axes.set_xticks(range(len(dots)), names, fontsize=9, color=INK, **style)
        self.axes.set_xlim(-0.6, len(dots) - 0.4)
        self.axes.margins(y=HEADROOM)
        self.axes.grid(visible=True, axis="y")

    def _sort_dots(self, dots: Sequence[Dot]) -> list[Dot]:
        """The dots in the order of the panel's names; dots without a name are not shown."""
        names = list(self.panel.names)
        named_dots = [dot for dot in dots if not names or value_label(dot.x) in names]
        return sorted(named_dots, key=lambda dot: names.index(value_label(dot.x))) if names else named_dots

    def _draw_stack(self, parts: dict[str, Series]) -> None:
        heights_by_part = self._stack_heights(parts)
        names = list(dict.fromkeys(part for panel in self.figure.panels for part in panel.parts))
        if self.is_logarithmic:
            self._draw_part_dots(heights_by_part, names)
        else:
            self._draw_part_bars(heights_by_part, names)
        margin = 1.2 if len(self.slots) <= MAX_TICKS else 0.7
        self.axes.set_xlim(-margin, max(self.slots.values()) + margin)
        self.axes.grid(visible=True, axis="y")

    def _draw_part_bars(self, heights_by_part: dict[str, dict[str, float]], names: list[str]) -> None:
        """Draw the parts on top of each other."""
        tops_by_slot: dict[str, float] = dict.fromkeys(self.slots, 0.0)
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
        self.axes.set_ylim(0, max(tops_by_slot.values()) * (1 + HEADROOM))
        self.largest_shares = {
            part: max(height / tops_by_slot[slot] for slot, height in heights_by_slot.items())
            for part, heights_by_slot in heights_by_part.items()
        }

    def _draw_part_dots(self, heights_by_part: dict[str, dict[str, float]], names: list[str]) -> None:
        """Draw a dot for each part: the height of a bar says nothing on a logarithmic axis."""
        least = max(self._heights()) / MAX_LOG_RATIO
        for part, heights_by_slot in heights_by_part.items():
            index = names.index(part)
            points = [
                (self.slots[slot], height) for slot, height in heights_by_slot.items() if height > least
            ]
            (dots,) = self.axes.plot(
                [x for x, _ in points],
                [y for _, y in points],
                MARKERS[index],
                color=COLORS[index],
                markersize=4.5,
                zorder=6,
            )
            if points:
                self.measured_handles[part] = dots

    def _stack_heights(self, parts: dict[str, Series]) -> dict[str, dict[str, float]]:
        """Heights of each part by slot, the place of a bar on the x axis; also sets slots and ticks."""
        dots_by_group = {name: self._visible_dots(dots) for name, dots in self.series.items()}
        position, ticks = 0.0, []
        for name, dots in dots_by_group.items():
            start = position
            for dot in dots:
                self.slots[_slot(name, dot.x)] = position
                label = self._tick_name(dot.x) if not name else value_label(dot.x)
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

    def _tick_name(self, x: Any) -> str:
        """The name of a bar, in short lines where the panel is narrow."""
        name = self.panel.names.get(value_label(x), value_label(x))
        return textwrap.fill(name, NARROW_NAME_LETTERS) if self.is_narrow else name

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
            if has_log_x:
                self.axes.set_xscale("log")
            plain_ticks(self.axes.xaxis)
            x_values = sorted({dot.x for dots in self.series.values() for dot in dots})
            if has_log_x and len(x_values) <= MAX_TICKS:
                self.axes.set_xticks(x_values)
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
        heights = [min(height, self._cap()) for height in self._heights()]
        return max(heights) > ratio * min(heights)

    def _heights(self) -> list[float]:
        """The values that are shown; of a stack, its totals."""
        if self.panel.kind != "stack":
            return [dot.y for dot in self._shown_dots()]
        totals: dict[tuple[str, str], float] = {}
        for series in self._series_by_part.values():
            for name, dots in series.items():
                for dot in self._visible_dots(dots):
                    slot = name, value_label(dot.x)
                    totals[slot] = totals.get(slot, 0.0) + dot.y
        return list(totals.values())

    def _cap(self) -> float:
        """The end of the y axis: only overloaded values lie above it; infinite if none is far above."""
        maximum = max((dot.y for dot in self._shown_dots() if not dot.is_overloaded), default=inf)
        return 1.5 * maximum if any(dot.y > LOG_AXIS_RATIO * maximum for dot in self._shown_dots()) else inf

    @property
    def shows_overload(self) -> bool:
        """Whether an overloaded value lies within the axes."""
        overloaded_dots = [dot for dot in self._shown_dots() if dot.is_overloaded]
        if self.panel.kind != "lines":
            return bool(overloaded_dots)
        (left, right), (bottom, top) = self.axes.get_xlim(), self.axes.get_ylim()
        return any(left <= dot.x <= right and bottom <= dot.y <= top for dot in overloaded_dots)

    @property
    def overload_handle(self) -> Any:
        """The mark of overloaded values, for the legend."""
        if self.panel.kind == "lines" or self.is_logarithmic:
            style: Any = {"linestyle": "none", "marker": "o", "markersize": 4, "markerfacecolor": "white"}
            return mpl_lines.Line2D([], [], color=QUIET, **style)
        return mpl_patches.Patch(facecolor="white", edgecolor=BLUE)


def measured_handles(panels: Sequence[DrawnPanel]) -> dict[str, Any]:
    """The legend of some panels: what can be seen in one of them."""
    handles: dict[str, Any] = {}
    for panel in panels:
        handles |= panel.measured_handles
    shares_by_part: dict[str, float] = {}
    for panel in panels:
        for part, share in panel.largest_shares.items():
            shares_by_part[part] = max(share, shares_by_part.get(part, 0.0))
    visible_handles = {}
    for name, handle in handles.items():
        share = shares_by_part.get(name, 1.0)
        if share > 0:
            visible_handles[name if share >= MIN_VISIBLE_SHARE else f"{name} (below 1 %)"] = handle
    overloaded = next((panel for panel in panels if panel.shows_overload), None)
    return visible_handles | ({"hollow: overloaded": overloaded.overload_handle} if overloaded else {})


def _slot(group: str, x: Any) -> str:
    """The key of a bar: its group and its x."""
    return f"{group} {value_label(x)}".strip()

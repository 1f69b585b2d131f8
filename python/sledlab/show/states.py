"""Energy or time by state as bars, and lines, names and marks at the steps of an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sledlab.show.device_states import STATES
from sledlab.show.palette import INK, QUIET, STATE_COLORS
from sledlab.show.plots import LINE_STYLES, label_right, legend, name_ends, name_rows, plot_line
from sledlab.show.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


def rows(
    axes: Axes, names: Sequence[str], parts: Sequence[Mapping[str, float]], ends: Sequence[str], label: str
) -> None:
    """Draw horizontal bars of states from the top down, each with its name, and a text at its end."""
    sums = [0.0] * len(parts)
    for state in STATES:
        values = [part[state] for part in parts]
        axes.barh(range(len(parts)), values, left=sums, color=STATE_COLORS[state], height=0.66)
        sums = [start + value for start, value in zip(sums, values, strict=True)]
    for place, (total, text) in enumerate(zip(sums, ends, strict=True)):
        label_right(axes, text, (total, place))
    name_rows(axes, names)
    axes.set_xlim(0, max(sums) or 1.0)
    axes.set_xlabel(label)


def bars(parts: Sequence[Mapping[str, float]], names: Mapping[str, str]) -> list[Series]:
    """Return the series of energy or time for each state that occurs, as stacked bars."""
    occurring = [state for state in STATES if any(part[state] > 0 for part in parts)]
    return [
        Series(names[each], STATE_COLORS[each], [part[each] for part in parts], kind="bar")
        for each in occurring
    ]


def columns(axes: Axes, parts: Sequence[Mapping[str, float]]) -> None:
    """Draw upright bars of states, one for each step of the axis."""
    sums = [0.0] * len(parts)
    for state in STATES:
        values = [part[state] for part in parts]
        axes.bar(range(len(parts)), values, bottom=sums, color=STATE_COLORS[state], width=0.66)
        sums = [start + value for start, value in zip(sums, values, strict=True)]
    axes.grid(visible=True, axis="y")


def state_legend(
    fig: Figure, parts: Iterable[Mapping[str, float]], names: Mapping[str, str], lines: Iterable[Line2D] = ()
) -> None:
    """Draw the legend of the states that occur, and of lines."""
    occurring = {state for part in parts for state, value in part.items() if value > 0}
    colors = {names[state]: STATE_COLORS[state] for state in STATES if state in occurring}
    legend(fig, {**colors, **{str(line.get_label()): line for line in lines}})


def steps(axes: Axes, names: Sequence[str]) -> None:
    """Write names below the axis, one for each step."""
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_xticks(range(len(names)), list(names), fontsize=9)


def lines(
    axes: Axes, lines_by_name: Mapping[str, tuple[str, Sequence[float]]], label: Callable[[float], str]
) -> None:
    """Draw a line for each name, with color and values, over the steps of the axis, and its end values."""
    for style, (name, (color, values)) in zip(LINE_STYLES, lines_by_name.items(), strict=False):
        plot_line(axes, range(len(values)), values, (color, *style[1:]), name)
        font: Any = {"textcoords": "offset points", "ha": "center", "fontsize": 9, "color": color}
        for place in dict.fromkeys((0, len(values) - 1)):
            axes.annotate(label(values[place]), (place, values[place]), xytext=(0, 6), **font)
        name_ends(axes, [(values[-1], name, color)])


def label_positions(
    values_by_name: Mapping[str, float | None], values: Sequence[float], format_value: Callable[[float], str]
) -> list[tuple[str, float | None]]:
    """Return the texts of named values, with their positions on an axis of steps 0, 1, 2 ... for `values`."""
    return [
        (f"{name} {format_value(value)}" if value else name, axis_position(value, values) if value else None)
        for name, value in values_by_name.items()
    ]


def marks(axes: Axes, labels: Sequence[tuple[str, float | None]], step_count: int) -> None:
    """Mark places between the steps of an axis by a line and a text; texts without a place are omitted."""
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top * 1.3)
    for rank, (text, place) in enumerate(labels):
        if place is None:
            continue
        height = top * (1.25 - 0.12 * rank)
        axes.plot([place, place], [0, height], color=INK, linewidth=1, linestyle=(0, (4, 2)), zorder=4)
        is_right = place < step_count * 0.6
        axes.annotate(
            text,
            (place, height),
            xytext=(4 if is_right else -4, 0),
            textcoords="offset points",
            ha="left" if is_right else "right",
            va="top",
            fontsize=9,
            fontweight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
            zorder=5,
        )


def grouped_bars(axes: Axes, bars: Iterable[tuple[int, str, float]], colors: Mapping[str, str]) -> None:
    """Draw upright bars side by side at the steps of the axis; `bars` has step, name and value."""
    width, names = 0.8 / len(colors), list(colors)
    for step, name, value in bars:
        place = step - 0.4 + width * (names.index(name) + 0.5)
        axes.bar(place, value, width=width * 0.9, color=colors[name])


def mark_overload(axes: Axes, overloaded: Sequence[Sequence[bool]], spread: float = 0.0) -> None:
    """Write "overloaded" at bars or points without a response time, because the queue kept growing.

    Args:
        axes: The axes to write on.
        overloaded: For each step of the axis, whether each of its bars or points is overloaded.
        spread: Width over which these stand side by side; if only some are overloaded, each gets a text.
    """
    for place, flags in enumerate(overloaded):
        width = spread / len(flags)
        positions = [place - spread / 2 + width * (index + 0.5) for index, each in enumerate(flags) if each]
        for position in [place] if all(flags) else positions:
            axes.annotate(
                "overloaded",
                (position, 0.04),
                xycoords=("data", "axes fraction"),
                ha="center",
                rotation=90,
                fontsize=9 if all(flags) else 7,
                color=QUIET,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )


def axis_position(value: float, values: Sequence[float]) -> float | None:
    """Return the place of a value on an axis whose steps 0, 1, 2 ... have rising values; `None` beyond them.

    Examples:
        >>> axis_position(0.5, [0, 1, 10]), axis_position(20, [0, 1, 10])
        (0.5, None)
        >>> round(axis_position(3.1623, [0, 1, 10]), 2)
        1.5
    """
    for place in range(1, len(values)):
        low, high = values[place - 1], values[place]
        if low <= value <= high:
            if low == 0:
                return place - 1 + value / high
            return place - 1 + math.log(value / low) / math.log(high / low)
    return None

"""Energy or time by state as bars, and lines, names and marks at the steps of an axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sledlab.show.device_states import STATES
from sledlab.show.palette import INK, QUIET, STATE_COLORS
from sledlab.show.plots import label_right, legend, name_rows
from sledlab.show.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def rows(
    axes: Axes, names: Sequence[str], parts: Sequence[Mapping[str, float]], ends: Sequence[str], what: str
) -> None:
    """Draw horizontal bars of states from the top down, each with its name, and a text at its end."""
    left = [0.0] * len(parts)
    for state in STATES:
        values = [part[state] for part in parts]
        axes.barh(range(len(parts)), values, left=left, color=STATE_COLORS[state], height=0.66)
        left = [before + value for before, value in zip(left, values, strict=True)]
    for place, (total, text) in enumerate(zip(left, ends, strict=True)):
        label_right(axes, text, (total, place))
    name_rows(axes, names)
    longest = max((len(line) for text in ends for line in text.split("\n")), default=0)
    axes.set_xlim(0, (max(left) or 1.0) * (1.02 + 0.0205 * longest))
    axes.set_xlabel(what)


def bars(parts: Sequence[Mapping[str, float]], names: Mapping[str, str]) -> list[Series]:
    """Return the series of energy or time for each state that occurs, as stacked bars."""
    used = [state for state in STATES if any(part[state] > 0 for part in parts)]
    return [
        Series(names[each], STATE_COLORS[each], [part[each] for part in parts], kind="bar") for each in used
    ]


def columns(axes: Axes, parts: Sequence[Mapping[str, float]]) -> None:
    """Draw upright bars of states, one for each step of the axis."""
    below = [0.0] * len(parts)
    for state in STATES:
        values = [part[state] for part in parts]
        axes.bar(range(len(parts)), values, bottom=below, color=STATE_COLORS[state], width=0.66)
        below = [before + value for before, value in zip(below, values, strict=True)]
    axes.grid(visible=True, axis="y")


def state_legend(made: Figure, parts: Iterable[Mapping[str, float]], names: Mapping[str, str]) -> None:
    """Draw the legend of the states that occur."""
    used = {state for part in parts for state, value in part.items() if value > 0}
    legend(made, {names[state]: STATE_COLORS[state] for state in STATES if state in used})


def steps(axes: Axes, names: Sequence[str], size: float = 9) -> None:
    """Write names below the axis, one for each step."""
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_xticks(range(len(names)), list(names), fontsize=size)


def lines(
    axes: Axes, shown: Mapping[str, tuple[str, Sequence[float]]], label: Callable[[float], str]
) -> None:
    """Draw a line for each name, with color and values, over the steps of the axis, and its end values."""
    for name, (color, values) in shown.items():
        axes.plot(range(len(values)), values, marker="o", markersize=4, color=color)
        last = len(values) - 1
        ends = (
            (0, label(values[0]), (0, 6), "center", 9),
            (last, f"{name}\n{label(values[last])}", (8, 0), "left", 9),
        )
        for place, text, offset, side, size in ends:
            axes.annotate(
                text,
                (place, values[place]),
                xytext=offset,
                textcoords="offset points",
                ha=side,
                va="center" if place else "bottom",
                fontsize=size,
                fontweight="bold" if place else "normal",
                color=color,
                annotation_clip=False,
            )


def label_positions(
    shown: Mapping[str, float | None], values: Sequence[float], text: Callable[[float], str]
) -> list[tuple[str, float | None]]:
    """Return the texts of named values, with their positions on an axis of steps 0, 1, 2 ... for `values`."""
    return [
        (f"{name} {text(value)}" if value else name, axis_position(value, values) if value else None)
        for name, value in shown.items()
    ]


def marks(axes: Axes, shown: Sequence[tuple[str, float | None]], steps: int) -> None:
    """Mark places between the steps of an axis by a line and a text; texts without a place are omitted."""
    top = axes.get_ylim()[1]
    axes.set_ylim(0, top * 1.3)
    for rank, (text, place) in enumerate(shown):
        if place is None:
            continue
        height = top * (1.25 - 0.12 * rank)
        axes.plot([place, place], [0, height], color=INK, linewidth=1, linestyle=(0, (4, 2)), zorder=4)
        right = place < steps * 0.6
        axes.annotate(
            text,
            (place, height),
            xytext=(4 if right else -4, 0),
            textcoords="offset points",
            ha="left" if right else "right",
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


def mark_overload(axes: Axes, lateness: Sequence[Sequence[bool]], spread: float = 0.0) -> None:
    """Write `mark_overload` at bars or points without a response time, because the queue kept growing.

    Args:
        axes: The axes to write on.
        lateness: For each step of the axis, whether each of its bars or points is overloaded.
        spread: Width over which these stand side by side; if only some are overloaded, each gets a text.
    """
    for place, over in enumerate(lateness):
        width = spread / len(over)
        apart = [place - spread / 2 + width * (index + 0.5) for index, each in enumerate(over) if each]
        for where in [place] if all(over) else apart:
            axes.annotate(
                "overloaded",
                (where, 0.04),
                xycoords=("data", "axes fraction"),
                ha="center",
                rotation=90,
                fontsize=9 if all(over) else 7,
                color=QUIET,
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

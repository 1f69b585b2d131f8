"""Curves over the load: one line per scheduler, named where it ends; overloaded points set apart.

A point whose queue kept growing has no response time of its own, only one that grows with the length
of the run. Such points stand hollow in a strip above the plot, a row for each scheduler.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab import plots
from sledlab.comparison.statistics import AVERAGED
from sledlab.errors import Error
from sledlab.plots import BLUE, FAINT, GREEN, INK, ORANGE, PURPLE, QUIET, SKY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.comparison.ranking import Curve, Group

AMBER = "#B8860B"

LOOKS = (
    (BLUE, "-", "o"),
    (ORANGE, (0, (5, 1.5)), "s"),
    (GREEN, (0, (1.2, 1.2)), "^"),
    (PURPLE, (0, (5, 1.5, 1.2, 1.5)), "D"),
    (SKY, (0, (3, 1)), "v"),
    (AMBER, (0, (8, 1.5)), "P"),
)
"""Colour, dashes and marker of each highlighted scheduler: told apart without colour too."""

TITLES = {
    "mean_ms": "mean response time (ms)",
    "scv": "SCV of response times",
    "p50_ms": "median response time (ms)",
    "p90_ms": "90th percentile (ms)",
    "p95_ms": "95th percentile (ms)",
    "p99_ms": "99th percentile (ms)",
    "p999_ms": "99.9th percentile (ms)",
    "max_ms": "slowest request (ms)",
    "queue_mean": "mean requests waiting",
    "energy_per_request_mj": "energy per request (mJ)",
    "positioning_ms": "mean positioning time (ms)",
    "throughput_iops": "requests completed per second",
    "utilization": "share of time busy",
}
"""What axes are called."""

INTERVALS = {"mean_ms": "mean_ci95_ms", "scv": "scv_ci95"}
"""Measures with half widths of their 95 % intervals."""

MEANINGFUL = ("energy_per_request_mj", "positioning_ms", "throughput_iops", "utilization")
"""Measures that overload does not make meaningless."""

STRIP_PT = 10.5
"""Height of a row in the strip of overloaded points, and least distance of two names, in points."""


@dataclass(frozen=True)
class Look:
    """How a curve is drawn."""

    colour: str = "#b9c1c9"
    dashes: Any = "-"
    marker: str = ""
    width: float = 0.8
    order: float = 1.5


def load_curves(group: Group, measure: str = "mean_ms") -> Figure:
    """A measure against the load; a bar per scheduler where there is a single load."""
    if measure not in AVERAGED:
        raise Error(f"unknown measure `{measure}`", remedy=f"known: {', '.join(AVERAGED)}")
    from matplotlib.figure import Figure

    with plots.style():
        if len(group.speedups) == 1:
            return _bars(group, measure)
        looks = _looks(group)
        figure = Figure(figsize=(plots.SIZE[0], plots.SIZE[1] + 0.3))
        axes = figure.add_axes((0.13, 0.13, 0.87 - _names_width(looks), 0.76))
        late = [curve for curve in looks if _strip(curve, measure)] if _steady(group, measure) else []
        rows = {curve.scheduler: row for row, curve in enumerate(_by_limit(late))}
        _scale(axes, group, measure, strip=len(rows))
        for curve in group.curves:
            if curve not in looks:
                _draw(axes, curve, measure, Look(), None)
        for curve, look in looks.items():
            _draw(axes, curve, measure, look, rows.get(curve.scheduler))
        _name_ends(axes, group, measure, looks, rows)
        _name_strip(axes, len(rows))
        _load_axis(axes, group)
        axes.set_ylabel(TITLES.get(measure, measure))
        return figure


def _looks(group: Group) -> dict[Curve, Look]:
    """The highlighted curves and how they are drawn."""
    return {
        curve: Look(colour, dashes, marker, 1.7, 3.0)
        for curve, (colour, dashes, marker) in zip(group.highlighted, LOOKS, strict=False)
    }


def _names_width(curves: Iterable[Curve]) -> float:
    """The share of a figure that the names on its right take."""
    longest = max(len(curve.label) for curve in curves)
    return (6.3 * longest + 22) / (plots.SIZE[0] * 72)


def _strip(curve: Curve, measure: str) -> bool:
    """Whether some of the points of a curve belong into the strip."""
    return measure not in MEANINGFUL and any(row["saturated"] for row in curve.rows)


def _steady(group: Group, measure: str) -> bool:
    """Whether there is a plot beside the strip."""
    return measure in MEANINGFUL or any(not row["saturated"] for curve in group.curves for row in curve.rows)


def _by_limit(curves: Sequence[Curve]) -> list[Curve]:
    """The rows of the strip, from the bottom: who keeps up longest first."""
    return sorted(curves, key=lambda curve: -(curve.kept_up or 0.0))


def _shown(curve: Curve, measure: str, *, strip: bool) -> list[dict[str, Any]]:
    """The rows whose values are drawn as values."""
    return [row for row in curve.rows if not (strip and row["saturated"] and measure not in MEANINGFUL)]


def _scale(axes: Axes, group: Group, measure: str, *, strip: int) -> None:
    """Logarithmic axes where the values span more than a little, with room for the strip on top."""
    apart = _steady(group, measure)
    values = [row[measure] for curve in group.curves for row in _shown(curve, measure, strip=apart)]
    rates = [group.rate(speedup) for speedup in group.speedups]
    axes.set_xscale("log")
    room = (max(rates) / min(rates)) ** 0.04
    axes.set_xlim(min(rates) / room, max(rates) * room)
    low, high = min(values), max(values)
    height_pt = axes.get_window_extent().height * 72 / axes.figure.dpi
    share = 1 - (strip * STRIP_PT + 16 if strip else 6) / height_pt
    if low > 0 and high / low > 3:
        axes.set_yscale("log")
        bottom = low / (high / low) ** 0.04
        axes.set_ylim(bottom, bottom * (high / bottom) ** (1 / share))
        _decades(axes, low, high)
    else:
        axes.set_ylim(0, (high or 1.0) / share)
        axes.yaxis.set_ticks([tick for tick in axes.get_yticks() if tick <= high * 1.05])
    axes.grid(visible=True, axis="y")


def _decades(axes: Axes, low: float, high: float) -> None:
    """Ticks at 1, 2, 5 or, over many decades, at powers of ten only; none in the strip."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    digits = (1, 2, 5) if high / low < 200 else (1, 3) if high / low < 5000 else (1,)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in digits]
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low / 1.3 <= tick <= high * 1.3]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def _draw(axes: Axes, curve: Curve, measure: str, look: Look, row: int | None) -> None:
    """A line through the points that kept up, its interval, and hollow points in a row of the strip."""
    kept = [each for each in curve.rows if not each["saturated"] or measure in MEANINGFUL]
    if not kept and row is None:
        kept = list(curve.rows)
    x, y = [each["arrival_rate"] for each in kept], [each[measure] for each in kept]
    marker: dict[str, Any] = {"marker": look.marker, "markersize": 4.2} if look.marker else {}
    line: dict[str, Any] = {"color": look.colour, "linewidth": look.width, "zorder": look.order}
    axes.plot(x, y, linestyle=look.dashes, **line, **marker)
    hollow = [each for each in kept if each["saturated"]]
    axes.plot(
        [each["arrival_rate"] for each in hollow],
        [each[measure] for each in hollow],
        linestyle="",
        markerfacecolor="white",
        **{**line, "zorder": look.order + 0.1},
        **marker,
    )
    if look.marker:
        _interval(axes, kept, measure, look)
    if row is not None:
        _late(axes, curve, kept, measure, look, row)


def _interval(axes: Axes, rows: Sequence[Mapping[str, Any]], measure: str, look: Look) -> None:
    """The 95 % interval as a band, where there are several seeds."""
    name = INTERVALS.get(measure)
    known = [row for row in rows if name and row["seeds"] > 1 and row[name] is not None]
    if name is None or not known:
        return
    floor = axes.get_ylim()[0]
    axes.fill_between(
        [row["arrival_rate"] for row in known],
        [max(row[measure] - row[name], floor) for row in known],
        [row[measure] + row[name] for row in known],
        color=look.colour,
        alpha=0.18,
        linewidth=0,
        zorder=2,
    )


def _late(
    axes: Axes, curve: Curve, kept: Sequence[Mapping[str, Any]], measure: str, look: Look, row: int
) -> None:
    """The overloaded points of a curve, hollow in its row of the strip, with a thin line up to the first."""
    late = [each["arrival_rate"] for each in curve.rows if each["saturated"]]
    place = _row_place(axes, row)
    mixed = axes.get_xaxis_transform()
    axes.plot(
        late,
        [place] * len(late),
        transform=mixed,
        color=look.colour,
        marker=look.marker,
        markersize=4.2,
        markerfacecolor="white",
        linestyle=(0, (1, 2)),
        linewidth=1.0,
        zorder=look.order,
        clip_on=False,
    )
    before = [each for each in kept if each["arrival_rate"] < late[0]]
    if before:
        last = (before[-1]["arrival_rate"], before[-1][measure])
        inverse = axes.transAxes.inverted()
        at = float(inverse.transform(axes.transData.transform(last))[1])
        axes.plot(
            [last[0], late[0]],
            [at, place],
            transform=mixed,
            color=look.colour,
            linestyle=(0, (1, 2)),
            linewidth=1.0,
            zorder=1.9,
        )


def _row_place(axes: Axes, row: int) -> float:
    """The height of a row of the strip, as a share of the axes, from the top."""
    height_pt = axes.get_window_extent().height * 72 / axes.figure.dpi
    return 1 - (row + 0.5) * STRIP_PT / height_pt


def _name_strip(axes: Axes, rows: int) -> None:
    """The strip: shaded, with its meaning."""
    if not rows:
        return
    height_pt = axes.get_window_extent().height * 72 / axes.figure.dpi
    axes.axhspan(
        *(_share_to_value(axes, share) for share in (1 - rows * STRIP_PT / height_pt, 1)),
        color=FAINT,
        alpha=0.45,
        linewidth=0,
        zorder=0,
    )
    axes.text(
        0.008,
        1 - rows * STRIP_PT / height_pt / 2,
        "overloaded:\nqueue kept growing" if rows > 1 else "overloaded: queue kept growing",
        transform=axes.transAxes,
        va="center",
        fontsize=7.5,
        color=QUIET,
        linespacing=1.05,
        zorder=4,
    )


def _share_to_value(axes: Axes, share: float) -> float:
    """The value at a share of the height of the axes."""
    return float(axes.transData.inverted().transform(axes.transAxes.transform((0, share)))[1])


def _name_ends(
    axes: Axes, group: Group, measure: str, looks: Mapping[Curve, Look], rows: Mapping[str, int]
) -> None:
    """Names on the right: in its row of the strip, or where the line ends, moved apart."""
    to_points = 72 / axes.figure.dpi
    box = axes.get_window_extent()
    wanted = []
    for curve, look in looks.items():
        row = rows.get(curve.scheduler)
        if row is not None and curve.rows[-1]["saturated"]:
            height = _row_place(axes, row) * box.height
        else:
            last = curve.rows[-1]
            height = float(axes.transData.transform((last["arrival_rate"], last[measure]))[1]) - box.y0
        wanted.append((height * to_points, curve.label, look.colour))
    places = apart([height for height, *_ in wanted], STRIP_PT, box.height * to_points)
    for (height, name, colour), place in zip(wanted, places, strict=True):
        moved = abs(place - height) > 2
        axes.annotate(
            name,
            (1.0, height / to_points / box.height),
            xycoords="axes fraction",
            xytext=(14 if moved else 6, place - height),
            textcoords="offset points",
            va="center",
            color=colour,
            fontweight="bold",
            fontsize=8.5,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 0,
            }
            if moved
            else None,
        )
    if len(group.curves) > len(looks):
        axes.annotate(
            f"grey: {len(group.curves) - len(looks)} others",
            (1, 1.0),
            xycoords="axes fraction",
            xytext=(0, 14),
            textcoords="offset points",
            ha="right",
            fontsize=7.5,
            color=QUIET,
        )


def apart(heights: Sequence[float], distance: float, most: float) -> list[float]:
    """Heights moved as little as needed to be `distance` apart, within 0 and `most`.

    Example:
        >>> apart([10, 12, 50], 10, 100)
        [6.0, 16.0, 50.0]
    """
    blocks: list[tuple[float, list[int]]] = []
    for index in sorted(range(len(heights)), key=lambda index: (heights[index], -index)):
        blocks.append((_middle([index], heights, distance, most), [index]))
        while len(blocks) > 1 and _gap(blocks[-2], blocks[-1], distance) < 0:
            joined = blocks[-2][1] + blocks[-1][1]
            blocks[-2:] = [(_middle(joined, heights, distance, most), joined)]
    places = [0.0] * len(heights)
    for middle, indices in blocks:
        for rank, index in enumerate(indices):
            places[index] = middle + (rank - (len(indices) - 1) / 2) * distance
    return places


def _middle(indices: Sequence[int], heights: Sequence[float], distance: float, most: float) -> float:
    """Where the middle of a block of names stands: the mean of where they want to be, within bounds."""
    wanted = sum(heights[index] for index in indices) / len(indices)
    half = (len(indices) - 1) * distance / 2
    return min(max(wanted, half), max(most - half, half))


def _gap(below: tuple[float, list[int]], above: tuple[float, list[int]], distance: float) -> float:
    """The room between two blocks of names."""
    return above[0] - below[0] - (len(below[1]) + len(above[1])) * distance / 2


def _load_axis(axes: Axes, group: Group) -> None:
    """Requests per second below, speed-ups above; where they are near each other, only some are named."""
    from matplotlib.ticker import NullFormatter, NullLocator

    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    width_pt = axes.get_window_extent().width * 72 / axes.figure.dpi
    low, high = axes.get_xlim()
    last = {"rate": math.inf, "speed": math.inf}
    rates, names = [], []
    for speedup in reversed(group.speedups):
        rate = group.rate(speedup)
        place = math.log(rate / low) / math.log(high / low) * width_pt
        axes.axvline(rate, color=FAINT, linewidth=0.6, zorder=0)
        if last["speed"] - place >= 19:
            names.append((rate, f"×{speedup:g}"))
            last["speed"] = place
        if last["rate"] - place >= 34:
            rates.append(rate)
            last["rate"] = place
    axes.set_xticks(rates, [f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}" for rate in rates])
    for rate, name in names:
        axes.annotate(
            name,
            (rate, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=QUIET,
        )
    axes.set_xlabel("requests per second")


def _bars(group: Group, measure: str) -> Figure:
    """One load: a bar per scheduler, best first, overloaded ones hollow."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(plots.SIZE[0], 0.9 + 0.22 * len(group.curves)), layout="constrained")
    axes = figure.subplots()
    rows = [(curve.label, curve.rows[0]) for curve in group.ranked]
    name = INTERVALS.get(measure, "")
    for place, (_, row) in enumerate(rows):
        late = row["saturated"] and measure not in MEANINGFUL
        half = row.get(name) if not late else None
        axes.barh(
            place,
            row[measure],
            height=0.62,
            facecolor="white" if late else BLUE,
            edgecolor=BLUE,
            xerr=half,
            ecolor=INK,
        )
        text = f"{row[measure]:,.3g}" + (" overloaded" if late else "")
        axes.annotate(
            text,
            (row[measure] + (half or 0.0), place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(range(len(rows)), [label for label, _ in rows], color=INK)
    axes.invert_yaxis()
    axes.margins(x=0.18)
    axes.set_xlim(left=0)
    axes.set_xlabel(TITLES.get(measure, measure))
    return figure


def each_alone(group: Group, measure: str) -> Figure:
    """Small multiples: every scheduler in front of all others."""
    from matplotlib.figure import Figure

    columns = 5
    lines = math.ceil(len(group.curves) / columns)
    with plots.style():
        figure = Figure(figsize=(plots.SIZE[0] * 2, 0.5 + 1.45 * lines), layout="constrained")
        places = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        for index, axes in enumerate(places.flat):
            if index < len(group.curves):
                _alone(axes, group, group.ranked[index], measure)
            else:
                axes.axis("off")
        for axes in places[:, 0]:
            axes.set_ylabel("SCV" if measure == "scv" else "ms")
        for index in range(max(0, len(group.curves) - columns), len(group.curves)):
            places.flat[index].xaxis.set_tick_params(labelbottom=True)
        figure.supxlabel("requests per second", fontsize=9, color=QUIET)
        return figure


def _alone(axes: Axes, group: Group, curve: Curve, measure: str) -> None:
    """One panel: a curve in front of the others, its overloaded points hollow along the top."""
    strip = 1 if any(_strip(each, measure) for each in group.curves) and _steady(group, measure) else 0
    _scale(axes, group, measure, strip=strip)
    for other in group.curves:
        if other is not curve:
            _draw(axes, other, measure, Look(colour=FAINT, width=0.7), None)
    late = bool(strip) and _strip(curve, measure)
    _draw(axes, curve, measure, Look(BLUE, "-", "o", 1.6, 3.0), 0 if late else None)
    axes.set_title(curve.label, fontsize=9, fontweight="bold")
    rates = [group.rate(speedup) for speedup in (group.speedups[0], group.speedups[-1])]
    axes.set_xticks(rates, [f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}" for rate in rates], fontsize=8)
    axes.xaxis.set_minor_locator(_no_ticks())
    axes.tick_params(axis="y", labelsize=8)


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()

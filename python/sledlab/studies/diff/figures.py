"""The difference of two runs as figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_ticker
from sledlab.lazy import numpy as np
from sledlab.show.distributions import draw_distributions, name_distributions
from sledlab.show.palette import BLUE, FAINT, INK, VERMILION
from sledlab.show.plots import single_plot
from sledlab.show.series import Panel, Series, distribution_panel, drawn_steps, log_positions
from sledlab.show.text_extents import shorten_middle
from sledlab.show.wording import mark_overloaded, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.studies.diff.difference import Difference

MAX_NAME_LENGTH = 24
"""Most characters of a name that a figure has room for."""


def _distribution(
    values: npt.NDArray[np.float64], positions: Callable[[Any], Sequence[float]]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the values at which a distribution steps, and the percentage of values up to each.

    Args:
        values: The values, in any order.
        positions: Function that returns the positions of values on the axis of the figure.
    """
    steps, counts = np.unique(values, return_counts=True)
    drawn_places = drawn_steps(positions(steps))
    return steps[drawn_places], (100 * np.cumsum(counts) / len(values))[drawn_places]


def response_panel(result: Difference) -> Panel:
    """Return the response times of both runs as distributions."""
    series = []
    for side, color, dash in ((result.a, BLUE, ()), (result.b, VERMILION, (5, 1.5))):
        times, shares = _distribution(side.response_ms, log_positions)
        name = mark_overloaded(side.name, saturated=side.saturated)
        series.append(Series(name, color, shares.tolist(), x=times.tolist(), dash=dash))
    return distribution_panel(series)


def responses(result: Difference) -> Figure:
    """Response times of both runs as distributions, each named in its color."""
    figure, axes = single_plot()
    panel = response_panel(result)
    draw_distributions(axes, panel)
    medians_ms = {
        shorten_middle(series.name, MAX_NAME_LENGTH): (float(np.median(side.response_ms)), series.color)
        for side, series in zip((result.a, result.b), panel.series, strict=True)
    }
    name_distributions(axes, medians_ms)
    return figure


def differences(result: Difference) -> Figure:
    """Differences of single requests as a distribution: left of zero the second run is faster."""
    figure, axes = single_plot()
    sizes = np.abs(result.differences_ms[result.differences_ms != 0])
    axes.set_xscale("symlog", linthresh=float(np.percentile(sizes, 20)) if len(sizes) else 1.0)
    scale = axes.xaxis.get_transform()
    values, shares = _distribution(result.differences_ms, lambda steps: scale.transform(steps).tolist())
    # The first step begins at zero.
    values, shares = np.append(values[:1], values), np.append(0.0, shares)
    axes.fill_between(
        values, shares, where=list(values <= 0), step="post", color=BLUE, alpha=0.2, linewidth=0
    )
    axes.fill_between(
        values, shares, 100, where=list(values >= 0), step="post", color=VERMILION, alpha=0.2, linewidth=0
    )
    axes.step(values, shares, where="post", color=INK)
    axes.axvline(0, color=FAINT, zorder=0)
    for text, place, color, alignment in (
        (f"{percent(result.faster)} sooner", 0.02, BLUE, "left"),
        (f"{percent(result.slower)} later", 0.98, VERMILION, "right"),
    ):
        axes.text(place, 1.02, text, transform=axes.transAxes, color=color, ha=alignment, fontweight="bold")
    axes.set_ylim(0, 101)
    axes.grid(visible=True)
    _set_ticks(axes)
    axes.set_xlabel(f"change of response time under {shorten_middle(result.b.name, MAX_NAME_LENGTH)} (ms)")
    axes.set_ylabel("requests that change by less (%)")
    return figure


def _set_ticks(axes: Axes) -> None:
    """Set ticks at powers of ten on both sides, thinned until they fit."""
    low, high = axes.get_xlim()
    threshold = float(axes.xaxis.get_transform().linthresh)  # type: ignore[attr-defined]
    first = int(np.ceil(np.log10(threshold)))
    ticks = [0.0]
    for sign, end in ((-1, -low), (1, high)):
        powers = range(first, int(np.floor(np.log10(end))) + 1) if end > threshold else range(0)
        step = max(1, -(-len(powers) // 4))
        ticks += [sign * 10.0**power for power in powers[::-1][::step]]
    axes.xaxis.set_major_locator(mpl_ticker.FixedLocator(sorted(ticks)))
    axes.xaxis.set_minor_locator(mpl_ticker.NullLocator())
    axes.xaxis.set_major_formatter(
        mpl_ticker.FuncFormatter(lambda value, _: f"{value:+,g}" if value else "0")
    )

"""Figures of a run: one function per kind, drawn the same for notebooks and for the report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_figure
from sledlab.show import device_states, model_names, request_figure, wording
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.distributions import corner_legend, draw_distributions, name_distributions
from sledlab.show.palette import BLUE, GREEN, INK, PURPLE, QUIET, SKY, STATE_COLORS, VERMILION
from sledlab.show.plots import ROW_HEADING, find_panel, label_right, single_plot
from sledlab.show.series import NamedBar, Panel, Series, distribution_panel
from sledlab.show.widths import SIZE, base_width, figure_height, has_chosen_width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.runs.result import Result


MIN_PANEL_IN = 3.0
"""Least width of a plot of the overview in inches."""

OVERVIEW_ROWS = 2
"""Rows of plots of an overview of a chosen width."""


def draw(result: Result, kind: str = "overview", **columns: Any) -> Figure:
    """Draw a figure of a kind, all kinds as `overview`, or `columns` of the requests.

    Raises:
        Error: There is no such kind, or no such column.
    """
    if kind == "columns":
        return request_figure.draw(result, **columns)
    panels: dict[str, Callable[[Result], Figure]] = {"overview": _overview}
    panels |= {name: partial(_draw_alone, draw_panel) for name, draw_panel in KINDS.items()}
    return find_panel(panels, kind)(result)


def _draw_alone(draw_panel: Callable[[Result, Axes], None], result: Result) -> Figure:
    """Draw one panel, without a title."""
    figure, axes = single_plot()
    draw_panel(result, axes)
    axes.set_title("")
    return figure


def _overview(result: Result) -> Figure:
    """Draw all kinds, or in a figure of a chosen width the first ones, as many as have room."""
    kinds, rows = list(KINDS.values()), OVERVIEW_ROWS
    columns = max(int(base_width() / MIN_PANEL_IN), 1) if has_chosen_width() else 2
    if not has_chosen_width():
        rows = len(kinds) // columns
    size = (base_width() * (1 if has_chosen_width() else columns), figure_height(SIZE[1] * rows))
    figure = mpl_figure.Figure(figsize=size, layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).flat
    for draw_kind, axes in zip(kinds, all_axes, strict=False):
        draw_kind(result, axes)
    figure.suptitle(model_names.title(result.config), x=0.01, ha="left", fontweight="bold")
    return figure


def _distribution(result: Result) -> Panel:
    """Share of requests answered within a time: of reads and writes, or of all if there is only one kind."""
    present_kinds = [
        (name, color) for name, color in (("read", BLUE), ("write", VERMILION)) if _points(result, name)[0]
    ]
    series = []
    for name, color in present_kinds if len(present_kinds) > 1 else [("all", BLUE)]:
        times, shares = _points(result, name)
        label = "all" if name == "all" else f"{name}s"
        series.append(Series(label, color, [share * 100 for share in shares], x=times))
    return distribution_panel(series)


def cdf(result: Result, axes: Axes) -> None:
    """Share of requests answered within a time, reads and writes apart."""
    panel = _distribution(result)
    draw_distributions(axes, panel)
    _mark_medians(axes, result, panel.series)
    axes.set_title("Response times")


def _points(result: Result, name: str) -> tuple[Sequence[float], Sequence[float]]:
    """Times and shares of the distribution called `name`; empty without requests of that kind."""
    curve: Mapping[str, Sequence[float]] = result.cdf.get(name) or {}
    return curve.get("response_ms") or (), curve.get("share") or ()


def _mark_medians(axes: Axes, result: Result, curves: Sequence[Series]) -> None:
    """Mark the median of each curve, and name the curves."""
    medians_ms = {
        "all": result.response_time.p50,
        "reads": result.read.response_time.p50,
        "writes": result.write.response_time.p50,
    }
    # A curve has requests, and so a median.
    present_medians_ms = {name: median for name, median in medians_ms.items() if median is not None}
    medians = {curve.name: (present_medians_ms[curve.name], curve.color) for curve in curves}
    name_distributions(axes, medians)


def _time_panel(
    result: Result,
    y_name: str,
    *series: Series,
    log_y: bool = False,
    levels: Sequence[tuple[str, float]] = (),
) -> Panel:
    """Return a panel of series over the simulated time of a run; `y_name` labels the y axis."""
    times = result.series.get("time_s") or []
    return Panel("simulated time (s)", y_name, series, times, log_y=log_y, sync_group="time", levels=levels)


def _response_panel(result: Result) -> Panel:
    """Mean and slowest response per interval; on a logarithmic axis where a few requests waited very long."""
    mean_ms = result.series.get("mean_response_ms") or []
    slowest_ms = result.series.get("max_response_ms") or []
    positive_ms = sorted(value for value in mean_ms if value is not None and value > 0)
    longest_ms = max((value for value in slowest_ms if value is not None), default=0.0)
    log_y = bool(positive_ms) and longest_ms > 20 * positive_ms[len(positive_ms) // 2]
    lines = (Series("slowest", SKY, slowest_ms), Series("mean", BLUE, mean_ms))
    return _time_panel(result, "response time (ms)", *lines, log_y=log_y)


def response(result: Result, axes: Axes) -> None:
    """Mean and slowest response per interval, over simulated time."""
    panel = _response_panel(result)
    slowest, mean = panel.series
    _draw_line(axes, panel, slowest, 0.9)
    _draw_line(axes, panel, mean, 1.6)
    longest_ms = max((value for value in slowest.values if value is not None), default=1.0)
    # The legend has the room above the slowest request.
    if panel.log_y:
        axes.set_yscale("log")
        low, _ = axes.get_ylim()
        axes.set_ylim(low, longest_ms * (longest_ms / low) ** 0.35)
        plain_ticks(axes.yaxis)
    else:
        axes.set_ylim(0, longest_ms * 1.35)
    corner_legend(axes, "upper right", ncols=2, handlelength=1.0, columnspacing=1.0)
    _label_time_axes(axes, panel, "Response over time")


def _queue_panel(result: Result) -> Panel:
    """Requests waiting, as arrivals found them."""
    lengths = result.series.get("queue_length") or []
    mean = result.queue_length.mean
    levels = ((f"mean {wording.figure(mean)}", mean),)
    return _time_panel(
        result, "requests waiting", Series("waiting", GREEN, lengths, kind="area"), levels=levels
    )


def queue(result: Result, axes: Axes) -> None:
    """Requests waiting, as arrivals found them, over simulated time."""
    panel = _queue_panel(result)
    _area(axes, panel)
    ((text, mean),) = panel.levels
    axes.axhline(mean, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(
        text,
        (1, mean),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )
    axes.set_ylim(bottom=0)
    _label_time_axes(axes, panel, "Queue length")


def _throughput_panel(result: Result) -> Panel:
    """Requests completed per second."""
    rates = result.series.get("throughput_iops") or []
    return _time_panel(result, "requests per second", Series("completed", PURPLE, rates, kind="area"))


def throughput(result: Result, axes: Axes) -> None:
    """Requests completed per second, over simulated time."""
    panel = _throughput_panel(result)
    _area(axes, panel)
    axes.set_ylim(bottom=0)
    _label_time_axes(axes, panel, "Throughput")


def _area(axes: Axes, panel: Panel) -> None:
    """Draw the only series of a panel, filled down to zero."""
    (series,) = panel.series
    axes.fill_between(panel.x, _numbers(series), color=series.color, alpha=0.25, linewidth=0)
    _draw_line(axes, panel, series, 1.1)


def _draw_line(axes: Axes, panel: Panel, series: Series, width: float) -> None:
    """Draw a line with gaps, and a point at each value between two gaps."""
    values = [None, *series.values, None]
    isolated = [
        place
        for place, (before, value, after) in enumerate(zip(values, values[1:], values[2:], strict=False))
        if before is None and value is not None and after is None
    ]
    options: Any = {"color": series.color, "linewidth": width, "marker": ".", "markevery": isolated}
    axes.plot(panel.x, _numbers(series), label=series.name, **options)


def _label_time_axes(axes: Axes, panel: Panel, title: str) -> None:
    """Label the axes of a panel over simulated time, and its plot."""
    axes.margins(x=0)
    axes.grid(visible=True, axis="y")
    axes.set(xlabel=panel.x_name, ylabel=panel.y_name, title=title)


def _numbers(series: Series) -> list[float]:
    """The values of a series with NaN for missing ones, which leave gaps in a line."""
    return [float("nan") if value is None else value for value in series.values]


def _parts_panel(result: Result) -> Panel:
    """Mean time per request by part: the parts that add up, then those within positioning."""
    time_by_part_ms = result.summary.get("time_by_part_ms", {})
    parts = [
        ("in queue", result.queue_time_ms, PURPLE),
        ("overhead", time_by_part_ms.get("overhead", 0.0), QUIET),
        ("positioning", result.positioning_time_ms, BLUE),
        ("transfer", time_by_part_ms.get("transfer", 0.0), VERMILION),
    ]
    kind = device_states.device_kind(result.config)
    bars = [
        NamedBar(name, value, color, wording.quantity(value, "ms"))
        for name, value, color in parts
        if value > 0 or name != "overhead"
    ]
    for place, (name, key) in enumerate(kind.parts.items()):
        value = time_by_part_ms.get(key, 0.0)
        heading = "" if place else kind.combined
        bars.append(NamedBar(name, value, SKY, wording.quantity(value, "ms"), heading))
    return Panel("mean per request (ms)", "time by part", (), named_bars=bars)


def parts(result: Result, axes: Axes) -> None:
    """Mean time per request by part: what adds up, and what lies within positioning."""
    _draw_bars(axes, _parts_panel(result), "Time by component")


def _energy_panel(result: Result) -> Panel:
    """Energy by state, with the share of energy and of time."""
    total = result.energy.total or 1.0
    unit, size = wording.energy_unit(total)
    elapsed = sum(float(getattr(result.state_time, state)) for state in device_states.STATES) or 1.0
    bars = []
    for state, color in STATE_COLORS.items():
        joules, seconds = getattr(result.energy, state), getattr(result.state_time, state)
        text = (
            f"{wording.quantity(joules / size, unit)}, {wording.percent(joules / total)} of energy\n"
            f"{wording.percent(seconds / elapsed)} of time"
        )
        bars.append(NamedBar(device_states.state_name(state, result.config), joules / size, color, text))
    return Panel(f"energy ({unit})", "energy by state", (), named_bars=bars)


def energy(result: Result, axes: Axes) -> None:
    """Energy by state, with the share of energy and of time."""
    _draw_bars(axes, _energy_panel(result), "Energy by state")


def _draw_bars(axes: Axes, panel: Panel, title: str) -> None:
    """Draw horizontal bars from the top down, each with its text at its end."""
    bars, positions, place = panel.named_bars, [], 0.0
    for bar in bars:
        place += 0.9 if bar.heading else 0
        positions.append(place)
        place += 1
    longest = max((bar.value for bar in bars), default=0.0) or 1.0
    axes.barh(positions, [bar.value for bar in bars], color=[bar.color for bar in bars], height=0.68)
    for position, bar in zip(positions, bars, strict=True):
        label_right(axes, bar.text, (bar.value, position), distance_pt=4)
    for position, bar in zip(positions, bars, strict=True):
        if bar.heading:
            style: Any = {
                "fontsize": 9,
                "color": QUIET,
                "va": "center",
                "label": ROW_HEADING,
                "in_layout": False,
            }
            axes.text(0, position - 1, bar.heading, **style)
    axes.set_yticks(positions, [bar.name for bar in bars], color=INK)
    axes.set_xlim(0, longest)
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)
    axes.set(xlabel=panel.x_name, title=title)


KINDS: dict[str, Callable[[Result, Axes], None]] = {
    "cdf": cdf,
    "response": response,
    "parts": parts,
    "energy": energy,
    "throughput": throughput,
    "queue": queue,
}
"""Functions that draw a figure of a single run, by its kind."""

PANELS: Mapping[str, Callable[[Result], Panel]] = {
    "cdf": _distribution,
    "response": _response_panel,
    "parts": _parts_panel,
    "energy": _energy_panel,
    "throughput": _throughput_panel,
    "queue": _queue_panel,
}
"""Functions that give the panel of a figure that can be explored, by its kind."""

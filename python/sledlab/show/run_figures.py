"""Figures of a run: one function per kind, drawn the same for notebooks and for the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import unknown
from sledlab.lazy import mpl_figure
from sledlab.show import wording
from sledlab.show.plots import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    QUIET,
    SIZE,
    SKY,
    mark_median,
    plain_ticks,
    single,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.runs.result import Result


def draw(result: Result, kind: str = "overview") -> Figure:
    """One of the kinds of figure, or all of them as `overview`.

    Raises:
        Error: There is no such kind.
    """
    if kind == "overview":
        return _overview(result)
    if kind not in KINDS:
        raise unknown("plot", kind, ["overview", *KINDS])
    figure, axes = single()
    KINDS[kind](result, axes)
    axes.set_title("")
    return figure


def _overview(result: Result) -> Figure:
    figure = mpl_figure.Figure(figsize=(SIZE[0] * 2, SIZE[1] * 3), layout="constrained")
    for function, axes in zip(KINDS.values(), figure.subplots(3, 2).flat, strict=True):
        function(result, axes)
    figure.suptitle(wording.title(result.config), x=0.01, ha="left", fontweight="bold")
    return figure


def cdf(result: Result, axes: Axes) -> None:
    """Share of requests answered within a time, reads and writes apart."""
    shown = [
        (name, colour) for name, colour in (("read", BLUE), ("write", ORANGE)) if _points(result, name)[0]
    ]
    curves = shown if len(shown) > 1 else [("all", BLUE)]
    lowest = []
    for name, colour in curves:
        times, shares = _points(result, name)
        axes.step(times, [share * 100 for share in shares], where="post", color=colour)
        lowest.append(next((time for time in times if time > 0), 0.001))
    axes.set_xscale("log")
    axes.set_xlim(left=min(lowest) if lowest else None)
    axes.set_ylim(0, 101)
    _mark_medians(axes, result, curves)
    axes.grid(visible=True, axis="both")
    axes.set(xlabel="response time (ms)", ylabel="requests answered within (%)", title="Response times")
    plain_ticks(axes.xaxis)


def _points(result: Result, name: str) -> tuple[Sequence[float], Sequence[float]]:
    """Times and shares of a curve; empty where there were no such requests."""
    curve: Mapping[str, Sequence[float]] = result.cdf.get(name) or {}
    return curve.get("response_ms") or (), curve.get("share") or ()


def _mark_medians(axes: Axes, result: Result, curves: Sequence[tuple[str, str]]) -> None:
    """Names each curve at its median, the fastest on its left and the others on their right."""
    times = {
        "all": result.response_time,
        "read": result.read.response_time,
        "write": result.write.response_time,
    }
    fastest = min(curves, key=lambda curve: times[curve[0]].p50)[0]
    for name, colour in curves:
        median = times[name].p50
        left = name == fastest
        axes.plot([median], [50], marker="o", markersize=4.5, color=colour)
        mark_median(axes, "all" if name == "all" else f"{name}s", median, colour, left=left)


def response(result: Result, axes: Axes) -> None:
    """Mean and slowest response per interval, over simulated time."""
    times = result.series.get("time_s") or []
    mean = _gaps(result.series.get("mean_response_ms") or [])
    slowest = _gaps(result.series.get("max_response_ms") or [])
    axes.plot(times, slowest, color=SKY, linewidth=0.9)
    axes.plot(times, mean, color=BLUE)
    real = sorted(value for value in mean if value > 0)
    if real and max(slowest, key=_or_zero) > 20 * real[len(real) // 2]:
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    _label_above(axes, "slowest", SKY, 0.985)
    _label_above(axes, "mean", BLUE, 0.80)
    _over_time(axes, "response time (ms)", "Response over time")


def _label_above(axes: Axes, text: str, colour: str, x: float) -> None:
    """The name of a line, in its colour, above the plot."""
    place: Any = {"transform": axes.transAxes, "ha": "right", "va": "bottom"}
    axes.text(x, 1.0, f"– {text}", color=colour, fontweight="bold", **place)


def queue(result: Result, axes: Axes) -> None:
    """Requests waiting, as arrivals found them, over simulated time."""
    times = result.series.get("time_s") or []
    lengths = _gaps(result.series.get("queue_length") or [])
    axes.fill_between(times, lengths, color=GREEN, alpha=0.25, linewidth=0)
    axes.plot(times, lengths, color=GREEN, linewidth=1.1)
    axes.axhline(result.queue_length.mean, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.annotate(
        f"mean {wording.figure(result.queue_length.mean)}",
        (1, result.queue_length.mean),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontweight="bold",
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )
    axes.set_ylim(bottom=0)
    _over_time(axes, "requests waiting", "Queue length")


def throughput(result: Result, axes: Axes) -> None:
    """Requests completed per second, over simulated time."""
    times = result.series.get("time_s") or []
    rates = result.series.get("throughput_iops") or []
    axes.fill_between(times, rates, color=PURPLE, alpha=0.25, linewidth=0)
    axes.plot(times, rates, color=PURPLE, linewidth=1.1)
    axes.set_ylim(bottom=0)
    _over_time(axes, "requests per second", "Throughput")


def _over_time(axes: Axes, what: str, title: str) -> None:
    """Names the axes of something over simulated time."""
    axes.margins(x=0)
    axes.grid(visible=True, axis="y")
    axes.set(xlabel="simulated time (s)", ylabel=what, title=title)


def _gaps(values: Sequence[float | None]) -> list[float]:
    """Missing values as NaN, which leaves gaps in a line."""
    return [float("nan") if value is None else value for value in values]


def _or_zero(value: float) -> float:
    return value if value == value else 0.0  # noqa: PLR0124 - NaN is not equal to itself


def parts(result: Result, axes: Axes) -> None:
    """Mean time per request by part: what adds up, and what lies within positioning."""
    part = result.summary.get("time_by_part_ms", {})
    sums = [
        ("in queue", result.queue_time_ms, PURPLE),
        ("overhead", part.get("overhead", 0.0), QUIET),
        ("positioning", result.positioning_time_ms, BLUE),
        ("transfer", part.get("transfer", 0.0), ORANGE),
    ]
    kind = wording.device_kind(result.config)
    within = [(name, part.get(key, 0.0), SKY) for name, key in kind.parts.items()]
    rows = [row for row in sums if row[1] > 0 or row[0] != "overhead"]
    labels = [wording.milliseconds(value) for _, value, _ in (*rows, *within)]
    places = [*range(len(rows)), *(len(rows) + 0.9 + index for index in range(len(within)))]
    _bars(axes, [*rows, *within], labels, places)
    axes.text(0, len(rows) - 0.1, kind.combined, fontsize=8, color=QUIET, va="center")
    axes.set(xlabel="mean per request (ms)", title="Where the time went")


def energy(result: Result, axes: Axes) -> None:
    """Energy by state, with the share of energy and of time."""
    total = result.energy.total or 1.0
    elapsed = sum(float(getattr(result.state_time, state)) for state in wording.STATES) or 1.0
    rows, labels = [], []
    for state, colour in zip(wording.STATES, (BLUE, ORANGE, GREEN, QUIET, PURPLE), strict=True):
        joules, seconds = getattr(result.energy, state), getattr(result.state_time, state)
        rows.append((wording.state_name(state, result.config), joules, colour))
        labels.append(
            f"{wording.energy(joules)}, {wording.percent(joules / total)} of energy\n"
            f"{wording.percent(seconds / elapsed)} of time"
        )
    _bars(axes, rows, labels, list(range(len(rows))))
    axes.set(xlabel="energy (J)", title="Where the energy went")


def _bars(
    axes: Axes, rows: Sequence[tuple[str, float, str]], labels: Sequence[str], places: Sequence[float]
) -> None:
    """Horizontal bars from the top down, each with its value at its end."""
    longest = max((value for _, value, _ in rows), default=0.0) or 1.0
    axes.barh(places, [value for _, value, _ in rows], color=[colour for *_, colour in rows], height=0.68)
    for place, (_, value, _), label in zip(places, rows, labels, strict=True):
        axes.annotate(
            label,
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            linespacing=1.1,
        )
    axes.set_yticks(list(places), [name for name, *_ in rows], color=INK)
    axes.set_xlim(0, longest * 1.5)
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)


KINDS: dict[str, Callable[[Result, Axes], None]] = {
    "cdf": cdf,
    "response": response,
    "parts": parts,
    "energy": energy,
    "throughput": throughput,
    "queue": queue,
}
"""Every kind of figure of a single run."""

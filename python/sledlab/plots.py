"""Figures: one function per kind, drawn the same for notebooks and for the report.

Colours are those of Okabe and Ito, told apart by colour-blind readers and in greyscale; lines
are labelled where they end instead of in a legend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab import wording
from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.result import Result
    from sledlab.seek_maps import SeekMap

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#A2568B", "#56B4E9"
INK, QUIET, FAINT = "#1b1f24", "#5d6670", "#d9dee3"

SIZE = (5.4, 3.3)
"""Width and height of one figure in inches: half a page wide, or a phone."""

WIDTH = SIZE[0] * 1.1
"""Width of the figures of studies in inches: still readable on a phone, or two on a page."""

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": QUIET,
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "text.color": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "svg.fonttype": "none",
    "svg.hashsalt": "sledlab",
    "axes.formatter.use_mathtext": False,
}


def draw(result: Result, kind: str) -> Figure:
    """One of the kinds of figure, or all of them as `overview`."""
    with style():
        if kind == "overview":
            return _overview(result)
        if kind not in KINDS:
            raise Error(f"unknown plot `{kind}`", remedy=f"known: overview, {', '.join(KINDS)}")
        figure, axes = _figure()
        KINDS[kind](result, axes)
        axes.set_title("")
        return figure


def _overview(result: Result) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(SIZE[0] * 2, SIZE[1] * 3), layout="constrained")
    places = list(figure.subplots(3, 2).flat)
    for (_, function), axes in zip(KINDS.items(), places, strict=False):
        function(result, axes)
    for axes in places[len(KINDS) :]:
        axes.axis("off")
    figure.suptitle(wording.title(result), x=0.01, ha="left", fontweight="bold")
    return figure


def _figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, layout="constrained")
    return figure, figure.subplots()


def panels(rows: int, height: float, ratios: Sequence[float] | None = None) -> tuple[Figure, list[Axes]]:
    """Plots on top of each other, `height` inches in all, in the given ratios of heights."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(WIDTH, height), layout="constrained")
    places = made.subplots(rows, 1, squeeze=False, height_ratios=ratios)
    return made, list(places[:, 0])


def legend(made: Figure, names: Mapping[str, str]) -> None:
    """What the colours mean, above everything: names with their colours."""
    from matplotlib.patches import Patch

    made.legend(
        handles=[Patch(color=colour, label=name) for name, colour in names.items()],
        loc="outside upper left",
        ncols=len(names),
        frameon=False,
        handlelength=1.0,
        handleheight=1.0,
        columnspacing=1.4,
        fontsize=9,
    )


def style() -> Any:
    """The look of all figures, as a context."""
    import matplotlib as mpl

    return mpl.rc_context(STYLE)


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
    axes.set_xlabel("response time (ms)")
    axes.set_ylabel("requests answered within (%)")
    axes.set_title("Response times")
    plain_log(axes)


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
        axes.annotate(
            f"{'all' if name == 'all' else name + 's'}\nmedian {wording.milliseconds(median)}",
            (median, 50),
            xytext=(-8 if left else 8, 8 if left else -8),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom" if left else "top",
            color=colour,
            fontweight="bold",
            linespacing=1.25,
        )


def plain_log(axes: Axes) -> None:
    """Ticks of an x axis, logarithmic or not, as plain numbers: 0.1, 1, 10,000."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


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
        plain_log_y(axes)
    else:
        axes.set_ylim(bottom=0)
    _label_above(axes, "slowest", SKY, 0.985)
    _label_above(axes, "mean", BLUE, 0.80)
    _time_axis(axes)
    axes.set_ylabel("response time (ms)")
    axes.set_title("Response over time")


def _label_above(axes: Axes, text: str, colour: str, x: float) -> None:
    """The name of a line, in its colour, above the plot."""
    axes.text(
        x,
        1.0,
        f"– {text}",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        color=colour,
        fontweight="bold",
    )


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
    _time_axis(axes)
    axes.set_ylabel("requests waiting")
    axes.set_title("Queue length")


def throughput(result: Result, axes: Axes) -> None:
    """Requests completed per second, over simulated time."""
    times = result.series.get("time_s") or []
    rates = result.series.get("throughput_iops") or []
    axes.fill_between(times, rates, color=PURPLE, alpha=0.25, linewidth=0)
    axes.plot(times, rates, color=PURPLE, linewidth=1.1)
    axes.set_ylim(bottom=0)
    _time_axis(axes)
    axes.set_ylabel("requests per second")
    axes.set_title("Throughput")


def _time_axis(axes: Axes) -> None:
    axes.margins(x=0)
    axes.grid(visible=True, axis="y")
    axes.set_xlabel("simulated time (s)")


def _gaps(values: Sequence[float | None]) -> list[float]:
    """Missing values as NaN, which leaves gaps in a line."""
    return [float("nan") if value is None else value for value in values]


def _or_zero(value: float) -> float:
    return value if value == value else 0.0  # noqa: PLR0124 - NaN is not equal to itself


def plain_log_y(axes: Axes) -> None:
    """Ticks of a logarithmic y axis as plain numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


WITHIN_POSITIONING: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "mems": (
        "within positioning: x and y move at once, the slower counts",
        {"seek in x": "seek_x", "settle": "settle", "seek in y": "seek_y", "turnarounds": "turnaround"},
    ),
    "disk": (
        "within positioning: one after another",
        {"seek": "seek_x", "settle": "settle", "rotation": "rotation"},
    ),
    "ram": ("", {}),
}
"""How the positioning of each kind of device is made up: in words, and its parts by what they are called."""


def parts(result: Result, axes: Axes) -> None:
    """Mean time per request by part: what adds up, and what lies within positioning."""
    part = result.summary.get("time_by_part_ms", {})
    sums = [
        ("in queue", result.queue_time_ms, PURPLE),
        ("overhead", part.get("overhead", 0.0), QUIET),
        ("positioning", result.positioning_time_ms, BLUE),
        ("transfer", part.get("transfer", 0.0), ORANGE),
    ]
    combined, named = WITHIN_POSITIONING[wording.device_kind(result.config)]
    within = [(name, part.get(key, 0.0), SKY) for name, key in named.items()]
    rows = [row for row in sums if row[1] > 0 or row[0] != "overhead"]
    labels = [wording.milliseconds(value) for _, value, _ in (*rows, *within)]
    places = [*range(len(rows)), *(len(rows) + 0.9 + index for index in range(len(within)))]
    _bars(axes, [*rows, *within], labels, places)
    axes.text(0, len(rows) - 0.1, combined, fontsize=8, color=QUIET, va="center")
    axes.set_xlabel("mean per request (ms)")
    axes.set_title("Where the time went")


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
    axes.set_xlabel("energy (J)")
    axes.set_title("Where the energy went")


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


def seek_map(found: SeekMap) -> Figure:
    """Seek times from one place to all others, with the regions reached within some times outlined."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(SIZE[0], 4.5), layout="constrained")
        axes = figure.subplots()
        mesh = axes.pcolormesh(
            found.x_bit, found.y_bit, found.ms, cmap="cividis_r", shading="nearest", rasterized=True
        )
        for index, region in enumerate(found.regions()):
            if region.share > 0:
                _outline(axes, found, region.threshold_ms, 900 - 250 * index)
        axes.plot(
            [found.start[0]], [found.start[1]], marker="+", color=ORANGE, markersize=9, markeredgewidth=2
        )
        bar = figure.colorbar(mesh, ax=axes, label="positioning time (ms)", shrink=0.8)
        bar.outline.set_visible(False)
        axes.set_aspect("equal")
        axes.set_xlabel("x (bits from the centre)")
        axes.set_ylabel("y (bits from the centre)")
        axes.set_title(f"{found.device}: seek time from x = {found.start[0]}, y = {found.start[1]}")
        return figure


def _outline(axes: Axes, found: SeekMap, threshold_ms: float, y_label: int) -> None:
    """Outlines the places reached within a time, and names it on the right, outside of the regions."""
    axes.contour(found.x_bit, found.y_bit, found.ms, levels=[threshold_ms], colors="white", linewidths=0.9)
    x_edge = max(found.x_bit[(found.ms <= threshold_ms).any(axis=0)])
    inside = found.y_bit[(found.ms[:, list(found.x_bit).index(x_edge)] <= threshold_ms)]
    axes.annotate(
        f"{threshold_ms:g} ms",
        (x_edge, min(max(y_label, inside.min()), inside.max())),
        xytext=(found.start[0] + 420, y_label),
        color="white",
        fontsize=8,
        va="center",
        arrowprops={"arrowstyle": "-", "color": "white", "linewidth": 0.7},
    )


def to_svg(figure: Figure, title: str) -> str:
    """The figure as an SVG element to stand in a page, the same bytes each time."""
    from io import StringIO

    out = StringIO()
    with style():
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Title": title})
    text = out.getvalue()
    return text[text.index("<svg") :].replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")

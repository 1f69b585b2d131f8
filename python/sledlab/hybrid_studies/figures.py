"""Figures of a hybrid study, after figures 4 to 7 of paper 001."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab import plots
from sledlab.comparison.figures import apart
from sledlab.errors import Error, unknown
from sledlab.hybrid_studies.configurations import KNOWN
from sledlab.hybrid_studies.rows import size
from sledlab.plots import BLUE, GREEN, INK, ORANGE, PURPLE, QUIET, SKY
from sledlab.wording import figure, milliseconds, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sledlab.hybrid_studies.outcome import HybridStudy
    from sledlab.hybrid_studies.tables import Row

LINES = (SKY, BLUE, INK, PURPLE, ORANGE, GREEN, "#B8860B", QUIET)
"""Colours of the sizes of MEMS, from the smallest on."""

NAME_PT = 11
"""Room for a name at the end of a line, in points."""


def draw(study: HybridStudy, section: str) -> Figure:
    """One section.

    Raises:
        Error: There is no such section, or it was left out.
    """
    if section not in SECTIONS:
        raise unknown("section", section, list(SECTIONS))
    if not study.rows[section]:
        raise Error(f"the study has no section `{section}`", remedy="give what it sweeps")
    with plots.style():
        return SECTIONS[section](study)


def _colour(row: Row) -> str:
    """Baselines grey, hybrids in colour."""
    return QUIET if KNOWN[row["configuration"]].hybrid is None else BLUE


def _named_rows(axes: Axes, rows: Sequence[Row], name: str = "label") -> None:
    """Names on the left, from the top down."""
    axes.set_yticks(range(len(rows)), [row[name] for row in rows], color=INK)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)


def _note(axes: Axes, text: str, where: tuple[float, float], colour: str = INK) -> None:
    """A text on the right of a place."""
    axes.annotate(
        text, where, xytext=(6, 0), textcoords="offset points", va="center", fontsize=8.5, color=colour
    )


def configurations(study: HybridStudy) -> Figure:
    """Response by configuration: mean, and the line from the median to 99 %."""
    rows = study.rows["configurations"]
    made, (axes,) = plots.panels(1, 0.9 + 0.34 * len(rows))
    for place, row in enumerate(rows):
        colour = _colour(row)
        axes.plot([row["p50_ms"], row["p99_ms"]], [place] * 2, color=colour, linewidth=3, alpha=0.3)
        axes.plot(
            [row["mean_ms"]],
            [place],
            marker="o",
            markersize=7,
            color=colour,
            markerfacecolor="white" if row["saturated"] else colour,
        )
        axes.annotate(
            _against(row), (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=8.5
        )
    axes.set_xscale("log")
    plots.plain_log(axes)
    _named_rows(axes, rows)
    axes.grid(visible=True, axis="x")
    axes.set_xlabel("mean response (ms); the line goes from the median to 99 %")
    return made


def _against(row: Row) -> str:
    """The mean, and how it compares with the baselines."""
    said = [milliseconds(row["mean_ms"])]
    if row["saturated"]:
        return f"{said[0]}, overloaded"
    if row["faster_than_disk"] is not None and row["configuration"] != "disk":
        said.append(f"{figure(row['faster_than_disk'], 2)} × DISK")
    if row["share_of_mems"] is not None and row["configuration"] != "mems":
        said.append(f"{percent(row['share_of_mems'])} of MEMS")
    return ", ".join(said)


def sizes(study: HybridStudy) -> Figure:
    """Mean response of MCD ALL against the segment, a line for each size of MEMS."""
    rows = study.rows["sizes"]
    made, (axes,) = plots.panels(1, 3.6)
    segments = sorted({row["segment_kb"] for row in rows})
    ends = []
    for index, mb in enumerate(sorted({row["mems_mb"] for row in rows})):
        mine = sorted((row for row in rows if row["mems_mb"] == mb), key=lambda row: int(row["segment_kb"]))
        colour = LINES[index % len(LINES)]
        places = [segments.index(row["segment_kb"]) for row in mine]
        axes.plot(places, [row["mean_ms"] for row in mine], color=colour)
        for place, row in zip(places, mine, strict=True):
            face = "white" if row["saturated"] else colour
            axes.plot([place], [row["mean_ms"]], marker="o", markersize=5, color=colour, markerfacecolor=face)
        ends.append((mine[-1]["mean_ms"], size(mb), colour))
    _value_axis(axes, [row["mean_ms"] for row in rows])
    axes.set_xticks(range(len(segments)), [str(segment) for segment in segments])
    axes.set_xlim(-0.3, len(segments) - 1 + 0.13 * len(segments))
    axes.set_xlabel("segment (KB)")
    axes.set_ylabel("mean response (ms)")
    axes.grid(visible=True, axis="y")
    _name_ends(made, axes, len(segments) - 1, ends)
    return made


def _value_axis(axes: Axes, values: Sequence[float]) -> None:
    """From 0, or logarithmic where values are far apart."""
    if max(values) > 10 * min(values):
        axes.set_yscale("log")
        axes.set_ylim(min(values) / 1.3, max(values) * 1.3)
    else:
        axes.set_ylim(0, max(values) * 1.1)
    plots.plain_log_y(axes)


def _name_ends(made: Figure, axes: Axes, place: float, ends: Sequence[tuple[float, str, str]]) -> None:
    """Names at the right ends of lines, moved apart."""
    made.canvas.draw()
    box = axes.get_window_extent()
    to_points = 72 / made.dpi
    heights = [(axes.transData.transform((place, value))[1] - box.y0) * to_points for value, *_ in ends]
    for (value, name, colour), wanted, height in zip(
        ends, heights, apart(heights, NAME_PT, box.height * to_points), strict=True
    ):
        axes.annotate(
            name,
            (place, value),
            xytext=(10, height - wanted),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            fontweight="bold",
            color=colour,
        )


def techniques(study: HybridStudy) -> Figure:
    """Mean response of the caching disk with no technique, each alone and all."""
    rows = study.rows["techniques"]
    made, (axes,) = plots.panels(1, 0.9 + 0.34 * len(rows))
    axes.barh(
        range(len(rows)),
        [row["mean_ms"] for row in rows],
        height=0.62,
        color=["white" if row["saturated"] else BLUE for row in rows],
        edgecolor=BLUE,
    )
    for place, row in enumerate(rows):
        change = f" ({-row['saved'] * 100:+.1f} %)".replace("-", "−") if row["saved"] else ""
        late = " overloaded" if row["saturated"] else ""
        _note(axes, f"{milliseconds(row['mean_ms'])}{change}{late}", (row["mean_ms"], place))
    _named_rows(axes, rows)
    axes.set_xlim(0, max(row["mean_ms"] for row in rows) * 1.35)
    axes.set_xlabel("mean response (ms)")
    return made


def traffic(study: HybridStudy) -> Figure:
    """What the disk and MEMS were asked for."""
    devices = [
        (name, [row for row in study.rows["traffic"] if row["device"] == key])
        for key, name in (("disk", "Disk"), ("mems", "MEMS"))
    ]
    shown = [(name, rows) for name, rows in devices if rows]
    made, places = plots.panels(
        len(shown),
        1.1 + sum(0.5 + 0.28 * len(rows) for _, rows in shown),
        [len(rows) + 1 for _, rows in shown],
    )
    for axes, (name, rows) in zip(places, shown, strict=True):
        reads, writes = ([row[key] for row in rows] for key in ("read_mb", "written_mb"))
        axes.barh(range(len(rows)), reads, height=0.62, color=BLUE)
        axes.barh(range(len(rows)), writes, left=reads, height=0.62, color=ORANGE)
        for place, row in enumerate(rows):
            _note(axes, _accesses(row), (row["read_mb"] + row["written_mb"], place))
        _named_rows(axes, rows)
        most = max(row["read_mb"] + row["written_mb"] for row in rows)
        axes.set_xlim(0, (most or 1.0) * 1.5)
        plots.plain_log(axes)
        axes.set_title(name)
    places[-1].set_xlabel("moved (MB)")
    plots.legend(made, {"read": BLUE, "written": ORANGE})
    return made


def _accesses(row: Row) -> str:
    """How many accesses of what mean size."""
    count = row["reads"] + row["writes"]
    if not count:
        return "none"
    return f"{count:,.0f} of {figure((row['read_mb'] + row['written_mb']) * 1e6 / 1024 / count)} KB"


def replacement(study: HybridStudy) -> Figure:
    """Mean response of MCD ALL under each replacement policy, and what the policy finds."""
    rows = study.rows["replacement"]
    found = {row["policy"]: row["hit_ratio"] for row in study.rows["hits"]}
    made, (axes,) = plots.panels(1, 0.9 + 0.34 * len(rows))
    axes.barh(range(len(rows)), [row["mean_ms"] for row in rows], height=0.62, color=BLUE)
    for place, row in enumerate(rows):
        text = (
            f"{milliseconds(row['mean_ms'])}, finds {percent(found[row['policy']])} of the trace's segments"
        )
        _note(axes, text, (row["mean_ms"], place))
    _named_rows(axes, rows, "policy")
    axes.set_xlim(0, max(row["mean_ms"] for row in rows) * 1.9)
    axes.set_xlabel("mean response (ms)")
    return made


def prices(study: HybridStudy) -> Figure:
    """How much faster MCD ALL is than a disk with memory of equal cost."""
    rows = study.rows["prices"]
    made, (axes,) = plots.panels(1, 3.2)
    x = range(len(rows))
    values = [row["mcd_faster"] for row in rows]
    axes.axhline(1, color=QUIET, linewidth=1)
    axes.plot(x, values, color=BLUE)
    for place, row in zip(x, rows, strict=True):
        face = "white" if row["saturated"] or row["mcd_saturated"] else BLUE
        axes.plot([place], [row["mcd_faster"]], marker="o", markersize=6, color=BLUE, markerfacecolor=face)
    _value_axis(axes, [*values, 1.0])
    axes.set_xticks(x, [f"{row['ratio']:g}\n{size(row['memory_mb'])}" for row in rows], fontsize=8)
    axes.set_xlabel("price of memory over that of MEMS, and the memory that costs as much")
    axes.set_ylabel("response of DISK-RAM\nover that of MCD ALL")
    axes.annotate(
        "above: MEMS is the better buy",
        (0.01, 1),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8.5,
        color=QUIET,
    )
    axes.grid(visible=True, axis="y")
    return made


SECTIONS: dict[str, Callable[[HybridStudy], Figure]] = {
    "configurations": configurations,
    "sizes": sizes,
    "techniques": techniques,
    "traffic": traffic,
    "replacement": replacement,
    "prices": prices,
}
"""Every section that can be drawn."""

"""Figures of a hybrid study, after figures 4 to 7 of Wang 2005."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show import plots
from sledlab.show.axis_ticks import plain_ticks
from sledlab.show.palette import BLUE, QUIET, VERMILION
from sledlab.show.plots import LINES
from sledlab.show.series import Panel, Series
from sledlab.show.wording import figure, mark_overloaded, percent, quantity, size
from sledlab.studies.stores.configurations import CONFIGURATIONS, DISK, MEMS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sledlab.studies.hybrid.tables import ComparedConfiguration, HybridStudy, Traffic


def configurations(study: HybridStudy) -> Figure:
    """Response by configuration: mean, and the line from the median to 99 %."""
    rows = study.configurations
    fig, (axes,) = plots.panels(1, 0.9 + 0.34 * len(rows), rows=len(rows))
    for place, row in enumerate(rows):
        color = QUIET if CONFIGURATIONS[row.configuration].hybrid is None else BLUE
        axes.plot([row.run.p50_ms, row.run.p99_ms], [place] * 2, color=color, linewidth=3, alpha=0.3)
        plots.draw_point(axes, (row.run.mean_ms, place), color, 7, hollow=row.run.saturated)
        plots.label_right(axes, _baseline_text(study, row), (max(row.run.p99_ms, row.run.mean_ms), place))
    axes.set_xscale("log")
    plain_ticks(axes.xaxis)
    plots.name_rows(axes, [row.label for row in rows])
    axes.grid(visible=True, axis="x")
    axes.set_xlabel("mean response (ms); line: median to 99 %")
    return fig


def _baseline_text(study: HybridStudy, row: ComparedConfiguration) -> str:
    """The mean response, and its ratio to the baselines, in words."""
    texts = [quantity(row.run.mean_ms, "ms")]
    if row.run.saturated:
        return f"{texts[0]}, overloaded"
    if row.faster_than_disk is not None and row.configuration != DISK:
        texts.append(f"{figure(row.faster_than_disk, 2)} × DISK")
    if row.share_of_mems is not None and row.configuration != MEMS:
        texts.append(f"{percent(row.share_of_mems)} of {study.front}")
    return ", ".join(texts)


def size_panels(study: HybridStudy) -> list[Panel]:
    """Mean response of MCD ALL against the segment, a line for each size of the front device."""
    segments = sorted({row.segment_kb for row in study.sizes})
    series = []
    for index, mb in enumerate(sorted({row.mems_mb for row in study.sizes})):
        runs = {row.segment_kb: row.run for row in study.sizes if row.mems_mb == mb}
        runs_by_segment = [runs.get(segment) for segment in segments]
        series.append(
            Series(
                size(mb),
                LINES[index % len(LINES)],
                [run.mean_ms if run else None for run in runs_by_segment],
                overloaded=[bool(run and run.saturated) for run in runs_by_segment],
            )
        )
    steps = [str(segment) for segment in segments]
    return [Panel("segment (KB)", "mean response (ms)", series, steps=steps)]


def sizes(study: HybridStudy) -> Figure:
    """Mean response of MCD ALL against the segment, a line for each size of the front device."""
    (panel,) = size_panels(study)
    fig, (axes,) = plots.panels(1, 3.6)
    count = len(panel.steps)
    ends: list[tuple[float, str, str]] = []
    for series in panel.series:
        dots = [
            (place, value, is_overloaded)
            for place, (value, is_overloaded) in enumerate(zip(series.values, series.overloaded, strict=True))
            if value is not None
        ]
        _, *marks = plots.LINE_STYLES[len(ends) % len(plots.LINE_STYLES)]
        plots.draw_line(axes, dots, (series.color, *marks), series.name)
        ends.append((dots[-1][1], series.name, series.color))
    plots.value_axis(axes, [row.run.mean_ms for row in study.sizes])
    axes.set_xticks(range(count), panel.steps)
    axes.set_xlim(-0.3, count - 0.7)
    axes.set(xlabel=panel.x_name, ylabel=panel.y_name)
    axes.grid(visible=True, axis="y")
    plots.name_ends(axes, ends)
    return fig


def techniques(study: HybridStudy) -> Figure:
    """Mean response of the caching disk with no technique, each alone and all."""
    bars = []
    for row in study.techniques:
        change = f" ({-row.saved * 100:+.1f} %)".replace("-", "−") if row.saved else ""
        bars.append(plots.response_bar(row.label, row.run.mean_ms, change, is_overloaded=row.run.saturated))
    return plots.bars(bars, "mean response (ms)")


def traffic(study: HybridStudy) -> Figure:
    """Accesses of the disk and of the front device."""
    devices = {"Disk": DISK, study.front: MEMS}
    rows_by_device = {
        name: [row for row in study.traffic if row.device == key] for name, key in devices.items()
    }
    present_rows = {name: rows for name, rows in rows_by_device.items() if rows}
    height = 1.1 + sum(0.5 + 0.28 * len(rows) for rows in present_rows.values())
    ratios, count = [len(rows) + 1 for rows in present_rows.values()], sum(map(len, present_rows.values()))
    fig, all_axes = plots.panels(len(present_rows), height, ratios, rows=count)
    longest = max((row.read_bytes + row.written_bytes for row in study.traffic), default=0) / 1e6
    for axes, (name, rows) in zip(all_axes, present_rows.items(), strict=True):
        reads = [row.read_bytes / 1e6 for row in rows]
        writes = [row.written_bytes / 1e6 for row in rows]
        axes.barh(range(len(rows)), reads, height=0.62, color=BLUE)
        axes.barh(range(len(rows)), writes, left=reads, height=0.62, color=VERMILION)
        for place, row in enumerate(rows):
            plots.label_right(axes, _accesses(row), ((row.read_bytes + row.written_bytes) / 1e6, place))
        overloaded = {row.configuration for row in study.configurations if row.run.saturated}
        plots.name_rows(
            axes, [mark_overloaded(row.label, saturated=row.configuration in overloaded) for row in rows]
        )
        axes.set_xlim(0, longest or 1.0)
        axes.set_title(name)
    all_axes[-1].set_xlabel("moved (MB)")
    plots.legend(fig, {"read": BLUE, "written": VERMILION})
    return fig


def _accesses(row: Traffic) -> str:
    """Number of accesses and their mean size, in words."""
    count = row.reads + row.writes
    if not count:
        return "none"
    return f"{count:,.0f} accesses, {figure((row.read_bytes + row.written_bytes) / 1024 / count)} KB each"


def replacement(study: HybridStudy) -> Figure:
    """Mean response of MCD ALL under each replacement policy, and what the policy finds."""
    hit_texts = {row.policy: percent(row.hit_ratio or 0.0) for row in study.hits}
    bars = [
        plots.response_bar(
            row.policy,
            row.run.mean_ms,
            f", finds {hit_texts[row.policy]} of the trace's segments",
            is_overloaded=row.run.saturated,
        )
        for row in study.replacement
    ]
    return plots.bars(bars, "mean response (ms)")


def prices(study: HybridStudy) -> Figure:
    """How much faster MCD ALL is than a disk with memory of equal cost."""
    rows = study.prices
    fig, (axes,) = plots.panels(1, 3.2)
    axes.axhline(1, color=QUIET, linewidth=1)
    dots = [(place, row.mcd_faster, row.run.saturated or row.mcd_saturated) for place, row in enumerate(rows)]
    plots.draw_line(axes, dots, (BLUE, "-", "o"))
    plots.value_axis(axes, [*(row.mcd_faster for row in rows), 1.0])
    names = [f"{row.ratio:g}\n{size(row.memory_mb)}".replace(" ", "\n") for row in rows]
    axes.set_xticks(range(len(rows)), names, fontsize=9)
    axes.set_xlabel(f"price of memory over that of {study.front}, and the memory\nthat costs as much")
    axes.set_ylabel("response of DISK-RAM\nover that of MCD ALL")
    axes.annotate(
        f"above: {study.front} is the better buy",
        (0.01, 1),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=9,
        color=QUIET,
    )
    axes.grid(visible=True, axis="y")
    return fig

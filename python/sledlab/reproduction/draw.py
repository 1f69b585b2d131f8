"""Drawing figures of papers: heading, legend, panels, and the statements of the paper below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_figure, mpl_patches
from sledlab.reproduction.changes import Changes
from sledlab.reproduction.map import draw_map
from sledlab.reproduction.panel import DrawnPanel
from sledlab.reproduction.rows import Tables
from sledlab.reproduction.statements import DrawnStatements
from sledlab.show.palette import INK, QUIET
from sledlab.show.plots import finish_figure, style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure as Drawing

    from sledlab.reproduction.figure import Figure

HEIGHT, WIDTHS = 3.0, {1: 6.4, 2: 8.8, 3: 9.6}
"""Height of a row of panels, and widths of figures by their number of columns, in inches."""

NO_CHANGES = Changes()

LETTERS_PER_INCH = 13.5
"""Letters per inch of a line below a figure."""

HANDLE_WIDTH = 0.62
"""Width of a mark of the legend with the space around it, in inches."""

MAX_RANGE_RATIO = 5.0
"""Greatest ratio of the ends of linear axes that become one range."""


def draw(
    figure: Figure, directory: Path | None = None, *, changes: Changes = NO_CHANGES, shortened: str = ""
) -> Drawing:
    """Draw a figure from the tables in a directory.

    Args:
        figure: The figure.
        directory: Directory of the tables, with a directory for each experiment; a map needs none.
        changes: What was changed in the published experiments.
        shortened: How the runs were shortened, in words; empty for whole runs.

    Raises:
        Error: A table is missing.
    """
    figure = changes.figure(figure)
    panel_count = len(figure.panels)
    columns = {1: 1, 3: 3}.get(panel_count, 2)
    rows = -(-panel_count // columns)
    our_handles_by_name: dict[str, Any] = {}
    published_handles_by_text: dict[str, Any] = {}
    omitted_statements: list[str] = []
    with style():
        size = (WIDTHS[columns], HEIGHT * rows + 0.9)
        drawing: Drawing = mpl_figure.Figure(figsize=size, layout="constrained")
        axes_grid = drawing.subplots(rows, columns, squeeze=False)
        drawn_panels = []
        for panel, axes in zip(figure.panels, axes_grid.flat, strict=True):
            axes.set_title(panel.title, fontsize=9.5)
            if panel.kind == "map":
                published_handles_by_text |= draw_map(drawing, axes, figure, panel, changes)
            else:
                drawn_panels.append(
                    DrawnPanel(
                        figure,
                        panel,
                        axes,
                        Tables(directory),
                        is_changed=bool(changes),
                    )
                )
        for statements in _draw_panels(drawn_panels, is_shortened=bool(shortened)):
            omitted_statements += statements.omitted
            our_handles_by_name |= statements.drawn_panel.measured_handles
            published_handles_by_text |= statements.handles
        _draw_title(drawing, figure, our_handles_by_name)
        remarks = [figure.note.replace("Section", "The paper, section", 1)]
        if omitted_statements:
            omitted_text = "; ".join(dict.fromkeys(omitted_statements))
            remarks.append(f"Not drawn, since they do not apply to this run: {omitted_text}.")
        remarks += changes.sentences(figure)
        remarks.append(shortened and f"This run is shortened: {shortened}.")
        _draw_statements(
            drawing, published_handles_by_text, [remark for remark in remarks if remark], size[0]
        )
    return finish_figure(drawing, f"sledlab reproduce run {figure.name}")


def _draw_panels(panels: Sequence[DrawnPanel], *, is_shortened: bool) -> list[DrawnStatements]:
    """Draw panels; those of one measure have the same kind of y axis, and where possible the same range."""
    for panel in panels:
        panel.load()
    panel_groups = [
        [panel for panel in panels if panel.panel.labels[1] == label]
        for label in dict.fromkeys(panel.panel.labels[1] for panel in panels)
    ]
    for group in panel_groups:
        is_logarithmic = any(panel.is_logarithmic for panel in group)
        for panel in group:
            panel.is_logarithmic = is_logarithmic
            panel.draw_values()
        _share_range(group)
    statements = [DrawnStatements(panel, is_shortened) for panel in panels]
    for drawn_statements in statements:
        drawn_statements.draw()
    for group in panel_groups:
        _share_range(group)
    return statements


def _share_range(panels: Sequence[DrawnPanel]) -> None:
    """Give panels the same y axis, unless bars or lines would become too small to compare."""
    shared = [panel.axes for panel in panels if not panel.has_own_range]
    ranges = [axes.get_ylim() for axes in shared]
    tops = [top for _, top in ranges]
    if tops and (panels[0].is_logarithmic or max(tops) <= MAX_RANGE_RATIO * min(tops)):
        for axes in shared:
            axes.set_ylim(min(bottom for bottom, _ in ranges), max(tops))


def _draw_title(drawing: Drawing, figure: Figure, our_handles_by_name: Mapping[str, Any]) -> None:
    """Draw the title, and below it the legend of the colors of our series."""
    heading = "\n".join(_wrap(figure.heading, int(LETTERS_PER_INCH * drawing.get_figwidth() * 0.8)))
    if not our_handles_by_name:
        drawing.suptitle(heading, x=0.01, ha="left", fontsize=10.5, fontweight="bold", color=INK)
        return
    legend = drawing.legend(
        our_handles_by_name.values(),
        our_handles_by_name.keys(),
        title=heading,
        loc="outside upper left",
        ncols=_legend_columns([*our_handles_by_name], drawing.get_figwidth()),
        frameon=False,
        fontsize=9,
        columnspacing=1.6,
        handletextpad=0.6,
        alignment="left",
    )
    legend.get_title().set(fontsize=10.5, fontweight="bold", color=INK)


def _legend_columns(names: Sequence[str], width: float) -> int:
    """The greatest number of columns with which a legend is narrower than a figure, in inches."""
    for columns in range(min(len(names), 6), 1, -1):
        rows = -(-len(names) // columns)
        letter_counts = [max(map(len, names[start : start + rows])) for start in range(0, len(names), rows)]
        if sum(HANDLE_WIDTH + letters / LETTERS_PER_INCH for letters in letter_counts) <= width:
            return -(-len(names) // rows)
    return 1


def _draw_statements(
    drawing: Drawing, published_handles_by_text: Mapping[str, Any], remarks: list[str], width: float
) -> None:
    """Write, below the figure, the statements of the paper with their marks, then the remarks `remarks`."""
    blank = mpl_patches.Patch(alpha=0)
    lines: list[tuple[Any, str]] = []
    for label, mark in published_handles_by_text.items():
        first_line, *later_lines = _wrap(label, int(LETTERS_PER_INCH * width))
        lines += [(mark, first_line), *((blank, line) for line in later_lines)]
    for remark in remarks:
        lines += [(blank, line) for line in _wrap(remark, int(LETTERS_PER_INCH * width))]
    if lines:
        drawing.legend(
            [mark for mark, _ in lines],
            [remark for _, remark in lines],
            loc="outside lower left",
            frameon=False,
            fontsize=9,
            labelcolor=QUIET,
            handletextpad=0.6,
            labelspacing=0.35,
        )


def _wrap(text: str, width: int) -> list[str]:
    """The lines of a text, each of fewer than `width` letters."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines

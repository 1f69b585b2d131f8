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

LINE = 13.5
"""Letters per inch in a line below a figure."""

HANDLE_WIDTH = 0.62
"""Width of a mark of the legend with the space around it, in inches."""

MAX_RANGE_RATIO = 5.0
"""Greatest ratio of the ends of linear axes that become one range."""


def draw(
    figure: Figure, directory: Path | None = None, *, changes: Changes = NO_CHANGES, shortened: str = ""
) -> Drawing:
    """Draws a figure from the tables in a directory.

    Args:
        figure: The figure.
        directory: Directory of the tables, with a directory for each experiment; a map needs none.
        changes: What was changed in the published experiments.
        shortened: How the runs were shortened, in words; empty for whole runs.

    Raises:
        Error: A table is missing.
    """
    figure = changes.figure(figure)
    count = len(figure.panels)
    columns = {1: 1, 3: 3}.get(count, 2)
    rows = -(-count // columns)
    ours: dict[str, Any] = {}
    published: dict[str, Any] = {}
    omitted: list[str] = []
    with style():
        size = (WIDTHS[columns], HEIGHT * rows + 0.9)
        drawing: Drawing = mpl_figure.Figure(figsize=size, layout="constrained")
        positions = drawing.subplots(rows, columns, squeeze=False)
        drawn = []
        for panel, axes in zip(figure.panels, positions.flat, strict=True):
            axes.set_title(panel.title, fontsize=9.5)
            if panel.kind == "map":
                published |= draw_map(drawing, axes, figure, panel, changes)
            else:
                drawn.append(
                    DrawnPanel(
                        figure,
                        panel,
                        axes,
                        Tables(directory),
                        changed=bool(changes),
                    )
                )
        for statements in _draw_panels(drawn, shortened=bool(shortened)):
            omitted += statements.omitted
            ours |= statements.drawn.measured_handles
            published |= statements.handles
        _draw_title(drawing, figure, ours)
        parts = [figure.note.replace("Section", "The paper, section", 1)]
        if omitted:
            missing = "; ".join(dict.fromkeys(omitted))
            parts.append(f"Not drawn, since they do not apply to this run: {missing}.")
        parts += changes.sentences(figure)
        parts.append(shortened and f"This run is shortened: {shortened}.")
        _draw_statements(drawing, published, [text for text in parts if text], size[0])
    return finish_figure(drawing, f"sledlab reproduce run {figure.name}")


def _draw_panels(panels: Sequence[DrawnPanel], *, shortened: bool) -> list[DrawnStatements]:
    """Draws panels; those of one measure have the same kind of y axis, and where possible the same range."""
    for each in panels:
        each.load()
    compared = [
        [each for each in panels if each.panel.labels[1] == label]
        for label in dict.fromkeys(each.panel.labels[1] for each in panels)
    ]
    for group in compared:
        is_logarithmic = any(each.is_logarithmic for each in group)
        for each in group:
            each.is_logarithmic = is_logarithmic
            each.draw_values()
        _share_range(group)
    statements = [DrawnStatements(each, shortened) for each in panels]
    for published in statements:
        published.draw()
    for group in compared:
        _share_range(group)
    return statements


def _share_range(panels: Sequence[DrawnPanel]) -> None:
    """Gives panels the same y axis, unless bars or lines would become too small to compare."""
    shared = [each.axes for each in panels if not each.has_own_range]
    ranges = [axes.get_ylim() for axes in shared]
    tops = [top for _, top in ranges]
    if tops and (panels[0].is_logarithmic or max(tops) <= MAX_RANGE_RATIO * min(tops)):
        for axes in shared:
            axes.set_ylim(min(bottom for bottom, _ in ranges), max(tops))


def _draw_title(drawing: Drawing, figure: Figure, ours: Mapping[str, Any]) -> None:
    """Draws the title, and below it the legend of the colors of our series."""
    heading = "\n".join(_wrap(figure.heading, int(LINE * drawing.get_figwidth() * 0.8)))
    if not ours:
        drawing.suptitle(heading, x=0.01, ha="left", fontsize=10.5, fontweight="bold", color=INK)
        return
    legend = drawing.legend(
        ours.values(),
        ours.keys(),
        title=heading,
        loc="outside upper left",
        ncols=_legend_columns([*ours], drawing.get_figwidth()),
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
        longest = [max(map(len, names[at : at + rows])) for at in range(0, len(names), rows)]
        if sum(HANDLE_WIDTH + letters / LINE for letters in longest) <= width:
            return -(-len(names) // rows)
    return 1


def _draw_statements(drawing: Drawing, published: Mapping[str, Any], parts: list[str], width: float) -> None:
    """Writes, below the figure, the statements of the paper with their marks, then the remarks `parts`."""
    blank = mpl_patches.Patch(alpha=0)
    lines: list[tuple[Any, str]] = []
    for label, mark in published.items():
        first, *remaining = _wrap(label, int(LINE * width))
        lines += [(mark, first), *((blank, each) for each in remaining)]
    for text in parts:
        lines += [(blank, each) for each in _wrap(text, int(LINE * width))]
    if lines:
        drawing.legend(
            [mark for mark, _ in lines],
            [text for _, text in lines],
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

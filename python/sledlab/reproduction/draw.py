"""Drawing figures of papers: heading, legend, panels, and the statements of the paper below."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sledlab.lazy import mpl_figure, mpl_lines, mpl_patches
from sledlab.reproduction.captions import FULL_RUN, captions, statement_texts
from sledlab.reproduction.changes import Changes
from sledlab.reproduction.map import draw_map
from sledlab.reproduction.panel import DrawnPanel, measured_handles
from sledlab.reproduction.rows import Tables
from sledlab.reproduction.statements import DrawnStatements
from sledlab.reproduction.verdicts import MARKS
from sledlab.show.palette import INK, PALETTE, QUIET, text_color
from sledlab.show.plots import finish_figure, style
from sledlab.show.text_extents import text_box, tick_labels, to_pixels
from sledlab.show.wording import NO_BREAK_SPACE, keep_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

    from sledlab.reproduction.figure import Figure

HEIGHT, WIDTHS = 3.0, {1: 6.4, 2: 8.8, 3: 9.6}
"""Height of a row of panels, and widths of figures by their number of columns, in inches."""

NARROW_WIDTH = 3.7
"""Width of a figure on a phone, in inches: 355 pixels."""

LINE_HEIGHT = 0.2
"""Height of a line of text above or below the panels, in inches."""

NO_CHANGES = Changes()

LETTERS_PER_INCH = 14.6
"""Letters per inch of a line below a figure."""

BOLD_LETTERS_PER_INCH = 10.2
"""Letters per inch of the title."""

HANDLE_WIDTH = 0.62
"""Width of a mark of the legend with the space around it, in inches."""

TICK_GAP, MIN_TICK_SIZE = 3.0, 6.5
"""Least distance between two labels of an axis, and least size of their letters, in points."""

MAX_RANGE_RATIO = 5.0
"""Greatest ratio of the ends of linear axes that become one range."""


@dataclass
class Legends:
    """What a figure shows, with the marks.

    Attributes:
        measured: Our series, by name.
        published: Statements of the paper.
        omitted: Statements of the paper that are not drawn.
    """

    measured: dict[str, Any] = field(default_factory=dict)
    published: dict[str, Any] = field(default_factory=dict)
    omitted: list[str] = field(default_factory=list)


def draw(
    figure: Figure,
    directory: Path | None = None,
    *,
    changes: Changes = NO_CHANGES,
    shortened: str = "",
    is_narrow: bool = False,
) -> Drawing:
    """Draw a figure from the tables in a directory.

    Args:
        figure: The figure.
        directory: Directory of the tables, with a directory for each experiment; a map needs none.
        changes: What was changed in the published experiments.
        shortened: How the runs were shortened, in words; empty for whole runs.
        is_narrow: Whether panels are on top of each other, for the window of a phone.

    Raises:
        Error: A table is missing.
    """
    figure = changes.figure(figure)
    panel_count = len(figure.panels)
    columns = 1 if is_narrow else {1: 1, 3: 3}.get(panel_count, 2)
    rows = -(-panel_count // columns)
    width = NARROW_WIDTH if is_narrow else WIDTHS[columns]
    with style():
        drawing: Drawing = mpl_figure.Figure(figsize=(width, HEIGHT * rows), layout="constrained")
        all_axes = drawing.subplots(rows, columns, squeeze=False).flat
        legends = _draw_contents(
            drawing, all_axes, figure, directory, changes=changes, is_shortened=bool(shortened)
        )
        line_count = _draw_title(drawing, figure, legends.measured)
        line_count += _draw_lines_below(drawing, figure, legends, changes, shortened)
        drawing.set_figheight(HEIGHT * rows + LINE_HEIGHT * line_count)
        _separate_tick_labels(drawing)
    return finish_figure(drawing, f"sledlab reproduce run {figure.name}")


def _separate_tick_labels(drawing: Drawing) -> None:
    """Shrink the labels below each panel that almost touch, down to `MIN_TICK_SIZE`."""
    drawing.draw_without_rendering()
    gap = to_pixels(drawing, TICK_GAP)
    for axes in drawing.axes:
        labels = [label for label in tick_labels(axes.xaxis) if not label.get_rotation()]
        boxes = [text_box(label) for label in labels]
        ratios = [
            (after.x0 + after.x1 - before.x0 - before.x1 - 2 * gap) / (before.width + after.width)
            for before, after in pairwise(boxes)
        ]
        if ratios and min(ratios) < 1:
            for label in labels:
                label.set_fontsize(max(float(label.get_fontsize()) * min(ratios), MIN_TICK_SIZE))


def _draw_contents(
    drawing: Drawing,
    all_axes: Iterable[Axes],
    figure: Figure,
    directory: Path | None,
    *,
    changes: Changes,
    is_shortened: bool,
) -> Legends:
    """Draw all panels of a figure."""
    legends = Legends()
    drawn_panels = []
    for panel, axes in zip(figure.panels, all_axes, strict=True):
        axes.set_title(panel.title, fontsize=9.5)
        if panel.kind == "map":
            legends.published |= draw_map(drawing, axes, figure, panel, changes)
        else:
            drawn_panels.append(
                DrawnPanel(
                    figure,
                    panel,
                    axes,
                    Tables(directory),
                    is_changed=bool(changes),
                    is_narrow=bool(drawing.get_figwidth() <= NARROW_WIDTH),
                )
            )
    for statements in _draw_panels(drawn_panels, is_shortened=is_shortened):
        legends.omitted += statements.omitted
        legends.published |= statements.handles
    legends.measured = measured_handles(drawn_panels)
    return legends


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


def _draw_title(drawing: Drawing, figure: Figure, handles_by_name: Mapping[str, Any]) -> int:
    """Draw the title, and below it the legend of the colors of our series; return the number of lines."""
    title_lines = _wrap(figure.heading, int(BOLD_LETTERS_PER_INCH * drawing.get_figwidth()))
    columns = _legend_columns([*handles_by_name], drawing.get_figwidth())
    legend = drawing.legend(
        handles_by_name.values(),
        handles_by_name.keys(),
        title="\n".join(title_lines),
        loc="outside upper left",
        ncols=columns,
        frameon=False,
        fontsize=9,
        columnspacing=1.6,
        handletextpad=0.6,
        alignment="left",
    )
    legend.get_title().set(fontsize=10.5, fontweight="bold", color=INK)
    return len(title_lines) + -(-len(handles_by_name) // columns)


def _legend_columns(names: Sequence[str], width: float) -> int:
    """The greatest number of columns with which a legend is narrower than a figure, in inches."""
    for columns in range(min(len(names), 6), 1, -1):
        rows = -(-len(names) // columns)
        letter_counts = [max(map(len, names[start : start + rows])) for start in range(0, len(names), rows)]
        if sum(HANDLE_WIDTH + letters / LETTERS_PER_INCH for letters in letter_counts) <= width:
            return -(-len(names) // rows)
    return 1


def _draw_lines_below(
    drawing: Drawing, figure: Figure, legends: Legends, changes: Changes, shortened: str
) -> int:
    """Write the statements of the paper, the outcomes of claims and remarks; return the number of lines."""
    claims_by_text = {
        figure.statement_label(text, shortened): figure.statement_claims(text) for text in legends.published
    }
    texts = statement_texts(claims_by_text)
    lines = [*zip(legends.published.values(), texts, strict=True)]
    lines += [
        (_outcome_handle(caption.outcome), caption.text)
        for caption in captions(figure, [*claims_by_text.values()])
    ]
    lines += [(_blank(), remark) for remark in _remarks(figure, legends, changes, shortened)]
    letters = int(LETTERS_PER_INCH * (drawing.get_figwidth() - HANDLE_WIDTH))
    wrapped_lines = [
        (_blank() if index else mark, line)
        for mark, text in lines
        for index, line in enumerate(_wrap(text, letters))
    ]
    if wrapped_lines:
        drawing.legend(
            [mark for mark, _ in wrapped_lines],
            [line for _, line in wrapped_lines],
            loc="outside lower left",
            frameon=False,
            fontsize=9,
            labelcolor=QUIET,
            handletextpad=0.6,
            labelspacing=0.35,
        )
    return len(wrapped_lines)


def _remarks(figure: Figure, legends: Legends, changes: Changes, shortened: str) -> list[str]:
    """Sentences on a figure and on the run that it shows."""
    remarks = [figure.note] if figure.note else []
    if legends.omitted:
        omitted_text = "; ".join(dict.fromkeys(legends.omitted))
        remarks.append(f"Not drawn, since they do not apply to this run: {omitted_text}.")
    if shortened or changes:
        remarks.append(FULL_RUN)
    remarks += changes.sentences(figure)
    if shortened:
        remarks.append(f"This run is shortened: {shortened}.")
    return remarks


def _blank() -> Any:
    """A mark of the legend that shows nothing."""
    return mpl_patches.Patch(alpha=0)


def _outcome_handle(outcome: str) -> Any:
    """The mark of an outcome, or none."""
    if not outcome:
        return _blank()
    mark = MARKS[outcome]
    color = text_color(PALETTE[mark.color])
    return mpl_lines.Line2D(
        [], [], linestyle="none", marker=f"${mark.symbol}$", markersize=8, color=color, markeredgewidth=0
    )


def _wrap(text: str, letters: int) -> list[str]:
    """The lines of a text, none of which begins with a unit."""
    lines = textwrap.wrap(keep_units(text), letters, break_long_words=False, break_on_hyphens=False)
    return [line.replace(NO_BREAK_SPACE, " ") for line in lines]

"""Figures of saved results: published values in shortened runs, axes for other devices, tables."""

from __future__ import annotations

import pytest
from sledlab.reproduction.changes import Changes
from sledlab.reproduction.draw import draw
from sledlab.reproduction.figure import figures
from sledlab.reproduction.rows import Tables
from sledlab.reproduction.values import figure_values

from sledlab_papers import results

RESULTS = results.directory()
ABSOLUTE_FIGURES = [
    name
    for name, figure in figures().items()
    if any(each.is_absolute for panel in figure.panels for each in panel.printed)
    and all(not run.trace for run in figure.runs)
]


def legend_texts(drawing):
    """The lines of text above and below a figure."""
    return [text.get_text() for legend in drawing.legends for text in legend.get_texts()]


def diamond_marks(axes):
    """The published values that a panel shows as marks."""
    return [line for line in axes.lines if line.get_marker() == "D" and line.get_zorder() == 5]


@pytest.mark.parametrize("name", ABSOLUTE_FIGURES)
def test_shortened_figure_labels_or_omits_published_values(name):
    figure = figures()[name]
    full, short = draw(figure, RESULTS), draw(figure, RESULTS, shortened="1/20 of the data")
    assert not any("full run" in text for text in legend_texts(full))
    below = " ".join(legend_texts(short))
    assert "This run is shortened: 1/20 of the data." in below
    for panel, axes in zip(figure.panels, short.axes, strict=True):
        absolute = [each for each in panel.printed if each.is_absolute]
        if panel.shows_totals:
            assert not diamond_marks(axes)
            assert all(f"{each.text}, for the full run" not in below for each in absolute)
            assert not absolute or "Not drawn, since they do not apply to this run:" in below
        else:
            assert all(f"{each.text}, for the full run" in below for each in absolute)


def test_y_axis_fits_the_users_device():
    drawing = draw(figures()["hong2006-figure-9"], RESULTS, changes=Changes("mine"))
    for axes in drawing.axes[:2]:
        shown = [y for line in axes.lines if line.get_markerfacecolor() != "white" for y in line.get_ydata()]
        assert axes.get_ylim()[1] <= 1.1 * max(shown) + 1e-9
    assert "This run is on the device mine;" in " ".join(legend_texts(drawing))
    added = draw(figures()["chiu2004-figure-4"], RESULTS, changes=Changes("mine"))
    assert "This run also has the device mine." in legend_texts(added)


def test_values_relative_to_missing_series_are_omitted():
    figure = figures()["hong2006-figure-8"]
    drawing = draw(figure, RESULTS, changes=Changes(schedulers=("zsptf", "fcfs")))
    assert [text for text in legend_texts(drawing) if text in ("ZSPTF", "FCFS", "C-SCAN")] == [
        "ZSPTF",
        "FCFS",
    ]
    assert "Not drawn, since they do not apply to this run: where ZSPTF lies" in " ".join(
        legend_texts(drawing)
    )


def test_stack_values_equal_its_bars():
    hash_stage, _ = figure_values(figures()["chiu2004-figure-5"], Tables(RESULTS))
    assert hash_stage.title == "hash: time (s)"
    assert hash_stage.columns == ("device", "nodes", "I/O", "computation", "communication")
    assert [row[:2] for row in hash_stage.rows[:5]] == [
        ("disk", "4"),
        ("disk", "8"),
        ("disk", "16"),
        ("disk", "32"),
        ("MEMS G1", "4"),
    ]

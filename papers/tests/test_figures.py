"""Figures of saved results: published values in shortened runs, axes for other devices, tables."""

from __future__ import annotations

import re

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
from sledlab.reproduction.captions import FULL_RUN, measured, statement_texts
from sledlab.reproduction.changes import Changes
from sledlab.reproduction.draw import MAX_RANGE_RATIO, draw
from sledlab.reproduction.figure import figures
from sledlab.reproduction.rows import Tables
from sledlab.reproduction.save import to_file
from sledlab.reproduction.statements import PUBLISHED_COLOR
from sledlab.reproduction.values import figure_values
from sledlab.reproduction.verdicts import MARKS, figure_claims
from sledlab.reproduction.verdicts import claims as packaged_claims

from sledlab_papers import results
from sledlab_papers.pictures import section

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


def published_marks(axes):
    """The published values that a panel shows as marks."""
    return [
        line
        for line in axes.lines
        if line.get_markerfacecolor() == PUBLISHED_COLOR and line.get_zorder() == 5
    ]


@pytest.mark.parametrize("name", ABSOLUTE_FIGURES)
def test_shortened_figure_labels_or_omits_published_values(name):
    figure = figures()[name]
    full_drawing, short_drawing = draw(figure, RESULTS), draw(figure, RESULTS, shortened="1/20 of the data")
    assert not any("full run" in text for text in legend_texts(full_drawing))
    short_texts = " ".join(legend_texts(short_drawing))
    assert "This run is shortened: 1/20 of the data." in short_texts
    for panel, axes in zip(figure.panels, short_drawing.axes, strict=True):
        absolute_statements = [each for each in panel.printed if each.is_absolute]
        if panel.shows_totals:
            assert not published_marks(axes)
            assert all(f"{each.text}, for the full run" not in short_texts for each in absolute_statements)
            assert not absolute_statements or "Not drawn, since they do not apply to this run:" in short_texts
        else:
            assert all(f"{each.text}, for the full run" in short_texts for each in absolute_statements)


def test_y_axis_fits_the_users_device():
    drawing = draw(figures()["hong2006-figure-9"], RESULTS, changes=Changes("mine"))
    for axes in drawing.axes[:2]:
        shown_values = [
            y for line in axes.lines if line.get_markerfacecolor() != "white" for y in line.get_ydata()
        ]
        assert axes.get_ylim()[1] <= 1.1 * max(shown_values) + 1e-9
    assert "This run is on the device mine;" in " ".join(legend_texts(drawing))
    extended_drawing = draw(figures()["chiu2004-figure-4"], RESULTS, changes=Changes("mine"))
    assert "This run also has the device mine." in legend_texts(extended_drawing)


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


@pytest.fixture(
    scope="module",
    params=[name for name, figure in figures().items() if figure.number != 4 or figure.paper != "hong2006"],
)
def figure_and_drawing(request):
    """A figure with its declaration, laid out as in its file."""
    figure = figures()[request.param]
    drawing = draw(figure, RESULTS)
    FigureCanvasAgg(drawing).draw()
    return figure, drawing


def test_texts_and_legends_are_inside_the_figure(figure_and_drawing):
    _, drawing = figure_and_drawing
    frame = drawing.bbox
    for legend in drawing.legends:
        box = legend.get_window_extent()
        assert box.x0 >= frame.x0
        assert box.x1 <= frame.x1 - 0.05 * drawing.dpi


def test_values_and_marks_are_below_the_end_of_the_axis(figure_and_drawing):
    figure, drawing = figure_and_drawing
    for panel, axes in zip(figure.panels, drawing.axes, strict=True):
        bottom, top = axes.get_ylim()
        bar_tops = [bar.get_y() + bar.get_height() for container in axes.containers for bar in container]
        if bar_tops and not panel.share:
            assert max(bar_tops) < 0.97 * top
        for line in published_marks(axes):
            assert all(bottom <= y < 0.97 * top for y in line.get_ydata())


def test_marks_cover_no_values_on_bars(figure_and_drawing):
    figure, drawing = figure_and_drawing
    for panel, axes in zip(figure.panels, drawing.axes, strict=True):
        if panel.kind == "bars":
            text_boxes = [text.get_window_extent() for text in axes.texts]
            for line in published_marks(axes):
                radius = line.get_markersize() / 2 * drawing.dpi / 72
                for x, y in line.get_transform().transform(line.get_xydata()):
                    assert not any(
                        box.x0 - radius < x < box.x1 + radius and box.y0 - radius < y < box.y1 + radius
                        for box in text_boxes
                    )


def test_statements_have_different_marks(figure_and_drawing):
    figure, drawing = figure_and_drawing
    markers_by_text = {}
    for panel, axes in zip(figure.panels, drawing.axes, strict=True):
        shown_markers = {line.get_marker() for line in published_marks(axes)}
        texts = {
            text_markers.text
            for text_markers in panel.printed
            if text_markers.at or (text_markers.by and text_markers.at_x is not None)
        }
        if len(texts) == len(shown_markers) == 1:
            markers_by_text.setdefault(texts.pop(), set()).update(shown_markers)
    assert all(len(text_markers) == 1 for text_markers in markers_by_text.values())
    assert len({marker for text_markers in markers_by_text.values() for marker in text_markers}) == len(
        markers_by_text
    )


def test_panels_of_one_measure_have_the_same_scale(figure_and_drawing):
    figure, drawing = figure_and_drawing
    scales_by_label, tops_by_label = {}, {}
    for panel, axes in zip(figure.panels, drawing.axes, strict=True):
        scale = axes.get_yscale()
        assert ("log scale" in axes.get_ylabel()) == (scale == "log")
        assert ("log scale" in axes.get_xlabel()) == (axes.get_xscale() == "log")
        scales_by_label.setdefault(panel.labels[1], set()).add(scale)
        if panel.kind == "bars" or (panel.kind == "stack" and not panel.share):
            tops_by_label.setdefault(panel.labels[1], []).append(axes.get_ylim()[1])
    assert all(len(each) == 1 for each in scales_by_label.values())
    for tops in tops_by_label.values():
        assert len(set(tops)) == 1 or max(tops) > MAX_RANGE_RATIO * min(tops)


def test_captions_name_claims_with_their_outcomes():
    links_by_claim = {name: f"{name} and its outcome" for name in packaged_claims()}
    text = section("wang2005", links_by_claim)
    captions_by_figure = dict(
        zip(
            re.findall(r'src="\.\./images/papers/(\S+)\.svg"', text),
            re.findall(r"<figcaption markdown>(.*)</figcaption>", text),
            strict=True,
        )
    )
    assert set(captions_by_figure) == {each.name for each in figures().values() if each.paper == "wang2005"}
    assert "W-18 and its outcome" in captions_by_figure["wang2005-figure-4"]


def mark_style(handle):
    """Everything by which a reader tells the mark of a legend from others."""
    if isinstance(handle, Line2D):
        return handle.get_marker(), handle.get_linestyle(), handle.get_markersize()
    return handle.get_hatch(), handle.get_fill(), handle.get_facecolor()


def test_published_values_have_different_marks_in_the_legend(figure_and_drawing):
    figure, drawing = figure_and_drawing
    published_texts = {each.text for panel in figure.panels for each in panel.printed}
    legend = drawing.legends[1]
    handles = [
        handle
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        if any(text.get_text()[:20] == each[:20] for each in published_texts)
    ]
    assert len({mark_style(handle) for handle in handles}) == len(handles) == len(published_texts)


def test_figure_has_the_outcome_of_each_claim(figure_and_drawing):
    figure, drawing = figure_and_drawing
    text = " ".join(legend_texts(drawing))
    shown_ids = {
        claim.id
        for claim in figure_claims(figure)
        if re.search(rf"{claim.id} ({MARKS[claim.outcome].label}|{claim.outcome})", text)
        or re.search(rf"{claim.id}, [^)]* {MARKS[claim.outcome].label}", text)
    }
    rest = re.search(r"(\d+) more \(.*\): sledlab reproduce show ", text)
    assert len(shown_ids) + (int(rest[1]) if rest else 0) >= len(figure_claims(figure))
    assert figure_claims(figure)


def test_published_values_belong_to_claims_of_the_figure():
    for figure in figures().values():
        claim_ids = {claim.id for claim in figure_claims(figure)}
        for panel in figure.panels:
            for statement in panel.printed:
                assert statement.claims, statement.text
                assert set(statement.claims) <= claim_ids, statement.text


def test_bands_are_drawn_in_every_panel_that_declares_them(figure_and_drawing):
    figure, drawing = figure_and_drawing
    for panel, axes in zip(figure.panels, drawing.axes, strict=True):
        bands = [each for each in panel.printed if each.by and each.at_x is None and each.is_area]
        assert len(axes.collections) == len(bands)
        assert all(len(band.get_paths()[0].vertices) > 4 for band in axes.collections)


def test_band_begins_and_ends_where_its_range_does():
    drawing = draw(figures()["hong2006-figure-9"], RESULTS)
    (band,) = drawing.axes[0].collections
    levels = band.get_paths()[0].vertices[:, 1]
    assert min(levels) == pytest.approx(2)
    assert max(levels) == pytest.approx(10)


def test_legend_omits_parts_that_no_bar_has(figure_and_drawing):
    figure, drawing = figure_and_drawing
    largest_by_part = {}
    for panel, values in zip(figure.panels, figure_values(figure, Tables(RESULTS)), strict=True):
        for row in values.rows if panel.kind == "stack" else ():
            for part, height in zip(values.columns[2:], row[2:], strict=True):
                name = part.removesuffix(" (J)")
                largest_by_part[name] = max(largest_by_part.get(name, 0.0), float(height.replace(",", "")))
    for name, largest in largest_by_part.items():
        assert (largest > 0) == any(text.startswith(name) for text in legend_texts(drawing)), name


def test_values_far_apart_are_dots_on_a_logarithmic_axis():
    drawing = draw(figures()["chiu2004-figure-6"], RESULTS)
    (axes,) = drawing.axes
    assert axes.get_yscale() == "log"
    assert not axes.containers
    bottom, top = axes.get_ylim()
    store_times = next(line for line in axes.lines if line.get_marker() == "o").get_ydata()
    assert len(store_times) == 16
    assert all(bottom < seconds < top for seconds in store_times)


@pytest.mark.parametrize("is_narrow", [False, True], ids=["wide", "narrow"])
def test_texts_lie_within_the_figure(figure_and_drawing, is_narrow):
    figure, _ = figure_and_drawing
    drawing = draw(figure, RESULTS, is_narrow=is_narrow)
    FigureCanvasAgg(drawing).draw()
    for legend in drawing.legends:
        for text in (*legend.get_texts(), legend.get_title()):
            assert text.get_window_extent().x1 <= drawing.bbox.x1, text.get_text()
        assert legend.get_window_extent().y0 >= 0
        assert legend.get_window_extent().y1 <= drawing.bbox.y1


def test_shortened_figure_says_that_outcomes_are_of_the_full_run():
    figure = figures()["chiu2004-figure-10"]
    assert FULL_RUN in " ".join(legend_texts(draw(figure, RESULTS, shortened="1/20 of the data")))
    assert FULL_RUN not in " ".join(legend_texts(draw(figure, RESULTS)))


def test_many_claims_at_one_value_keep_lines_of_their_own():
    names = ["C-15", "C-16", "C-17", "C-18"]
    (text,) = statement_texts({"printed in table 3": names})
    assert all(name in text for name in names)
    assert "measured" not in text
    (first, second) = statement_texts({"a": ["C-20"], "b": ["C-20"]})
    assert (
        first
        == f"a (C-20 {packaged_claims()['C-20'].outcome}, measured {measured(packaged_claims()['C-20'])})"
    )
    assert second == "b (C-20)"


def test_saved_texts_keep_their_decimals(tmp_path):
    figure = figures()["hong2006-figure-4"]
    to_file(draw(figure), tmp_path / "map.svg", figure.heading)
    assert "0.325 ms" in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_hatches_differ_from_their_background_in_saved_files(tmp_path):
    figure = figures()["wang2005-figure-7"]
    to_file(draw(figure, RESULTS), tmp_path / "a.svg", figure.heading)
    svg = (tmp_path / "a.svg").read_text(encoding="utf-8")
    (pattern,) = set(re.findall(r"<pattern.*?</pattern>", svg, flags=re.DOTALL))
    background, stroke = (
        re.findall(r'<rect[^>]* fill="(#\w+)"', pattern),
        re.findall(r"stroke: (#\w+)", pattern),
    )
    assert background
    assert set(background).isdisjoint(stroke)

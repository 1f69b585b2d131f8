"""Figures at the widths of papers: no text cut, over another one or over an axis, in any format."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
import sledlab as sl
from matplotlib.figure import Figure
from sledlab.show import plots
from sledlab.show.curves import Curves, Line, LoadDot
from sledlab.show.figure_defects import find_defects
from sledlab.show.figure_fit import fit
from sledlab.show.load_curves import draw
from sledlab.show.palette import FAINT
from sledlab.show.widths import MAX_HEIGHT_IN, at_width

from tools.gallery import STUDIES

if TYPE_CHECKING:
    from collections.abc import Callable

WIDTHS = ("3.3in", "5in", "7in")
FORMATS = ("png", "pdf", "svg")

GRID = {"device.active_tips": [640, 1280], "device.spring_factor": [0, 0.75]}

PANELS: dict[str, tuple[str, ...]] = {
    "run": ("overview", "cdf", "response", "parts", "energy", "throughput", "queue"),
    "schedulers": ("mean_ms", "scv", "p99_ms", "total_energy_per_request_mj"),
    "seeds": ("mean_ms",),
    "sweep": ("effects", "mean_ms"),
    "devices": ("percentiles", "cost", "energy", "mean_ms"),
    "power": ("states", "timeouts", "startup", "loads", "policies", "battery"),
    "hybrid": ("configurations", "sizes", "techniques", "traffic", "prices"),
    "tune": ("runs",),
    "fleet": ("volumes",),
    "smart": ("times", "phases", "scaling", "pareto"),
    "size": ("times", "saved"),
    "replay": ("phases", "timeline", "traffic", "what_if", "energy"),
}
"""Panels of each study of the gallery, the default one first."""


def assert_fits(figure: Figure, width: str, file_format: str) -> None:
    with plots.style():
        assert [str(defect) for defect in find_defects(figure, file_format)] == []
    width_in, height_in = figure.get_size_inches()
    assert width_in == pytest.approx(float(width.removesuffix("in")))
    assert height_in <= MAX_HEIGHT_IN + 1e-6


@pytest.mark.slow("a run of each study, and its figures in all formats")
@pytest.mark.parametrize("name", STUDIES)
def test_figures_of_every_study_fit(sledlab, tmp_path, name):
    sledlab(*STUDIES[name], "--out", tmp_path / name)
    results = sl.open(tmp_path / name)
    default, *others = PANELS[name]
    for width in WIDTHS:
        for file_format in FORMATS:
            assert_fits(results.plot(default, width=width), width, file_format)
        for panel, file_format in zip(others, cycle(FORMATS), strict=False):
            assert_fits(results.plot(panel, width=width), width, file_format)


@pytest.fixture(scope="module")
def comparison():
    return sl.compare(
        sl.workload("uniform"),
        "mems-g2",
        limit=200,
        seed=[1, 2, 3],
        speedup=[1, 2],
        scheduler="sptf",
        vary=GRID,
        parallel=1,
    )


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("y", "x"), [("mean_ms", "device.active_tips"), ("mean_ms", list(GRID)), ("p99_ms", "scheduler")]
)
def test_columns_of_a_study_fit(comparison, width, y, x):
    assert_fits(comparison.plot_columns(y, x, width=width), width, "pdf")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("x", ["lbn", "op", ["arrival_s", "lbn"]])
def test_columns_of_a_run_fit(width, x):
    result = sl.simulate(sl.workload("uniform"), "mems-g2", limit=300, requests=True)
    assert_fits(result.plot_columns("response_ms", x, width=width), width, "pdf")


def long_names(count: int) -> Curves:
    """Return curves with long names, the last of which are overloaded at the higher loads."""
    lines = [
        Line(
            f"a-scheduler-with-a-long-name:parameter={index}",
            [
                LoadDot(1000 * load, 2.0 * load + index, 0.9, 3, index > 2 and load > 2)
                for load in range(1, 6)
            ],
        )
        for index in range(count)
    ]
    return Curves("mean_ms", lines, lines, lines, {float(load): 1000.0 * load for load in range(1, 6)})


@pytest.mark.parametrize("width", WIDTHS)
def test_long_names_move_into_a_legend(width):
    with at_width(width):
        figure = draw(long_names(6))
        fit(figure)
    assert_fits(figure, width, "png")
    names = [text.get_text() for legend in figure.legends for text in legend.texts]
    if width == "3.3in":
        assert len(names) == 6
        assert all("…" in name for name in names)


def test_names_of_rows_leave_room_for_bars():
    with plots.style(), at_width("3.3in"):
        figure = plots.bars([("device.active_tips = 640", 1.0, "1.98 ms, best: 18 % less", False)] * 3, "ms")
        fit(figure)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["device.active_tips =\n640"] * 3
    assert axes.bbox.width > 0.25 * figure.bbox.width
    assert len([tick for tick in axes.get_xticks() if tick <= axes.get_xlim()[1]]) >= 2


def test_columns_of_heat_maps_keep_their_labels():
    names = ["640", "1,280", "3,200"]
    with plots.style():
        figure = Figure(figsize=(2.2, 3.0), layout="constrained")
        for axes in figure.subplots(1, 2):
            axes.pcolormesh([[1, 2, 3]])
            axes.text(0.5, 0.5, "1.37", label=plots.CELL)
            axes.set_xticks([0.5, 1.5, 2.5], names)
        fit(figure)
        assert [[label.get_text() for label in axes.get_xticklabels()] for axes in figure.axes] == [names] * 2
    assert_fits(figure, "2.2in", "png")


def test_third_tick_returns_where_there_is_room():
    with plots.style():
        figure = Figure(figsize=(2.4, 1.5), layout="constrained")
        axes = figure.subplots()
        plots.draw_values(axes, [(0, 0.3, False), (1, 9500.0, False)])
        axes.xaxis.get_major_locator().max_ticks = 2
        fit(figure)
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "100", "10,000"]
    assert_fits(figure, "2.4in", "png")


def test_strip_of_overloaded_points_has_no_scale():
    figure = draw(long_names(4))
    plot, strip = figure.axes
    assert len(strip.yaxis.get_ticklocs()) == 0
    assert not strip.spines["left"].get_visible()
    assert plot.get_position().y1 <= strip.get_position().y0 + 1e-6
    assert f"fill: {FAINT}; opacity: 0.45" in plots.to_svg(figure, "with a band"), "pages are transparent"


def test_bands_stay_inside_the_axes():
    figure = draw(long_names(3))
    fit(figure)
    assert [str(defect) for defect in find_defects(figure)] == []


def titles_close_together(axes: Any) -> None:
    figure = axes.figure
    figure.clear()
    figure.set_layout_engine("none")
    _, lower = figure.subplots(2, 1, gridspec_kw={"hspace": 0.02})
    lower.set_title("Response over time")


def band_beyond_the_axes(axes: Any) -> None:
    axes.fill_between([1, 2, 3], [0, 1, 2], [2, 3, 9])
    axes.set_ylim(0, 3.3)


def two_texts_above(axes: Any) -> None:
    for place in (0.98, 0.9):
        axes.text(place, 1.02, "– slowest", transform=axes.transAxes, ha="right")


def text_outside(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    axes.text(x, y, text, **style).set_in_layout(False)


PLANTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "nothing": ("", lambda axes: None),
    "crowded ticks": (
        "text over text",
        lambda axes: axes.set_xticks([1, 1.05, 3], ["10,000", "100,000", "three"]),
    ),
    "power of ten": ("number", lambda axes: axes.set_xticks([1, 3], ["1", "1e+06"])),
    "cut digits": ("number", lambda axes: axes.set_xticks([1, 3], ["1", "10,00"])),
    "no separators": ("number", lambda axes: axes.set_xticks([1, 3], ["1", "50000"])),
    "text of a bar": ("cut", lambda axes: text_outside(axes, 3, 2, "1.88 ms, best: 27 % (±0.4) less")),
    "names above": ("text over text", two_texts_above),
    "name of a curve": (
        "text over axis",
        lambda axes: text_outside(axes, 1.1, 1.8, "reads median 2.82 ms", ha="right"),
    ),
    "title": ("text over axes", titles_close_together),
    "caption": (
        "text over marker",
        lambda axes: axes.text(2, 2, "overloaded: queue kept growing", ha="center", va="center", fontsize=7),
    ),
    "band": ("data cut", band_beyond_the_axes),
}
"""Kind of defect, and a function that plants it: those of figures whose texts were not measured."""


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("plant", PLANTS)
def test_planted_defect_is_found(plant, file_format):
    kind, change = PLANTS[plant]
    with plots.style():
        figure = Figure(figsize=(3.3, 2.5), layout="constrained")
        axes = figure.subplots()
        axes.plot([1, 2, 3], [1, 2, 3], marker="o")
        axes.set_xticks([1, 2, 3], ["one", "two", "three"])
        change(axes)
        kinds = {each.kind for each in find_defects(figure, file_format)}
    assert kind in kinds if kind else not kinds

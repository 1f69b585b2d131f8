"""Figures of a page of every study: ticks, texts and legends at three widths; exports; dark mode."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sledlab.show.curves import Curves, Line, LoadDot
from sledlab.show.document import Document, Drawing, page
from sledlab.show.load_curves import draw, panels
from sledlab.show.plots import single_plot
from sledlab.show.series import Panel, Series

from tools.gallery import STUDIES

from .pages import open_page
from .test_pages import sledlab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHECKER = (Path(__file__).parent / "figures.js").read_text("utf-8")
CHECKER = CHECKER[CHECKER.index("() =>") :]

WIDTHS = {1300: "light", 768: "dark", 400: "light"}
"""Widths of windows in pixels, and the color scheme at each."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("figures")


@pytest.mark.slow("a run of each study")
@pytest.mark.parametrize("name", STUDIES)
def test_figures_have_no_defects(name: str, folder: Path, chromium: Browser) -> None:
    sledlab(folder, *STUDIES[name], "--out", name)
    for width, scheme in WIDTHS.items():
        window: dict[str, Any] = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
        with open_page(chromium, folder / name / "report.html", **window) as opened:
            opened.page.wait_for_selector("html[data-live]", state="attached")
            assert opened.page.evaluate(CHECKER) == [], width
            assert opened.violations() == [], width
            assert opened.complaints == []


def drawing(panel: Panel) -> Drawing:
    return Drawing(lambda: single_plot()[0], "a figure", "A figure", panels=lambda: [panel])


@pytest.mark.parametrize("defect", ["ticks", "legend", "width", "text"])
def test_checker_detects_planted_defects(defect: str, tmp_path: Path, chromium: Browser) -> None:
    panel = Panel("x", "y", [Series("a", "#0072b2", [1.0, 2.0, 3.0, 4.0])], [1.0, 2.0, 3.0, 4.0])
    curves_drawing = Drawing(lambda: draw(overloaded_curves()), "a figure", "A figure")
    file = tmp_path / "page.html"
    figure = curves_drawing if defect == "text" else drawing(panel)
    file.write_text(page(Document("test", "a page", [figure])), "utf-8")
    defect_script = {
        "ticks": 'document.querySelector(\'.live-plot\').dataset.ticks = \'[["1"], ["1", "2", "5"]]\'',
        "legend": "document.querySelector('.live').insertAdjacentHTML('beforeend',"
        " '<p class=\"live-chips\"><button>a</button></p>')",
        "width": "document.body.style.width = '3000px'",
        "text": "document.querySelector('figure svg').insertAdjacentHTML('beforeend',"
        ' \'<text x="10" y="-40">cut</text>\')',
    }[defect]
    with open_page(chromium, file, viewport={"width": 1300, "height": 900}) as opened:
        assert opened.page.evaluate(CHECKER) == []
        opened.page.evaluate(f"() => {{ {defect_script}; }}")
        assert len(opened.page.evaluate(CHECKER)) >= 1


def overloaded_curves() -> Curves:
    """Curves of two schedulers with intervals, one of them overloaded at the highest load."""
    lines = [
        Line("FCFS", [LoadDot(100, 2.0, 0.2, 3, False), LoadDot(1000, 90.0, 9.0, 3, True)]),
        Line("SPTF", [LoadDot(100, 1.0, 0.1, 3, False), LoadDot(1000, 4.0, 0.3, 3, False)]),
    ]
    return Curves("mean_ms", lines, lines, lines, {1.0: 100.0, 10.0: 1000.0})


def test_interactive_curves_show_bands_and_overload(tmp_path: Path, chromium: Browser) -> None:
    curves = overloaded_curves()
    parts = [Drawing(lambda: draw(curves), "curves", "Curves", panels=lambda: panels(curves))]
    file = tmp_path / "page.html"
    file.write_text(page(Document("test", "a page", parts)), "utf-8")
    with open_page(chromium, file, viewport={"width": 1300, "height": 900}) as opened:
        texts = opened.page.evaluate(
            """async () => {
                const texts = [], write = CanvasRenderingContext2D.prototype.fillText;
                CanvasRenderingContext2D.prototype.fillText = function(text, ...more) {
                    texts.push(text); return write.call(this, text, ...more);
                };
                document.querySelector('.live-head button').click();
                await new Promise(done => setTimeout(done, 100));
                return texts;
            }"""
        )
        for text in ("FCFS", "SPTF", "×1", "×10", "overloaded: queue kept growing"):
            assert text in texts
        opened.page.locator(".live-plot").focus()
        opened.page.keyboard.press("ArrowRight")
        chips = opened.page.locator(".live-chips span").all_inner_texts()
    assert chips == ["2 ± 0.2", "1 ± 0.1"]


@pytest.mark.parametrize(("kind", "is_live"), [("PNG", True), ("SVG", True), ("SVG", False), ("CSV", True)])
def test_figures_are_saved_by_keyboard(kind: str, is_live: bool, tmp_path: Path, chromium: Browser) -> None:
    curves = overloaded_curves()
    figure_panels = (lambda: panels(curves)) if is_live else tuple
    parts = [Drawing(lambda: draw(curves), "curves", "Mean response, by load", panels=figure_panels)]
    file = tmp_path / "page.html"
    file.write_text(page(Document("test", "a page", parts)), "utf-8")
    with open_page(chromium, file, viewport={"width": 1300, "height": 900}, accept_downloads=True) as opened:
        opened.page.locator(".figure-menu summary").focus()
        opened.page.keyboard.press("Enter")
        with opened.page.expect_download() as saved:
            opened.page.get_by_role("button", name=kind, exact=True).press("Enter")
        assert saved.value.suggested_filename == f"mean-response-by-load.{kind.lower()}"
        saved.value.save_as(tmp_path / "saved")
    contents = (tmp_path / "saved").read_bytes()
    if kind == "PNG":
        assert contents.startswith(b"\x89PNG")
        assert len(contents) > 5000
    elif kind == "SVG":
        assert b"<svg" in contents
        assert b"FCFS" in contents
    else:
        rows = list(csv.DictReader(contents.decode().splitlines()))
        assert [row["requests per second"] for row in rows] == ["100", "1000"]
        assert [row["SPTF, 95 % from"] for row in rows] == ["0.9", "3.7"]
        assert [row["FCFS overloaded"] for row in rows] == ["no", "yes"]


def test_link_to_a_figure_is_its_anchor(tmp_path: Path, chromium: Browser) -> None:
    file = tmp_path / "page.html"
    panel = Panel("x", "y", [Series("a", "#0072b2", [1.0, 2.0])], [1.0, 2.0])
    file.write_text(page(Document("test", "a page", [drawing(panel), drawing(panel)])), "utf-8")
    with open_page(chromium, file) as opened:
        menus = opened.page.locator(".figure-menu")
        menus.nth(1).locator("summary").click()
        menus.nth(1).get_by_role("button", name="Copy link").click()
        assert re.search("#figure-a-figure-2$", opened.page.url)
        assert opened.page.locator("#figure-a-figure-2").count() == 1

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
from sledlab.show.palette import BLUE, VERMILION
from sledlab.show.plots import single_plot
from sledlab.show.series import Panel, Series

from tools.gallery import POWER, SMALL, STUDIES

from .pages import CHECKER, RECORDER, open_page
from .test_pages import WIDTHS_PX, sledlab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

GRID = ("--vary", "device.active_tips=640,1280", "--vary", "device.spring_factor=0,0.75", "--speedup", "1,2")
ARRAY = ("--system", "raid5", "--set", "system.devices=4", "--set", "system.failed=0")
PAGES = {
    **STUDIES,
    "grid": ("compare", "--device", "mems-g2", *SMALL, "--scheduler", "sptf", *GRID),
    "faults": ("simulate", "--device", "mems-g2", *SMALL, *ARRAY),
    "overload": ("power", "--device", "mobile-disk", *SMALL, *POWER),
    "emulation": ("serve", "--device", "mems-g2", "--exercise", "randread", "--duration", "1"),
}
"""Commands that write a page, by the name of its directory; a study whose runs are all overloaded is one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("figures")


@pytest.mark.slow("a run of each study")
@pytest.mark.parametrize("name", PAGES)
def test_figures_have_no_defects(name: str, folder: Path, chromium: Browser) -> None:
    sledlab(folder, *PAGES[name], "--out", name)
    for width in WIDTHS_PX:
        window: dict[str, Any] = {"viewport": {"width": width, "height": 900}}
        with open_page(chromium, folder / name / "report.html", script=RECORDER, **window) as opened:
            opened.page.wait_for_selector("html[data-live]", state="attached")
            assert opened.defects() == [], width
            assert opened.violations() == [], width
            assert opened.complaints == []


def drawing(panel: Panel) -> Drawing:
    return Drawing(lambda: single_plot()[0], "a figure", "A figure", panels=lambda: [panel])


PLOT = "document.querySelector('.live-plot')"
PICTURE = "document.querySelector('figure > svg')"
WRITE = (
    "const pen = document.querySelector('canvas').getContext('2d');"
    "pen.textAlign = 'left'; pen.fillStyle = '#000'; pen.fillText"
)
PLANTED_DEFECTS = {
    "few ticks": (f"""{PLOT}.dataset.ticks = '[["1"], ["1", "2", "5"]]'""", "axis 0 has the ticks 1"),
    "tick cut": (f"{WRITE}('10,000', pen.canvas.width - 12, 20)", '"10,000" is cut off'),
    "names over each other": (
        f"{WRITE}('0.4 ms', 99, 9); pen.fillText('0.35 ms', 104, 9)",
        'overlaps "0.4 ms"',
    ),
    "another color": (
        "document.querySelector('.live-chips i').style.background = '#8f0000'",
        "the legend has",
    ),
    "text cut": (
        f"""{PICTURE}.insertAdjacentHTML('beforeend', '<text x="10" y="-40" fill="red">cut</text>')""",
        '"cut" is cut off',
    ),
    "large letters": (f"{PICTURE}.style = 'width: 1200px; max-width: none'", " px"),
    "faint line": (
        f"""{PICTURE}.insertAdjacentHTML('beforeend', '<path d="M9 9h9" stroke="#ddd" stroke-width="2"/>')""",
        "contrast",
    ),
    "faint text": (
        f"""{PICTURE}.insertAdjacentHTML('beforeend', '<text x="50" y="50" fill="#aaa">faint</text>')""",
        "contrast",
    ),
    "wide page": ("document.body.style.width = '3000px'", "the page is 3000 px wide"),
    "hidden columns": (
        "document.querySelector('main').insertAdjacentHTML('beforeend', "
        '\'<div class="scroll" style="width: 50px"><table><tr><td>volumes in goal</table></div>\')',
        "does not say so",
    ),
    "words over words": ("document.querySelector('h1').style.marginBottom = '-2rem'", "overlaps"),
}
"""Defects of the kinds that were seen on pages, as scripts, and a text of the message about each."""


@pytest.mark.parametrize("defect", PLANTED_DEFECTS)
def test_checker_detects_planted_defects(defect: str, tmp_path: Path, chromium: Browser) -> None:
    positions = [1.0, 2.0, 3.0, 4.0]
    panel = Panel(
        "x", "y", [Series("a", BLUE, positions), Series("b", VERMILION, positions[::-1])], positions
    )
    parts = [drawing(panel), Drawing(lambda: draw(overloaded_curves()), "a figure", "A figure")]
    file = tmp_path / "page.html"
    file.write_text(page(Document("test", "a page", parts)), "utf-8")
    script, message = PLANTED_DEFECTS[defect]
    with open_page(chromium, file, script=RECORDER, viewport={"width": 1300, "height": 900}) as opened:
        assert opened.page.evaluate(CHECKER) == []
        opened.page.evaluate(f"() => {{ {script}; }}")
        found = opened.page.evaluate(CHECKER)
        assert any(message in each for each in found), found


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

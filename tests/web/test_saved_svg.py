"""SVG documents that interactive figures save: their contents, and how they look next to the saved PNG."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from sledlab.show.document import Document, Drawing, page
from sledlab.show.plots import single_plot
from sledlab.show.series import Bar, NamedBar, Panel, PlaneTimes, Series

from .pages import open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BLUE, VERMILION = "#0072b2", "#d55e00"
NAME = "a < b & \"c\" 'd'"
X = [0.0, 1.0, 2.0, 3.0, 4.0]

PANELS = {
    "curves": Panel(
        "load (1/s)",
        "mean response (ms)",
        [
            Series(NAME, BLUE, [1, 2, 4, 8, 16], low=[0.5, 1, 3, 7, 15], high=[2, 3, 5, 9, 17]),
            Series("SPTF", VERMILION, [1, 1.5, 2, 3, None], overloaded=[False] * 4 + [True], dash=(4, 2)),
        ],
        X,
        top=["×1", "×2", "×3", "×4", "×5"],
        marks=[("break-even", 1.5)],
        levels=[("limit", 10.0)],
    ),
    "areas": Panel("time (s)", "queue", [Series("waiting", BLUE, [0, 3, 1, 4, 0], kind="area")], X),
    "stacked bars": Panel(
        "idle timeout",
        "energy (J)",
        [Series(NAME, BLUE, [1, 2], kind="bar"), Series("idle", VERMILION, [2, 1], kind="bar")],
        steps=["1 ms", "40 ms"],
    ),
    "rows": Panel(
        "simulated time (s)",
        "what each node does",
        [Series("compute", BLUE, []), Series("store", VERMILION, [])],
        steps=["sort"],
        rows=["node 0", "node 1"],
        bars=[Bar(0, 0.0, (1.0, 2.0)), Bar(1, 0.0, (2.0, 0.5))],
    ),
    "named bars": Panel(
        "mean (ms)", "time by part", (), named_bars=[NamedBar(NAME, 1.5, BLUE, "1.5 ms", "heading")]
    ),
    "map": Panel(
        "x (bits)",
        "positioning time (ms)",
        [],
        X,
        times=PlaneTimes("y (bits)", X, [0.1, 0.2, 0.3, 0.4, 0.5], [0.5, 0.4, 0.3, 0.2, 0.1], (2.0, 2.0)),
    ),
}
SERIES = {"curves": 2, "areas": 1}
"""Curves of each panel."""
BARS = {"stacked bars": 2, "rows": 4, "named bars": 1}
"""Painted shapes in the colors of the series."""


@pytest.mark.parametrize("name", PANELS)
def test_saved_svg_has_axes_curves_and_names(name: str, tmp_path: Path, chromium: Browser) -> None:
    panel = PANELS[name]
    with open_page(chromium, write_page(tmp_path, panel), accept_downloads=True) as opened:
        pixels_before = pixels(opened.page)
        document = save(opened.page, "SVG")
        assert pixels(opened.page) == pixels_before, "saving changes the plot"
        ticks = json.loads(opened.page.locator(".live-plot").get_attribute("data-ticks") or "")
        assert opened.complaints == []
    root = ElementTree.fromstring(document)
    texts = [each.text for each in elements(root, "text")]
    assert {"A figure", panel.x_name, panel.y_name} <= set(texts)
    assert [label for axis in ticks for label in axis if label not in texts] == []
    assert [each.name for each in panel.series if len(panel.series) > 1 and each.name not in texts] == []
    paths = elements(root, "path")
    strokes = [
        each.get("stroke") for each in paths if each.get("fill") == "none" and "L" in each.get("d", "")
    ]
    assert len([color for color in strokes if color in (BLUE, VERMILION)]) == SERIES.get(name, 0)
    filled_bars = [
        each for each in paths if each.get("fill") in (BLUE, VERMILION) and "h" in each.get("d", "")
    ]
    assert len(filled_bars) == BARS.get(name, 0)
    assert len(elements(root, "image")) == (name == "map")


@pytest.mark.parametrize(("scale", "scheme"), [(1, "light"), (2, "dark")])
def test_saved_svg_looks_like_png(scale: int, scheme: Any, tmp_path: Path, chromium: Browser) -> None:
    # Panels with a legend are higher in the SVG.
    for panel in ("curves", "areas", "named bars", "map"):
        file = write_page(tmp_path, PANELS[panel])
        window: dict[str, Any] = {"device_scale_factor": scale, "color_scheme": scheme}
        with open_page(chromium, file, accept_downloads=True, **window) as opened:
            addresses = [
                f"data:image/{kind};base64,{base64.b64encode(save(opened.page, name)).decode()}"
                for name, kind in (("PNG", "png"), ("SVG", "svg+xml"))
            ]
            different_share = opened.page.context.new_page().evaluate(DIFFERENCE, addresses)
        assert different_share < 0.003, panel


DIFFERENCE = """async (addresses) => {
    const [png, svg] = await Promise.all(addresses.map(async (address) => {
        const image = new Image();
        image.src = address;
        await image.decode();
        return image;
    }));
    const pixels = (image) => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [png.width, png.height];
        const pen = canvas.getContext("2d");
        pen.drawImage(image, 0, 0, png.width, png.height);
        return pen.getImageData(0, 0, png.width, png.height).data;
    };
    const [a, b] = [png, svg].map(pixels);
    if (a.every((value) => value === a[0])) return 1;
    return a.filter((value, at) => Math.abs(value - b[at]) > 96).length / a.length;
}"""
"""The share of values of pixels in which two pictures differ much."""


def write_page(folder: Path, panel: Panel) -> Path:
    drawing = Drawing(lambda: single_plot()[0], "a figure", "A figure", panels=lambda: [panel])
    file = folder / "page.html"
    file.write_text(page(Document("test", "a page", [drawing])), "utf-8")
    return file


def save(browser_page: Page, kind: str) -> bytes:
    """Return the contents of the file that an entry of the menu saves."""
    browser_page.locator(".figure-menu summary").click()
    with browser_page.expect_download() as saved:
        browser_page.get_by_role("button", name=kind, exact=True).click()
    assert saved.value.suggested_filename == f"a-figure.{kind.lower()}"
    return saved.value.path().read_bytes()


def pixels(browser_page: Page) -> str:
    return str(browser_page.evaluate("document.querySelector('.live-plot canvas').toDataURL()"))


def elements(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return root.findall(f".//{{http://www.w3.org/2000/svg}}{name}")

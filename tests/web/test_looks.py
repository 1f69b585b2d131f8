"""How the page looks: in windows of two sizes, and with thousands of requests."""

from __future__ import annotations

import pytest

from .laboratory import DESK, PHONE, laboratory
from .test_pages import MEASURE

SMALLEST_PX = 8
BLANK = """[...document.querySelectorAll("canvas")].filter(canvas => {
    if (!canvas.checkVisibility()) return false;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size < 2;
})"""
"""Canvases without a drawing: all pixels have one color."""


def test_thousands_of_waiting_requests_are_shown_live(page):
    page.crowd()
    before = page.time_s
    page.press("Play")
    page.until(f"parseFloat(document.querySelector('.clock').innerText) > {before}")


def test_a_trace_of_a_million_requests_is_answered(page):
    page.wait_for_summary()
    page.tab("Yours")
    lines = (
        f"{n * 900},{'R' if n % 3 else 'W'},{(n * 7919 % 800000) * 4096},4096\n" for n in range(1_000_000)
    )
    trace = "time_us,op,offset_bytes,length_bytes\n" + "".join(lines)
    page.page.evaluate(
        """text => {
        const files = new DataTransfer();
        files.items.add(new File([text], 'million.csv'));
        const drop = new DragEvent('drop', {dataTransfer: files, bubbles: true});
        document.querySelector('.drop').dispatchEvent(drop);
    }""",
        trace,
    )
    page.page.locator(".yours .big").wait_for()
    assert "1,000,000" in page.page.locator(".yours").inner_text()


@pytest.mark.parametrize("window", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("view", ["Watch", "Design", "Race"])
def test_view_fits_the_window_and_is_drawn(view, window, chromium):
    with laboratory(chromium, window=window) as page:
        page.wait_for_summary()
        page.press("Slowest")
        page.tab(view)
        if view == "Race":
            page.wait_for_race(2)
        page.until(f"{BLANK}.length == 0")
        seen = page.page.evaluate(MEASURE)
    assert seen["width_px"] == window["width"]
    assert seen["scroll_px"] == window["width"]
    assert seen["sticking_out"] == []
    assert [size for size in seen["figures"] if min(size) < SMALLEST_PX] == []


def test_first_visit_begins_with_the_tour(chromium):
    with laboratory(chromium, visited=False) as page:
        page.page.locator(".tour").wait_for(state="visible")
        assert "1 of 5" in page.page.locator(".tour h2").inner_text()
        assert "MEMS storage device" in page.page.locator(".what").inner_text()
        page.page.reload()
        page.page.locator(".tabs").wait_for()
        assert not page.page.locator(".tour").is_visible()


def test_stage_is_in_view_on_a_phone(chromium):
    with laboratory(chromium, window=PHONE) as page:
        page.page.locator(".stage canvas").wait_for()
        box = page.page.locator(".stage canvas").bounding_box()
        assert box["y"] + box["height"] / 3 < PHONE["height"]

"""How the page looks: in windows of three widths, and with thousands of requests."""

from __future__ import annotations

import json

import pytest

from .laboratory import MILLION, PHONE, laboratory
from .pages import RECORDER
from .test_pages import MEASURE, WIDTHS_PX

SMALLEST_PX = 8
BLANK = """[...document.querySelectorAll("canvas")].filter(canvas => {
    if (!canvas.checkVisibility()) return false;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size < 2;
})"""
"""Canvases without a drawing: all pixels have one color."""


def test_thousands_of_waiting_requests_are_shown_live(page):
    page.crowd()
    time_before_s = page.time_s
    page.press("Play")
    page.until(f"parseFloat(document.querySelector('.clock').innerText) > {time_before_s}")


def test_a_trace_of_a_million_requests_is_answered(page):
    page.wait_for_summary()
    page.drop(MILLION)
    assert "1,000,000" in page.page.locator(".yours").inner_text()


@pytest.mark.parametrize("width", WIDTHS_PX)
@pytest.mark.parametrize("view", ["Watch", "Design", "Race"])
def test_view_fits_the_window_and_is_drawn(view, width, chromium):
    window = {"width": width, "height": 800}
    with laboratory(chromium, window=window, script=RECORDER) as page:
        page.wait_for_summary()
        page.press("Slowest")
        page.tab(view)
        if view == "Race":
            page.wait_for_race(2)
        page.until(f"{BLANK}.length == 0")
        measurements = page.page.evaluate(MEASURE)
        assert page.defects() == []
    assert measurements["width_px"] == window["width"]
    assert measurements["scroll_px"] == window["width"]
    assert measurements["sticking_out"] == []
    assert [size for size in measurements["figures"] if min(size) < SMALLEST_PX] == []


@pytest.mark.parametrize("width", [1300, 768, 400])
@pytest.mark.parametrize(("view", "charts"), [("Watch", 2), ("Race", 4)])
def test_every_axis_has_three_ticks(view, charts, width, chromium):
    with laboratory(chromium, window={"width": width, "height": 900}) as page:
        page.wait_for_summary()
        page.tab(view)
        if view == "Race":
            page.wait_for_race(2)
        page.until(f"document.querySelectorAll('[data-ticks]').length == {charts}")
        for _ in range(2):
            ticks = page.page.evaluate(
                "[...document.querySelectorAll('[data-ticks]')].map(e => e.dataset.ticks)"
            )
            assert [each for each in ticks if min(map(len, json.loads(each))) < 3] == []
            for menu in page.page.locator(".figure-menu").all():
                menu.locator("summary").click()
                if menu.get_by_role("button", name="Logarithmic or linear").count():
                    menu.get_by_role("button", name="Logarithmic or linear").click()
                else:
                    menu.locator("summary").click()


def test_drawings_follow_the_theme(page):
    page.wait_for_summary()
    page.press("Slowest")
    page.page.wait_for_timeout(300)
    drawings = """new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
        .then(() => [...document.querySelectorAll('canvas')].map(canvas => canvas.toDataURL()))"""
    light_images = page.page.evaluate(drawings)
    page.page.emulate_media(color_scheme="dark")
    dark_images = page.page.evaluate(drawings)
    assert [one for one, other in zip(light_images, dark_images, strict=True) if one == other] == []
    page.page.emulate_media(color_scheme="light")
    assert page.page.evaluate(drawings) == light_images


@pytest.mark.parametrize("view", ["Watch", "Race", "Design"])
def test_paper_has_the_layout_of_the_window(view, page):
    page.wait_for_summary()
    page.tab(view)
    if view == "Race":
        page.wait_for_race(2)
    page.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.page.emulate_media(media="print")
    stretched_count = page.page.evaluate(
        """[...document.querySelectorAll('canvas')].filter(canvas => {
            const box = canvas.getBoundingClientRect();
            return box.width && Math.abs(box.width / box.height / (canvas.width / canvas.height) - 1) > 0.02;
        }).length"""
    )
    assert stretched_count == 0
    assert page.page.evaluate(
        "document.querySelector('.frame').getBoundingClientRect().width"
    ) == pytest.approx(700, abs=1)
    tab_style = "getComputedStyle(document.querySelector('.tabs button')).printColorAdjust"
    assert page.page.evaluate(tab_style) == "exact"


@pytest.mark.parametrize(("view", "figures"), [("Watch", 3), ("Race", 4), ("Design", 1)])
def test_figures_are_saved_by_keyboard(view, figures, page):
    page.wait_for_summary()
    page.tab(view)
    if view == "Race":
        page.wait_for_race(2)
    menus = page.page.locator(".figure-menu summary")
    menus.first.wait_for()
    assert menus.count() == figures
    for index in range(figures):
        menus.nth(index).focus()
        page.page.keyboard.press("Enter")
        page.page.keyboard.press("Tab")
        with page.page.expect_download() as saved:
            page.page.keyboard.press("Enter")
        assert saved.value.suggested_filename.endswith(".png")
        assert saved.value.path().read_bytes().startswith(b"\x89PNG")


def test_numbers_of_a_race_are_saved(page):
    page.wait_for_summary()
    page.tab("Race")
    page.wait_for_race(2)
    menu = page.page.locator(".figure-menu").nth(1)
    menu.locator("summary").click()
    with page.page.expect_download() as saved:
        menu.get_by_role("button", name="CSV").click()
    header, *rows = saved.value.path().read_text().splitlines()
    assert header == '"simulated time, s",c-scan: waiting,sptf: waiting'
    assert len(rows) > 50


def test_chart_becomes_logarithmic(page):
    page.wait_for_summary()
    menu = page.page.locator(".series + .figure-menu")
    chart = "document.querySelector('.series canvas').toDataURL()"
    linear = page.page.evaluate(chart)
    for is_same in (False, True):
        menu.locator("summary").click()
        menu.get_by_role("button", name="Logarithmic or linear").click()
        assert (page.page.evaluate(chart) == linear) is is_same


def test_error_message_disappears_after_valid_number(page):
    page.wait_for_summary()
    number = page.page.locator(".transport input[type=number]")
    for text, has_message in (("999999", True), ("7", False)):
        number.fill(text)
        number.press("Enter")
        page.until(f"Boolean(document.querySelector('.message')) == {str(has_message).lower()}")


def test_shortened_queue_is_marked(page):
    page.wait_for_summary()
    page.press("Slowest")
    page.until("document.querySelector('#life-title').parentElement.innerText.includes('drawn shortened')")


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

"""How the page looks: as it did, and with thousands of requests."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from .laboratory import PHONE, laboratory

MOST_DIFFERENT = 0.01
SCREENS = Path(__file__).parent / "screens"


def test_thousands_that_wait_are_shown_while_time_goes_on(page):
    page.crowd()
    before = page.time_s
    page.press("Play")
    page.until(f"parseFloat(document.querySelector('.clock').innerText) > {before}")


def test_a_trace_of_a_million_requests_is_answered(page):
    page.told()
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


@pytest.mark.parametrize("width", ["desk", "phone"])
@pytest.mark.parametrize("view", ["Watch", "Design", "Race"])
def test_it_looks_as_it_did(view, width, chromium):
    image = pytest.importorskip("PIL.Image")
    numpy = pytest.importorskip("numpy")
    with laboratory(chromium, window=PHONE if width == "phone" else None) as page:
        page.told()
        page.press("Slowest")
        page.page.wait_for_timeout(400)
        page.tab(view)
        if view == "Race":
            page.raced(2)
        page.page.mouse.move(1, 1)
        page.page.wait_for_timeout(800)
        seen = image.open(io.BytesIO(page.page.screenshot(full_page=True))).convert("RGB")
    file = SCREENS / f"{view.lower()}-{width}.png"
    if os.environ.get("SLEDLAB_SNAPSHOT"):
        seen.quantize(128).save(file, optimize=True)
    kept = image.open(file).convert("RGB")
    assert seen.size == kept.size
    apart = numpy.abs(numpy.asarray(seen, dtype=int) - numpy.asarray(kept, dtype=int)).max(axis=2)
    assert (apart > 48).mean() <= MOST_DIFFERENT

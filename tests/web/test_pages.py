"""Every page that sledlab writes opens in a browser: offline, without errors, narrow and wide."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .pages import RECORDER, OpenedPage, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SMALL = ("--workload", "uniform", "--limit", "400", "--warmup", "0", "--seed", "7")
PAGES = {
    "run": "run/report.html",
    "comparison": "comparison/report.html",
    "power": "power/report.html",
    "hybrid": "hybrid/report.html",
    "replay": "replay/report.html",
    "diff": "diff.html",
    "seek-map": "seek-map.html",
}
WIDTHS_PX = (1300, 800, 400)
"""Widths of windows: of a desk, of half a desk and of a phone."""

MEASURE = """(async () => {
    document.querySelectorAll("details").forEach(part => part.open = true);
    await document.fonts.ready;
    await Promise.all([...document.images].map(image => image.decode().catch(() => null)));
    const size = element => element.getBoundingClientRect();
    const scrolls = element => element &&
        (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
    const figures = [...document.querySelectorAll("img, canvas, svg, video")]
        .filter(element => !element.parentElement.closest("svg") && element.checkVisibility());
    return {
        title: document.title,
        scroll_px: document.documentElement.scrollWidth,
        width_px: document.documentElement.clientWidth,
        sticking_out: [...document.body.querySelectorAll("*")]
            .filter(element => size(element).right > innerWidth + 1 && !scrolls(element.parentElement))
            .map(element => element.outerHTML.slice(0, 120)),
        figures: figures.map(element => [
            Math.min(element.naturalWidth ?? Infinity, size(element).width),
            size(element).height,
        ]),
    };
})()"""


def sledlab(folder: Path, *arguments: str) -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "sledlab", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    for name, scheduler in (("run", "fcfs"), ("other", "sptf")):
        sledlab(folder, "simulate", "--device", "mems-g2", "--scheduler", scheduler, *SMALL, "--out", name)
    sledlab(folder, "diff", "run", "other", "--save", "diff.html")
    compare_options = ("--scheduler", "fcfs,sptf", "--speedup", "1,4", "--parallel", "1")
    sledlab(folder, "compare", "--device", "mems-g2", *SMALL, *compare_options, "--out", "comparison")
    power_options = ("--power", "never,fixed", "--timeout", "1,40", "--startup", "0.5", "--load", "1,2")
    sledlab(
        folder, "power", "--device", "mems-g2", *SMALL, *power_options, "--parallel", "1", "--out", "power"
    )
    hybrid_options = ("--mems-mb", "64,128", "--segment-kb", "8,16", "--at-mb", "64", "--at-segment-kb", "8")
    sledlab(
        folder,
        "hybrid",
        *SMALL,
        *hybrid_options,
        "--replacement",
        "lru",
        "--parallel",
        "1",
        "--out",
        "hybrid",
    )
    record = Path(__file__).parents[2] / "sample" / "work" / "sort.work"
    sledlab(folder, "smart", "replay", str(record), "--device", "mems-g2", "--out", "replay")
    sledlab(folder, "device", "seek-map", "mems-g2", "--save", "seek-map.html")
    return folder


def measure_page(browser: Browser, file: Path, width_px: int) -> tuple[OpenedPage, dict[str, Any]]:
    """Open a page in a window of a width, and return it with its measurements."""
    with open_page(browser, file, script=RECORDER, viewport={"width": width_px, "height": 900}) as opened:
        return opened, {**opened.page.evaluate(MEASURE), "defects": opened.defects()}


@pytest.mark.parametrize("width_px", WIDTHS_PX)
@pytest.mark.parametrize("page", PAGES)
def test_page_opens(page: str, width_px: int, chromium: Browser, pages: Path) -> None:
    opened, measurements = measure_page(chromium, pages / PAGES[page], width_px)
    assert opened.complaints == []
    assert measurements["defects"] == []
    assert opened.requested_urls == [], "a page holds all it needs"
    assert measurements["title"]
    assert measurements["width_px"] == width_px
    assert measurements["scroll_px"] <= width_px, f"it scrolls sideways: {measurements['sticking_out'][:5]}"
    assert measurements["figures"], "no figure in it"
    assert all(width >= 50 and height >= 50 for width, height in measurements["figures"]), measurements[
        "figures"
    ]


FAULTY = {
    "exception": "<script>undefinedFunction()</script>",
    "complaint": "<script>console.error('no')</script>",
    "request of a file": "<img src='other.png'>",
    "request over the network": "<script>fetch('https://example.org/')</script>",
    "scrolling": "<div style='width: 900px; height: 1px'></div>",
}


@pytest.mark.parametrize("fault", FAULTY)
def test_faulty_pages_are_detected(fault: str, chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(f"<!doctype html><title>A page</title><body>{FAULTY[fault]}</body>")
    opened, measurements = measure_page(chromium, file, WIDTHS_PX[-1])
    if fault in ("exception", "complaint"):
        assert len(opened.complaints) == 1
    elif fault == "scrolling":
        assert measurements["scroll_px"] > WIDTHS_PX[-1]
        assert len(measurements["sticking_out"]) == 1
    else:
        assert len(opened.requested_urls) == 1

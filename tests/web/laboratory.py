"""The page of the laboratory in Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sledlab as sl
from sledlab.show.view import is_built

from .pages import PATIENCE_MS, OpenedPage, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

QUEUED_REQUESTS = 5000
CROWDED_EXPERIMENT = """seed = 1
[device]
preset = "mems-g2"
[workload]
kind = "uniform"
mean_interarrival_ms = 0.05
[scheduler]
kind = "sptf"
[replay]
limit = 9000
"""
"""An experiment in which thousands of requests wait after half a second."""

MILLION = "\n".join(
    ["time_us,op,offset_bytes,length_bytes"]
    + [f"{n * 900},{'R' if n % 3 else 'W'},{(n * 7919 % 800_000) * 4096},4096" for n in range(1_000_000)]
)
"""A trace of a million requests that the first device serves in time."""

DROP = """text => {
    const files = new DataTransfer();
    files.items.add(new File([text], 'dropped.csv'));
    const drop = new DragEvent('drop', {dataTransfer: files, bubbles: true});
    document.querySelector('.drop').dispatchEvent(drop);
}"""

VISITED = (
    "try { localStorage.setItem('sledlab-visited', '1'); } catch { /* a sandboxed frame keeps nothing */ }"
)
"""Script of a browser that has shown the page before."""

DESK = {"width": 1200, "height": 800}

DEFAULT = """seed = 1
[device]
preset = "mems-g2"
[workload]
kind = "uniform"
mean_interarrival_ms = 0.62
blocks = 8
read_share = 0.67
[scheduler]
kind = "sptf"
[replay]
limit = 20000
"""
"""The experiment of the page itself."""

PHONE = {"width": 400, "height": 800}


class Laboratory(OpenedPage):
    """The page, its controls and its texts."""

    def tab(self, name: str) -> None:
        """Go to a view."""
        self.page.get_by_role("tab", name=name).click()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    @property
    def request_title(self) -> str:
        """The number and the size of the request in the panel `One request`."""
        return self.page.locator("#life-title .quiet").inner_text()

    def choose(self, label: str, value: str) -> None:
        """Choose a value from a list."""
        self.page.get_by_role("combobox", name=label, exact=True).select_option(value)

    def drop(self, trace: str) -> None:
        """Drop a trace onto the view `Yours`, and wait for its answer."""
        self.tab("Yours")
        self.page.evaluate(DROP, trace)
        self.page.locator(".yours .big").wait_for(timeout=PATIENCE_MS)

    def watch(self, experiment: str) -> None:
        """Watch an experiment."""
        self.tab("Yours")
        self.page.locator("#experiment").fill(experiment)
        self.page.get_by_role("button", name="Watch it").click()
        self.wait_for_summary()

    def crowd(self) -> None:
        """Go to a time at which more than `QUEUED_REQUESTS` wait."""
        self.watch(CROWDED_EXPERIMENT)
        middle = self.page.evaluate("document.querySelector('.series .u-over').clientWidth") / 5
        self.page.locator(".series .u-over").first.click(position={"x": middle, "y": 20})
        waiting = "Number(document.querySelector('.stage canvas').ariaLabel.split(': ')[1].split(' ')[0])"
        self.until(f"{waiting} >= {QUEUED_REQUESTS}")

    @property
    def time_s(self) -> float:
        """The simulated time on the clock of the page."""
        return float(self.page.locator(".clock").inner_text().removesuffix(" s"))

    @property
    def message(self) -> str:
        """The message of the page; empty if there is none."""
        locator = self.page.locator(".message")
        return locator.first.inner_text() if locator.count() else ""

    def wait_for_summary(self) -> None:
        """Wait until the whole run has been simulated."""
        self.page.locator("#checksum").wait_for(timeout=PATIENCE_MS)

    def choose_and_wait(self, label: str, value: str) -> None:
        """Choose a value from a list, and wait until the new run has been simulated."""
        run_before = self.page.locator("#checksum").get_attribute("data-run")
        self.choose(label, value)
        self.until(f"(document.querySelector('#checksum')?.dataset.run ?? '{run_before}') != '{run_before}'")

    def until(self, condition: str) -> None:
        """Wait until an expression holds in the page.

        Playwright's own function needs `eval`, which the page's security policy refuses.
        """
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, f"never came true: {condition}; {self.message}"
            self.page.wait_for_timeout(20)

    def wait_for_race(self, runners: int) -> None:
        """Wait until this many runners have completed a race."""
        self.until(f"document.querySelectorAll('progress').length == {runners}")
        self.until("[...document.querySelectorAll('progress')].every(bar => bar.value == 1)")


@cache
def default_page() -> Path:
    """The page with its default experiment."""
    if not is_built():
        pytest.skip("the page is not built: make web")
    return sl.view().write(Path(_directory().name) / "laboratory.html")


@cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    """A directory that exists as long as this process."""
    return tempfile.TemporaryDirectory(prefix="sledlab-page-")


@contextmanager
def laboratory(
    browser: Browser,
    file: Path | None = None,
    *,
    hash: str = "",
    window: dict[str, int] | None = None,
    still: bool = True,
    visited: bool = True,
    script: str = "",
) -> Iterator[Laboratory]:
    """Open a page without a network; `still` asks for reduced motion, so that nothing plays by itself.

    Unless `visited`, it is the first visit of the browser, which begins with the tour. `script` runs before
    those of the page.
    """
    motion = "reduce" if still else "no-preference"
    file = file or default_page()
    scripts = f"{VISITED if visited else ''}\n{script}"
    size = window or DESK
    with open_page(browser, file, hash=hash, script=scripts, viewport=size, reduced_motion=motion) as opened:
        opened.page.locator(".tabs").wait_for()
        yield Laboratory(opened.page, opened.complaints, opened.requested_urls)

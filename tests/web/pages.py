"""Pages in Debian's Chromium, driven by Playwright without a network, with their errors and requests."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.require import need

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"

RECORDER, CHECKER = ((Path(__file__).parent / name).read_text("utf-8") for name in ("canvas.js", "boxes.js"))
"""A script that records what canvases show, and a function that returns the defects of a page."""

PATIENCE_MS = 60_000
"""Maximum time for one operation of a page, on a machine that is busy with others."""


@dataclass
class OpenedPage:
    """An opened page, its errors and its requests.

    Attributes:
        page: The page, as a Playwright object.
        complaints: Errors and warnings of the console, and exceptions.
        requested_urls: Addresses that it requested, except the page itself and its own blobs.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    requested_urls: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """Return the accessibility rules that the page violates, each with an element, as axe finds them."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        report = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {node['html'][:120]}" for each in report["violations"] for node in each["nodes"]
        ]

    def defects(self) -> list[str]:
        """Return the defects of the page by its boxes and colors, light and dark, with all details open.

        `open_page` must have been called with `RECORDER`.
        """
        self.page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
        found = []
        for scheme in ("light", "dark"):
            self.page.emulate_media(color_scheme=scheme)
            self.page.evaluate(DRAWN)
            found += [f"{scheme}: {defect}" for defect in self.page.evaluate(CHECKER)]
        return found


DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))"
"""Waits until canvases have followed a change of the page."""


@contextmanager
def browser() -> Iterator[Browser]:
    """The browser, without a window or a graphics processor."""
    program = need("chromium")
    sync_playwright = importlib.import_module(f"{need('playwright')}.sync_api").sync_playwright
    with sync_playwright() as playwright:
        # Its sandbox would refuse to run as root, and it opens our own pages only.
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@contextmanager
def open_page(
    browser: Browser, file: Path, *, hash: str = "", script: str = "", **options: Any
) -> Iterator[OpenedPage]:
    """Open a file without a network.

    `script` runs before those of the page; `options` are those of Playwright's `new_context`.
    """
    context = browser.new_context(offline=True, **options)
    context.add_init_script(script)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    opened = OpenedPage(page)

    def record_request(address: str) -> None:
        if address.partition("#")[0] != file.as_uri() and not address.startswith(("blob:", "data:")):
            opened.requested_urls.append(address)

    def record_message(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            opened.complaints.append(message.text)

    page.on("console", record_message)
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("request", lambda request: record_request(request.url))
    try:
        page.goto(file.as_uri() + hash)
        yield opened
    finally:
        context.close()

"""Debian's chromium without a window, spoken to in its DevTools protocol through a pipe."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0
"""How long an answer may take, on a machine that is busy with other things."""
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # it would refuse to run as root, and opens our own pages only
    "--disable-gpu",
    "--disable-dev-shm-usage",  # /dev/shm is small in containers
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
)
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


@dataclass(frozen=True)
class Page:
    """What became of a page."""

    title: str
    complaints: list[str]
    """Errors and warnings of the console, and exceptions."""
    requests: list[str]
    """Everything the page asked for, itself included; not what it holds itself (data:)."""
    scroll_px: int
    """How wide its contents are."""
    width_px: int
    sticking_out: list[str]
    """Elements past the right edge."""
    figures: list[tuple[float, float]]
    """Width and height of each."""


class Browser:
    """One process of the browser."""

    def __init__(self, program: str, folder: Path) -> None:
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        # It expects its pipe at these two numbers.
        start = ("bash", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "bash")
        with (folder / "browser.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*start, program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"],
                pass_fds=(theirs_in, theirs_out),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "HOME": str(folder)},
            )
        os.close(theirs_in)
        os.close(theirs_out)
        self._log = folder / "browser.log"
        self._unread = b""
        self._number = 0
        self._events: list[dict[str, Any]] = []

    def close(self) -> None:
        """Ends it."""
        os.close(self._out)  # it goes when nobody speaks to it any more
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)

    def open(self, file: Path, width_px: int) -> Page:
        """Opens a page in a window of a width, with no network, and gives what became of it."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable", session)
        nothing = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        self._ask("Network.emulateNetworkConditions", session, offline=True, **nothing)
        window = {"width": width_px, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", session, **window)
        self._events.clear()
        self._ask("Page.navigate", session, url=file.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._read()
        measured = self._ask(
            "Runtime.evaluate", session, expression=MEASURE, awaitPromise=True, returnByValue=True
        )
        self._ask("Target.closeTarget", targetId=target)
        if "exceptionDetails" in measured:
            raise RuntimeError(f"could not measure {file}: {measured['exceptionDetails']}")
        found = measured["result"]["value"]
        figures = [(width, height) for width, height in found.pop("figures")]
        return Page(complaints=self._complaints(), requests=self._requests(), figures=figures, **found)

    def _complaints(self) -> list[str]:
        found = []
        for event in self._events:
            what = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    found.append(json.dumps(what["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if what["type"] in ("error", "warning", "assert"):
                    found.append(json.dumps(what["args"]))
                case "Log.entryAdded" if what["entry"]["level"] in ("error", "warning"):
                    found.append(what["entry"]["text"])
        return found

    def _requests(self) -> list[str]:
        sent = (event for event in self._events if event["method"] == "Network.requestWillBeSent")
        addresses = (event["params"]["request"]["url"] for event in sent)
        return [address for address in addresses if not address.startswith(("data:", "blob:"))]

    def _ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        question = {"id": self._number, "method": method, "params": parameters}
        if session:
            question["sessionId"] = session
        os.write(self._out, json.dumps(question).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == self._number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def _read(self) -> dict[str, Any]:
        """The next message; events are kept."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._in], [], [], PATIENCE_S)
            piece = os.read(self._in, 1 << 20) if ready else b""
            if not piece:
                what = "ended" if ready else f"said nothing for {PATIENCE_S:g} s"
                raise RuntimeError(f"the browser {what}:\n{self._log.read_text(errors='replace')[-2000:]}")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self._events.append(message)
        return message


@contextmanager
def browser(program: str, folder: Path) -> Iterator[Browser]:
    """A browser that is ended at the end."""
    started = Browser(program, folder)
    try:
        yield started
    finally:
        started.close()

"""The core in an otherwise empty page: `web/core` and a worker, without the page of `sledlab view`."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WEB = Path(__file__).parents[2] / "web"
CORE = WEB / "core" / "sledlab.wasm"
ESBUILD = WEB / "node_modules" / ".bin" / "esbuild"
START = """async ([script, wasm]) => {
    const bytes = Uint8Array.from(atob(wasm), (letter) => letter.charCodeAt(0));
    window.script = script;
    window.modules = await WebAssembly.compile(bytes);
    window.start = () => sledlab.startLaboratory(script, window.modules);
    window.core = window.start();
    window.finish = async (toml, core = window.core, operations = 100000) => {
        const { run } = await core.open(toml);
        while (!(await core.run(run, operations)).done);
        return run;
    };
}"""


def bundle(entry: str, *options: str) -> str:
    """Bundle a script of `web/core` with its imports."""
    command = [ESBUILD, WEB / "core" / entry, "--bundle", "--format=iife", "--target=es2022", *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Core:
    """A page whose `window.core` implements `web/core/core.ts`."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def evaluate_script(self, script: str, argument: object = None) -> Any:
        """Evaluate an asynchronous JavaScript function, and return its result."""
        return self._page.evaluate(script, argument)


def core(browser: Browser, folder: Path) -> Core:
    """Open the page."""
    if not (CORE.is_file() and ESBUILD.exists()):
        pytest.skip("the core is not built for browsers: make web")
    empty_page = folder / "empty.html"
    empty_page.write_text("<!doctype html><title>core</title>", encoding="utf-8")
    page = browser.new_page()
    page.goto(empty_page.as_uri())
    page.add_script_tag(content=bundle("laboratory.ts", "--global-name=sledlab"))
    page.evaluate(START, [bundle("worker.ts"), base64.b64encode(CORE.read_bytes()).decode()])
    return Core(page)

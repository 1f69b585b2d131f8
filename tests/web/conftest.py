"""One browser for all tests of the laboratory's pages and of reports that can be explored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from .laboratory import Laboratory, laboratory
from .pages import browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture
def page(chromium: Browser) -> Iterator[Laboratory]:
    with laboratory(chromium) as opened:
        yield opened
    assert opened.complaints == []
    assert opened.requested_urls == [], "the page requests no address"

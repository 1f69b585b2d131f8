"""The built site: every public name has its entry, code has colors, and nothing comes from elsewhere."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sledlab as sl

from tests.docs.blocks import PROJECT
from tests.docs.site import Element, read_page

pytestmark = pytest.mark.slow("builds the site")

NO_EXAMPLE_NEEDED = {"__version__"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory: Path = tmp_path_factory.mktemp("built") / "site"
    completed = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(directory)],
        cwd=PROJECT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(PROJECT / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return directory


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Element]:
    files = {page.relative_to(site).as_posix(): page for page in sorted(site.rglob("*.html"))}
    files.pop("laboratory.html", None)  # a program, if it has been built: tests/web tests it
    return {name: read_page(page) for name, page in files.items()}


@pytest.fixture(scope="module")
def entries(pages: dict[str, Element]) -> dict[str, Element]:
    """The entry of each name of the reference, by its title."""
    entries_by_title = {}
    for page in pages.values():
        for entry in page.find_all("div", class_="doc-object"):
            entries_by_title.setdefault(entry.find_all(class_="doc-object-name")[0].text, entry)
    return entries_by_title


def missing_parts(name: str, entry: Element | None) -> list[str]:
    """Parts that an entry of the reference lacks."""
    if entry is None:
        return ["everything"]
    value, text = getattr(sl, name), entry.text
    missing = [] if "Examples:" in text or name in NO_EXAMPLE_NEEDED else ["an example"]
    if inspect.isfunction(value):
        missing += [] if entry.find_all(class_="doc-signature") else ["a signature"]
        missing += [part for part in ("Parameters:", "Raises:") if part not in text]
    return missing if entry.find_all(class_="doc-contents")[0].find_all("p") else [*missing, "a sentence"]


def test_every_public_name_has_an_entry(pages: dict[str, Element], entries: dict[str, Element]) -> None:
    missing_by_name = {name: missing_parts(name, entries.get(f"sl.{name}")) for name in sl.__all__}
    assert {name: parts for name, parts in missing_by_name.items() if parts} == {}
    anchors = {
        each.attributes.get("id") for page in pages.values() for each in page.find_all(class_="doc-heading")
    }
    assert {f"sledlab.{name}" for name in sl.__all__} - anchors == set()


def test_titles_are_those_that_users_write(entries: dict[str, Element]) -> None:
    assert [title for title in entries if title.startswith("sledlab.")] == []


def test_examples_are_code(pages: dict[str, Element]) -> None:
    python = pages["python.html"]
    assert not any(page.find_all("details", class_="example") for page in pages.values())
    assert not any(">>>" in quote.text for page in pages.values() for quote in page.find_all("blockquote"))
    assert python.find_all("span", class_="nn")
    assert "highlight.css" in [Path(link.attributes["href"]).name for link in python.find_all("link")]


def test_code_has_colors(site: Path) -> None:
    assert ".highlight .k " in (site / "highlight.css").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_elsewhere(pages: dict[str, Element]) -> None:
    for name, page in pages.items():
        addresses = [link.attributes.get("href", "") for link in page.find_all("link")]
        addresses += [
            each.attributes.get("src", "") for tag in ("script", "img") for each in page.find_all(tag)
        ]
        assert [address for address in addresses if "://" in address] == [], name


def test_mosaic_links_to_every_claim(pages: dict[str, Element]) -> None:
    (mosaic,) = pages["reproduction/index.html"].find_all("div", class_="mosaic")
    squares = mosaic.find_all("a")
    assert len(squares) == 256
    for square in squares:
        page, _, anchor = square.attributes["href"].partition("#")
        anchors = [each.attributes.get("id") for each in pages[f"reproduction/{page}"].find_all("a")]
        assert anchors.count(anchor) == 1, anchor


def test_pages_of_the_menu_are_in_their_group(pages: dict[str, Element]) -> None:
    menu = pages["index.html"].find_all("div", class_="wy-menu")[0]
    groups: dict[str, list[str]] = {}
    group = ""
    for each in menu.children:
        if isinstance(each, Element) and each.tag == "p":
            group = each.text
        elif isinstance(each, Element):
            groups.setdefault(group, []).extend(link.text for link in each.find_all("a", class_="internal"))
    assert "Validation" in groups["Accuracy and design"]
    assert "Validation" not in groups["Guide"]
    assert "Replay a trace" in groups["Tutorials"]
    assert "Schedulers" in groups["Guide"]


def test_every_page_is_in_the_menu(pages: dict[str, Element]) -> None:
    links = pages["papers.html"].find_all("div", class_="wy-menu")[0].find_all("a")
    linked_pages = {link.attributes.get("href", "").partition("#")[0] for link in links}
    assert (
        set(pages) - linked_pages - {"404.html", "search.html", "papers.html", "reproduction/explore.html"}
        == set()
    )

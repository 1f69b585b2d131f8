"""The documentation as readers see it: pages of the built site, read as HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    """An element with its children."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    def find_all(self, tag: str = "", **attributes: str) -> list[Element]:
        """The elements within, by tag, and by words of their attributes."""
        elements = []
        for each in self.children:
            if isinstance(each, Element):
                matches_tag = each.tag == tag or not tag
                matches = (
                    value in each.attributes.get(name.rstrip("_"), "").split()
                    for name, value in attributes.items()
                )
                elements += [each] * (matches_tag and all(matches)) + each.find_all(tag, **attributes)
        return elements

    @property
    def text(self) -> str:
        """All text within, with single spaces."""
        parts = (each if isinstance(each, str) else each.text for each in self.children)
        return " ".join("".join(parts).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if any(element.tag == tag for element in self.open[1:]):
            while self.open.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read_page(page: Path) -> Element:
    """A page of the site."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader.open[0]

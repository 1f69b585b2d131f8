"""The papers' figures, drawn from the saved results, and the text next to them on pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from sledlab.reproduction.draw import draw
from sledlab.reproduction.figure import Figure, figures
from sledlab.reproduction.save import to_file

from .claims import ClaimEntry
from .markdown import table
from .runs import mark_columns

IMAGES = "images/papers"
"""Folder of the figures in the documentation."""

SCHEMATICS = {
    "hong2006": {
        1: "components of a device",
        2: "data layout",
        3: "power states",
        5: "zones and the order of service",
        6: "grids of pyramiding; `hong2006-figure-6` runs what the text says of them",
    },
    "wang2005": {1: "data layout", 2: "MEMS write buffer", 3: "MEMS caching disk"},
    "lee2009": {1: "physical structure"},
    "lin": {1: "switching between power states"},
    "chiu2004": {1: "software architecture", 2: "groups of devices on a network", 3: "data organization"},
}
"""Figures without data."""


INTRODUCTION = """## Figures

Ours in lines and bars, what the papers print in yellow. Their curves are not public as numbers, so captions
and prose are all that there is to compare with.
"""


def topic_figures(topic: str) -> list[Figure]:
    """The figures on the page of a topic."""
    return [each for each in figures().values() if each.topic == topic]


def mark_figure_columns(topic: str, directory: Path) -> None:
    """Mark the columns that figures show as read, so that they are saved."""
    for figure in topic_figures(topic):
        for place, name, columns in figure.tables():
            mark_columns(directory / place / f"{name}.csv", columns)


def write_picture(figure: Figure, directory: Path, file: Path) -> None:
    """Draw a figure from saved results."""
    file.parent.mkdir(parents=True, exist_ok=True)
    to_file(draw(figure, directory), file, figure.heading)


def section(topic: str, mine: Mapping[str, ClaimEntry], outcomes: Mapping[str, str], reading: str) -> str:
    """The pictures of a page, each with its claims and its command; `reading` is the one they show."""
    first = f"Of two readings they show the first, *{reading[0].lower()}{reading[1:]}*.\n" if reading else ""
    parts = [INTRODUCTION + first]
    for figure in topic_figures(topic):
        shown = ", ".join(
            f"[{name}](#{anchor(name)}) {outcomes[name]}" for name in claims_in_figure(figure, mine)
        )
        image = f"![{figure.heading}](../{IMAGES}/{figure.name}.svg)"
        again = f"`sledlab reproduce run {figure.name} --out DIR`"
        caption = f"Claims: {shown or 'none of its own'}. {again}"
        framed = f"<figure markdown>\n{image}\n<figcaption markdown>{caption}</figcaption>\n</figure>"
        parts.append(f"### {figure.heading}\n\n{framed}\n")
    return "\n".join(parts)


def claims_in_figure(figure: Figure, mine: Mapping[str, ClaimEntry]) -> Iterator[str]:
    """The claims of a page that a figure shows."""
    return (name for name, claim in mine.items() if figure.shows(name, claim.paper, claim.where))


def anchor(claim: str) -> str:
    """The anchor of a claim on its page."""
    return claim.lower()


def figure_anchor(figure: Figure) -> str:
    """The anchor of a figure on its page."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", figure.heading)).lower()


def figure_links(topic: str, claim: ClaimEntry) -> str:
    """A line below a claim with the figures that show it; empty where none does."""
    measured = [
        f"[figure {each.number}](#{figure_anchor(each)})"
        for each in topic_figures(topic)
        if each.shows(claim.id, claim.paper, claim.where)
    ]
    return f"\n**Shown in** {', '.join(measured)}.\n" if measured else ""


def schematics() -> str:
    """A table of the figures without data."""
    rows = [
        (paper, "; ".join(f"{number}: {what}" for number, what in them.items()))
        for paper, them in SCHEMATICS.items()
    ]
    return table(["paper", "figures"], rows, words=2)

"""The papers' figures, drawn from the saved results, and the text next to them on pages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sledlab.reproduction.draw import draw
from sledlab.reproduction.figure import Figure, figures
from sledlab.reproduction.save import to_file
from sledlab.reproduction.verdicts import figure_claims

from .markdown import table
from .runs import TableReads

IMAGES = "images/papers"
"""Folder of the figures in the documentation."""

NARROW, NARROW_PX = "-narrow", 600
"""Ending of the name of an image for narrow screens, and their greatest width."""

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


def topic_figures(topic: str) -> list[Figure]:
    """The figures on the page of a topic."""
    return [each for each in figures().values() if each.topic == topic]


def note_figure_columns(topic: str, directory: Path) -> None:
    """Note the columns that figures show as read, so that they are saved."""
    for figure in topic_figures(topic):
        for place, name, columns in figure.tables():
            TableReads.note(directory / place / f"{name}.csv", columns)


def write_pictures(figure: Figure, directory: Path, folder: Path) -> None:
    """Draw a figure from saved results, for wide and for narrow screens."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending, is_narrow in (("", False), (NARROW, True)):
        file = folder / f"{figure.name}{ending}.svg"
        to_file(draw(figure, directory, is_narrow=is_narrow), file, figure.heading)


def section(paper: str, links_by_claim: Mapping[str, str]) -> str:
    """The figures of a paper, each with the claims that it shows.

    Args:
        paper: A key of `PAPERS`.
        links_by_claim: Links to the claims of the paper with their outcomes.
    """
    parts = []
    for figure in figures().values():
        if figure.paper == paper:
            claim_links = [links_by_claim[claim.id] for claim in figure_claims(figure)]
            caption = ", ".join(claim_links)
            markup = (
                f"<figure markdown>\n{_image(figure)}\n<figcaption markdown>{caption}</figcaption>\n</figure>"
            )
            parts.append(f"### Figure {figure.number}: {figure.title}\n\n{markup}\n")
    return "\n".join(parts)


def _image(figure: Figure) -> str:
    """The image of a figure; on a narrow screen, that with panels on top of each other."""
    path = f"../{IMAGES}/{figure.name}"
    return (
        f'<picture><source media="(max-width: {NARROW_PX}px)" srcset="{path}{NARROW}.svg">'
        f'<img src="{path}.svg" alt="{figure.heading}: outcomes of its claims are in the caption"></picture>'
    )


def schematics() -> str:
    """A table of the figures without data."""
    rows = [
        (paper, "; ".join(f"{number}: {content}" for number, content in contents_by_number.items()))
        for paper, contents_by_number in SCHEMATICS.items()
    ]
    return table(["paper", "figures"], rows, word_columns=2)

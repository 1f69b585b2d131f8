"""The five papers."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """A paper, as the reproduction cites it; docs/papers.md has its title and authors."""

    citation: str
    topic: str


PAPERS = {
    "hong2006": Paper("Hong 2006", "MEMS storage devices: scheduling and power"),
    "wang2005": Paper("Wang 2005", "MEMS in front of disks"),
    "lee2009": Paper("Lee 2009", "parallelism-aware scheduling"),
    "lin": Paper("Lin", "power of a MEMS device"),
    "chiu2004": Paper("Chiu 2004", "smart storage"),
}
"""The papers by the prefix of the names of their figures and experiments."""


def quotation(paper: str, quote: str) -> str:
    """Return an excerpt of a paper in quotation marks, with the citation of the paper.

    Args:
        paper: A key of `PAPERS`.
        quote: The excerpt.
    """
    return f'"{quote}" ({PAPERS[paper].citation})'

"""Seek-time maps in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Document, Drawing, Grid, Heading, Text
from sledlab.show.face import DocumentFace
from sledlab.studies.seek_map import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.show.document import Part
    from sledlab.studies.seek_map.times import SeekMap


def answer(found: SeekMap) -> str:
    """A sentence: mean and longest positioning time."""
    return (
        f"From x = {found.start[0]}, y = {found.start[1]} the sled reaches a random place in "
        f"{found.mean_ms:.3f} ms on average, and the furthest in {found.max_ms:.3f} ms. In x alone the next "
        f"column takes {found.next_column_ms:.3f} ms, the full stroke {found.full_stroke_ms:.3f} ms."
    )


def regions(found: SeekMap) -> Grid:
    """The regions reached within a time."""
    head = ("within (ms)", "x extent (bits)", "y extent (bits)", "y : x", "share of places")
    rows = [
        (
            f"{region.threshold_ms:g}",
            f"{region.width_bits:,}",
            f"{region.height_bits:,}",
            "–" if region.aspect is None else f"{region.aspect:.1f}",
            f"{region.share * 100:.1f} %",
        )
        for region in found.regions()
    ]
    return Grid(head, rows, "numbers")


def brief(found: SeekMap) -> Sequence[Part]:
    """The parts for a terminal and a notebook."""
    rows, columns = found.ms.shape
    said = (
        f"{found.device} from x = {found.start[0]}, y = {found.start[1]}: mean {found.mean_ms:.3f} ms, "
        f"longest {found.max_ms:.3f} ms over {columns:,} columns and {rows} rows; in x alone "
        f"{found.next_column_ms:.3f} ms to the next column, {found.full_stroke_ms:.3f} ms for the full stroke"
    )
    return [Text(said), regions(found)]


def page(found: SeekMap) -> Document:
    """The page about the seek times of a device."""
    return Document(
        kind="seek-time map",
        title=f"Seek times of {found.device}",
        parts=[
            Text(answer(found), "answer"),
            Drawing(
                lambda: figures.seek_map(found),
                "seek-time map",
                width="narrow",
                panels=lambda: figures.panels(found),
            ),
            Heading("Regions reached within a time"),
            regions(found),
            Text(
                "Positioning time: the longer of x with settling and y with turnarounds. x needs settling "
                "after every move, y does not: regions are tall and narrow.",
                "quiet",
            ),
        ],
    )


FACE = DocumentFace(answer=answer, brief=brief, whole=page, figure=figures.seek_map)

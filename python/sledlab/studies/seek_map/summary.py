"""Seek-time maps in words and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Document, Drawing, Grid, Heading, Text
from sledlab.show.presentation import DocumentPresentation
from sledlab.studies.seek_map import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.show.document import Part
    from sledlab.studies.seek_map.times import SeekMap


def answer(result: SeekMap) -> str:
    """Return a sentence: mean and longest positioning time."""
    return (
        f"From x = {result.start[0]}, y = {result.start[1]} the sled reaches a random position "
        f"in {result.mean_ms:.3f} ms on average, and the furthest in {result.max_ms:.3f} ms. In x alone the "
        f"next column takes {result.next_column_ms:.3f} ms, the full stroke {result.full_stroke_ms:.3f} ms."
    )


def regions(result: SeekMap) -> Grid:
    """Return the regions reached within a time."""
    head = ("within (ms)", "x extent (bits)", "y extent (bits)", "y : x", "share of places")
    rows = [
        (
            f"{region.threshold_ms:g}",
            f"{region.width_bits:,}",
            f"{region.height_bits:,}",
            "–" if region.aspect is None else f"{region.aspect:.1f}",
            f"{region.share * 100:.1f} %",
        )
        for region in result.regions()
    ]
    return Grid(head, rows, "numbers")


def brief(result: SeekMap) -> Sequence[Part]:
    """Return the parts for a terminal and a notebook."""
    rows, columns = result.ms.shape
    text = (
        f"{result.device} from x = {result.start[0]}, y = {result.start[1]}: mean {result.mean_ms:.3f} ms, "
        f"longest {result.max_ms:.3f} ms over {columns:,} columns and {rows} rows; in x alone "
        f"{result.next_column_ms:.3f} ms to the next column, {result.full_stroke_ms:.3f} ms for the stroke"
    )
    return [Text(text), regions(result)]


def page(result: SeekMap) -> Document:
    """Return the page about the seek times of a device."""
    return Document(
        kind="seek-time map",
        title=f"Seek times of {result.device}",
        parts=[
            Text(answer(result), "answer"),
            Drawing(
                lambda: figures.seek_map(result),
                "seek-time map",
                width="narrow",
                panels=lambda: figures.panels(result),
            ),
            Heading("Regions reached within a time"),
            regions(result),
            Text(
                "Positioning time: the longer of x with settling and y with turnarounds. x needs settling "
                "after every move, y does not: regions are tall and narrow.",
                "quiet",
            ),
        ],
    )


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=figures.seek_map)

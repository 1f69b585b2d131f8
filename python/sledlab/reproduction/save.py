"""Saving figures: as small SVG with the same bytes each time, as PNG or as PDF."""

from __future__ import annotations

import re
from collections import Counter
from io import StringIO
from typing import TYPE_CHECKING

from sledlab.files import atomic_write
from sledlab.show.plots import style
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure as Drawing

DPI = 130

MIN_REPEATS = 4
"""Number of elements from which on they share a style as a class."""


def to_file(drawing: Drawing, file: Path, title: str) -> None:
    """Write a figure in the format that the ending of the file chooses: `.svg`, `.png` or `.pdf`.

    Raises:
        OSError: The file cannot be written.
    """
    with style(), atomic_write(file) as draft:
        if file.suffix == ".png":
            drawing.savefig(draft, format="png", dpi=DPI, facecolor="white")
            return
        if file.suffix == ".pdf":
            drawing.savefig(draft, format="pdf", metadata={"CreationDate": None, "Title": title})
            return
        svg_file = StringIO()
        drawing.savefig(
            svg_file,
            format="svg",
            facecolor="white",
            metadata={"Date": None, "Creator": None, "Title": title},
        )
        draft.write_text(_minify(visible(svg_file.getvalue())), encoding="utf-8")


def _minify(svg: str) -> str:
    """SVG without comments, ids of groups, breaks in paths, and further decimals of coordinates."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="(?:text|line2d|axes|xtick|ytick|matplotlib\.axis|patch|figure|legend)_\d+"', "", svg)
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r" *\n *", "\n", svg).replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
    return _with_style_classes(svg)


def _with_style_classes(svg: str) -> str:
    """SVG whose frequent styles are classes, defined once."""
    style_counts = Counter(re.findall(r' style="([^"]*)"', svg))
    frequent_styles = [css for css, count in style_counts.items() if count >= MIN_REPEATS]
    for index, label in enumerate(frequent_styles):
        svg = svg.replace(f' style="{label}"', f' class="s{index}"')
    rules = "".join(f".s{index}{{{label}}}" for index, label in enumerate(frequent_styles))
    return svg.replace("<defs>", f"<style>{rules}</style><defs>", 1)

"""Figures as files: SVG that is small and has the same bytes each time, or PNG."""

from __future__ import annotations

import re
from collections import Counter
from io import StringIO
from typing import TYPE_CHECKING

from sledlab.files import drafted
from sledlab.legible import visible
from sledlab.show.plots import style

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure as Drawing

DPI = 130

OFTEN = 4
"""Elements from which on a style is said once for all."""


def to_file(drawing: Drawing, file: Path, title: str) -> None:
    """Writes a figure, as what the ending of the file says: `.svg` or `.png`.

    Raises:
        OSError: It cannot be written.
    """
    with style(), drafted(file) as draft:
        if file.suffix == ".png":
            drawing.savefig(draft, format="png", dpi=DPI, facecolor="white")
            return
        out = StringIO()
        drawing.savefig(
            out, format="svg", facecolor="white", metadata={"Date": None, "Creator": None, "Title": title}
        )
        draft.write_text(_small(visible(out.getvalue())), encoding="utf-8")


def _small(svg: str) -> str:
    """Without comments, names of groups, breaks in paths, and more than two decimals of a point."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="(?:text|line2d|axes|xtick|ytick|matplotlib\.axis|patch|figure|legend)_\d+"', "", svg)
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)
    svg = re.sub(r" *\n *", "\n", svg).replace("'DejaVu Sans'", "system-ui, 'DejaVu Sans'")
    return _classed(svg)


def _classed(svg: str) -> str:
    """With styles that many elements have said once."""
    counted = Counter(re.findall(r' style="([^"]*)"', svg))
    often = [style for style, count in counted.items() if count >= OFTEN]
    for number, said in enumerate(often):
        svg = svg.replace(f' style="{said}"', f' class="s{number}"')
    rules = "".join(f".s{number}{{{said}}}" for number, said in enumerate(often))
    return svg.replace("<defs>", f"<style>{rules}</style><defs>", 1)

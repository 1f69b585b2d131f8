"""Tables as LaTeX, for papers: each table that a terminal shows as a `tabular`, with rules of `booktabs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.show.document import Grid, flatten
from sledlab.terminal_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sledlab.show.document import Part

SIGNS = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\xa0": "~",
    "\u202f": r"\,",
    "\u2212": "$-$",
    "\u2013": "--",
    "\u2026": r"\ldots{}",
    "\u00d7": r"$\times$",
    "\u00b1": r"$\pm$",
    "\u00b5": r"$\mu$",
    "\u03bc": r"$\mu$",
    "\u00b7": r"$\cdot$",
    "\u00b2": r"$^2$",
    "\u2192": r"$\rightarrow$",
    "\u2248": r"$\approx$",
}
"""LaTeX for characters that LaTeX takes as commands, or that its fonts lack."""


def tables(parts: Iterable[Part]) -> str:
    """Return all tables among parts, one after the other; needs `booktabs`.

    Examples:
        >>> print(tables([Grid(("", "mean"), [("FCFS", "1.5 ms"), ("R&D", "90 %")])]))
        % \\usepackage{booktabs}
        <BLANKLINE>
        \\begin{tabular}{lr}
          \\toprule
           & mean \\\\
          \\midrule
          FCFS & 1.5 ms \\\\
          R\\&D & 90 \\% \\\\
          \\bottomrule
        \\end{tabular}
        <BLANKLINE>
    """
    tabulars = [_tabular(part) for part in flatten(parts) if isinstance(part, Grid)]
    return "\n".join(["% \\usepackage{booktabs}\n", *tabulars])


def _tabular(grid: Grid) -> str:
    left_columns = grid.left_columns
    alignment = "".join("l" if column in left_columns else "r" for column in range(len(grid.head)))
    head, *rows = (_row(row) for row in (grid.head, *grid.rows))
    lines = [r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    return "\n".join(
        [f"\\begin{{tabular}}{{{alignment}}}", *(f"  {line}" for line in lines), "\\end{tabular}\n"]
    )


def _row(cells: Iterable[str]) -> str:
    return " & ".join("".join(SIGNS.get(sign, sign) for sign in visible(cell)) for cell in cells) + r" \\"

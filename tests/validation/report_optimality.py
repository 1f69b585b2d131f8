"""How far schedulers are from the best order there is (AN-08)."""

from __future__ import annotations

import re

from .markdown import table
from .rust_tests import NUMBER, output


def section() -> str:
    """The section."""
    text = output(("schedulers",), "optimality")
    gaps = re.findall(rf"^[.]*gap to the optimum of ([-a-z]+): {NUMBER} %$", text, re.MULTILINE)
    rows = [[f"`{name}`", f"{float(gap):.1f} %"] for name, gap in sorted(gaps, key=lambda gap: float(gap[1]))]
    return f"""\
## How far from the optimum

`optimal` finds the order with the smallest sum of completion times by dynamic programming; it agrees with
trying all orders. Others order the same nine requests of 8 blocks, one at a time, that wait while a first one
is served: how much longer their mean completion takes, over 100 instances on a G2 with free, upward and
parity directions and with the third layout (AN-08). Nothing arrives meanwhile.

{table(["scheduler", "mean gap"], rows)}
"""

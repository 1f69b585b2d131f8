"""Numbers of nodes on which the component of a goal is level with another one as the bottleneck."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from sledlab.show.cluster_figures import PART_NAMES
from sledlab.show.ranking import is_level
from sledlab.show.wording import list_names, pluralize, saved_percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.size.result import Size

MAX_NAMED = 6
"""Most numbers of nodes that a sentence names."""


def sentence(rows: Sequence[Size], part: str, job: str) -> str:
    """Return the numbers of nodes on which a component is level with another one, or the only bottleneck.

    Args:
        rows: The replays on a device, fewest nodes first.
        part: The component of the goal.
        job: The job and its device, as in `join on mems-g3`.

    Returns:
        A sentence; empty where the component is the only bottleneck on all numbers that meet the goal.
    """
    last_rows = list(takewhile(lambda row: row.run.bottleneck == part or rival(row, part), reversed(rows)))
    last_rows.reverse()
    level = [row for row in last_rows if rival(row, part)]
    if not level:
        return ""
    clear = [row for row in last_rows if row not in level]
    name, other = PART_NAMES[part], rival(level[0], part)
    savings = f"a {name} twice as fast saves {_savings(level, part)}"
    tie = f"{savings}, a {PART_NAMES[other]} {_savings(level, other)}"
    if not clear:
        fewest = pluralize(level[0].nodes, "node")
        return f"{name.capitalize()} and {PART_NAMES[other]} are level for {job} from {fewest} on: {tie}."
    is_end = clear == last_rows[len(level) :]
    numbers = f"from {pluralize(clear[0].nodes, 'node')} on" if is_end else f"on {_numbers(clear)} nodes"
    return (
        f"The {name} is the bottleneck of {job} {numbers}. It is level with the {PART_NAMES[other]} on "
        f"{_numbers(level)}: {tie}."
    )


def rival(row: Size, part: str) -> str:
    """Return the other component that would save most, if the job takes as long with either twice as fast.

    Empty if one of the two saves clearly more.
    """
    savings = row.run.savings()
    other = max((each for each in savings if each != part), key=savings.__getitem__)
    return other if is_level(1 - (1 - savings[part]) / (1 - savings[other])) else ""


def _numbers(rows: Sequence[Size]) -> str:
    return list_names([f"{row.nodes:,}" for row in rows], MAX_NAMED)


def _savings(rows: Sequence[Size], part: str) -> str:
    """Return the interval of the shares of time that a component twice as fast saves."""
    shares = [row.run.savings()[part] for row in rows]
    low, high = saved_percent(min(shares)), saved_percent(max(shares))
    return low if low == high else f"{low} to {high}"

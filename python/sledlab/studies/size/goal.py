"""The goal of a cluster, and the range of nodes to try."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sledlab.errors import Error, unknown
from sledlab.job.task import MAX_NODES
from sledlab.show.cluster_figures import PART_NAMES
from sledlab.studies.smart.replays import PARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.studies.costs.cost import Cost
    from sledlab.studies.smart.replays import ReplayFigures

UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0, "h": 3600.0}
"""Units of a deadline, each in s."""

DEADLINE = re.compile(rf"\s*([\d.]+(?:e[+-]?\d+)?)\s*({'|'.join(UNITS)})\s*", re.IGNORECASE)
RANGE = re.compile(r"\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*")


@dataclass(frozen=True)
class ClusterGoal:
    """The goal of a cluster: `until`, or a deadline, a budget or both.

    Attributes:
        until: The component that would save most if it were twice as fast: `compute`, `store` or `network`.
        deadline_s: Longest time of the job, in s.
        budget_usd: Highest price of the cluster, in USD; without a deadline the fastest such cluster is
            found.
    """

    until: str | None = None
    deadline_s: float | None = None
    budget_usd: float | None = None

    @property
    def is_fastest(self) -> bool:
        """Whether the fastest cluster within a budget is to be found, not the smallest."""
        return self.until is None and self.deadline_s is None

    def is_met(self, run: ReplayFigures, cost: Cost) -> bool:
        """Whether a replay meets the goal."""
        if self.until is not None:
            return run.bottleneck == self.until
        in_time = self.deadline_s is None or run.elapsed_s <= self.deadline_s
        return in_time and (self.budget_usd is None or (cost.cluster_usd or 0.0) <= self.budget_usd)


def goal(until: str | None, deadline: float | str | None, budget: float | str | None = None) -> ClusterGoal:
    """The goal that options name.

    Raises:
        Error: There is no goal, goals exclude each other, or a value is invalid.
    """
    limits = {"deadline": deadline, "budget": budget}
    given_names = [name for name, value in limits.items() if value is not None]
    if (until is None) == (not given_names):
        mistake = f"both a component and a {given_names[0]} were" if given_names else "no goal was"
        raise Error(
            f"{mistake} given",
            remedy="use either --until network, or --deadline 60s or --budget 20000 or both of these",
        )
    if until is None:
        return ClusterGoal(
            deadline_s=None if deadline is None else seconds(deadline),
            budget_usd=None if budget is None else dollars(budget),
        )
    parts_by_name = {**{part: part for part in PARTS}, **{name: part for part, name in PART_NAMES.items()}}
    if until not in parts_by_name:
        raise unknown("component", until, list(parts_by_name))
    return ClusterGoal(parts_by_name[until])


def dollars(text: float | str) -> float:
    """An amount of money in USD, from a number or a text such as `20000` or `$20,000`.

    Raises:
        Error: The value is no amount above 0.

    Examples:
        >>> [dollars(text) for text in (20000, "20000", "$20,000")]
        [20000.0, 20000.0, 20000.0]
    """
    try:
        value = float(str(text).strip().removeprefix("$").replace(",", ""))
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise Error(f"`{text}` is not a budget", remedy="write it as 20000, in USD")
    return value


def seconds(text: float | str) -> float:
    """A time in s, from a number or a text such as `60`, `60s`, `2min` or `500ms`.

    Raises:
        Error: The value is no time above 0.

    Examples:
        >>> [seconds(text) for text in (60, "60", "1.5 s", "2min", "500ms")]
        [60.0, 60.0, 1.5, 120.0, 0.5]
    """
    match = DEADLINE.fullmatch(str(text))
    try:
        value = float(match[1]) * UNITS[match[2].lower()] if match else math.nan
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise Error(f"`{text}` is not a deadline", remedy="write it as 60s, 2min or 500ms")
    return value


def parse_node_range(limits: str | Sequence[int]) -> tuple[int, int]:
    """The fewest and the most nodes, from a pair or a text such as `2..1024`.

    Raises:
        Error: The value is no range of numbers of nodes.

    Examples:
        >>> parse_node_range("2..1024"), parse_node_range((4, 8))
        ((2, 1024), (4, 8))
    """
    text = limits if isinstance(limits, str) else "..".join(map(str, limits))
    match = RANGE.fullmatch(text)
    if match is None:
        raise Error(f"`{text}` is not a range of nodes", remedy="write it as 2..1024")
    first, last = int(match[1]), int(match[2])
    for each in (first, last):
        if not 1 <= each <= MAX_NODES:
            raise Error(
                f"`{text}`: a job cannot run on {each:,} nodes", remedy=f"choose from 1 to {MAX_NODES:,}"
            )
    if first > last:
        raise Error(f"`{text}` ends before it begins", remedy=f"write it as {last}..{first}")
    return first, last

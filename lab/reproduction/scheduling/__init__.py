"""What papers 000 and 002 claim about scheduling."""

from __future__ import annotations

from collections.abc import Mapping

from ...markdown import table
from ..claims import NOT, judging
from ..topic import Judged, Topic
from . import disk_schedulers, effort, mechanics, parallelism, positioning, requirements, traces, zones
from .plan import PLAN, Reading

judging(mechanics, traces, zones, disk_schedulers, positioning, effort, parallelism, requirements)


def _places(runs: Reading, verdicts: Mapping[str, Judged]) -> dict[str, str]:
    """The experiments, and what is reproduced, at least in part, in the second reading alone."""
    head = ["experiment", "points", "seeds", "requests a point, at least", "longest mean queue"]
    other_way = [
        name
        for name, judged in verdicts.items()
        if judged.found.outcome == NOT and judged.other and judged.other.outcome != NOT
    ]
    return {"experiments": table(head, runs.lengths()), "other_way": ", ".join(other_way) or "none"}


SCHEDULING = Topic(
    "scheduling", PLAN, Reading, _places, other=lambda directory: Reading(directory, both_ways=True)
)

"""Claims of Hong 2006 and Lee 2009 on scheduling."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import judging
from ..markdown import table
from ..topic import ClaimVerdict, Topic
from . import (
    disk_schedulers,
    effort,
    headlines,
    mechanics,
    parallelism,
    positioning,
    requirements,
    traces,
    zones,
)
from .plan import BOTH_WAYS, PLAN, Reading

judging(headlines, mechanics, traces, zones, disk_schedulers, positioning, effort, parallelism, requirements)


def _places(runs: Reading, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    head = ["experiment", "runs", "seeds", "requests a run, at least", "longest mean queue"]
    return {"experiments": table(head, runs.lengths())}


SCHEDULING = Topic(
    "scheduling",
    PLAN,
    Reading,
    _places,
    other=(BOTH_WAYS,),
    title="Columns by parity",
    other_title="Columns read both ways",
)

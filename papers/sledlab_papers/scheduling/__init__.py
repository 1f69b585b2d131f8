"""Claims of Hong 2006 and Lee 2009 on scheduling."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import register_judges
from ..markdown import table
from ..topic import ClaimVerdict, Topic
from . import (
    disk_schedulers,
    effort,
    further,
    headlines,
    mechanics,
    parallelism,
    positional,
    positioning,
    recorded_hours,
    requirements,
    traces,
    zones,
)
from .plan import PLAN, SchedulingRuns

register_judges(
    headlines,
    mechanics,
    traces,
    zones,
    disk_schedulers,
    positioning,
    effort,
    parallelism,
    positional,
    requirements,
    further,
)


def _page_texts(runs: SchedulingRuns, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    head = ["experiment", "runs", "seeds", "requests a run, at least", "longest mean queue"]
    return {"experiments": table(head, runs.length_rows()), "recorded": recorded_hours.tables(runs)}


SCHEDULING = Topic("scheduling", PLAN, SchedulingRuns, _page_texts)

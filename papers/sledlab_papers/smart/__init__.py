"""Claims of Chiu 2004 on smart storage."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import judging
from ..topic import ClaimVerdict, Topic
from . import all_workloads, devices, future_work, mining, stages, tables
from .layouts import NO_READ_AHEAD
from .plan import PLAN, SmartRuns

judging(devices, stages, mining, all_workloads, future_work)


def _places(runs: SmartRuns, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    return {
        "experiments": runs.experiments((*PLAN, *future_work.BEYOND)),
        **tables.places(runs),
        **future_work.places(runs),
    }


SMART = Topic(
    "smart",
    (*PLAN, *future_work.BEYOND),
    SmartRuns,
    _places,
    other=(NO_READ_AHEAD.suffix,),
    other_title="Pages in order, without read-ahead",
)

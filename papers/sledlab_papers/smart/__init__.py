"""Claims of Chiu 2004 on smart storage."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import judging
from ..topic import Judged, Topic
from . import beyond, devices, mining, stages, tables, whole
from .plan import PLAN, SmartRuns
from .readings import NO_READ_AHEAD

judging(devices, stages, mining, whole, beyond)


def _places(runs: SmartRuns, _: Mapping[str, Judged]) -> dict[str, str]:
    return {
        "experiments": runs.experiments((*PLAN, *beyond.BEYOND)),
        **tables.places(runs),
        **beyond.places(runs),
    }


SMART = Topic(
    "smart",
    (*PLAN, *beyond.BEYOND),
    SmartRuns,
    _places,
    other=(NO_READ_AHEAD.suffix,),
    other_title="Pages in order, without read-ahead",
)

"""What paper 004 claims about smart storage."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import judging
from ..topic import Judged, Topic
from . import devices, mining, stages, tables, whole
from .plan import PLAN, SmartRuns

judging(devices, stages, mining, whole)


def _places(runs: SmartRuns, _: Mapping[str, Judged]) -> dict[str, str]:
    return {"experiments": runs.experiments(PLAN), **tables.places(runs)}


SMART = Topic("smart", PLAN, SmartRuns, _places)

"""Claims of Chiu 2004 on smart storage."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import register_judges
from ..topic import ClaimVerdict, Topic
from . import (
    all_workloads,
    devices,
    distributions,
    future_work,
    mining,
    offloading,
    placement,
    stages,
    tables,
)
from .plan import PLAN, SmartRuns

register_judges(devices, stages, mining, distributions, all_workloads, future_work, offloading, placement)

ALL_EXPERIMENTS = (*PLAN, *future_work.FUTURE_EXPERIMENTS, *placement.PLACEMENTS)


def _page_texts(runs: SmartRuns, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    return {
        "experiments": runs.experiment_table(ALL_EXPERIMENTS),
        **tables.page_texts(runs),
        "sections": distributions.sections_table(runs),
        "placement": placement.placement_table(runs),
        **future_work.page_texts(runs),
    }


SMART = Topic("smart", ALL_EXPERIMENTS, SmartRuns, _page_texts)

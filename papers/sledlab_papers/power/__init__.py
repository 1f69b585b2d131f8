"""Claims of Hong 2006 and Lin on power."""

from __future__ import annotations

from collections.abc import Mapping

from ..claims import register_judges
from ..topic import ClaimVerdict, Topic
from ..validation_results import SEAGATE, TIMEOUTS
from . import (
    breakdown,
    breakeven,
    combined,
    energy_sums,
    merging,
    parameters,
    parts,
    policies,
    savings,
    timeouts,
    workloads,
)
from .plan import PLAN, PowerRuns

register_judges(parameters, workloads, breakdown, timeouts, policies, merging, parts, combined)


def _page_texts(runs: PowerRuns, _: Mapping[str, ClaimVerdict]) -> dict[str, str]:
    return {
        "experiments": runs.experiment_table(PLAN),
        **energy_sums.page_texts(),
        **breakeven.page_texts(runs),
        **savings.page_texts(runs),
    }


POWER = Topic("power", PLAN, PowerRuns, _page_texts, validation_results=(SEAGATE, TIMEOUTS))

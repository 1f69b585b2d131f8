"""The plan of tuning: segments, replacement policies and sizes of MEMS, by successive halving.

Each size of segment replays a part of the requests, with the policy of the highest hit ratio on the trace
alone; the better half of the sizes replays more. The last two replay all requests, with every policy whose
hit ratio is nearly as high. The best is then replayed with less and less MEMS, of which the least that costs
no speed is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.choices import positive_number
from sledlab.show.ranking import Ranking
from sledlab.studies.stores.configurations import ALL, DISK, MEMS, SEGMENTS_KB
from sledlab.studies.stores.plan import Stores, StoresPlan, configuration_settings
from sledlab.studies.stores.rows import policy_hits
from sledlab.studies.tune.options import POLICIES
from sledlab.study.plan import Case, Plan, Question, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.study.bench import Measure

PARTS = (16, 4)
"""Divisors of the requests: candidates replay a 16th and a 4th of them before all of them."""

FINALISTS = 2
"""Sizes of segments that replay all requests, unless there are too few requests for parts."""

MIN_REQUESTS = 2000
"""Minimum number of requests of a part; results of fewer have no meaning."""

MAX_HIT_RATIO_GAP = 0.01
"""Policies whose hit ratio is lower than the highest by more than this are not tried."""

HALVINGS = 3
"""Number of times that the MEMS of the best candidate is halved."""

ALL_REQUESTS, SMALLER = "all", "smaller"
"""Names of the stages that replay all requests."""


@dataclass(frozen=True)
class Candidate:
    """A caching disk that may be chosen.

    Attributes:
        mb: Size of the MEMS, in 2^20 bytes.
        segment_kb: Size of a segment, in 1024 bytes.
        policy: The replacement policy.
        hit_ratio: Share of all uses of segments that hit under the policy, on the trace alone, without
            timing.
    """

    mb: float
    segment_kb: int
    policy: str
    hit_ratio: float = 0.0

    def case(self, stores: Stores, stage: str, requests: int = 0) -> Case:
        """The candidate's run on the first `requests` requests, or on all."""
        identity = {"configuration": ALL, "stage": stage, "mems_mb": self.mb, "segment_kb": self.segment_kb}
        labels = {**identity, "policy": self.policy, "hit_ratio": self.hit_ratio}
        store_settings = stores.settings(ALL, self.mb, self.segment_kb, self.policy)
        limit_settings = (("replay.limit", str(requests)),) if requests else ()
        return Case("runs", tuple(labels.items()), DISK, (*store_settings, *limit_settings))


def plan(question: Question) -> StoresPlan:
    """Check all that can be checked before the first run; its cases are the baselines.

    Raises:
        Error: An option is invalid.
    """
    axes: dict[str, Any] = {
        "budget": None,
        "price_per_mb": None,
        "segment_kb": SEGMENTS_KB,
        "replacement": POLICIES,
        **question.axes,
    }
    if axes["budget"] is None:
        raise Error("no budget was given", remedy="specify the maximum size of MEMS with --budget MIB")
    stores = Stores.from_question(question)
    roots = question.seeds(plain(stores.bases[DISK].to_toml()))
    baselines = [
        Case(
            "baselines",
            (("configuration", name),),
            MEMS if name == MEMS else DISK,
            configuration_settings(name, 0, 0, {}),
        )
        for name in stores.with_baselines((DISK, MEMS))
    ]
    baseline_plan = stores.plan(baselines, roots, axes)
    candidates = [
        Candidate(budget_mb(axes), kb, each)
        for kb in _fitting_segments(baseline_plan)
        for each in axes["replacement"]
    ]
    replace(baseline_plan, cases=[each.case(stores, ALL_REQUESTS) for each in candidates]).check()
    return baseline_plan


def budget_mb(axes: Any) -> float:
    """The MEMS that a budget buys, in 2^20 bytes; the budget itself where there is no price.

    Examples:
        >>> budget_mb({"budget": 256.0, "price_per_mb": None})
        256.0
        >>> budget_mb({"budget": 100.0, "price_per_mb": 0.5})
        200.0
    """
    return float(axes["budget"] / (axes["price_per_mb"] or 1))


def extend_plan(plan: Plan, measure: Measure) -> Plan:
    """The plan with all runs that led to the choice, in their order, and the baselines."""
    assert isinstance(plan, StoresPlan)
    stores, request_count, cases_run = plan.stores, plan.stores.facts.requests, list[Case]()

    def rank(candidates: Sequence[Candidate], requests: int, stage: str) -> list[Candidate]:
        """The candidates, best first, overloaded ones last: by mean response, then by hit ratio."""
        cases = {each: each.case(stores, stage, requests) for each in candidates}
        stage_plan = replace(plan, cases=list(cases.values()))
        measured_runs = measure(stage_plan, stage)
        runs = {each: measured_runs[stage_plan.specs_of(case)[0]].row for each, case in cases.items()}
        cases_run.extend(stage_plan.cases)
        ranking = Ranking.of(
            candidates, lambda each: (runs[each].mean_ms, -each.hit_ratio), lambda each: runs[each].saturated
        )
        return list(ranking)

    candidates_by_size = _candidates(plan)
    remaining_candidates = [
        max(size_candidates, key=lambda each: each.hit_ratio)
        for size_candidates in candidates_by_size.values()
    ]
    for divisor in PARTS:
        if request_count // divisor >= MIN_REQUESTS and len(remaining_candidates) > FINALISTS:
            next_count = max(FINALISTS, ceil(len(remaining_candidates) / 2))
            ranked = rank(remaining_candidates, request_count // divisor, f"first 1/{divisor}")
            remaining_candidates = ranked[:next_count]
    best = rank(
        [each for finalist in remaining_candidates for each in candidates_by_size[finalist.segment_kb]],
        0,
        ALL_REQUESTS,
    )[0]
    smaller = [replace(best, mb=best.mb / 2**halving) for halving in range(1, HALVINGS + 1)]
    rank([each for each in smaller if stores.segment_count(each.mb, each.segment_kb) > 0], 0, SMALLER)
    return replace(plan, cases=[*cases_run, *plan.cases])


def _fitting_segments(plan: StoresPlan) -> list[int]:
    """Sizes of segments of which the MEMS holds one at least.

    Raises:
        Error: There is none.
    """
    mb = positive_number("size of MEMS", budget_mb(plan.axes))
    sizes_kb = [kb for kb in plan.axes["segment_kb"] if plan.stores.segment_count(mb, kb) > 0]
    if not sizes_kb:
        raise Error(f"{mb:g} MiB of MEMS are smaller than a segment", remedy="raise the budget")
    return sizes_kb


def _candidates(plan: StoresPlan) -> dict[int, list[Candidate]]:
    """For each size of segment, policies with the highest or a close hit ratio; one where all are equal."""
    mb, candidates_by_size = budget_mb(plan.axes), {}
    for kb in _fitting_segments(plan):
        hits = [
            Candidate(mb, kb, row.policy, row.hit_ratio or 0.0)
            for row in policy_hits(plan.stores, plan.axes["replacement"], mb, kb)
        ]
        highest_ratio = max(each.hit_ratio for each in hits)
        if highest_ratio == min(each.hit_ratio for each in hits):
            hits = hits[:1]
        candidates_by_size[kb] = [
            each for each in hits if each.hit_ratio >= highest_ratio - MAX_HIT_RATIO_GAP
        ]
    return candidates_by_size

"""Costs of the clusters of a study, and of jobs on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.studies.costs.cost import UNKNOWN_COST, cluster_price, job_cost, part_names
from sledlab.study.plan import plain, with_run_name

if TYPE_CHECKING:
    from sledlab.studies.costs.cost import Cost
    from sledlab.studies.costs.prices import Prices
    from sledlab.studies.smart.replays import ReplayFigures
    from sledlab.study.plan import Plan, RunSpec


def all_names(plan: Plan) -> dict[str, set[str]]:
    """Return the names of all parts, of any of the clusters, that need prices."""
    names_by_kind: dict[str, set[str]] = {"node": set(), "device": set(), "network": set()}
    for text in plan.texts.values():
        for kind, names in part_names(plain(text)).items():
            names_by_kind[kind] |= names
    return names_by_kind


def check_prices(plan: Plan, prices: Prices) -> None:
    """Check, before the first run, that prices given are of some part, and that every part has a price.

    Raises:
        Error: A price is of no part, or a part has no price; the message names the run.
    """
    if not prices.are_explicit:
        return
    prices.check(all_names(plan))
    for case in plan.select_cases("runs"):
        (spec,) = plan.specs_of(case)
        try:
            cluster_price(plain(plan.texts[spec]), case["nodes"], prices)
        except Error as error:
            raise with_run_name(error, case.name) from error


def replay_cost(plan: Plan, spec: RunSpec, nodes: int, row: ReplayFigures, prices: Prices) -> Cost:
    """Return the costs of a replay; None where a part of the cluster has no price."""
    try:
        price = cluster_price(plain(plan.texts[spec]), nodes, prices)
    except Error:
        return UNKNOWN_COST
    return job_cost(price, row.elapsed_s, row.energy_j, prices)

"""Costs of the clusters of a study, and of jobs on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.study.cost import UNKNOWN, cost_of, names_in, price_of
from sledlab.study.plan import plain, with_run_name

if TYPE_CHECKING:
    from sledlab.study.cost import Cost
    from sledlab.study.plan import Plan, RunSpec
    from sledlab.study.prices import Prices
    from sledlab.study.replays import ReplayFigures


def all_names(plan: Plan) -> dict[str, set[str]]:
    """Return the names of all parts, of any of the clusters, that need prices."""
    result: dict[str, set[str]] = {"node": set(), "device": set(), "network": set()}
    for text in plan.texts.values():
        for kind, names in names_in(plain(text)).items():
            result[kind] |= names
    return result


def check_prices(plan: Plan, prices: Prices) -> None:
    """Check, before the first run, that prices given are of some part, and that no part lacks a price.

    Raises:
        Error: A price is of no part, or a part has no price; the message names the run.
    """
    if not prices.are_explicit:
        return
    prices.check(all_names(plan))
    for case in plan.of("runs"):
        (spec,) = plan.specs_of(case)
        try:
            price_of(plain(plan.texts[spec]), case["nodes"], prices)
        except Error as error:
            raise with_run_name(error, case.name) from error


def cost_at(plan: Plan, spec: RunSpec, nodes: int, row: ReplayFigures, prices: Prices) -> Cost:
    """Return the costs of a replay; None where a part of the cluster has no price."""
    try:
        price = price_of(plain(plan.texts[spec]), nodes, prices)
    except Error:
        return UNKNOWN
    return cost_of(price, row.elapsed_s, row.energy_j, prices)

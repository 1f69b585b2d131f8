"""Costs of clusters with any number of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.studies.costs.cost import UNKNOWN_COST, cluster_price, job_cost, part_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.studies.costs.cost import ClusterPrice, Cost
    from sledlab.studies.costs.prices import Prices
    from sledlab.studies.smart.replays import ReplayFigures


class Bill:
    """Costs of clusters with each device, by number of nodes.

    Attributes:
        used_prices: The prices that are used, in USD, as plain data.
    """

    def __init__(
        self, configs: Mapping[str, Mapping[str, Any]], prices: Prices, *, requires_prices: bool
    ) -> None:
        """Check prices.

        Args:
            configs: The experiment with each device, complete, as plain data.
            prices: All prices.
            requires_prices: Whether every part must have a price, as with a budget.

        Raises:
            Error: A price is of no part; or a part has no price, and prices are needed or were given by the
                user.
        """
        self._configs, self._prices = configs, prices
        names_of_configs = [part_names(config) for config in configs.values()]
        names = {
            kind: {name for each in names_of_configs for name in each[kind]} for kind in names_of_configs[0]
        }
        prices.check(names)
        self.used_prices = prices.select(names)
        if requires_prices or prices.are_explicit:
            for name in configs:
                self._price(name, 1)

    def _price(self, name: str, nodes: int) -> ClusterPrice:
        return cluster_price(self._configs[name], nodes, self._prices)

    def cost(self, name: str, nodes: int, row: ReplayFigures) -> Cost:
        """Return the costs of a replay on a device and a number of nodes; None where a part has no price."""
        try:
            price = self._price(name, nodes)
        except Error:
            return UNKNOWN_COST
        return job_cost(price, row.elapsed_s, row.energy_j, self._prices)

    def max_nodes(self, name: str, budget_usd: float, first: int, last: int) -> int:
        """Return the maximum nodes up to `last` within a budget; `first - 1` if `first` exceeds it."""
        low, high = first - 1, last
        while low < high:
            middle = (low + high + 1) // 2
            if self._price(name, middle).total <= budget_usd:
                low = middle
            else:
                high = middle - 1
        return low

"""Costs of a cluster and of a job on it.

The price of a cluster is that of its nodes, of their stores and of the ports of its network. A job pays for
the time that it holds the cluster, whose price is written off evenly over some years, and for its energy:

    job = cluster x elapsed / years + energy x price of a kWh

Nodes, hosts and ports are those whose energy is counted: a port for each node, the host and the client.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sledlab._native import Experiment
from sledlab.model.device import describe
from sledlab.model.settings import document
from sledlab.studies.costs.prices import no_price
from sledlab.study.columns import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeVar

    from sledlab.studies.costs.prices import Prices

    T = TypeVar("T")

YEAR_S = 365.25 * 86_400
KWH_J = 3.6e6
BLOCK_BYTES = 512


@dataclass(frozen=True)
class ClusterPrice:
    """The price of a cluster by its parts, in USD.

    Attributes:
        nodes: Price of the nodes and the host, without stores.
        stores: Price of the stores of all nodes.
        ports: Price of the ports of the network, that of the client included.
    """

    nodes: float
    stores: float
    ports: float

    @property
    def total(self) -> float:
        """Price of the cluster."""
        return self.nodes + self.stores + self.ports


@dataclass(frozen=True)
class Cost:
    """The costs of a cluster and of a job on it; None where a part has no price."""

    cluster_usd: Annotated[float | None, Column("price of the cluster", "USD")]
    job_usd: Annotated[float | None, Column("money for the job: its share of the cluster and energy", "USD")]
    nodes_usd: Annotated[float | None, Column("part of job_usd for nodes without their stores", "USD")]
    stores_usd: Annotated[float | None, Column("part of job_usd for stores", "USD")]
    ports_usd: Annotated[float | None, Column("part of job_usd for ports of the network", "USD")]
    power_usd: Annotated[float | None, Column("part of job_usd for energy", "USD")]


UNKNOWN_COST = Cost(None, None, None, None, None, None)
"""The costs of a cluster of which a part has no price."""


def job_cost(price: ClusterPrice, elapsed_s: float, energy_j: float, prices: Prices) -> Cost:
    """The costs of a job that holds a cluster for `elapsed_s` and takes `energy_j`.

    Examples:
        >>> from sledlab.studies.costs.prices import prices
        >>> cost = job_cost(ClusterPrice(600.0, 200.0, 200.0), 94.6728, 3.6e6, prices())
        >>> round(cost.job_usd, 6), round(cost.power_usd, 6)
        (0.081, 0.08)
    """
    share = elapsed_s / (prices.years * YEAR_S)
    parts = (price.nodes * share, price.stores * share, price.ports * share, energy_j / KWH_J * prices.kwh)
    return Cost(price.total, sum(parts), *parts)


def cluster_price(config: Mapping[str, Any], nodes: int, prices: Prices) -> ClusterPrice:
    """The price of a cluster.

    Args:
        config: The experiment of a replay, complete, as plain data.
        nodes: Nodes that hold data; the host of `cluster.at` is one more.
        prices: The prices of all parts.

    Raises:
        Error: A part of the cluster has no price.
    """
    groups = config.get("group", [])
    default_nodes = nodes - sum(len(group["nodes"]) for group in groups)
    kinds = [(config, default_nodes), *((group, len(group["nodes"])) for group in groups)]
    used_kinds = [(kind, count) for kind, count in kinds if count]
    hosts = [config["host"]] if config["cluster"]["at"] == "host" else []
    counted_nodes = [(kind["node"], count) for kind, count in used_kinds] + [(host, 1) for host in hosts]
    return ClusterPrice(
        sum(count * prices.price("node", _name(node)) for node, count in counted_nodes),
        sum(count * store_price(kind, prices) for kind, count in used_kinds),
        (nodes + len(hosts) + 1) * prices.price("network", _name(config["network"])),
    )


def store_price(kind: Mapping[str, Any], prices: Prices) -> float:
    """The price of the store of a node, in USD: all its devices, those of a front, and the cache.

    Args:
        kind: The tables of the store, complete, from `device` to `front`.
        prices: The prices of all parts.

    Raises:
        Error: A part of the store has no price.
    """
    device_usd = sum(_device_price(device, prices) for device in _devices(kind))
    cache = kind["cache"]
    if cache["kind"] == "none":
        return float(kind["system"]["devices"] * device_usd)
    memory_usd = prices.price("device_gb", "ram") * cache["capacity_blocks"] * BLOCK_BYTES / 1e9
    return float(kind["system"]["devices"] * device_usd + memory_usd)


def _devices(kind: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The device, and the one in front of it where the store is a hybrid."""
    is_hybrid = kind.get("hybrid", {}).get("kind", "none") != "none"
    return [kind["device"], *([kind["front"]] if is_hybrid else [])]


def _device_price(device: Mapping[str, Any], prices: Prices) -> float:
    """The price of a device, by piece or by capacity."""
    name = _name(device)
    if name in prices.tables["device"]:
        return prices.price("device", name)
    if name not in prices.tables["device_gb"]:
        raise no_price("device", name)
    blocks = describe(Experiment(document({"device": device})))["capacity_blocks"]
    return prices.price("device_gb", name) * float(blocks) * BLOCK_BYTES / 1e9


def _name(model: Mapping[str, Any]) -> str:
    """The name of a preset of a node, device or network, or that of its file without the ending."""
    return str(model.get("name", ""))


def part_names(config: Mapping[str, Any]) -> dict[str, set[str]]:
    """Names of all parts of a cluster that need prices, by `node`, `device` and `network`."""
    kinds = [config, *config.get("group", [])]
    hosts = [config["host"]] if config["cluster"]["at"] == "host" else []
    return {
        "node": {_name(node) for node in [*(kind["node"] for kind in kinds), *hosts]},
        "device": {_name(device) for kind in kinds for device in _devices(kind)}
        | {"ram" for kind in kinds if kind["cache"]["kind"] != "none"},
        "network": {_name(config["network"])},
    }


def frontier(points: Sequence[T], pair_of: Callable[[T], tuple[float, float]]) -> list[T]:
    """The points that no other beats in both of two values (less is better), by the first; equal ones once.

    Examples:
        >>> frontier([(3, 1), (1, 5), (2, 2), (3, 3), (2, 2)], lambda point: point)
        [(1, 5), (2, 2), (3, 1)]
    """
    best_points: list[T] = []
    for point in sorted(points, key=pair_of):
        if not best_points or pair_of(point)[1] < pair_of(best_points[-1])[1]:
            best_points.append(point)
    return best_points

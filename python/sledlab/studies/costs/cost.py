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
from sledlab.errors import Error
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
MIB_BYTES = 2**20

MEMORY = "dram"
"""Name of the memory of caches in tables of prices."""


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
        sum(count * prices.price("node", part_name(node)) for node, count in counted_nodes),
        sum(count * store_price(kind, prices) for kind, count in used_kinds),
        (nodes + len(hosts) + 1) * prices.price("network", part_name(config["network"])),
    )


def store_price(kind: Mapping[str, Any], prices: Prices) -> float:
    """The price of the store of a node, in USD: all its devices, those of a front, and the cache.

    Args:
        kind: The tables of the store, complete, from `device` to `front`.
        prices: The prices of all parts.

    Raises:
        Error: A part of the store has no price.
    """
    return sum(part.usd for part in store_parts(kind, prices))


@dataclass(frozen=True)
class PricedPart:
    """A part of a store: devices of a kind, or memory of a cache.

    Attributes:
        name: Name of the device, as tables of prices spell it; `dram` for a cache.
        table: Table of its price: `device` or `device_gb`.
        quantity: Devices, or 10^9 bytes; of a front device with a price by capacity, those that are used.
        price: Price of a device, or of 10^9 bytes, in USD.
        whole: Devices, or 10^9 bytes, if a front device is bought as a whole.
    """

    name: str
    table: str
    quantity: float
    price: float
    whole: float

    @property
    def usd(self) -> float:
        """Price of the part."""
        return self.quantity * self.price


def store_parts(kind: Mapping[str, Any], prices: Prices) -> list[PricedPart]:
    """The parts of a store that have a price.

    Args:
        kind: The tables of the store, complete, from `device` to `front`.
        prices: The prices of all parts.

    Raises:
        Error: A part of the store has no price.
    """
    tables = ("device", "front") if is_hybrid(kind) else ("device",)
    parts = [_priced_device(kind, table, prices) for table in tables]
    cache = kind["cache"]
    if cache["kind"] != "none":
        gigabytes = cache["capacity_blocks"] * BLOCK_BYTES / 1e9
        usd = prices.price("device_gb", MEMORY)
        parts.append(PricedPart(MEMORY, "device_gb", gigabytes, usd, gigabytes))
    return parts


def optional_store_parts(kind: Mapping[str, Any], prices: Prices) -> list[PricedPart] | None:
    """The parts of a store; None where a part has no price, unless the user gave prices.

    Raises:
        Error: A part of the store has no price, although the user gave some.
    """
    try:
        return store_parts(kind, prices)
    except Error:
        if prices.are_explicit:
            raise
        return None


def is_hybrid(kind: Mapping[str, Any]) -> bool:
    """Whether a store is a hybrid of two devices."""
    return bool(kind.get("hybrid", {}).get("kind", "none") != "none")


def _devices(kind: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The device, and the one in front of it where the store is a hybrid."""
    return [kind["device"], *([kind["front"]] if is_hybrid(kind) else [])]


def _priced_device(kind: Mapping[str, Any], table: str, prices: Prices) -> PricedPart:
    """The devices in the table `device` or `front` of a store with their price, by piece or by capacity."""
    name, count = part_name(kind[table]), kind["system"]["devices"]
    if name in prices.tables["device"]:
        return PricedPart(name, "device", count, prices.price("device", name), count)
    if name not in prices.tables["device_gb"]:
        raise no_price("device", name)
    used, whole = used_gigabytes(kind, table)
    return PricedPart(name, "device_gb", used, prices.price("device_gb", name), whole)


def used_gigabytes(kind: Mapping[str, Any], table: str) -> tuple[float, float]:
    """Return the capacity of the devices in a table of a store that is used, and the whole, in 10^9 bytes."""
    device = describe(Experiment(document({"device": kind[table]})))
    whole_bytes = device["capacity_blocks"] * BLOCK_BYTES
    used_mb = kind["hybrid"].get("front_mb", 0) if table == "front" else 0
    used_bytes = min(used_mb * MIB_BYTES, whole_bytes) if used_mb else whole_bytes
    count = kind["system"]["devices"] / 1e9
    return used_bytes * count, whole_bytes * count


def energy_usd(watts: float, prices: Prices) -> float:
    """Return the cost of energy over the years of `prices`, at a mean power."""
    return watts * prices.years * YEAR_S / KWH_J * prices.kwh


def month_usd(usd: float, watts: float, prices: Prices) -> float:
    """Return the cost of a month: the price of a store, written off evenly, and energy at a mean power.

    Examples:
        >>> from sledlab.studies.costs.prices import prices
        >>> round(month_usd(360.0, 1000.0, prices(["kwh=0.1", "years=3"])), 2)
        83.05
    """
    return (usd + energy_usd(watts, prices)) / (12 * prices.years)


def part_name(model: Mapping[str, Any]) -> str:
    """The name of a preset of a node, device or network, or that of its file without the ending."""
    return str(model.get("name", ""))


def device_names(kind: Mapping[str, Any]) -> set[str]:
    """Names of the devices of a store, as tables of prices spell them."""
    return {part_name(device) for device in _devices(kind)}


def part_names(config: Mapping[str, Any]) -> dict[str, set[str]]:
    """Names of all parts of a cluster that need prices, by `node`, `device` and `network`."""
    kinds = [config, *config.get("group", [])]
    hosts = [config["host"]] if config["cluster"]["at"] == "host" else []
    return {
        "node": {part_name(node) for node in [*(kind["node"] for kind in kinds), *hosts]},
        "device": set().union(*map(device_names, kinds))
        | {MEMORY for kind in kinds if kind["cache"]["kind"] != "none"},
        "network": {part_name(config["network"])},
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

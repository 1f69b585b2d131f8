"""Q1 of TPC-H, pricing summary report: aggregation to few groups (specification 3.0.1, section 2.4.1)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job.exact import DECIMAL_BYTES, cents, decimals
from sledlab.job.hashing import splitmix64
from sledlab.job.sort import comparisons
from sledlab.lazy import numpy as np
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from sledlab.job.files import Array
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

    Groups = dict[tuple[bytes, bytes], list[int]]

KEYS = ("l_returnflag", "l_linestatus")
AMOUNTS = ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
LAST_DAY = date(1998, 12, 1)
SUMS = ("quantity", "price", "paid", "charged", "discount", "rows")
"""The sums of each group: in hundredths, but `paid` in ten thousandths and `charged` in millionths."""

GROUP_COLUMNS = [*((key, "S1") for key in KEYS), *((name, f"V{DECIMAL_BYTES}") for name in SUMS)]
GROUP_BYTES = 128
"""Bytes of a group on the wire, at DuckDB's widths: text and sums take 16 each, means and counts 8."""


def q1(node: Node, days: int = 90) -> Generator[Superstep, Any, Array]:
    """Add up all line items that were shipped up to a day, by return flag and status.

    Args:
        node: The node.
        days: Days from the last day of shipping that counts to 1998-12-01.

    Returns:
        The node's groups, sorted.
    """
    try:
        shipped_by = np.datetime64(LAST_DAY - timedelta(days=days))
    except OverflowError as error:
        raise Error(
            f"there is no day {days:,} days before {LAST_DAY}", remedy="TPC-H takes 60 to 120"
        ) from error
    node.phase("scan lineitem")
    groups: Groups = {}
    for items in node.read("lineitem", (*KEYS, *AMOUNTS, "l_shipdate")):
        node.count_operations(tuple=len(items))
        shipped_items = items[items["l_shipdate"] <= shipped_by]
        node.count_operations(hash=len(shipped_items))
        _add(groups, _group_sums(shipped_items))
    node.record_memory(len(groups) * GROUP_BYTES)
    if node.nodes > 1:
        packed = _pack_groups(groups)
        node.count_operations(hash=len(packed))
        received = yield node.exchange(
            node.split(packed, splitmix64(_codes(packed)) % node.nodes), width=GROUP_BYTES
        )
        node.phase("aggregate 1")
        node.count_operations(hash=len(received))
        groups = {}
        _add(groups, _unpack_groups(received))
        node.record_memory(len(groups) * GROUP_BYTES)
    node.phase("sort 1")
    rows = _pack_groups(groups)
    node.count_operations(compare=comparisons(len(rows)))
    node.answer(rows, width=GROUP_BYTES)
    return rows


def _codes(rows: Array) -> Array:
    """Both keys of each row as one number."""
    flags, statuses = (np.ascontiguousarray(rows[key]).view(np.uint8).astype(np.uint16) for key in KEYS)
    result: Array = flags << 8 | statuses
    return result


def _group_sums(items: Array) -> Iterable[tuple[tuple[bytes, bytes], list[int]]]:
    """Sums of each group of line items."""
    quantity, price, discount, tax = (cents(items[name]) for name in AMOUNTS)
    paid = price * (100 - discount)
    columns = (quantity, price, paid, paid * (100 + tax), discount)
    codes = _codes(items)
    for code in np.unique(codes).tolist():
        is_in_group = codes == code
        sums = [int(column[is_in_group].sum()) for column in columns]
        yield (bytes([code >> 8]), bytes([code & 255])), [*sums, int(is_in_group.sum())]


def _add(groups: Groups, additions: Iterable[tuple[tuple[bytes, bytes], list[int]]]) -> None:
    """Add sums to the sums of their groups."""
    for key, sums in additions:
        old_sums = groups.get(key, [0] * len(SUMS))
        groups[key] = [one + other for one, other in zip(old_sums, sums, strict=True)]


def _pack_groups(groups: Groups) -> Array:
    """Groups as rows, in the order of their keys. Sums have 16 bytes; 8 suffice up to scale factor 80."""
    rows = [
        (*key, *(value.to_bytes(DECIMAL_BYTES, "little", signed=True) for value in groups[key]))
        for key in sorted(groups)
    ]
    return np.array(rows, GROUP_COLUMNS)


def _unpack_groups(rows: Array) -> Iterable[tuple[tuple[bytes, bytes], list[int]]]:
    """The groups that rows hold."""
    for flag, status, *sums in rows.tolist():
        yield (flag, status), [int.from_bytes(value, "little", signed=True) for value in sums]


def client(parts: Sequence[Array]) -> polars.DataFrame:
    """The answer in SQL's columns: the groups of all nodes, in the order of their keys."""
    groups = sorted(_unpack_groups(np.concatenate(list(parts))))
    quantity, price, paid, charged, discount, row_counts = (
        [sums[index] for _, sums in groups] for index in range(len(SUMS))
    )

    # Computed as DuckDB does, so that answers are the same bytes: the mean of a summed column is sum / rows.
    means_by_column = {
        "avg_qty": [value / 100 / count for value, count in zip(quantity, row_counts, strict=True)],
        "avg_price": [value / 100 / count for value, count in zip(price, row_counts, strict=True)],
        "avg_disc": [value / (100 * count) for value, count in zip(discount, row_counts, strict=True)],
    }
    return polars.DataFrame(
        {
            **{key: _text_series([keys[index] for keys, _ in groups]) for index, key in enumerate(KEYS)},
            "sum_qty": decimals(quantity, 2),
            "sum_base_price": decimals(price, 2),
            "sum_disc_price": decimals(paid, 4),
            "sum_charge": decimals(charged, 6),
            **{name: polars.Series(values, dtype=polars.Float64) for name, values in means_by_column.items()},
            "count_order": polars.Series(row_counts, dtype=polars.Int64),
        }
    )


def _text_series(values: Sequence[bytes]) -> polars.Series:
    return polars.Series([value.decode() for value in values], dtype=polars.String)

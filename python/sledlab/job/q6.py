"""Q6 of TPC-H, forecasting revenue change: a filter and a sum (specification 3.0.1, section 2.4.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.job.exact import DECIMAL_BYTES, add_year, cents, day, decimals
from sledlab.lazy import numpy as np
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from sledlab.job.files import Array
    from sledlab.job.node import Node
    from sledlab.job.superstep import Superstep

COLUMNS = ("l_extendedprice", "l_discount", "l_quantity", "l_shipdate")
SUM = [("revenue", "i8"), ("rows", "i8")]
"""A sum in ten thousandths, and the number of rows in it; the sum of no rows is null."""


def q6(
    node: Node, date: str = "1994-01-01", discount: float = 0.06, quantity: float = 24.0
) -> Generator[Superstep, Any, Array | None]:
    """Add up what would have been earned without discounts of about one size on small orders of a year.

    Args:
        node: The node.
        date: First day of the year of shipping.
        discount: Middle of the range of discounts, from 0.01 below to 0.01 above.
        quantity: Number of pieces below which line items count.

    Returns:
        The sum, on node 0.
    """
    start = day(date)
    minimum, maximum = (int(bound) for bound in np.rint(100 * discount + np.array([-1, 1])))
    node.phase("scan lineitem")
    revenue = count = 0
    for items in node.read("lineitem", COLUMNS):
        node.count_operations(tuple=len(items))
        ship_dates, discounts = items["l_shipdate"], cents(items["l_discount"])
        is_selected = (ship_dates >= np.datetime64(start)) & (ship_dates < np.datetime64(add_year(start)))
        is_selected &= (discounts >= minimum) & (discounts <= maximum) & (items["l_quantity"] < quantity)
        node.count_operations(hash=int(is_selected.sum()))
        revenue += int((cents(items["l_extendedprice"]) * discounts)[is_selected].sum())
        count += int(is_selected.sum())
    received = yield node.exchange({0: np.array([(revenue, count)], SUM)}, width=DECIMAL_BYTES)
    node.phase("aggregate 1")
    if node.number:
        return None
    sums = np.concatenate(list(received.values()))
    if node.nodes > 1:
        node.count_operations(hash=len(sums))
    total = np.array([(sums["revenue"].sum(), sums["rows"].sum())], SUM)
    node.answer(total, width=DECIMAL_BYTES)
    return total


def client(parts: Sequence[Array | None]) -> polars.DataFrame:
    """The answer in SQL's columns."""
    revenue, rows = next(part for part in parts if part is not None)[0].tolist()
    return polars.DataFrame({"revenue": decimals([revenue if rows else None], 4)})

"""A query's plan from DuckDB's profile: a tree of operators with the rows that each really gave."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

JOINS = (
    "HASH_JOIN",
    "NESTED_LOOP_JOIN",
    "BLOCKWISE_NL_JOIN",
    "PIECEWISE_MERGE_JOIN",
    "IE_JOIN",
    "CROSS_PRODUCT",
)
LITERALS = ("COLUMN_DATA_SCAN", "DUMMY_SCAN", "EMPTY_RESULT", "EXPRESSION_SCAN")
LIMITS = ("LIMIT", "STREAMING_LIMIT", "LIMIT_PERCENT")
KINDS = frozenset(
    (
        *JOINS,
        *LITERALS,
        *LIMITS,
        "CTE",
        "CTE_SCAN",
        "FILTER",
        "HASH_GROUP_BY",
        "ORDER_BY",
        "PARTITIONED_AGGREGATE",
        "PERFECT_HASH_GROUP_BY",
        "PROJECTION",
        "RESULT_COLLECTOR",
        "STREAMING_WINDOW",
        "TABLE_SCAN",
        "TOP_N",
        "UNGROUPED_AGGREGATE",
        "UNION",
        "UNNEST",
        "WINDOW",
    )
)
"""Operators that can be carried out on nodes; a plan with any other is refused with an error."""

VALUE_BYTES = 16
"""Bytes of DuckDB's largest plain value in a tuple; text takes as many, however long it is."""

# Aggregates that need all rows of a group together: none can be aggregated before rows are exchanged.
_WHOLE_GROUP_AGGREGATE = re.compile(
    r"DISTINCT|\b(?:median|quantile\w*|mad|mode|list|array_agg|string_agg|group_concat|histogram)\("
)


@dataclass(frozen=True)
class Operator:
    """An operator of a plan.

    Attributes:
        kind: The operator's name in DuckDB's profile.
        rows: Number of rows that the operator gave.
        width: Bytes of such a row, at least 1.
        info: The profile's `extra_info` of the operator.
        inputs: The operators whose rows it takes; of a join, the probe side and DuckDB's build side.
    """

    kind: str
    rows: int
    width: int
    info: Mapping[str, Any]
    inputs: tuple[Operator, ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes of all rows that the operator gave."""
        return self.rows * self.width

    @property
    def files(self) -> str:
        """The Parquet files of a scan."""
        return ", ".join(_texts(self.info.get("Filename(s)")))

    @property
    def join_type(self) -> str:
        """The join type, such as INNER or SEMI."""
        return str(self.info.get("Join Type", "INNER"))

    @property
    def needs_whole_groups(self) -> bool:
        """Whether an aggregate needs all rows of a group together."""
        return any(_WHOLE_GROUP_AGGREGATE.search(text) for text in _texts(self.info.get("Aggregates")))

    @property
    def has_partitions(self) -> bool:
        """Whether every window is over partitions of the rows, not over all of them."""
        return not any("OVER (" in text and "PARTITION BY" not in text for text in self._projections)

    @property
    def max_node_rows(self) -> int:
        """Rows of the result that may come from one node: those of the limit and those of its offset."""
        return self.rows + int(self.info.get("Offset", 0))

    @property
    def common_table(self) -> str:
        """The number of the common table expression that the operator makes or scans."""
        return str(self.info.get("CTE Index" if self.kind == "CTE_SCAN" else "Table Index", ""))

    @property
    def _projections(self) -> list[str]:
        return _texts(self.info.get("Projections"))

    def walk(self) -> Iterator[Operator]:
        """This operator and all operators below it."""
        yield self
        for operator in self.inputs:
            yield from operator.walk()


def _texts(value: Any) -> list[str]:
    """A value of the profile, one text or a list, as a list of texts."""
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def parse(profile: Mapping[str, Any]) -> Operator:
    """The plan in a profile.

    Raises:
        Error: The plan has an unknown operator, or the profile is not of DuckDB 2.
    """
    roots = profile.get("operator")
    if not isinstance(roots, list) or len(roots) != 1:
        raise Error("DuckDB's profile has no operators", remedy="pip install 'duckdb>=2,<3'")
    return _operator(roots[0])


def _operator(node: Mapping[str, Any]) -> Operator:
    """An operator of the profile and all operators below it."""
    kind = str(node.get("type"))
    if kind not in KINDS:
        raise Error(
            f"the plan of this query has the operator `{kind}`, which cannot become a phase",
            remedy="write the query another way",
        )
    inputs = tuple(_operator(child) for child in node.get("children") or ())
    info = node.get("extra_info") or {}
    rows, size = int(node["intermediate_rows"]), int(node["intermediate_size_bytes"])
    if kind == "UNION":
        # UNION, and CTE and RESULT_COLLECTOR below, give rows on without counting them.
        rows, width = sum(operator.rows for operator in inputs), max(operator.width for operator in inputs)
    elif kind in ("CTE", "RESULT_COLLECTOR"):
        rows, width = inputs[-1].rows, inputs[-1].width
    else:
        width = max(1, ceil(size / rows)) if rows else 1
        width = min(width, _max_width(kind, info, inputs) or width)
    return Operator(kind, rows, width, info, inputs)


def _max_width(kind: str, info: Mapping[str, Any], inputs: tuple[Operator, ...]) -> int:
    """Most bytes that a row can have, by the inputs of its operator; 0 where no bound is known.

    DuckDB counts whole buffers of text, so that a few rows of a join seem to have 4 KB each.
    """
    if kind in JOINS:
        return sum(operator.width for operator in inputs) + 1
    if kind in (*LIMITS, "FILTER", "ORDER_BY", "TOP_N"):
        return inputs[0].width
    if kind == "PROJECTION":
        return inputs[0].width + VALUE_BYTES * len(_texts(info.get("Projections")))
    return 0

"""Predicates on rows, in SQL: `l_quantity < 24 AND l_shipdate >= DATE '1994-01-01'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.job.answer import frame
from sledlab.lazy import polars

if TYPE_CHECKING:
    from sledlab.job.files import Array


class Predicate:
    """A condition of rows, in SQL; an empty text is true of all rows."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        try:
            self._expression = polars.sql_expr(sql) if sql.strip() else None
        except Exception as error:
            raise Error(f"the predicate `{sql}` is not SQL: {error}") from error

    @property
    def columns(self) -> list[str]:
        """The columns that the condition reads."""
        return list(dict.fromkeys(self._expression.meta.root_names())) if self._expression is not None else []

    def filter(self, rows: Array) -> Array:
        """The rows that the condition is true of.

        Raises:
            Error: The condition cannot be evaluated on these rows.
        """
        if self._expression is None:
            return rows
        try:
            mask = frame(rows[self.columns]).select(self._expression.alias("kept"))["kept"]
        except Exception as error:
            raise Error(f"the predicate `{self.sql}` cannot be evaluated: {error}") from error
        if mask.dtype != polars.Boolean:
            raise Error(f"the predicate `{self.sql}` is not a truth value")
        result: Array = rows[mask.fill_null(value=False).to_numpy()]
        return result

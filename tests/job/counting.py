"""Translation of query plans back into SQL, operator by operator, to count their rows separately."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sledlab.job.query.plan import Operator

WORD = re.compile(r"'[^']*'|\b[a-z]{1,2}_\w+\b|\bSUBQUERY\b|IN \(\.\.\.\)|\b(?:sum|min|avg|count)\([a-z_]+\)")
COMPARISON = re.compile(r"(.*?) (=|<|>|IS NOT DISTINCT FROM|IS DISTINCT FROM) (.*)")
MARKS = ("SUBQUERY", "IN (...)")


class UnknownTextError(Exception):
    """An operator whose profile has no text that can be run as a query."""


@dataclass(frozen=True)
class Relation:
    """Rows as SQL.

    Attributes:
        sql: A SELECT.
        names: Names of its columns `c0`, `c1`, ... in profiles.
        positions: Positions of the columns `#0`, `#1`, ..., where known.
    """

    sql: str
    names: tuple[str, ...]
    positions: tuple[int | None, ...]

    def expression(self, text: str, alias: str) -> str:
        """SQL for an expression of a profile over these rows."""
        if number := re.fullmatch(r"#(\d+)", text):
            index = int(number[1])
            if index >= len(self.positions) or self.positions[index] is None:
                raise UnknownTextError(text)
            return f"{alias}.c{self.positions[index]}"
        if self.has_column(text):
            return self._column(text, alias)
        return WORD.sub(lambda column_match: self._column(column_match[0], alias), text)

    def _column(self, name: str, alias: str) -> str:
        if name.startswith("'"):
            return name
        return f"{alias}.c{self.position(name)}"

    def position(self, name: str) -> int:
        """Position of a column. A profile may name a foreign key after the key that it refers to."""
        positions = [index for index, each in enumerate(self.names) if each == name]
        key = name.partition("_")[2]
        if not positions and key.endswith("key"):
            positions = [index for index, each in enumerate(self.names) if each.partition("_")[2] == key]
        if len(positions) != 1:
            raise UnknownTextError(name)
        return positions[0]

    def has_column(self, name: str) -> bool:
        """Whether there is such a column."""
        try:
            self.position(name)
        except UnknownTextError:
            return False
        return True


@dataclass
class SqlCounter:
    """Translates operators into SQL.

    Attributes:
        table_name: The name of the table with some Parquet files.
        bindings: Columns that the profile names by the number of a table of the planner, `#[1.0]`.
        literals: Lists of values in the query, by their lengths.
        written_sql: SQL for an operator that cannot be turned into it, by what its profile has.
    """

    table_name: Callable[[str], str]
    bindings: Mapping[str, str]
    literals: Mapping[int, str]
    written_sql: Mapping[str, Relation]
    _common: dict[str, Relation] = field(default_factory=dict)

    def relations(self, root: Operator) -> Iterator[tuple[Operator, str]]:
        """Yield the operators that can be counted, with SQL for their rows."""
        for each in root.walk():
            if each.kind == "CTE":
                self._remember(each)
        for each in root.walk():
            try:
                yield each, self.relation(each).sql
            except UnknownTextError:
                continue

    def _remember(self, common: Operator) -> None:
        try:
            self._common[common.common_table] = self.relation(common.inputs[0])
        except UnknownTextError:
            return

    def relation(self, operator: Operator) -> Relation:
        """The rows of an operator."""
        handlers = {
            "TABLE_SCAN": self._scan,
            "FILTER": self._filter,
            "HASH_JOIN": self._join,
            "HASH_GROUP_BY": self._group,
            "PERFECT_HASH_GROUP_BY": self._group,
            "PROJECTION": self._project,
            "CTE_SCAN": self._cte_scan,
            "COLUMN_DATA_SCAN": self._literal,
            "UNGROUPED_AGGREGATE": self._aggregate,
            "TOP_N": self._top,
        }
        for fragment, relation in self.written_sql.items():
            if fragment in str(operator.info):
                return relation
        if operator.kind in ("CTE", "ORDER_BY", "RESULT_COLLECTOR"):
            return self.relation(operator.inputs[-1])
        if operator.kind not in handlers:
            raise UnknownTextError(operator.kind)
        return handlers[operator.kind](operator)

    def _scan(self, operator: Operator) -> Relation:
        """The rows that pass the filters; optional filters are hints."""
        table = self.table_name(operator.files)
        filters = [text for text in texts(operator, "Filters") if not text.startswith("optional:")]
        names = texts(operator, "Projections")
        columns = ", ".join(f"{name} AS c{index}" for index, name in enumerate(names)) or "1 AS c0"
        where = " AND ".join(["true", *filters])
        return Relation(
            f"SELECT {columns} FROM {table} WHERE {where}", tuple(names), tuple(range(len(names)))
        )

    def _filter(self, operator: Operator) -> Relation:
        input_rows = self.relation(operator.inputs[0])
        where = " AND ".join(input_rows.expression(text, "t") for text in texts(operator, "Expression"))
        sql = f"SELECT * FROM ({input_rows.sql}) t WHERE {where}"
        return replace(input_rows, sql=sql)

    def _project(self, operator: Operator) -> Relation:
        """Keep all columns, as the rows are the same, and note the positions of the chosen ones."""
        input_rows = self.relation(operator.inputs[0])
        expressions = [self.bindings.get(text, text) for text in texts(operator, "Projections")]
        chosen_positions = [
            input_rows.position(text) if input_rows.has_column(text) else None for text in expressions
        ]
        for index, text in enumerate(expressions):
            if number := re.fullmatch(r"#(\d+)", text):
                input_positions = input_rows.positions
                chosen_positions[index] = (
                    input_positions[int(number[1])] if int(number[1]) < len(input_positions) else None
                )
        return replace(input_rows, positions=tuple(chosen_positions))

    def _cte_scan(self, operator: Operator) -> Relation:
        if operator.common_table not in self._common:
            raise UnknownTextError(operator.common_table)
        return self._common[operator.common_table]

    def _literal(self, operator: Operator) -> Relation:
        """A list of values, which the profile does not repeat."""
        values = self.literals.get(operator.rows)
        if values is None:
            raise UnknownTextError(operator.kind)
        return Relation(f"SELECT unnest([{values}]) AS c0", ("value",), (0,))

    def _aggregate(self, operator: Operator) -> Relation:
        """One row."""
        return Relation("SELECT 1 AS c0", ("value",), ())

    def _top(self, operator: Operator) -> Relation:
        input_rows = self.relation(operator.inputs[0])
        return replace(input_rows, sql=f"SELECT * FROM ({input_rows.sql}) LIMIT {operator.info['Top']}")

    def _join(self, operator: Operator) -> Relation:
        kind, inputs = operator.join_type, operator.inputs
        left, right = (self.relation(each) for each in inputs)
        condition = " AND ".join(_condition(text, left, right) for text in texts(operator, "Conditions"))
        exists_clause = f"EXISTS (SELECT 1 FROM ({right.sql}) r WHERE {condition})"
        match kind:
            case "SEMI":
                return replace(left, sql=f"SELECT * FROM ({left.sql}) l WHERE {exists_clause}")
            case "ANTI":
                return replace(left, sql=f"SELECT * FROM ({left.sql}) l WHERE NOT {exists_clause}")
            case "MARK":
                mark = f"SELECT *, {exists_clause} AS c{len(left.names)} FROM ({left.sql}) l"
                name = MARKS[inputs[1].kind == "COLUMN_DATA_SCAN"]
                return Relation(mark, (*left.names, name), left.positions)
            case "RIGHT_SEMI" | "RIGHT_ANTI":
                negation = "NOT " if kind == "RIGHT_ANTI" else ""
                filter_sql = f"{negation}EXISTS (SELECT 1 FROM ({left.sql}) l WHERE {condition})"
                return replace(right, sql=f"SELECT * FROM ({right.sql}) r WHERE {filter_sql}")
        names = (*left.names, *right.names)
        columns = [f"l.c{index} AS c{index}" for index in range(len(left.names))]
        columns += [f"r.c{index} AS c{index + len(left.names)}" for index in range(len(right.names))]
        sql = f"SELECT {', '.join(columns)} FROM ({left.sql}) l {kind} JOIN ({right.sql}) r ON {condition}"
        return Relation(sql, names, ())

    def _group(self, operator: Operator) -> Relation:
        input_rows = self.relation(operator.inputs[0])
        keys = texts(operator, "Groups")
        columns = [input_rows.expression(key, "t") for key in keys]
        names = [input_rows.names[int(column.removeprefix("t.c"))] for column in columns]
        for text in texts(operator, "Aggregates"):
            call = re.fullmatch(r"(\w+)\((#\d+)\)", text)
            if call is None:
                continue
            try:
                column = input_rows.expression(call[2], "t")
            except UnknownTextError:
                continue
            columns.append(f"{call[1]}({column})")
            names.append(f"{call[1]}({input_rows.names[int(column.removeprefix('t.c'))]})")
        selected = ", ".join(f"{column} AS c{index}" for index, column in enumerate(columns))
        group_columns = ", ".join(columns[: len(keys)])
        sql = f"SELECT {selected} FROM ({input_rows.sql}) t GROUP BY {group_columns}"
        return Relation(sql, tuple(names), tuple(range(len(names))))


def final_operators(root: Operator, sql: str) -> Iterator[tuple[Operator, str]]:
    """Yield the operators at the end of a plan, which return as many rows as the query."""
    operator = root
    while True:
        yield operator, sql
        if operator.kind == "TOP_N":
            sql = re.sub(r"LIMIT \d+\s*$", "", sql)
        elif operator.kind not in ("CTE", "ORDER_BY", "PROJECTION", "RESULT_COLLECTOR"):
            return
        operator = operator.inputs[-1]


def unread_operators(root: Operator) -> set[int]:
    """Ids of operators whose rows were not read, as the other side of their join was empty."""
    return {
        id(each)
        for join in root.walk()
        if join.kind == "HASH_JOIN" and join.inputs[1].rows == 0
        for each in join.inputs[0].walk()
    }


def _condition(text: str, left: Relation, right: Relation) -> str:
    """SQL for a condition between both sides of a join."""
    comparison = COMPARISON.fullmatch(text)
    if text.startswith("("):
        return WORD.sub(lambda matched: _column_of_side(matched[0], left, right), text)
    if comparison is None:
        raise UnknownTextError(text)
    return f"{left.expression(comparison[1], 'l')} {comparison[2]} {right.expression(comparison[3], 'r')}"


def _column_of_side(name: str, left: Relation, right: Relation) -> str:
    """SQL for a column of one of two sides."""
    if not name.startswith("'") and name in left.names and name in right.names:
        raise UnknownTextError(name)
    return left.expression(name, "l") if name in left.names else right.expression(name, "r")


def texts(operator: Operator, key: str) -> Sequence[str]:
    """Values of a key in the profile of an operator."""
    value = operator.info.get(key) or []
    return [value] if isinstance(value, str) else [str(each) for each in value]

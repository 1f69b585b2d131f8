"""Plans of queries as SQL again, operator by operator, so that their rows can be counted separately."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sledlab.job.query.plan import Operator

WORD = re.compile(r"'[^']*'|\b[a-z]{1,2}_\w+\b|\bSUBQUERY\b|IN \(\.\.\.\)|\b(?:sum|min|avg|count)\([a-z_]+\)")
SIDES = re.compile(r"(.*?) (=|<|>|IS NOT DISTINCT FROM|IS DISTINCT FROM) (.*)")
MARKS = ("SUBQUERY", "IN (...)")


class UnknownError(Exception):
    """An operator whose profile has no text that can be run as a query."""


@dataclass(frozen=True)
class Relation:
    """Rows as SQL.

    Attributes:
        sql: A SELECT.
        names: Its columns `c0`, `c1` and on by the names that profiles have for them.
        places: Which of its columns `#0`, `#1` and on are, where that is known.
    """

    sql: str
    names: tuple[str, ...]
    places: tuple[int | None, ...]

    def word(self, text: str, alias: str) -> str:
        """SQL for something that a profile says about these rows."""
        if number := re.fullmatch(r"#(\d+)", text):
            place = int(number[1])
            if place >= len(self.places) or self.places[place] is None:
                raise UnknownError(text)
            return f"{alias}.c{self.places[place]}"
        if self.has(text):
            return self._column(text, alias)
        return WORD.sub(lambda result: self._column(result[0], alias), text)

    def _column(self, name: str, alias: str) -> str:
        if name.startswith("'"):
            return name
        return f"{alias}.c{self.place(name)}"

    def place(self, name: str) -> int:
        """Where a column is. The profile may call a foreign key by the name of its key."""
        result = [at for at, each in enumerate(self.names) if each == name]
        key = name.partition("_")[2]
        if not result and key.endswith("key"):
            result = [at for at, each in enumerate(self.names) if each.partition("_")[2] == key]
        if len(result) != 1:
            raise UnknownError(name)
        return result[0]

    def has(self, name: str) -> bool:
        """Whether that is a column."""
        try:
            self.place(name)
        except UnknownError:
            return False
        return True


@dataclass
class SqlCounter:
    """Turns operators into SQL.

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
        """Operators that can be counted, with what gives their rows."""
        for each in root.walk():
            if each.kind == "CTE":
                self._remember(each)
        for each in root.walk():
            try:
                yield each, self.relation(each).sql
            except UnknownError:
                continue

    def _remember(self, common: Operator) -> None:
        try:
            self._common[common.common_table] = self.relation(common.inputs[0])
        except UnknownError:
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
            raise UnknownError(operator.kind)
        return handlers[operator.kind](operator)

    def _scan(self, operator: Operator) -> Relation:
        """All columns of those that pass the filters; optional ones are hints."""
        table = self.table_name(operator.files)
        filters = [text for text in texts(operator, "Filters") if not text.startswith("optional:")]
        expected = texts(operator, "Projections")
        columns = ", ".join(f"{name} AS c{at}" for at, name in enumerate(expected)) or "1 AS c0"
        where = " AND ".join(["true", *filters])
        return Relation(
            f"SELECT {columns} FROM {table} WHERE {where}", tuple(expected), tuple(range(len(expected)))
        )

    def _filter(self, operator: Operator) -> Relation:
        below = self.relation(operator.inputs[0])
        where = " AND ".join(below.word(text, "t") for text in texts(operator, "Expression"))
        sql = f"SELECT * FROM ({below.sql}) t WHERE {where}"
        return replace(below, sql=sql)

    def _project(self, operator: Operator) -> Relation:
        """Leaves all columns, as rows are as many; says which were chosen."""
        below = self.relation(operator.inputs[0])
        expressions = [self.bindings.get(text, text) for text in texts(operator, "Projections")]
        positions = [below.place(text) if below.has(text) else None for text in expressions]
        for at, text in enumerate(expressions):
            if number := re.fullmatch(r"#(\d+)", text):
                known = below.places
                positions[at] = known[int(number[1])] if int(number[1]) < len(known) else None
        return replace(below, places=tuple(positions))

    def _cte_scan(self, operator: Operator) -> Relation:
        if operator.common_table not in self._common:
            raise UnknownError(operator.common_table)
        return self._common[operator.common_table]

    def _literal(self, operator: Operator) -> Relation:
        """A list of values, which the profile does not repeat."""
        result = self.literals.get(operator.rows)
        if result is None:
            raise UnknownError(operator.kind)
        return Relation(f"SELECT unnest([{result}]) AS c0", ("value",), (0,))

    def _aggregate(self, operator: Operator) -> Relation:
        """One row."""
        return Relation("SELECT 1 AS c0", ("value",), ())

    def _top(self, operator: Operator) -> Relation:
        below = self.relation(operator.inputs[0])
        return replace(below, sql=f"SELECT * FROM ({below.sql}) LIMIT {operator.info['Top']}")

    def _join(self, operator: Operator) -> Relation:
        kind, inputs = operator.join_type, operator.inputs
        left, right = (self.relation(each) for each in inputs)
        on = " AND ".join(_condition(text, left, right) for text in texts(operator, "Conditions"))
        exists = f"EXISTS (SELECT 1 FROM ({right.sql}) r WHERE {on})"
        match kind:
            case "SEMI":
                return replace(left, sql=f"SELECT * FROM ({left.sql}) l WHERE {exists}")
            case "ANTI":
                return replace(left, sql=f"SELECT * FROM ({left.sql}) l WHERE NOT {exists}")
            case "MARK":
                mark = f"SELECT *, {exists} AS c{len(left.names)} FROM ({left.sql}) l"
                name = MARKS[inputs[1].kind == "COLUMN_DATA_SCAN"]
                return Relation(mark, (*left.names, name), left.places)
            case "RIGHT_SEMI" | "RIGHT_ANTI":
                no = "NOT " if kind == "RIGHT_ANTI" else ""
                other = f"{no}EXISTS (SELECT 1 FROM ({left.sql}) l WHERE {on})"
                return replace(right, sql=f"SELECT * FROM ({right.sql}) r WHERE {other}")
        names = (*left.names, *right.names)
        columns = [f"l.c{at} AS c{at}" for at in range(len(left.names))]
        columns += [f"r.c{at} AS c{at + len(left.names)}" for at in range(len(right.names))]
        sql = f"SELECT {', '.join(columns)} FROM ({left.sql}) l {kind} JOIN ({right.sql}) r ON {on}"
        return Relation(sql, names, ())

    def _group(self, operator: Operator) -> Relation:
        below = self.relation(operator.inputs[0])
        keys = texts(operator, "Groups")
        columns = [below.word(key, "t") for key in keys]
        names = [below.names[int(column.removeprefix("t.c"))] for column in columns]
        for text in texts(operator, "Aggregates"):
            result = re.fullmatch(r"(\w+)\((#\d+)\)", text)
            if result is None:
                continue
            try:
                column = below.word(result[2], "t")
            except UnknownError:
                continue
            columns.append(f"{result[1]}({column})")
            names.append(f"{result[1]}({below.names[int(column.removeprefix('t.c'))]})")
        choice = ", ".join(f"{column} AS c{at}" for at, column in enumerate(columns))
        grouped = ", ".join(columns[: len(keys)])
        sql = f"SELECT {choice} FROM ({below.sql}) t GROUP BY {grouped}"
        return Relation(sql, tuple(names), tuple(range(len(names))))


def final_operators(root: Operator, sql: str) -> Iterator[tuple[Operator, str]]:
    """The operators at the end of a plan, which give as many rows as the query itself has."""
    operator = root
    while True:
        yield operator, sql
        if operator.kind == "TOP_N":
            sql = re.sub(r"LIMIT \d+\s*$", "", sql)
        elif operator.kind not in ("CTE", "ORDER_BY", "PROJECTION", "RESULT_COLLECTOR"):
            return
        operator = operator.inputs[-1]


def stopped_early(root: Operator) -> set[int]:
    """Operators whose rows a join with nothing to join with did not ask for: by their `id`."""
    return {
        id(each)
        for join in root.walk()
        if join.kind == "HASH_JOIN" and join.inputs[1].rows == 0
        for each in join.inputs[0].walk()
    }


def _condition(text: str, left: Relation, right: Relation) -> str:
    """A condition between both sides of a join."""
    result = SIDES.fullmatch(text)
    if text.startswith("("):
        return WORD.sub(lambda word: _column_of_side(word[0], left, right), text)
    if result is None:
        raise UnknownError(text)
    return f"{left.word(result[1], 'l')} {result[2]} {right.word(result[3], 'r')}"


def _column_of_side(name: str, left: Relation, right: Relation) -> str:
    """A column of one of two sides."""
    if not name.startswith("'") and name in left.names and name in right.names:
        raise UnknownError(name)
    return left.word(name, "l") if name in left.names else right.word(name, "r")


def texts(operator: Operator, key: str) -> Sequence[str]:
    """What the profile says of an operator, in one text or several."""
    result = operator.info.get(key) or []
    return [result] if isinstance(result, str) else [str(each) for each in result]

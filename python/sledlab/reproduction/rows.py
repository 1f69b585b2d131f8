"""The values of a panel, read from tables that studies leave: values along x, by series."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sledlab.reproduction.figure import Figure, FigurePanel

Row = dict[str, Any]


@dataclass(frozen=True)
class Dot:
    """A value at a place of the x axis, the mean over seeds.

    Attributes:
        x: The place, as the table has it.
        y: The value.
        is_overloaded: Whether the run was overloaded, so that the value depends on the length of the run.
    """

    x: Any
    y: float
    is_overloaded: bool = False


Series = dict[str, list[Dot]]
"""Dots by the value of the series, in the order of x where that is a number."""


@dataclass(frozen=True)
class Tables:
    """Tables of experiments, each in a directory of its own.

    Attributes:
        directory: The directory that holds the directories of the experiments.
    """

    directory: Path | None

    def rows(self, place: str, table: str) -> list[Row]:
        """The rows of a table, each with the directory `place` of the table added.

        Raises:
            Error: There is no such table.
        """
        file = self.directory and self.directory / place / f"{table}.csv"
        if file is None or not file.is_file():
            raise Error(
                f"`{self.directory}` has no table `{table}` of {place}", remedy="run the experiment first"
            )
        rows: list[Row] = polars.read_csv(file, infer_schema_length=None).to_dicts()
        return [row | {"place": place} for row in rows]

    def part(self, figure: Figure, panel: FigurePanel, y: str) -> Series:
        """One measure of a panel, the sum of the columns in `y`, by series."""
        rows = [row for place in figure.places(panel) for row in self.rows(place, panel.table)]
        selected_rows = [
            row for row in rows if all(_has_value(row, key, value) for key, value in panel.where.items())
        ]
        base = self._base_value(panel, y)
        rows_by_position: dict[tuple[str, Any], list[Row]] = {}
        for row in selected_rows:
            name = value_label(row_value(row, panel.series)) if panel.series else ""
            rows_by_position.setdefault((name, _x_position(row, panel)), []).append(row)
        series = _build_series(rows_by_position, y, base, panel)
        return _divide_by(series, panel.relative_to) if panel.relative_to else series

    def _base_value(self, panel: FigurePanel, y: str) -> float:
        """The value that all values of a panel are divided by; 1 without `over`."""
        if not panel.over:
            return 1.0
        rows = [
            row
            for row in self.rows(panel.over["place"], panel.table)
            if all(_has_value(row, key, value) for key, value in panel.over["where"].items())
        ]
        return _mean(rows, y)


def row_value(row: Mapping[str, Any], key: str) -> Any:
    """The value of a row under a key: `a/b` is the first that the row has, `a:b` parameter b of model a."""
    name, _, parameter = key.partition(":")
    if parameter:
        parameters = str(row[name]).split(":")[1:]
        return _parse_number(dict(setting.split("=", 1) for setting in parameters)[parameter])
    return next(row[column] for column in key.split("/") if column in row)


def _parse_number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def value_label(value: Any) -> str:
    """A value as declarations name it: 8 and not 8.0.

    Examples:
        >>> value_label(8.0), value_label("8"), value_label("ALL")
        ('8', '8', 'ALL')
    """
    try:
        return f"{float(value):g}"
    except (TypeError, ValueError):
        return str(value)


def _has_value(row: Row, key: str, expected: Any) -> bool:
    """Whether a row has the required value under a key; a mapping has a required value for each place."""
    if isinstance(expected, dict):
        expected = expected[row["place"]]
    return key not in row or value_label(row_value(row, key)) == value_label(expected)


def _x_position(row: Row, panel: FigurePanel) -> Any:
    """The place of a row on the x axis."""
    value = row_value(row, panel.x)
    return panel.per / float(value) if panel.per else value


def _mean(rows: Sequence[Row], y: str) -> float:
    """The mean over seeds of the sum of the columns in `y` over the rows of a seed."""
    seeds = {row.get("seed") for row in rows}
    return sum(float(row[name]) for row in rows for name in y.split(" + ")) / len(seeds)


def _divide_by(series: Series, name: str) -> Series:
    """Divide all values by those of one series at the same x; without that series, nothing is left."""
    base_values = {dot.x: dot.y for dot in series.get(name, ())}
    relative_series = {
        other: [replace(dot, y=dot.y / base_values[dot.x]) for dot in dots if dot.x in base_values]
        for other, dots in series.items()
    }
    return {other: dots for other, dots in relative_series.items() if dots}


def _build_series(
    rows_by_position: Mapping[tuple[str, Any], Sequence[Row]], y: str, base: float, panel: FigurePanel
) -> Series:
    series: Series = {}
    for (name, x), rows in rows_by_position.items():
        is_overloaded = any(str(row.get("saturated")).lower() == "true" for row in rows)
        series.setdefault(name, []).append(Dot(x, _mean(rows, y) / base, is_overloaded))
    for dots in series.values():
        if all(isinstance(dot.x, (int, float)) for dot in dots):
            dots.sort(key=lambda dot: dot.x)
    names = panel.names if panel.series else {}
    return {name: series[name] for name in names or series if name in series}

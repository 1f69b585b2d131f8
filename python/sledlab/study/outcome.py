"""Outcomes of studies: typed tables, written as files, and displayed by the presentation of their class."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.display import SCHEMA, DisplayedResult, find_presentation
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import load_object
from sledlab.results import OUTCOME, REPORT, STUDY
from sledlab.runs.file_names import relativize_study
from sledlab.runs.recording import LATEX, SUMMARY, TIMING
from sledlab.runs.request_columns import describe
from sledlab.study.columns import columns, frame, records
from sledlab.study.saved import from_plain, to_plain
from sledlab.study.statistics import average, case_runs
from sledlab.traces.parquet import write_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    import polars
    import xarray
    from matplotlib.figure import Figure

    from sledlab.study.columns import Row
    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Plan, RunSpec

TABLES = ("parquet", "csv")
"""Formats in which each table is written."""


@dataclass(frozen=True, repr=False)
class Outcome(DisplayedResult):
    """The outcome of a study, in tables.

    Attributes:
        kinds: The class of the rows of each table, by name.
        cost_kinds: The class of the rows of each table of `costs`, by name.
        rows: The simulated results, a list of typed rows for each table, by name.
        costs: Tables of wall-clock figures, which differ from run to run.
        config: The part of the experiment that all runs share, as plain data.
        axes: The values of all axes, as plain data.
        toml: The study as a file that gives the same bytes again.
    """

    kinds: ClassVar[Mapping[str, type]] = {}
    cost_kinds: ClassVar[Mapping[str, type]] = {}
    figure_column: ClassVar[str] = "mean_ms"
    """Column that the default figure draws."""

    rows: Mapping[str, Sequence[Row]]
    costs: Mapping[str, Sequence[Row]]
    config: Mapping[str, Any]
    axes: Mapping[str, Any]
    toml: str

    @classmethod
    def from_runs(cls, plan: Plan, results: Mapping[RunSpec, SystemRun]) -> Self:
        """Make the outcome of measured runs: each case is a row of its labels and the mean of its runs."""
        rows: dict[str, list[Row]] = {name: [] for name in cls.kinds}
        for case, runs in case_runs(plan, results).items():
            rows[case.section].append(cls.kinds[case.section](**dict(case.labels), run=average(runs)))
        return cls(rows, {}, plan.config, plan.axes, plan.toml)

    def conclusion(self) -> str:
        """Return the answer of the study in a sentence, for studies without a presentation."""
        return ""

    def plot(self, *arguments: Any, **options: Any) -> Figure:
        """Draw a figure, the default one without arguments."""
        return self._draw(*arguments, **options)

    def plot_options(self, where: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the further arguments of `plot` for the part of the study where columns have some values.

        Raises:
            Error: The figure has no such parts.
        """
        keys_text = ", ".join(where)
        raise Error(f"the figure of this study is not drawn by {keys_text}", remedy="add --x and --y")

    def plot_columns(
        self,
        y: str,
        x: str | Sequence[str] = (),
        *,
        width: str | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> Figure:
        """Draw a column of a table, with 95 % bands where there are several seeds.

        Args:
            y: The column, such as `mean_ms`.
            x: The column of the x axis, or two columns for a heat map. Default: the first axis with numbers.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.
            where: Values of columns that rows must have, such as `{"speedup": 2}`.

        Raises:
            Error: No table has these columns or values, or they cannot be drawn.

        Examples:
            >>> import sledlab as sl
            >>> source = sl.workload("uniform")
            >>> c = sl.compare(source, "mems-g2", limit=200, speedup=[1, 2], scheduler=["fcfs", "sptf"])
            >>> c.plot_columns("queue_mean", "speedup").axes[0].get_xlabel()
            'speedup'
        """
        columns = [x] if isinstance(x, str) else list(x)
        plot_columns = load_object("sledlab.study.column_figure:plot_columns")
        figure: Figure = plot_columns(self, y, columns, width, where)
        return figure

    @cached_property
    def tables(self) -> dict[str, polars.DataFrame]:
        """A frame for each table, by name; empty for a section that was omitted.

        `help` shows the units and meanings of the columns of a frame.
        """
        kinds = {**self.kinds, **self.cost_kinds}
        return {
            name: describe(frame(rows, self.kinds.get(name)), _units_and_meanings(kinds.get(name)))
            for name, rows in {**self.rows, **self.costs}.items()
        }

    def to_xarray(self, table: str | None = None) -> xarray.Dataset:
        """Return a table as arrays with named axes; needs `xarray`.

        The axes of the study and other columns that identify a row are dimensions; all other columns are
        variables, with their unit and meaning. Rows that the table does not have are NaN.

        Args:
            table: The table, such as `curves`. Default: the first with means over the seeds.

        Raises:
            Error: There is no such table, or xarray is not installed.
        """
        dataset: xarray.Dataset = load_object("sledlab.study.labelled:to_xarray")(self, table)
        return dataset

    @property
    def as_file(self) -> str:
        """The study as a file."""
        return self.toml

    @property
    def answer(self) -> str:
        """The answer of the study, in a few sentences."""
        return find_presentation(self).answer(self)

    def closing_line(self, directory: Path | None) -> str:
        """Return the last line on the command line: where the page is."""
        return f"report: {directory / REPORT}" if directory else ""

    def extras(self) -> Mapping[str, Any]:
        """Return the further plain data for `to_dict`."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data, as printed by `--json`."""
        return self.plain_data({**self.rows, **self.costs})

    @property
    def heading(self) -> dict[str, Any]:
        """The head of the plain data: version of its format, the answer, and notes on it."""
        return {"schema": SCHEMA, "answer": self.answer, "warnings": self.warnings}

    def plain_data(self, tables: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
        """Answer, axes, some of the tables and the shared part of the experiment, as plain data."""
        return {
            **self.heading,
            "study": dict(self.axes),
            **self.extras(),
            "tables": {name: records(rows) for name, rows in tables.items()},
            "config": dict(self.config),
        }

    @property
    def output_files(self) -> list[str]:
        """Names of the files that `write` writes."""
        return [f"{name}.{ending}" for name in self.tables for ending in TABLES] + [
            SUMMARY,
            STUDY,
            REPORT,
            LATEX,
            OUTCOME,
            *([TIMING] if self.costs else []),
        ]

    def write(self, directory: str | Path) -> None:
        """Write all tables, as Parquet and CSV, summary, study, page and LaTeX into a directory."""
        path = Path(directory)
        for name, table in self.tables.items():
            with atomic_write(path / f"{name}.parquet") as draft:
                write_table(table, draft)
            with atomic_write(path / f"{name}.csv") as draft:
                table.write_csv(draft)
        text = json.dumps(self.plain_data(self.rows), indent=2, ensure_ascii=False, allow_nan=False)
        texts = {
            SUMMARY: text + "\n",
            STUDY: relativize_study(path, self.toml),
            LATEX: self.latex(),
            OUTCOME: json.dumps(self.dump(), allow_nan=False) + "\n",
            **({TIMING: json.dumps(to_plain(self.costs), allow_nan=False) + "\n"} if self.costs else {}),
        }
        for name, content in texts.items():
            with atomic_write(path / name) as draft:
                draft.write_text(content, encoding="utf-8")
        self.report(path / REPORT)

    def dump(self) -> dict[str, Any]:
        """Return everything but wall-clock figures and the study file as plain data, for `load`."""
        omitted = {"rows", "costs", "toml", *self.kinds}
        names = [each.name for each in fields(self) if each.init and each.name not in omitted]
        return {"rows": to_plain(self.rows), **{name: to_plain(getattr(self, name)) for name in names}}

    @classmethod
    def load(cls, saved: Mapping[str, Any], costs: Mapping[str, Any], toml: str) -> Self:
        """Return the outcome that `dump` returned as plain data.

        Args:
            saved: The plain data.
            costs: The wall-clock figures as plain data.
            toml: The study as a file.

        Raises:
            AttributeError, KeyError, TypeError: The data is not that of an outcome of this class.
        """
        others = {name: value for name, value in saved.items() if name != "rows"}
        return cls.from_tables(
            _typed_tables(cls.kinds, saved["rows"]), _typed_tables(cls.cost_kinds, costs), toml=toml, **others
        )

    @classmethod
    def from_tables(cls, rows: Mapping[str, Any], costs: Mapping[str, Any], **others: Any) -> Self:
        """Return the outcome of these tables; subclasses whose fields differ override this."""
        return cls(rows=rows, costs=costs, **others)


def _typed_tables(kinds: Mapping[str, type], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables of plain data with rows of their classes."""
    return {name: from_plain(Sequence[kinds[name]], rows) for name, rows in tables.items()}  # type: ignore[valid-type]


def _units_and_meanings(kind: type | None) -> Mapping[str, tuple[str, str]]:
    """Return unit and meaning of the columns of a row by name; none for rows of no declared class."""
    declared = {} if kind is None else columns(kind)
    return {name: (column.unit, column.meaning) for name, column in declared.items()}

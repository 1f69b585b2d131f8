"""Declarations of the papers' figures: the experiments to run, the columns to show, the paper's numbers.

All figures are declared in `figures.toml`; no figure has a function of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.lazy import tomllib
from sledlab.reproduction.papers import PAPERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE = Path(__file__).with_name("figures.toml")

Span = tuple[float, float]


@dataclass(frozen=True)
class FigureRun:
    """An experiment that a figure shows.

    Attributes:
        experiment: Name of the experiment.
        place: Directory of its tables; by default the name of the experiment.
        workload: A workload to replay instead of that of its file.
        trace: A recorded trace that the experiment needs and that does not come with sledlab.
        options: Further options of the run, by keyword.
        own: Role of a user's device in the run: the `device`, the MEMS in `front` of one or in the `sets` of
            settings that have one, one of several `devices`; empty where the run takes no other device.
    """

    experiment: str
    place: str = ""
    workload: str = ""
    trace: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    own: str = "device"


@dataclass(frozen=True)
class PublishedValue:
    """A statement of the paper, drawn next to the measured values.

    Attributes:
        text: The statement, and the section of the paper that it is in.
        at: Printed values: pairs of a place on the x axis and a value.
        x: A printed range of the x axis; both ends are equal for a single place.
        y: A printed range of values; both ends are equal for a single value.
        of: Our series that a relative statement refers to.
        by: Smallest and largest factor of a relative statement, as multiples of that series.
        along: The axis along which the factors multiply.
        within: Range of values of that series for which the statement is made.
        at_x: The place on the x axis, for a statement about one place only.
        from_x: The place of our value that a statement about one place refers to.
        panels: Words of `each` for which the statement is made; all when empty.
        claims: Ids of the claims that make the statement.
    """

    text: str
    at: tuple[tuple[Any, float], ...] = ()
    x: Span | None = None
    y: Span | None = None
    of: str = ""
    by: Span | None = None
    along: str = "y"
    within: Span | None = None
    at_x: Any = None
    from_x: Any = None
    panels: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()

    @property
    def is_absolute(self) -> bool:
        """Whether the statement gives values of y, which hold for runs of the paper's size."""
        return bool(self.at or self.y)

    @property
    def is_area(self) -> bool:
        """Whether the statement is drawn as an area: a range of values along an axis or a series."""
        ranges = [span for span in (self.x, self.y, self.by if self.at_x is None else None) if span]
        return any(low != high for low, high in ranges)


@dataclass(frozen=True)
class FigurePanel:
    """A part of a figure with axes of its own.

    Attributes:
        y: The columns whose sum is shown; for a stack, the columns of each part by the part's name.
        x: The column on the x axis; of several, `a/b`, the first that the table has.
        kind: `lines`, `bars`, `stack`, or `map` for seek times.
        title: Title of the panel.
        places: Directories of tables; by default those of all experiments of the figure.
        table: Name of the table that is read.
        where: Values by column: only rows with these are shown.
        series: The column whose values are the lines, or the groups of a stack.
        names: Names of values of that column, or of x where `series` is empty; other values are not shown.
        per: Number that is divided by the values of x; 0 shows x itself.
        over: `place` and `where` of rows whose mean y divides all values.
        relative_to: A series whose values at the same x divide all values.
        share: Whether the parts of a stack are shown as shares of its height.
        labels: Labels of the x and the y axis.
        log: Logarithmic axes, `x` and `y`; `auto` makes y logarithmic where its values are far apart.
        limits: Ranges of the axes, by `x` and `y`.
        printed: Statements of the paper to be drawn.
        each: Words, maybe with titles: there is a panel for each word, put in for `{each}` and `{title}`.
    """

    y: str | Mapping[str, str] = ""
    x: str = ""
    kind: str = "lines"
    title: str = ""
    places: tuple[str, ...] = ()
    table: str = "runs"
    where: Mapping[str, Any] = field(default_factory=dict)
    series: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    per: float = 0.0
    over: Mapping[str, Any] = field(default_factory=dict)
    relative_to: str = ""
    share: bool = False
    labels: tuple[str, str] = ("", "")
    log: str = ""
    limits: Mapping[str, Span] = field(default_factory=dict)
    printed: tuple[PublishedValue, ...] = ()
    each: tuple[str, ...] = ()

    @property
    def parts(self) -> Mapping[str, str]:
        """The columns to be shown, by the name of the part: one part, or the parts of a stack."""
        return {"": self.y} if isinstance(self.y, str) else self.y

    @property
    def shows_totals(self) -> bool:
        """Whether the values are totals over a run, in s or J, which grow with the size of the run."""
        columns = [name for part in self.parts.values() for name in part.split(" + ")]
        return not (self.share or self.over or self.relative_to) and any(
            name.endswith(("_s", "_j")) for name in columns
        )

    @property
    def columns(self) -> set[str]:
        """The columns that are read, if the table has them."""
        summed_columns = {name for part in self.parts.values() for name in part.split(" + ")}
        keys = {key.partition(":")[0] for key in (*self.x.split("/"), self.series, *self.where)}
        return (summed_columns | keys | set(self.over.get("where", {})) | {"seed", "saturated"}) - {""}


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, drawn again.

    Attributes:
        name: Name of the figure, such as `hong2006-figure-9`.
        paper: The paper, a key of `PAPERS`.
        number: Number of the figure in the paper.
        title: Title of the figure.
        section: The section of the paper that discusses the figure.
        runs: Experiments that the figure shows.
        panels: Panels of the figure.
        note: A remark on the figure that no claim makes.
        quick: Options that shorten the runs, for `--quick`.
        claims: Ids of claims that the figure shows, besides claims that name it.
    """

    name: str
    paper: str
    number: int
    title: str
    section: str
    runs: tuple[FigureRun, ...]
    panels: tuple[FigurePanel, ...]
    note: str = ""
    quick: Mapping[str, Any] = field(default_factory=dict)
    claims: tuple[str, ...] = ()

    def statement_claims(self, text: str) -> tuple[str, ...]:
        """Ids of the claims that make a statement, in all panels."""
        statements = self.statements(text)
        return tuple(dict.fromkeys(claim for statement in statements for claim in statement.claims))

    def statement_label(self, text: str, shortened: str) -> str:
        """A statement as a legend has it; in a shortened run, values are marked as those of the full run."""
        is_absolute = any(statement.is_absolute for statement in self.statements(text))
        return f"{text}, for the full run" if shortened and is_absolute else text

    def statements(self, text: str) -> list[PublishedValue]:
        """Published values with the same text, in all panels."""
        return [statement for panel in self.panels for statement in panel.printed if statement.text == text]

    @property
    def topic(self) -> str:
        """The topic of the experiments that the figure shows."""
        topics_by_paper = {"wang2005": "hybrid", "lee2009": "scheduling", "lin": "power", "chiu2004": "smart"}
        return topics_by_paper.get(self.paper) or ("power" if self.number >= 10 else "scheduling")

    @property
    def heading(self) -> str:
        """Paper, number and title of the figure."""
        return f"{PAPERS[self.paper].citation}, figure {self.number}: {self.title}"

    def is_cited_by(self, passage: str) -> bool:
        """Whether a passage names the figure: `section 6.1; figure 4b,c`, `figures 7 and 8`."""
        number_pairs = re.findall(r"figures? (\d+)[a-d,]*(?: and (\d+))?", passage)
        return str(self.number) in {number for pair in number_pairs for number in pair}

    def shows(self, claim: str, paper: str, passage: str) -> bool:
        """Whether the figure shows a claim, given the claim's id, its paper, and its passage in the paper."""
        return self.paper == paper and (claim in self.claims or self.is_cited_by(passage))

    def tables(self) -> Iterator[tuple[str, str, set[str]]]:
        """The tables that the figure reads: directory, table and columns of each."""
        for panel in self.panels:
            if panel.kind != "map":
                yield from ((place, panel.table, panel.columns) for place in self.places(panel))
            if panel.over:
                yield panel.over["place"], panel.table, panel.columns

    def places(self, panel: FigurePanel) -> tuple[str, ...]:
        """Directories of the tables of a panel."""
        return panel.places or tuple(run.place for run in self.runs)


@cache
def figures() -> dict[str, Figure]:
    """All figures, by name."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["figure"]
    return {figure.name: figure for figure in map(_parse_figure, rows)}


def _parse_figure(row: Mapping[str, Any]) -> Figure:
    runs = tuple(_parse_run(each) for table in row["runs"] for each in _expand_each(table))
    panels = tuple(_parse_panel(each) for table in row["panels"] for each in _expand_each(table))
    name = f"{row['paper']}-figure-{row['number']}"
    table = {**row, "runs": runs, "panels": panels, "claims": tuple(row.get("claims", ()))}
    figure: Figure = _parse_declaration(Figure, {"name": name, **table})
    return figure


def _parse_run(table: Mapping[str, Any]) -> FigureRun:
    run: FigureRun = _parse_declaration(FigureRun, table)
    return replace(run, place=run.place or run.experiment)


def _parse_panel(table: Mapping[str, Any]) -> FigurePanel:
    published = tuple(
        _parse_declaration(PublishedValue, declaration)
        for declaration in table.get("printed", ())
        if not declaration.get("panels") or table["each"] in declaration["panels"]
    )
    panel: FigurePanel = _parse_declaration(FigurePanel, {**table, "printed": published, "each": ()})
    return panel


def _expand_each(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A declaration for each word of `each`, with the word put in for `{each}`."""
    words = table.get("each", [""])
    titles = words if isinstance(words, dict) else {word: word for word in words}
    declaration = {key: value for key, value in table.items() if key != "each"}
    for word, title in titles.items():
        yield {**_substitute(declaration, word, title), "each": word}


def _substitute(value: Any, word: str, title: str) -> Any:
    if isinstance(value, str):
        return value.replace("{each}", word).replace("{title}", title)
    if isinstance(value, list):
        return [_substitute(item, word, title) for item in value]
    if isinstance(value, dict):
        return {key: _substitute(item, word, title) for key, item in value.items()}
    return value


def _parse_declaration(declared_class: type, table: Mapping[str, Any]) -> Any:
    """A declaration of a kind: lists become tuples, and keys that the kind does not have are an error."""
    field_names = {field.name for field in fields(declared_class)}
    if declared_class is FigureRun:
        table = {key: value for key, value in table.items() if key != "each"}
    if unknown := set(table) - field_names:
        raise TypeError(f"figures.toml: {declared_class.__name__} knows no {', '.join(sorted(unknown))}")
    return declared_class(**{key: _to_tuple(value) for key, value in table.items()})


def _to_tuple(value: Any) -> Any:
    return tuple(map(_to_tuple, value)) if isinstance(value, (list, tuple)) else value

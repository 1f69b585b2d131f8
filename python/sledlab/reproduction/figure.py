"""Figures of papers as they are declared: what is run, what is shown of it, and what the paper prints.

All of them are in `figures.toml`; there is no function for a figure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.lazy import tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE = Path(__file__).with_name("figures.toml")

Span = tuple[float, float]


@dataclass(frozen=True)
class FigureRun:
    """An experiment that a figure shows.

    Attributes:
        experiment: Its name.
        place: The directory of its tables; the name of the experiment unless said.
        workload: What is replayed instead of the workload of its file.
        trace: A recorded trace that it needs, and sledlab has not.
        said: What is said besides, by keyword.
        own: What a device of the user's becomes: the `device`, the MEMS in `front` of one or in the `sets`
            of settings that have any, one of several `devices`; empty where there is no room for it.
    """

    experiment: str
    place: str = ""
    workload: str = ""
    trace: str = ""
    said: Mapping[str, Any] = field(default_factory=dict)
    own: str = "device"


@dataclass(frozen=True)
class Printed:
    """What the paper prints, beside which ours is drawn.

    Attributes:
        said: What it says, and in which section.
        at: Values: pairs of a place on the x axis and a value.
        x: A place on the x axis, or the range of it.
        y: A value, or a range of values.
        of: The series, or the bar, of ours that it is relative to.
        by: From, to: multiples of that.
        along: The axis that multiples are along.
        within: Values of that series for which it is said.
        at_x: Where it is said, for one place only.
        from_x: The place that it is relative to.
        panels: Words of `each` for which it is said; all where empty.
    """

    said: str
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


@dataclass(frozen=True)
class FigurePanel:
    """A part of a figure with axes of its own.

    Attributes:
        y: The columns whose sum is shown; parts of a stack by their names.
        x: The column along which; the first that is there of several.
        kind: `lines`, `bars`, `stack`, or `map` for seek times.
        title: What it shows.
        places: Directories of tables; those of all experiments unless said.
        table: The table.
        where: Values that columns have to have.
        series: The column that tells lines or bars apart; groups of a stack.
        names: What values of that column, or of x without one, are called; others are not shown.
        per: What x is divided into.
        over: Rows whose mean y all others are divided by: `place` and `where`.
        share: Whether a stack is of shares of its height.
        labels: What the axes show, x and y.
        log: Axes that are logarithmic; `auto` for one of values that are far apart.
        limits: Ranges of axes.
        printed: What the paper prints.
        each: Words, maybe with titles; there is a panel for each, which stands for `{each}` and `{title}`.
    """

    y: str | Mapping[str, str] = ""
    x: str = ""
    kind: str = "lines"
    title: str = ""
    places: tuple[str, ...] = ()
    table: str = "points"
    where: Mapping[str, Any] = field(default_factory=dict)
    series: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    per: float = 0.0
    over: Mapping[str, Any] = field(default_factory=dict)
    share: bool = False
    labels: tuple[str, str] = ("", "")
    log: str = ""
    limits: Mapping[str, Span] = field(default_factory=dict)
    printed: tuple[Printed, ...] = ()
    each: tuple[str, ...] = ()

    @property
    def parts(self) -> Mapping[str, str]:
        """What is shown, by its name: one thing, or the parts of a stack."""
        return {"": self.y} if isinstance(self.y, str) else self.y

    @property
    def columns(self) -> set[str]:
        """The columns that are read, where the table has them."""
        sums = {name for each in self.parts.values() for name in each.split(" + ")}
        keys = {key.partition(":")[0] for key in (*self.x.split("/"), self.series, *self.where)}
        return (sums | keys | set(self.over.get("where", {})) | {"seed", "saturated"}) - {""}


@dataclass(frozen=True)
class Figure:
    """A figure of a paper, drawn again.

    Attributes:
        name: As users call it.
        paper: The paper, `000` to `004`.
        number: Its number there.
        title: What it shows.
        section: The section that speaks of it.
        runs: What is run.
        panels: What is drawn.
        note: What the paper says that is no number.
        quick: What is said where a first picture will do.
        claims: Claims on it besides those that name it.
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

    @property
    def topic(self) -> str:
        """The page of the documentation that it stands on."""
        alone = {"001": "hybrid", "002": "scheduling", "003": "power", "004": "smart"}
        return alone.get(self.paper) or ("power" if self.number >= 10 else "scheduling")

    @property
    def heading(self) -> str:
        """Paper, number and title."""
        return f"Paper {self.paper}, figure {self.number}: {self.title}"

    def named_in(self, where: str) -> bool:
        """Whether a passage names it: `section 6.1; figure 4b,c`, `figures 7 and 8`."""
        named = re.findall(r"figures? (\d+)[a-d,]*(?: and (\d+))?", where)
        return str(self.number) in {each for pair in named for each in pair}

    def shows(self, claim: str, paper: str, where: str) -> bool:
        """Whether it shows what a claim says, by the claim's id, its paper, and where that makes it."""
        return self.paper == paper and (claim in self.claims or self.named_in(where))

    def tables(self) -> Iterator[tuple[str, str, set[str]]]:
        """What is read: place, table and columns."""
        for panel in self.panels:
            if panel.kind != "map":
                yield from ((place, panel.table, panel.columns) for place in self.places(panel))
            if panel.over:
                yield panel.over["place"], panel.table, panel.columns

    def places(self, panel: FigurePanel) -> tuple[str, ...]:
        """Directories of the tables of a panel."""
        return panel.places or tuple(each.place for each in self.runs)


@cache
def figures() -> dict[str, Figure]:
    """All figures, by name."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["figure"]
    return {each.name: each for each in map(_figure, rows)}


def _figure(row: Mapping[str, Any]) -> Figure:
    runs = tuple(_ran(each) for said in row["runs"] for each in _for_each(said))
    panels = tuple(_panel(each) for said in row["panels"] for each in _for_each(said))
    name = f"paper-{row['paper']}-figure-{row['number']}"
    said = {**row, "runs": runs, "panels": panels, "claims": tuple(row.get("claims", ()))}
    found: Figure = _made(Figure, {"name": name, **said})
    return found


def _ran(said: Mapping[str, Any]) -> FigureRun:
    found: FigureRun = _made(FigureRun, said)
    return replace(found, place=found.place or found.experiment)


def _panel(said: Mapping[str, Any]) -> FigurePanel:
    printed = tuple(
        _made(Printed, each)
        for each in said.get("printed", ())
        if not each.get("panels") or said["each"] in each["panels"]
    )
    found: FigurePanel = _made(FigurePanel, {**said, "printed": printed, "each": ()})
    return found


def _for_each(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """One declaration for each of its words, which stand in the place of `{each}`."""
    words = said.get("each", [""])
    titles = words if isinstance(words, dict) else {word: word for word in words}
    rest = {key: value for key, value in said.items() if key != "each"}
    for word, title in titles.items():
        yield {**_filled(rest, word, title), "each": word}


def _filled(value: Any, word: str, title: str) -> Any:
    if isinstance(value, str):
        return value.replace("{each}", word).replace("{title}", title)
    if isinstance(value, list):
        return [_filled(each, word, title) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, word, title) for key, each in value.items()}
    return value


def _made(kind: type, said: Mapping[str, Any]) -> Any:
    """A declaration of a kind: lists become tuples, and what a kind does not know is an error."""
    known = {each.name for each in fields(kind)}
    if kind is FigureRun:
        said = {key: value for key, value in said.items() if key != "each"}
    if unknown := set(said) - known:
        raise TypeError(f"figures.toml: {kind.__name__} knows no {', '.join(sorted(unknown))}")
    return kind(**{key: _tuple(value) for key, value in said.items()})


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, (list, tuple)) else value

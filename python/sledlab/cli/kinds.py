"""Kinds of models and data that `sledlab list` and `sledlab show` print."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import unknown
from sledlab.lazy import later
from sledlab.model import catalog
from sledlab.model.catalog import CATALOGS, PLURALS
from sledlab.model.experiment import experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sledlab.model.entries import Entry

job = later("sledlab.job")
samples = later("sledlab.traces.samples:samples")


@dataclass(frozen=True)
class Listing:
    """A table of all members of a kind.

    Attributes:
        head: Titles of the columns.
        rows: The cells of each row; the first is the name.
        right: Titles of columns that are aligned to the right.
        data: The same as plain data, for `--json`.
        title: Text above the table.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    data: Sequence[Any]
    right: Sequence[str] = ()
    title: str = ""


@dataclass(frozen=True)
class ListedKind:
    """A kind of models or data.

    Attributes:
        plural: What the help calls its members.
        names: Returns the names of its members.
        listings: Returns its tables; only the first is printed as JSON.
    """

    plural: str
    names: Callable[[], Sequence[str]]
    listings: Callable[[], Sequence[Listing]]


def find_kind(word: str) -> str:
    """Return the name of a kind, given in the singular or the plural.

    Raises:
        Error: There is no such kind.

    Examples:
        >>> find_kind("scheduler"), find_kind("power policies")
        ('scheduler', 'power')
    """
    name = word.lower()
    for kind, each in KINDS.items():
        if name in (kind, f"{kind}s", each.plural):
            return kind
    raise unknown("kind", word, list(KINDS))


def _models(entries: Sequence[Entry], title: str = "") -> Listing:
    rows = [(entry.name, entry.meaning) for entry in entries]
    return Listing(("name", "meaning"), rows, [asdict(entry) for entry in entries], title=title)


def _model_kind(kind: str) -> ListedKind:
    members = CATALOGS[kind]
    return ListedKind(PLURALS[kind], lambda: list(members), lambda: [_models(members.list())])


def _networks() -> list[Listing]:
    models = catalog.entries("network_kinds")
    return [_models(CATALOGS["network"].list()), _models(models, "Models of a network file (kind = ...):")]


def _experiments() -> list[Listing]:
    entries = experiment.list()
    rows = [(each.name, each.study, each.meaning) for each in entries]
    data = [{"name": each.name, "meaning": each.meaning, "study": each.study} for each in entries]
    return [Listing(("name", "study", "meaning"), rows, data)]


def _jobs() -> list[Listing]:
    rows = [(each.name, each.data, each.meaning) for each in job.LIST]
    data = [{"name": each.name, "meaning": each.meaning, "data": each.data} for each in job.LIST]
    return [Listing(("name", "data", "meaning"), rows, data)]


def _traces() -> list[Listing]:
    rows = [(each.name, f"{each.requests:,}", f"{each.duration_s:g}", each.meaning) for each in samples()]
    data = [{key: value for key, value in asdict(each).items() if key != "folder"} for each in samples()]
    return [
        Listing(("name", "requests", "duration (s)", "meaning"), rows, data, ("requests", "duration (s)"))
    ]


KINDS: dict[str, ListedKind] = {
    **{kind: _model_kind(kind) for kind in CATALOGS if kind != "network"},
    "network": ListedKind(PLURALS["network"], lambda: list(CATALOGS["network"]), _networks),
    "job": ListedKind("jobs", lambda: [each.name for each in job.LIST], _jobs),
    "trace": ListedKind("sample traces", lambda: [each.name for each in samples()], _traces),
    "experiment": ListedKind("experiments", lambda: list(experiment), _experiments),
}
"""All kinds, by the name that users type."""

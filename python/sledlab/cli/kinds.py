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
    for kind, listed in KINDS.items():
        if name in (kind, f"{kind}s", listed.plural):
            return kind
    raise unknown("kind", word, list(KINDS))


def _model_listing(entries: Sequence[Entry], title: str = "") -> Listing:
    rows = [(entry.name, entry.meaning) for entry in entries]
    return Listing(("name", "meaning"), rows, [asdict(entry) for entry in entries], title=title)


def _model_kind(kind: str) -> ListedKind:
    members = CATALOGS[kind]
    return ListedKind(PLURALS[kind], lambda: list(members), lambda: [_model_listing(members.list())])


def _network_listings() -> list[Listing]:
    models = catalog.entries("network_kinds")
    return [
        _model_listing(CATALOGS["network"].list()),
        _model_listing(models, "Models of a network file (kind = ...):"),
    ]


def _experiment_listings() -> list[Listing]:
    entries = experiment.list()
    rows = [(entry.name, entry.study, entry.meaning) for entry in entries]
    data = [{"name": entry.name, "meaning": entry.meaning, "study": entry.study} for entry in entries]
    return [Listing(("name", "study", "meaning"), rows, data)]


def _job_listings() -> list[Listing]:
    rows = [(entry.name, entry.data, entry.meaning) for entry in job.LIST]
    data = [{"name": entry.name, "meaning": entry.meaning, "data": entry.data} for entry in job.LIST]
    return [Listing(("name", "data", "meaning"), rows, data)]


def _trace_listings() -> list[Listing]:
    rows = [
        (sample.name, f"{sample.requests:,}", f"{sample.duration_s:g}", sample.meaning)
        for sample in samples()
    ]
    data = [{key: value for key, value in asdict(sample).items() if key != "folder"} for sample in samples()]
    return [
        Listing(("name", "requests", "duration (s)", "meaning"), rows, data, ("requests", "duration (s)"))
    ]


KINDS: dict[str, ListedKind] = {
    **{kind: _model_kind(kind) for kind in CATALOGS if kind != "network"},
    "network": ListedKind(PLURALS["network"], lambda: list(CATALOGS["network"]), _network_listings),
    "job": ListedKind("jobs", lambda: [each.name for each in job.LIST], _job_listings),
    "trace": ListedKind("sample traces", lambda: [each.name for each in samples()], _trace_listings),
    "experiment": ListedKind("experiments", lambda: list(experiment), _experiment_listings),
}
"""All kinds, by the name that users type."""

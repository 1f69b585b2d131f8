"""The manifest: which build, machine and date the committed numbers are from.

`manifest.json` holds, for each page, a record of every measurement in it.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..results import PROJECT

FILE = Path(__file__).parent / "manifest.json"

MAX_NAMES = 5
"""Number of stale entries that a page names; the command lists all."""


@dataclass(frozen=True)
class Record:
    """One measurement.

    Attributes:
        fingerprint: Hash that changes when the result does.
        sources: Hash of the sources of the simulator (`validation.build.sources`); empty if unknown.
        profile: Cargo profile of the native module.
        machine: Processor and number of cores; empty if unknown.
        date: Day of the measurement.
        seconds: Duration of the measurement; 0 if unknown.
        stale: Whether a check since then found another fingerprint.
    """

    fingerprint: str
    sources: str
    profile: str
    machine: str
    date: str
    seconds: float = 0.0
    stale: bool = False


def is_stale(record: Record | None, fingerprint: str) -> bool:
    """Return whether a measurement has to be repeated: it is missing, or has another fingerprint."""
    return record is None or record.fingerprint != fingerprint


@dataclass
class Manifest:
    """The records in a file, by the path of the page and by the name of the entry."""

    file: Path = FILE
    records: dict[str, dict[str, Record]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path = FILE) -> Manifest:
        """Return the manifest in a file, empty if there is no file."""
        if not file.is_file():
            return cls(file)
        data = json.loads(file.read_text(encoding="utf-8"))
        return cls(file, {path: dict(_records(rows)) for path, rows in data.items()})

    def refresh(self) -> None:
        """Read the file again: another command may have written it meanwhile."""
        self.records = Manifest.read(self.file).records

    def get(self, path: str, name: str) -> Record | None:
        """Return the record of an entry, if any."""
        return self.records.get(path, {}).get(name)

    def put(self, path: str, new_records: Mapping[str, Record]) -> None:
        """Add the records of some entries of a page, or replace them."""
        self.records.setdefault(path, {}).update(new_records)

    def mark(self, path: str, name: str, *, is_stale: bool) -> None:
        """Note whether an entry is stale, if it has a record."""
        if record := self.get(path, name):
            self.records[path][name] = replace(record, stale=is_stale)

    def remove(self, path: str, names: Iterable[str]) -> None:
        """Remove the records of some entries."""
        removed_names = set(names)
        page_records = self.records.get(path, {})
        self.records[path] = {
            name: record for name, record in page_records.items() if name not in removed_names
        }

    def retain(self, existing: Mapping[str, Container[str]]) -> None:
        """Remove the records of entries that no longer exist, given those that do, by path."""
        self.records = {
            path: {name: record for name, record in page_records.items() if name in existing[path]}
            for path, page_records in self.records.items()
            if path in existing
        }

    def write(self) -> None:
        """Write the file: one line for each record, so that version control shows which changed."""
        blocks = []
        for path, records in sorted(self.records.items()):
            lines = ",\n".join(
                f"  {json.dumps(name)}: {_line(each)}" for name, each in sorted(records.items())
            )
            blocks.append(f"{json.dumps(path)}: {{\n{lines}\n}}")
        draft = self.file.with_suffix(".draft")
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
        draft.replace(self.file)


def _records(rows: Mapping[str, Any]) -> Iterator[tuple[str, Record]]:
    for name, row in rows.items():
        yield name, Record(**row)


def _line(record: Record) -> str:
    row = asdict(record)
    if not record.stale:
        del row["stale"]
    return json.dumps(row)


def summary(records: Mapping[str, Record]) -> str:
    """Return when, with which sources and where some entries were measured, and which are stale."""
    if not records:
        return "No record of the build and machine."
    all_records = records.values()
    dates = sorted({row.date for row in all_records})
    date_range = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    source_texts = ", ".join(
        f"`{each}`" for each in sorted({row.sources for row in all_records if row.sources})
    )
    source_text = source_texts or "not recorded"
    profiles = ", ".join(sorted({row.profile for row in all_records}))
    machines = "; ".join(sorted({row.machine or "a machine not recorded" for row in all_records}))
    measurement_text = f"Measured {date_range}, sources {source_text} ({profiles} build), on {machines}."
    stale_names = sorted(name for name, row in records.items() if row.stale)
    if not stale_names:
        return measurement_text
    if len(records) == 1:
        return f"{measurement_text} Not confirmed for later sources."
    more_text = f" and {len(stale_names) - MAX_NAMES} more" if len(stale_names) > MAX_NAMES else ""
    names = ", ".join(stale_names[:MAX_NAMES])
    return f"{measurement_text} Not confirmed for later sources: {names}{more_text}."


def page_summary(path: str) -> str:
    """Return the summary of a page, with the place of all records."""
    manifest_path = FILE.relative_to(PROJECT).as_posix()
    return f"{summary(Manifest.read().records.get(path, {}))} All records: `{manifest_path}`."

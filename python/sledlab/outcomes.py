"""What studies leave: a frame for each table, a summary and a page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from sledlab.recording import REPORT, SUMMARY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars


class Study(Protocol):
    """What was found out, in tables."""

    @property
    def tables(self) -> Mapping[str, polars.DataFrame]:
        """A frame for each table, by name."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""

    def report(self, path: Path) -> Path:
        """Writes the page to `path` and returns the path."""


def frames(rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, polars.DataFrame]:
    """Tables of plain rows as frames."""
    import polars

    return {name: polars.DataFrame(table, infer_schema_length=None) for name, table in rows.items()}


def write(study: Study, directory: Path) -> None:
    """Writes all tables, the summary and the report into a directory."""
    for name, frame in study.tables.items():
        frame.write_parquet(directory / f"{name}.parquet")
    text = json.dumps(study.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    (directory / SUMMARY).write_text(text + "\n", encoding="utf-8")
    study.report(directory / REPORT)

"""Files of studies among the arguments of commands."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.lazy import later
from sledlab.studies import find_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

read_tables = later("sledlab.study.file:read_tables")


def refuse_study(file: str | None, own_kinds: Sequence[str] = ()) -> None:
    """Refuse the file of a study that another command runs; the remedy names that command.

    Args:
        file: The file that a command reads, if any.
        own_kinds: Kinds of studies that the command itself runs.

    Raises:
        Error: The file is that of another study.
    """
    tables: Mapping[str, Any] = {}
    if file is not None:
        with suppress(Error):  # the command reports it with its place when it reads the file
            tables = read_tables(file)
    study_table = tables.get("study")
    kind = str(study_table.get("kind")) if isinstance(study_table, dict) else ""
    listed_study = find_study(kind)
    if listed_study is not None and kind not in own_kinds:
        remedy = f"run it with: sledlab {listed_study.parent or listed_study.name} {file}"
        raise Error(f"`{file}` is the file of a study of kind `{kind}`", remedy=remedy)

"""Answers of jobs: rows, in memory or on the stores of nodes, a table, or plain data."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.job.files import OutputFile
from sledlab.lazy import numpy as np
from sledlab.lazy import polars
from sledlab.traces.parquet import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sledlab.job.files import Array

BLOCK_ROWS = 1 << 20
"""Rows of an answer that are in memory at a time."""


def digest(part: Any) -> str:
    """A hash of a node's part of the answer: equal parts have equal hashes; empty for no part."""
    if part is None:
        return ""
    hasher = sha256()
    if isinstance(part, polars.DataFrame):
        hasher.update("\n".join(sorted(_row_texts(part))).encode())
    elif is_rows(part):
        for rows in blocks(part):
            hasher.update(np.ascontiguousarray(rows).tobytes())
    else:
        try:
            hasher.update(json.dumps(part, sort_keys=True, default=_to_plain).encode())
        except TypeError as error:
            raise Error(
                f"the job's answer cannot be saved: {error}",
                remedy="return an array, node.file(...), or text, numbers, lists and dicts of them",
            ) from error
    return hasher.hexdigest()


def combine_digests(digests: Sequence[str]) -> str:
    """The hash of an answer, made of the hashes of its parts; nodes without a part do not count."""
    return "sha256:" + sha256("\n".join(filter(None, digests)).encode()).hexdigest()


def _row_texts(table: polars.DataFrame) -> Iterator[str]:
    """Each row of a table as text, for hashing."""
    return map(str, table.iter_rows())


def is_rows(part: Any) -> bool:
    """Whether a part of an answer is rows."""
    return isinstance(part, OutputFile | np.ndarray)


def blocks(part: Array | OutputFile) -> Iterator[Array]:
    """Rows of a part of an answer in one block or several: at most `BLOCK_ROWS` of a file, an array whole."""
    if isinstance(part, OutputFile):
        for start in range(0, max(part.rows, 1), BLOCK_ROWS):
            yield part.span(start, min(part.rows, start + BLOCK_ROWS), ())
    else:
        yield part


def frame(rows: Array) -> polars.DataFrame:
    """Rows as a table."""
    if rows.dtype.names:
        return polars.DataFrame({name: _to_column(rows[name]) for name in rows.dtype.names})
    if rows.ndim == 1:
        return polars.DataFrame({"value": rows})
    return polars.DataFrame({f"value_{column}": rows[:, column] for column in range(rows.shape[1])})


def _to_column(values: Array) -> Any:
    return values.astype(str) if values.dtype.kind == "S" else np.ascontiguousarray(values)


def write(parts: Iterable[Any], path: Path) -> None:
    """Write the parts of an answer to a file, node by node: rows as Parquet, plain data as JSON.

    Raises:
        Error: The file's name does not fit, or there is no answer.
    """
    present_parts = (part for part in parts if part is not None)
    first_part = next(present_parts, None)
    if first_part is None:
        raise Error("the job returns no answer", remedy="omit the file for the answer")
    has_rows = is_rows(first_part) or isinstance(first_part, polars.DataFrame)
    ending = ".parquet" if has_rows else ".json"
    if path.suffix != ending:
        content_kind = "rows" if has_rows else "plain data"
        raise Error(
            f"the answer is {content_kind} and cannot be written to `{path.name}`",
            remedy=f"use a name that ends in {ending}",
        )
    with atomic_write(path) as draft:
        if has_rows:
            _write_rows(chain([first_part], present_parts), draft)
        else:
            all_parts = [first_part, *present_parts]
            draft.write_text(_to_json(all_parts[0] if len(all_parts) == 1 else all_parts))


def _to_json(answer: Any) -> str:
    """An answer as JSON.

    Raises:
        Error: A number in it is infinite or not a number, which JSON cannot represent.
    """
    try:
        return json.dumps(answer, indent=1, default=_to_plain, allow_nan=False) + "\n"
    except ValueError as error:
        raise Error(
            "the answer cannot be written as JSON, which has no NaN and no infinite numbers",
            remedy="return None where there is no number",
        ) from error


def _write_rows(parts: Iterable[Any], path: Path) -> None:
    """Write rows as Parquet."""
    writer = ParquetWriter(path)
    try:
        for part in parts:
            for table in [part] if isinstance(part, polars.DataFrame) else map(frame, blocks(part)):
                writer.write(table)
        writer.close()
    finally:
        writer.drop()


def _to_plain(value: Any) -> Any:
    """A number or an array of numpy as a plain number or list, for JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is neither rows nor plain data")

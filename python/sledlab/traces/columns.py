"""Traces as tables: columns, their types, and the formats of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error, unknown
from sledlab.lazy import polars

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = ("time_us", "op", "offset_bytes", "length_bytes")
"""Columns of a trace in tables: see `sledlab.read_trace`."""

OPTIONAL_COLUMNS = ("device", "metadata")
"""Columns that a trace may have besides."""

BLOCK_BYTES = 512
"""Bytes in a logical block."""

PARQUET = "parquet"
"""Name of the format that Python reads and writes; the simulator handles all others."""

ENDINGS = {
    **{f".{extension}": name for name, extensions, _ in _native.writer_formats() for extension in extensions},
    ".parquet": PARQUET,
}
"""Formats that can be written, by the endings of file names that choose them."""

DEVICE_FIELDS = {**{name: field for name, _, field in _native.writer_formats()}, PARQUET: "column"}
"""How formats to write state devices: by `number`, by `name`, in an optional `column`, or not (`absent`)."""

WRITABLE_FORMATS = tuple(DEVICE_FIELDS)
"""All formats that can be written. Some are chosen by their name only."""

COMPRESSED_ENDINGS = tuple(f".{extension}" for extension in _native.compression_extensions())
"""Endings behind these, of files to be written compressed."""


def schema() -> polars.Schema:
    """Return the columns of a trace with their types, optional ones included."""
    return polars.Schema(
        {
            "time_us": polars.Float64,
            "op": polars.String,
            "offset_bytes": polars.Int64,
            "length_bytes": polars.Int64,
            "device": polars.UInt16,
            "metadata": polars.UInt8,
        }
    )


def check_columns(names: Sequence[str], name: str) -> list[str]:
    """The columns of a trace among those found in the table or file `name`.

    Raises:
        Error: A column that every trace has is missing.
    """
    missing = [column for column in COLUMNS if column not in names]
    if missing:
        raise Error(
            f"{name}: the column `{missing[0]}` is missing",
            remedy=f"a trace has {', '.join(COLUMNS)}, optionally {' and '.join(OPTIONAL_COLUMNS)}; "
            f"found: {', '.join(names)}",
        )
    return [*COLUMNS, *(column for column in OPTIONAL_COLUMNS if column in names)]


def is_parquet(path: str, format: str | None = None) -> bool:
    """Whether a file is Parquet: because `format` says so, or by its first bytes."""
    if format is not None:
        return format.lower() == PARQUET
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def format_to_write(path: str, format: str | None = None) -> str:
    """The format in which a file is written: `format`, or the one that the ending of its name chooses.

    Raises:
        Error: There is no such format, or the ending chooses none.

    Examples:
        >>> format_to_write("app.csv.gz"), format_to_write("app.txt"), format_to_write("-", "csv")
        ('csv', 'disksim-ascii', 'csv')
    """
    if format is not None:
        if format.lower() not in WRITABLE_FORMATS:
            raise unknown("format to write", format, WRITABLE_FORMATS)
        return format.lower()
    file_name = Path(path).name.lower()
    compressed_ending = next((ending for ending in COMPRESSED_ENDINGS if file_name.endswith(ending)), "")
    format_name = ENDINGS.get(Path(file_name.removesuffix(compressed_ending)).suffix)
    if format_name is None or (compressed_ending and format_name == PARQUET):
        raise Error(
            f"cannot detect the output format from the name `{path}`",
            remedy=f"use a name that ends in {', '.join(_first_endings())} (.csv.gz, .txt.zst ...), "
            f"or a format: {', '.join(WRITABLE_FORMATS)}",
        )
    return format_name


def _first_endings() -> list[str]:
    """The first ending of every format that has one."""
    endings_by_format = {name: ending for ending, name in reversed(ENDINGS.items())}
    return [endings_by_format[name] for name in WRITABLE_FORMATS if name in endings_by_format]

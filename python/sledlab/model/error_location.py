"""The line of a wrong value: an error that names only a key of an experiment gets the file and line of it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, Place
from sledlab.model.catalog import ModelChoice
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

DEVICE = "device"

FILE_TABLES = (DEVICE, "front", "node", "host", "network")
"""Tables of an experiment that may name the file of a device, node or network."""

HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]")
KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
DOTTED_KEY = re.compile(r"[a-z_]+(?:\.[\w\[\]-]+)+")
QUOTED_WORD = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class TomlLine:
    """A line of a TOML file that sets a key or begins a table.

    Attributes:
        number: Number of the line, from 1.
        key: The key with those of its tables, `device.zones[0].spares`; that of the table for its header.
        text: The line, without white space around it.
    """

    number: int
    key: str
    text: str

    @property
    def value(self) -> str:
        """The text behind the equals sign; empty for the header of a table."""
        return "" if self.text.startswith("[") else self.text.partition("=")[2]


def parse_lines(text: str) -> Iterator[TomlLine]:
    """The lines of a TOML file that set a key or begin a table, each with its full key.

    Examples:
        >>> for line in parse_lines('seed = 1\\n[device] # x\\nzones = [\\n {a = 1}]\\n[[zones]]\\nb = 2'):
        ...     print(line.number, line.key)
        1 seed
        2 device
        3 device.zones
        5 zones[0]
        6 zones[0].b
    """
    table, last_indexes, open_quotes = "", dict[str, int](), ""
    for number, line in enumerate(text.splitlines(), start=1):
        if open_quotes:
            open_quotes = "" if open_quotes in line else open_quotes
            continue
        open_quotes = next((mark for mark in ('"""', "'''") if line.count(mark) % 2), "")
        if header := HEADER.match(line):
            table = _normalize_key(header[2])
            if header[1] == "[[":
                last_indexes[table] = last_indexes.get(table, -1) + 1
                table = f"{table}[{last_indexes[table]}]"
            yield TomlLine(number, table, line.strip())
        elif match := KEY.match(line):
            key = _normalize_key(match[1])
            yield TomlLine(number, f"{table}.{key}" if table else key, line.strip())


def _normalize_key(key: str) -> str:
    """A key without quotation marks and white space around its dots."""
    parts = key.replace('"', "").replace("'", "").split(".")
    return ".".join(part.strip() for part in parts)


@contextmanager
def add_location(
    file: Any, models_by_table: Mapping[str, Any], keys: Collection[str] = (), names: Collection[str] = ()
) -> Iterator[None]:
    """Add file and line to errors about a value that stands in a file.

    Args:
        file: The experiment or study that was read, if any.
        models_by_table: Devices, nodes and networks named by options instead of the file, by their tables.
        keys: Keys, `table.key`, that options set: the file's values of these are not the wrong ones.
        names: Words that options gave, such as names of schedulers.
    """
    try:
        yield
    except Error as error:
        if error.place is None:
            error.place = _find_place(error.message, file, models_by_table, keys, names)
        raise


def _find_place(
    message: str, file: Any, models_by_table: Mapping[str, Any], keys: Collection[str], names: Collection[str]
) -> Place | None:
    mentioned_keys = _find_keys(message)
    if mentioned_keys and mentioned_keys[0] in keys:
        return None
    text = _read_text(file)
    lines = [entry for entry in parse_lines(text) if entry.key not in keys]
    files_by_table = {
        **_named_files(text),
        **{table: name for table, name in models_by_table.items() if name is not None},
    }
    for key in mentioned_keys:
        table, _, key_in_table = key.partition(".")
        line = _find_line(lines, key) or (
            _find_line(lines, f"front.{key_in_table}") if table == DEVICE else None
        )
        if line is not None:
            return _line_place(file, line)
        candidates = dict.fromkeys(_candidate_files(table, files_by_table, names))
        lines_by_file = {
            name: entry
            for name in candidates
            if (entry := _find_line([*parse_lines(_read_text(name))], key_in_table)) is not None
        }
        if len(lines_by_file) == 1:
            return _line_place(*lines_by_file.popitem())
    for word in QUOTED_WORD.findall(message):
        value_lines = [] if word in names else [entry for entry in lines if _has_value(entry, word)]
        if len(value_lines) == 1:
            return _line_place(file, value_lines[0])
    return None


def _candidate_files(table: str, files_by_table: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """Files in which a key of a table may stand; for devices there may be several."""
    if table in FILE_TABLES and table in files_by_table:
        yield _file_name(files_by_table[table])
    if table == DEVICE:
        if (
            "front" in files_by_table
        ):  # in messages the simulator calls the table of a front device `device` too
            yield _file_name(files_by_table["front"])
        yield from (word.partition(":")[0] for word in names)


def _find_keys(message: str) -> list[str]:
    """The words of a message that may be keys, the likeliest first."""
    first_word = message.split(maxsplit=1)[0].rstrip(":") if message else ""
    study_key = re.search(r"key of \[study\] `([^`]+)`", message)
    table_match = re.search(r"unknown table `([^`]+)`", message)
    keys = [f"study.{study_key[1]}"] if study_key else [table_match[1]] if table_match else []
    keys += DOTTED_KEY.findall(message)
    if " is missing" in message:  # no line has a missing key: the header of its table is the next best
        keys += [key.rpartition(".")[0] for key in keys]
    return [*keys, *([first_word] if re.fullmatch(r"[a-z_]+", first_word) else [])]


def _find_line(lines: list[TomlLine], key: str) -> TomlLine | None:
    """The line that sets a key, that of an inline table that it stands in, or the first line of its table."""
    exact_line = next((line for line in lines if line.key == key), None)
    if exact_line is not None or not key:
        return exact_line
    last_part = re.escape(key.rpartition(".")[2])
    inline_lines = (
        line
        for line in lines
        if key.startswith(f"{line.key}.") and re.search(rf"\b{last_part}\b", line.value)
    )
    return next(chain(inline_lines, (line for line in lines if line.key.startswith(f"{key}."))), None)


def _has_value(line: TomlLine, word: str) -> bool:
    """Whether the value of a line is that word, or a list with it; numbers count only in table `[study]`."""
    if re.fullmatch(r"[-+\d.]+", word):
        in_study = line.key.startswith("study.")
        return in_study and re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", line.value) is not None
    return f'"{word}"' in line.value or f"'{word}'" in line.value


def _named_files(text: str) -> dict[str, str]:
    """Files that an experiment names, by its tables."""
    try:
        tables = parse_toml(text, "")
    except Error:
        return {}
    values_by_table = {table: tables[table] for table in FILE_TABLES if table in tables}
    names_by_table = {
        table: value.get("preset") if isinstance(value, dict) else value
        for table, value in values_by_table.items()
    }
    return {table: name for table, name in names_by_table.items() if isinstance(name, str)}


def _read_text(file: Any) -> str:
    """The text of a TOML file; empty for a file that is none or cannot be read."""
    path = Path(_file_name(file))
    if path.suffix.lower() != ".toml":
        return ""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _line_place(file: Any, line: TomlLine) -> Place:
    return Place(_file_name(file), line.number, 0, line.text[:80])


def _file_name(file: Any) -> str:
    """The name of a file, also of the file of a chosen model."""
    return file.name if isinstance(file, ModelChoice) else str(file)

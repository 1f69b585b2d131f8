"""Reduces outputs and files to text that can be compared; wall-clock figures and versions are masked."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import polars

if TYPE_CHECKING:
    from collections.abc import Callable

MASK = "~"
MASKED = {"wall_s", "operations_per_s", "decision_ns", "version"}
"""Keys and columns whose values differ from run to run, or with the version."""
MASKED_TEXT = (
    (re.compile(r"\S+ s of work, \S+ million operations per second"), f"{MASK} s of work"),
    (re.compile(r"(sledlab,?(?: version)?) \d+\.\d+\.\d+\S*"), rf"\1 {MASK}"),
    (re.compile(r"(?m)^(# What a decision costs)\n(?:(?!# ).*\n)*"), rf"\1\n{MASK}\n"),
)

Reduced = tuple[str, str]
"""The suffix of the reduced file's name, and its text."""


def plain_output(text: str) -> Reduced:
    """The output of a command: JSON as a document, any other text as it is."""
    try:
        return plain_json(text)
    except json.JSONDecodeError:
        return plain_text(text)


def plain_file(path: Path) -> Reduced:
    """A file as text; a file of an unknown kind as its size and digest."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    if path.stat().st_size == 0:
        return ".txt", "empty\n"
    return KINDS.get(Path(name).suffix, _digest)(path)


def plain_text(text: str) -> Reduced:
    """Text without wall-clock figures and versions."""
    for pattern, put in MASKED_TEXT:
        text = pattern.sub(put, text)
    return ".txt", text


def plain_json(text: str) -> Reduced:
    """A JSON document over many lines."""
    return ".json", json.dumps(masked(json.loads(text)), indent=1, ensure_ascii=False) + "\n"


def masked(value: Any) -> Any:
    """A document without the values that differ from run to run."""
    if isinstance(value, dict):
        return {key: MASK if _is_masked(key, each) else masked(each) for key, each in value.items()}
    return [masked(each) for each in value] if isinstance(value, list) else value


def _is_masked(key: str, value: Any) -> bool:
    """Whether a value is a wall-clock figure, a version, or the digest of a program and a time of change."""
    digest = key == "key" and re.fullmatch(r"[0-9a-f]{16,}", str(value))
    return value is not None and bool(key in MASKED or digest)


def _read(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def _digest(path: Path) -> Reduced:
    """Size and digest of a file of an unknown kind, such as an image."""
    data = path.read_bytes()
    return ".txt", f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}\n"


def _document(path: Path) -> Reduced:
    return plain_json(_read(path))


def _toml(path: Path) -> Reduced:
    return plain_json(json.dumps(tomllib.loads(_read(path)), default=str))


def _text(path: Path) -> Reduced:
    return plain_text(_read(path))


def _lines(path: Path) -> Reduced:
    """JSON lines, sorted: points are written in the order in which they complete."""
    rows = (masked(json.loads(line)) for line in _read(path).splitlines())
    lines = sorted(json.dumps(row, ensure_ascii=False) for row in rows)
    return ".jsonl", "".join(line + "\n" for line in lines)


def _table(path: Path) -> Reduced:
    """A table: a line of columns and their types, and a line for each row."""
    if path.suffix == ".parquet":
        frame = polars.read_parquet(path)
    else:
        frame = polars.read_csv(path, infer_schema=False)
    for name in MASKED & set(frame.columns):
        frame = frame.with_columns(polars.lit(MASK).alias(name))
    lines = [{name: str(kind) for name, kind in frame.schema.items()}, *frame.rows()]
    return ".table", "".join(json.dumps(line, ensure_ascii=False, default=str) + "\n" for line in lines)


def _arrays(path: Path) -> Reduced:
    """The arrays of an .npz file."""
    arrays = numpy.load(path)
    return plain_json(json.dumps({name: arrays[name].tolist() for name in sorted(arrays.files)}))


def _page(path: Path) -> Reduced:
    """The readable text of a page or a drawing."""
    page = Page()
    page.feed(_read(path))
    lines = (" ".join(line.split()) for line in "".join(page.parts).splitlines())
    return plain_text("".join(line + "\n" for line in lines if line))


class Page(HTMLParser):
    """Collects the text of a page: headings behind `#`, cells between bars, labels on lines of their own."""

    HIDDEN = frozenset(["style", "script", "metadata"])
    INLINE = frozenset(
        {"a", "b", "abbr", "code", "em", "i", "small", "span", "strong", "sub", "sup", "tspan"}
    )
    CELLS = frozenset(["td", "th"])

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Breaks the line, unless the element is inline."""
        self.hidden += tag in self.HIDDEN
        if re.fullmatch(r"h[1-6]", tag):
            self.parts.append("\n# ")
        elif tag not in self.INLINE | self.CELLS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Ends a cell or a line."""
        self.hidden -= tag in self.HIDDEN
        if tag not in self.INLINE:
            self.parts.append(" | " if tag in self.CELLS else "\n")

    def handle_data(self, data: str) -> None:
        """Keeps visible text."""
        if not self.hidden:
            self.parts.append(data)


KINDS: dict[str, Callable[[Path], Reduced]] = {
    ".json": _document,
    ".jsonl": _lines,
    ".toml": _toml,
    ".parquet": _table,
    ".csv": _table,
    ".npz": _arrays,
    ".html": _page,
    ".svg": _page,
    ".txt": _text,
    ".trace": _text,
}
"""Functions that reduce a file, by the end of its name."""

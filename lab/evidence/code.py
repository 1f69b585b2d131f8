"""The code that a benchmark runs, as a hash that comments, formatting and renames do not change.

A benchmark measures the speed of code, which no short run reproduces, so its numbers are valid while the
code is unchanged.
"""

from __future__ import annotations

import hashlib
import io
import keyword
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pygments.lexers.rust import RustLexer
from pygments.token import Comment, Name, Number, String
from sledlab_papers.numbers import numbers

INLINE_TESTS = re.compile(r"\n#\[cfg\(test\)\]\nmod \w+ \{.*\Z", re.DOTALL)
CLOSING_BRACKETS = (")", "]", "}")
SKIPPED_TOKENS = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
LAYOUT = {tokenize.NEWLINE: "newline", tokenize.INDENT: "indent", tokenize.DEDENT: "dedent"}


class Token(NamedTuple):
    """A name, or any other text."""

    text: str
    is_name: bool = False


class SourceTokens(NamedTuple):
    """The tokens of a file, and the names that it imports."""

    tokens: Sequence[Token]
    imported_names: Sequence[str]


@cache
def code_hash(files: tuple[Path, ...], *, strings: bool = False) -> str:
    """Return a hash of the code in some files; with `strings`, of their texts too.

    Names are replaced by numbers in the order of their first use, except those used only once: most of these
    are of libraries, where another name is another function. Files are ordered by contents, not by name.
    """
    sources = [_source(file, strings) for file in files if "tests" not in file.with_suffix("").parts]
    sources.sort(key=lambda source: _number_names([source], Counter()))
    uses = Counter(name for source in sources for name in _names(source))
    return hashlib.sha256(_number_names(sources, uses)).hexdigest()[:12]


def _names(source: SourceTokens) -> Iterator[str]:
    yield from (token.text for token in source.tokens if token.is_name)
    yield from source.imported_names


def _number_names(sources: Iterable[SourceTokens], uses: Counter[str]) -> bytes:
    """Return all tokens as text, with numbers for names."""
    numbers_by_name: dict[str, str] = {}

    def number(name: str) -> str:
        return name if uses[name] == 1 else numbers_by_name.setdefault(name, f"#{len(numbers_by_name)}")

    result: list[str] = []
    for tokens, names in sources:
        result += [number(token.text) if token.is_name else token.text for token in tokens]
        result += sorted(numbers_by_name.get(name, name if uses[name] == 1 else "#") for name in names)
    return "\0".join(result).encode()


@cache
def _source(file: Path, strings: bool) -> SourceTokens:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".toml":
        return SourceTokens([Token(repr(each)) for each in sorted(numbers(tomllib.loads(text)))], [])
    statements = _rust(text, strings) if file.suffix == ".rs" else _python(text, strings)
    return _split_imports(statements)


def _split_imports(tokens: Iterable[Token]) -> SourceTokens:
    """Separate import statements, whose order depends on names, from all other tokens."""
    cached: list[Token] = []
    imported_names: list[str] = []
    importing, begins = False, True
    for token in tokens:
        if begins and token.text in ("use", "import", "from"):
            importing = True
        if importing:
            imported_names += [token.text] if token.is_name else []
        elif token.text in CLOSING_BRACKETS and cached and cached[-1].text == ",":
            cached[-1] = token
        else:
            cached.append(token)
        begins = token.text in (";", "{", "}", "newline", "indent", "dedent", "pub")
        importing = importing and token.text not in (";", "newline")
    return SourceTokens(cached, imported_names)


def _rust(text: str, strings: bool) -> Iterator[Token]:
    for kind, word in RustLexer().get_tokens(INLINE_TESTS.sub("", text)):
        if kind in Comment or kind in String.Doc or not word.strip():
            continue
        if kind in String:
            yield Token(word if strings else '"')
        elif kind in Number or kind not in Name:
            yield from map(Token, word.split())
        else:
            yield Token(word, is_name=True)


def _python(text: str, strings: bool) -> Iterator[Token]:
    previous = "newline"
    result: str | None = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in SKIPPED_TOKENS:
            continue
        word = LAYOUT.get(token.type, token.string)
        if result is not None and word != "newline":
            yield Token(result if strings else '"')
        result = None
        if token.type == tokenize.STRING and previous in ("newline", "indent", "dedent"):
            result = token.string  # a docstring if the statement ends here
        elif token.type == tokenize.STRING:
            yield Token(word if strings else '"')
        else:
            yield Token(word, token.type == tokenize.NAME and not keyword.iskeyword(word))
        previous = word

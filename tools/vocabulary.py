"""Check that sources and documentation use standard terms: part of `make lint`.

CONTRIBUTING.md lists words that earlier texts of the project used in private meanings. This check refuses
them in every tracked text file: documentation, help, messages, comments and names, where underscores and
capitals separate words. `ALLOWANCES` lists their few uses in a standard meaning, each with the reason.

    python -m tools.vocabulary           list all uses that are not allowed; exit code 1 if there are any
    python -m tools.vocabulary FILE ...  check these files
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PROJECT = Path(__file__).parents[1]
REFUSED_WORDS = (
    "said",
    "told",
    "held",
    "asked",
    "wanted",
    "beside",
    "under way",
    "goes on",
    "nobody",
    "whoever",
    "somebody",
    "real time",
    "held up",
)
BREAK = r"(?:[ _]|\s+(?:(?:///|//!|//|#|\*|>)\s*)?)"
"""Between two words of a term: a space, an underscore, or the end of a line and the mark of a comment."""
PATTERN = re.compile(rf"(?<![^\W_])({'|'.join(REFUSED_WORDS).replace(' ', BREAK)})(?![^\W_])", re.IGNORECASE)
CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Allowance:
    """Lines in which the words have a standard meaning.

    Attributes:
        files: Regular expression for the path of a file.
        lines: Regular expression that such a line contains.
        reason: Why the words are right there.
    """

    files: str
    lines: str
    reason: str


ALLOWANCES = (
    Allowance(
        r"^CONTRIBUTING\.md$",
        r"^\| (what was|held, kept|is held|goes on|under way|nobody|stands beside)|[Nn]o bare participles",
        "the rules that refuse the words",
    ),
    Allowance(
        r"^docs/glossary\.md$",
        r"^\|[^|]+\|[^|]+\|[^|]+\|$",
        "the table of terms, whose last column lists former terms",
    ),
    Allowance(
        r"^tools/vocabulary\.py$|^tests/setup/test_vocabulary\.py$", r"", "the check itself and its test"
    ),
)


def uses(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each use of a refused word: number of its first line, word and line."""
    lines = text.splitlines()
    separated = "\n".join(CAPITALS.sub("_", line) for line in lines)
    for match in PATTERN.finditer(separated):
        number = separated.count("\n", 0, match.start())
        yield number + 1, match[1].lower(), lines[number].strip()


def is_allowed(file: str, line: str) -> bool:
    """Return whether an allowance covers a line of a file."""
    return any(re.search(each.files, file) and re.search(each.lines, line) for each in ALLOWANCES)


def check(files: Iterable[str]) -> list[str]:
    """Return a message for each use of a refused word that is not allowed.

    Args:
        files: Paths relative to the project.
    """
    messages = []
    for file in files:
        path = PROJECT / file
        if not path.is_file():  # a link to a folder, or a deleted file
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # data
            continue
        messages += [
            f"{file}:{number}: `{' '.join(word.split())}`: {line[:100]}"
            for number, word, line in uses(text)
            if not is_allowed(file, line)
        ]
    return messages


def tracked_files() -> list[str]:
    """Return the paths of all files under version control."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name]


if __name__ == "__main__":
    found = check(sys.argv[1:] or tracked_files())
    if found:
        print(*found, sep="\n")
        print(f"{len(found)} refused words; CONTRIBUTING.md lists standard terms", file=sys.stderr)
    sys.exit(bool(found))

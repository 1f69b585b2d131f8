"""Check that crates and the Python package do not refer to the project of the papers: `python tools/core.py`.

`papers/` uses sledlab as any other project does. The exceptions are data of the papers that wheels carry.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parents[1]
CORE = ("crates", "python/sledlab")
SUFFIXES = {".rs", ".py", ".pyi", ".toml", ".md", ".json", ".html", ".txt"}
BUILD_FOLDERS = {"target", "view", "__pycache__"}

REFERENCE = re.compile(r"(?<!images/)\bpapers/|\bsledlab[_-]papers\b")
"""A path in the project of the papers, or the name of its package."""

DATA = {f"python/sledlab/reproduction/{name}" for name in ("assumptions", "experiments", "verdicts.json")}
"""Data of the papers that wheels carry: two links, and the verdicts, which name tests."""


def references(project: Path = PROJECT) -> Iterator[str]:
    """Yield each reference to the project of the papers, with its place."""
    for file in (file for folder in CORE for file in sorted((project / folder).rglob("*"))):
        name = file.relative_to(project).as_posix()
        if name in DATA or BUILD_FOLDERS & set(file.relative_to(project).parts):
            continue
        if file.is_symlink():
            target = file.resolve()
            if target.is_relative_to(project / "papers"):
                yield f"{name}: link to {target.relative_to(project).as_posix()}"
        elif file.is_file() and file.suffix in SUFFIXES:
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if REFERENCE.search(line):
                    yield f"{name}:{number}: {line.strip()}"


def main() -> int:
    """Print all references; return 1 if there are any."""
    found_references = list(references())
    for each in found_references:
        print(each)
    if found_references:
        print("crates/ and python/sledlab must not refer to papers/", file=sys.stderr)
    return int(bool(found_references))


if __name__ == "__main__":
    sys.exit(main())

"""Check that tests remove the files that they create.

`LeftoverCheck` watches the temporary directory, the checkout and the user's home directory. It is a
plugin of pytest (tests/rules.py).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1]
VARIABLES = ("TMPDIR", "TEMP", "TMP")
"""Environment variables that name the temporary directory."""
TOOLS_OUTPUT = re.compile(
    r"\.(git|hypothesis|import_linter_cache|mypy_cache|pytest_cache|ruff_cache|rust|venv)"
    r"|__pycache__|build|dist|node_modules|site|target|view"
)
"""Directories of the checkout that compilers and other tools write."""
HOME_DIRECTORIES = ("", ".cache", ".config", ".local/share", ".local/state")
"""Directories of the home directory in which programs create files of their own."""
PATIENCE_S = 10.0
"""Time for child processes to end and to remove their files."""


class LeftoverCheck:
    """A temporary directory for one run of the tests, and the names that existed before the run.

    Attributes:
        temporary: The temporary directory. It is not shared with other programs.
        environment: The environment variables with which child processes use the directory.
    """

    def __init__(self, checkout: Path = PROJECT, home: Path | None = None) -> None:
        """Create the temporary directory and record the names in the checkout and the home directory."""
        self.temporary = Path(tempfile.mkdtemp(prefix="tests-"))
        self.environment = dict.fromkeys(VARIABLES, str(self.temporary))
        self._checkout, self._home = checkout, home or Path.home()
        self._initial_names = self._names()

    def leftovers(self) -> list[str]:
        """Return the paths that were created and still exist."""
        deadline_s = time.monotonic() + PATIENCE_S
        while any(self.temporary.iterdir()) and time.monotonic() < deadline_s:
            time.sleep(0.1)
        return sorted(map(str, {*self.temporary.iterdir(), *(self._names() - self._initial_names)}))

    def close(self) -> None:
        """Remove the temporary directory."""
        shutil.rmtree(self.temporary, ignore_errors=True)

    def _names(self) -> set[Path]:
        return {*checkout_files(self._checkout), *home_names(self._home)}


def checkout_files(checkout: Path) -> Iterator[Path]:
    """Yield the files of a checkout, without those of compilers and other tools."""
    for directory, directories, files in os.walk(checkout):
        directories[:] = [name for name in directories if not TOOLS_OUTPUT.fullmatch(name)]
        yield from (Path(directory, name) for name in files if not name.endswith((".so", ".pyc")))


def home_names(home: Path) -> Iterator[Path]:
    """Yield the paths with the word sledlab in a home directory; other programs create other files."""
    for directory in (home / name for name in HOME_DIRECTORIES):
        if directory.is_dir():
            yield from (path for path in directory.iterdir() if "sledlab" in path.name)

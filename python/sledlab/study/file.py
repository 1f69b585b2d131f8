"""The file of a study, `study.toml`, as plain tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.model.experiment import read_toml_text
from sledlab.toml_text import parse_toml

if TYPE_CHECKING:
    from pathlib import Path


def read_tables(path: str | Path) -> dict[str, Any]:
    """Return the tables of a study file, or of an experiment that comes with sledlab, named by its name.

    Raises:
        Error: The file cannot be read.
    """
    return parse_toml(read_toml_text(path, "study"), str(path))

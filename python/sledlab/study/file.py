"""The file of a study, `study.toml`, as plain tables."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from sledlab._native import Experiment
from sledlab.errors import Error
from sledlab.model.experiment import read_toml_text

if TYPE_CHECKING:
    from pathlib import Path


def read_tables(path: str | Path) -> dict[str, Any]:
    """Return the tables of a study file, or of an experiment that comes with sledlab, named by its name.

    Raises:
        Error: The file cannot be read.
    """
    text = read_toml_text(path, "study")
    try:
        tables: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        Experiment(text, str(path))  # raises an error with line and column
        raise Error(f"cannot read the study `{path}`: {error}") from error
    return tables

"""The experiments of `presets/experiments`, and what they leave behind."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import polars

PROJECT = Path(__file__).parents[3]
EXPERIMENTS = PROJECT / "presets" / "experiments"

Row = dict[str, Any]


def compare(name: str, out: Path, options: Sequence[str]) -> None:
    """Runs what `out` does not hold yet of an experiment."""
    print(f"{out.name} ...", flush=True)
    command = [sys.executable, "-m", "sledlab", "compare", str(EXPERIMENTS / f"{name}.toml")]
    subprocess.run([*command, "--out", str(out), *options], check=True, stdout=subprocess.DEVNULL)


@cache
def read_rows(file: Path) -> list[Row]:
    """The rows of a table."""
    return polars.read_csv(file, infer_schema_length=None).to_dicts()

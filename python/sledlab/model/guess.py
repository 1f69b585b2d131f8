"""The option that a word on the command line may belong to."""

from __future__ import annotations

from pathlib import Path

from sledlab.model.catalog import CATALOGS

TRACE_ENDINGS = (".csv", ".gz", ".iolog", ".parquet", ".spc", ".trace", ".txt", ".xz", ".zst")
"""Endings of names of trace files."""


def suggest_option(word: str) -> str | None:
    """Return the option that a word without an option may belong to: a model of that name, or a trace file.

    Examples:
        >>> suggest_option("MEMS-G2"), suggest_option("app.csv"), suggest_option("elephant")
        ('--device mems-g2', '--trace app.csv', None)
    """
    for kind in ("device", "scheduler", "power", "workload"):
        name = CATALOGS[kind].canonical_name(word)
        if CATALOGS[kind].is_listed(name):
            return f"--{kind} {name}"
    is_trace = Path(word).suffix.lower() in TRACE_ENDINGS
    return f"--trace {word}" if is_trace else None

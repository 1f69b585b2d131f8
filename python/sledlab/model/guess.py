"""The option that a word on the command line may belong to."""

from __future__ import annotations

from pathlib import Path

from sledlab.model.catalogue import CATALOGUES

TRACE_ENDINGS = (".csv", ".gz", ".parquet", ".trace", ".txt", ".xz", ".zst")
"""Endings of names of trace files."""


def option_for(word: str) -> str | None:
    """Return the option that a word without an option may belong to: a model of that name, or a trace file.

    Examples:
        >>> option_for("MEMS-G2"), option_for("app.csv"), option_for("elephant")
        ('--device mems-g2', '--trace app.csv', None)
    """
    for kind in ("device", "scheduler", "power", "workload"):
        name = CATALOGUES[kind].spelled(word)
        if CATALOGUES[kind].knows(name):
            return f"--{kind} {name}"
    is_trace = Path(word).suffix.lower() in TRACE_ENDINGS
    return f"--trace {word}" if is_trace else None

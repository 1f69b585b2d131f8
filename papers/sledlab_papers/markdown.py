"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: str | Sequence[str], rows: Iterable[Sequence[str]], word_columns: int = 1) -> str:
    """A table whose first `word_columns` columns hold words and the others numbers."""
    header = header.split(" | ") if isinstance(header, str) else header
    rule = [":---" if i < word_columns else "---:" for i in range(len(header))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)) + "\n"

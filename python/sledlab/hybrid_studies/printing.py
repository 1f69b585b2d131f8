"""A hybrid study as text, on the terminal and in notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from sledlab import terminal
from sledlab.hybrid_studies.rows import configurations
from sledlab.hybrid_studies.words import answer, noise, title

if TYPE_CHECKING:
    from sledlab.hybrid_studies.outcome import HybridStudy


def write(study: HybridStudy, show: Any) -> None:
    """Hands the answer and the table of configurations to `show`, a `rich` console's `print`."""
    show(f"[bold]{title(study)}[/bold]")
    show(answer(study))
    show(terminal.table(*configurations(study)))
    show(f"[dim]{_note(study)}[/dim]")


def _note(study: HybridStudy) -> str:
    """How to read the table, and how far to trust it."""
    return f"times in ms; * the queue kept growing. {noise(study)}"


def as_text(study: HybridStudy) -> str:
    """What `sledlab hybrid` prints, as plain text."""
    return terminal.as_text(lambda show: write(study, show))


def as_html(study: HybridStudy) -> str:
    """The same for notebooks."""
    return (
        f"<h4>{html.escape(title(study))}</h4><p>{html.escape(answer(study))}</p>"
        f"{terminal.html_table(*configurations(study))}<p>{html.escape(_note(study))}</p>"
    )

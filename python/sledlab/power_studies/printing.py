"""A power study as text, on the terminal and in notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from sledlab import terminal
from sledlab.power_studies.rows import POLICIES, policy_rows
from sledlab.power_studies.words import break_even, noise, title, verdict

if TYPE_CHECKING:
    from sledlab.power_studies.outcome import PowerStudy


def write(study: PowerStudy, show: Any) -> None:
    """Hands the answer and a table for each device to `show`, a `rich` console's `print`."""
    show(f"[bold]{title(study)}[/bold]")
    for device in study.devices:
        show(_about(study, device))
        show(terminal.table((device, *POLICIES[1:]), policy_rows(study, device)))
    show(f"[dim]{_note(study)}[/dim]")


def _about(study: PowerStudy, device: str) -> str:
    """What stands above the table of a device."""
    return f"{verdict(study, device)} {break_even(study, device)}"


def _note(study: PowerStudy) -> str:
    """How to read the tables, and how far to trust them."""
    return f"times in ms; * the queue kept growing. {noise(study)}"


def as_text(study: PowerStudy) -> str:
    """What `sledlab power` prints, as plain text."""
    return terminal.as_text(lambda show: write(study, show))


def as_html(study: PowerStudy) -> str:
    """The same for notebooks."""
    parts = [f"<h4>{html.escape(title(study))}</h4>"]
    for device in study.devices:
        parts.append(f"<p>{html.escape(_about(study, device))}</p>")
        parts.append(terminal.html_table((device, *POLICIES[1:]), policy_rows(study, device)))
    parts.append(f"<p>{html.escape(_note(study))}</p>")
    return "".join(parts)

"""A power study as text, on the terminal and in notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from sledlab.comparison.words import WIDTH
from sledlab.power_studies.rows import POLICIES, policy_rows
from sledlab.power_studies.words import break_even, noise, title, verdict

if TYPE_CHECKING:
    from rich.table import Table

    from sledlab.power_studies.outcome import PowerStudy


def write(study: PowerStudy, show: Any) -> None:
    """Hands the answer and a table for each device to `show`, a `rich` console's `print`."""
    show(f"[bold]{title(study)}[/bold]")
    for device in study.devices:
        show(_about(study, device))
        show(_table(study, device))
    show(f"[dim]{_note(study)}[/dim]")


def _about(study: PowerStudy, device: str) -> str:
    """What stands above the table of a device."""
    return f"{verdict(study, device)} {break_even(study, device)}"


def _note(study: PowerStudy) -> str:
    """How to read the tables, and how far to trust them."""
    return f"times in ms; * the queue kept growing. {noise(study)}"


def _table(study: PowerStudy, device: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (device, *POLICIES[1:]):
        table.add_column(name, justify="left" if name == device else "right", no_wrap=True)
    for row in policy_rows(study, device):
        table.add_row(*row)
    return table


def as_text(study: PowerStudy) -> str:
    """What `sledlab power` prints, as plain text."""
    from io import StringIO

    from rich.console import Console

    out = StringIO()
    write(study, Console(file=out, width=WIDTH, color_system=None, highlight=False).print)
    return out.getvalue().rstrip()


def as_html(study: PowerStudy) -> str:
    """The same for notebooks."""
    parts = [f"<h4>{html.escape(title(study))}</h4>"]
    for device in study.devices:
        parts.append(f"<p>{html.escape(_about(study, device))}</p>")
        head = "".join(f"<th>{html.escape(name)}</th>" for name in (device, *POLICIES[1:]))
        lines = []
        for row in policy_rows(study, device):
            cells = "".join(f'<td style="text-align:right">{html.escape(value)}</td>' for value in row)
            lines.append(f"<tr>{cells}</tr>")
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>")
    parts.append(f"<p>{html.escape(_note(study))}</p>")
    return "".join(parts)

"""Pages of the documentation: prose in Markdown, with places for measured numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .results import PROJECT

DOCUMENTS = PROJECT / "docs"


@cache
def _environment() -> Environment:
    loader = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)


def fill(template: str, /, **places: object) -> str:
    """A text of the lab, named by its path, with every one of its places filled."""
    return _environment().get_template(template).render(**places)


def evidence_marker(document: str) -> str:
    """Return the marker that `docs/hooks.py` replaces by the build, date and machine of a page's numbers."""
    return f"{{{{ evidence docs/{document} }}}}"


def write(text: str, document: str) -> None:
    """Writes a page of the documentation."""
    file = DOCUMENTS / document
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    print(f"wrote {file.relative_to(PROJECT)}")

"""Pages of the documentation: text in Markdown with places for measured numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parent
"""The folder of the templates of this package."""


@cache
def _environment(folder: Path) -> Environment:
    loader = FileSystemLoader(folder)
    return Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)


def fill(folder: Path, template: str, /, **values: object) -> str:
    """Return a template, named by its path in a folder, with all places filled."""
    return _environment(folder).get_template(template).render(**values)


def evidence_marker(document: str) -> str:
    """Return the marker that `docs/hooks.py` replaces by the build, date and machine of a page's numbers."""
    return f"{{{{ evidence docs/{document} }}}}"

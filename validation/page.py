"""Pages of the documentation that are generated from templates of the validation."""

from __future__ import annotations

from sledlab_papers import templates

from .results import PROJECT, VALIDATION

DOCUMENTS = PROJECT / "docs"


def fill(template: str, /, **values: object) -> str:
    """Return a template of this package, given by its path, with all values inserted."""
    return templates.fill(VALIDATION, template, **values)


def write(text: str, document: str) -> None:
    """Write a page of the documentation."""
    file = DOCUMENTS / document
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    print(f"wrote {file.relative_to(PROJECT)}")

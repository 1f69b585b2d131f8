"""Sections of pages in Markdown, and comparing texts up to the precision of their numbers."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def find_section(page: str, title: str) -> str | None:
    """Return the section of a page under a heading of the second level; `None` if there is none."""
    match = re.search(rf"^{re.escape(title)}\n.*?(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    return match[0] if match else None


def table_rows(section: str, column: str) -> list[dict[str, str]]:
    """Return the rows, by column, of all tables of a section that have a column; code without its marks.

    Examples:
        >>> table_rows("| run | ms |\\n| :--- | ---: |\\n| `a` | 1.5 |\\n", "run")
        [{'run': 'a', 'ms': '1.5'}]
    """
    rows: list[dict[str, str]] = []
    header: list[str] = []
    for line in section.splitlines():
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        if not header:
            header = cells
        elif column in header and not set(line) <= set("|:- "):
            rows.append(dict(zip(header, cells, strict=True)))
    return rows


def section_difference(page: str, section: str) -> str | None:
    """Return the difference between a page and a newly written section; `None` if they are equal."""
    title = section.splitlines()[0]
    existing = find_section(page, title)
    if existing is None:
        return f"there is no: {title}"
    line_difference = difference(existing.rstrip(), section.rstrip())
    return line_difference and f"{title}, {line_difference}"


def difference(old: str, new: str) -> str | None:
    """Return the first difference of more than two units of the last printed digit; `None` if there is none.

    Mathematical libraries of different machines may differ in the last bit.
    """
    old_lines, new_lines = old.splitlines(), new.splitlines()
    for number, (a, b) in enumerate(zip(old_lines, new_lines, strict=False), 1):
        if not _lines_match(a, b):
            return f"line {number}:\n  {a}\nis now\n  {b}"
    if len(old_lines) != len(new_lines):
        return f"{len(old_lines)} lines are now {len(new_lines)}"
    return None


def _lines_match(a: str, b: str) -> bool:
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    return all(map(_numbers_match, NUMBER.findall(a), NUMBER.findall(b)))


def _numbers_match(a: str, b: str) -> bool:
    mantissa, _, exponent = a.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(a) - float(b)) <= (2.001 * unit if "." in a else 0)

"""Tables and numbers in Markdown, and whether two texts say the same."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """A table whose first `words` columns hold words and the others numbers."""
    rule = [":---" if i < words else "---:" for i in range(len(header))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)) + "\n"


def percent(share: float, digits: int = 2) -> str:
    """A relative deviation in percent, with its sign; one that rounds to nothing has none."""
    text = f"{100 * share:+.{digits}f}"
    return text[1:] if float(text) == 0 else text


def span(shares: Sequence[float], digits: int = 1) -> str:
    """From the least to the greatest of some relative deviations."""
    return f"{percent(min(shares), digits)} to {percent(max(shares), digits)} %"


def tiny(value: float) -> str:
    """A small number in two digits, rounded up: no claim becomes stronger by printing it."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    return f"{math.ceil(value / 10**exponent * 10) / 10:.1f}e{exponent:+03d}"


def difference(old: str, new: str) -> str | None:
    """Where two texts first differ by more than two units of the last printed digit; `None` if nowhere.

    Mathematical libraries may differ in the last bit from one machine to the next.
    """
    old_lines, new_lines = old.splitlines(), new.splitlines()
    for number, (a, b) in enumerate(zip(old_lines, new_lines, strict=False), 1):
        if not _same_line(a, b):
            return f"line {number}:\n  {a}\nis now\n  {b}"
    if len(old_lines) != len(new_lines):
        return f"{len(old_lines)} lines are now {len(new_lines)}"
    return None


def _same_line(a: str, b: str) -> bool:
    if a == b:
        return True
    if NUMBER.split(a) != NUMBER.split(b):
        return False
    return all(map(_same_number, NUMBER.findall(a), NUMBER.findall(b)))


def _same_number(a: str, b: str) -> bool:
    mantissa, _, exponent = a.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(a) - float(b)) <= (2.001 * unit if "." in a else 0)

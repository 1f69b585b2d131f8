"""Marks of outcomes: a symbol, a word and a color each, so that no reader needs the color."""

from __future__ import annotations

from dataclasses import dataclass

from sledlab.reproduction.verdicts import (
    BY_DEFINITION,
    CONTRADICTED,
    DEPENDS,
    DIRECTION_ONLY,
    FITTED,
    MET,
    NEARLY_MET,
    NOT_MET,
)


@dataclass(frozen=True)
class OutcomeMark:
    """The mark of an outcome.

    Attributes:
        symbol: A symbol, different for each outcome.
        label: The outcome in a word or two.
        color: The key of its color in the palette.
    """

    symbol: str
    label: str
    color: str

    @property
    def css_class(self) -> str:
        """The class of elements with the mark."""
        return f"outcome-{self.label.replace(' ', '-')}"


MARKS = {
    MET: OutcomeMark("●", "met", "blue"),
    NEARLY_MET: OutcomeMark("◕", "nearly met", "sky"),
    DIRECTION_ONLY: OutcomeMark("◐", "direction only", "orange"),
    NOT_MET: OutcomeMark("○", "not met", "vermilion"),
    CONTRADICTED: OutcomeMark("✕", "contradicted", "amber"),
    DEPENDS: OutcomeMark("◇", "depends", "purple"),
    FITTED: OutcomeMark("□", "fitted", "gray"),
    BY_DEFINITION: OutcomeMark("■", "by definition", "faint"),
}

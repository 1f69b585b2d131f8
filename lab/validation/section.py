"""A section of the page on validation: what is measured, and the words around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .. import results
from ..page import fill
from ..results import Left

T = TypeVar("T")


@dataclass(frozen=True)
class ValidationSection(Generic[T]):
    """A section by the name of its text; `kind` is the type of what `measure` finds."""

    name: str
    kind: Any
    measure: Callable[[], T]
    words: Callable[[T], dict[str, object]]

    def text(self, found: T) -> str:
        """The section in Markdown."""
        return fill(f"validation/text/{self.name}.md", **self.words(found))

    def leave(self) -> T:
        """Measures, and leaves what it finds in the folder of results."""
        found = self.measure()
        results.leave(f"validation/{self.name}", found)
        return found

    def left(self) -> Left[T] | None:
        """What was left there."""
        found: Left[T] | None = results.read(f"validation/{self.name}", self.kind)
        return found

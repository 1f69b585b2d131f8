"""A section of the page on validation: its measurement and its text."""

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
    """A section, by the name of its text; `kind` is the type of its results."""

    name: str
    kind: Any
    measure: Callable[[], T]
    words: Callable[[T], dict[str, object]]

    def text(self, found: T) -> str:
        """The section in Markdown."""
        return fill(f"validation/text/{self.name}.md", **self.words(found))

    def leave(self) -> T:
        """Measures, and writes the results to the folder of results."""
        found = self.measure()
        results.leave(f"validation/{self.name}", found)
        return found

    def left(self) -> Left[T] | None:
        """The results that were written there, if any."""
        found: Left[T] | None = results.read(f"validation/{self.name}", self.kind)
        return found

"""A section of the page on validation: its measurement and its text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from .. import results
from ..page import fill

T = TypeVar("T")

TEXTS = Path(__file__).parent / "text"


@dataclass(frozen=True)
class ValidationSection(Generic[T]):
    """A section of the page.

    Attributes:
        name: The name of its text.
        kind: The type of its results.
        measure: Function that measures.
        template_values: Function that returns the values of its template.
        short_measurement: Function that measures a part in seconds, for the fingerprint; default: `measure`.
        benchmarks: Benchmark files that the section is written from. Such a section is always written again,
            and needs no fingerprint.
    """

    name: str
    kind: Any
    measure: Callable[[], T]
    template_values: Callable[[T], dict[str, object]]
    short_measurement: Callable[[], object] | None = None
    benchmarks: tuple[Path, ...] = ()

    def text(self, result: T) -> str:
        """Return the section in Markdown."""
        return fill(f"sections/text/{self.name}.md", **self.template_values(result))

    @property
    def title(self) -> str:
        """The heading of the section, the first line of its text."""
        text = (TEXTS / f"{self.name}.md").read_text(encoding="utf-8")
        return text.partition("\n")[0]

    def save(self) -> T:
        """Measure, write the results to the folder of results, and return them."""
        result = self.measure()
        results.write(f"validation/{self.name}", result)
        results.write(f"validation/{self.name}-fingerprint", self.fingerprint())
        return result

    def load(self) -> T | None:
        """Return the results in the folder of results, if any."""
        saved_result: T | None = results.read(f"validation/{self.name}", self.kind)
        return saved_result

    def load_or_measure(self) -> T:
        """Return the saved results if a short measurement gives the same as then; otherwise measure."""
        saved_result = self.load()
        is_unchanged = results.read(f"validation/{self.name}-fingerprint", str) == self.fingerprint()
        return saved_result if saved_result is not None and is_unchanged else self.save()

    def fingerprint(self) -> str:
        """Return a hash of the result of a short measurement."""
        data = json.dumps(results.to_plain((self.short_measurement or self.measure)()))
        return hashlib.sha256(data.encode()).hexdigest()[:12]

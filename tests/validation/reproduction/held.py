"""Claims that define something: tests hold them, and a page names the tests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .claims import Verdict, verdict
from .experiments import PROJECT


@dataclass(frozen=True)
class Held:
    """What is so, and the tests that hold it, by file."""

    what: str
    tests: tuple[tuple[str, str], ...]

    def missing(self) -> list[str]:
        """Tests that are not where they should be."""
        found = {file: (PROJECT / file).read_text(encoding="utf-8") for file, _ in self.tests}
        return [name for file, name in self.tests if not re.search(rf"\b(fn|def) {name}\(", found[file])]

    def verdict(self) -> Verdict:
        """Reproduced where the tests exist."""
        names = " and ".join(f"`{name}` ({file})" for file, name in self.tests)
        return verdict(f"{self.what} Held by {names}.", holds=not self.missing())

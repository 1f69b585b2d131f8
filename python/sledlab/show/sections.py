"""Sections of a page, each drawn and said for one device or for several beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.show.document import Beside, Drawing, Folded, Heading, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Grid, Part


@dataclass(frozen=True)
class Section:
    """A section of a study.

    Attributes:
        heading: Its heading.
        intro: What is to be known first; names of axes in braces stand for their values.
        draw: Its figure for a device; what it shows is the first line of its docstring.
        says: What it says of a device.
        table: Its table for a device, behind `The numbers`; none unless given.
        note: How to read that table.
    """

    heading: str
    intro: str
    draw: Callable[..., Figure]
    says: Callable[..., str] = lambda study, device: ""
    table: Callable[..., Grid] | None = None
    note: str = ""

    def parts(self, study: Any, devices: Sequence[str]) -> list[Part]:
        """The section for some devices."""
        width = "narrow" if len(devices) == 1 else ""
        drawings = [
            Drawing(
                partial(self.draw, study, each),
                f"{self.draw.__doc__} ({each})",
                each,
                self.says(study, each),
                width,
            )
            for each in devices
        ]
        found: list[Part] = [
            Heading(self.heading),
            Text(self.intro.format_map(study.axes), "quiet"),
            Beside(drawings),
        ]
        if self.table is not None:
            tables = [part for each in devices for part in (Heading(each, 3), self.table(study, each))]
            found.append(Folded("The numbers", [*tables, *([Text(self.note, "quiet")] if self.note else [])]))
        return found

    def whole(self, study: Any, **named: str) -> list[Part]:
        """The section of a study of one device; `named` stand for names in the introduction, too."""
        about = self.draw.__doc__ or self.heading
        found: list[Part] = [
            Heading(self.heading),
            Text(self.intro.format_map({**study.axes, **named}), "quiet"),
            Drawing(partial(self.draw, study), about, caption=self.says(study), width="narrow"),
        ]
        return [*found, *([Folded("The numbers", [self.table(study)])] if self.table is not None else [])]


def drawn(sections: Mapping[str, Section], study: Any, name: str) -> Figure:
    """A section of a study of one device.

    Raises:
        Error: There is no such section, or it was left out.
    """
    found = find(sections, name)
    if not study.rows[name]:
        raise Error(f"the study has no section `{name}`", remedy="give what it sweeps")
    return found.draw(study)


def find(sections: Mapping[str, Section], name: str) -> Section:
    """A section by its name.

    Raises:
        Error: There is none.
    """
    if name not in sections:
        raise unknown("section", name, list(sections))
    return sections[name]

"""Sections of a page, each drawn and said for one device or for several beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.show.document import Beside, Drawing, Folded, Heading, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Grid, Part
    from sledlab.show.series import Panel


@dataclass(frozen=True)
class Section:
    """A section of a study, or of one of its devices where it has several.

    Attributes:
        heading: Its heading.
        intro: What is to be known first; names of axes in braces stand for their values.
        draw: Its figure; what it shows is the first line of its docstring.
        says: What it says.
        table: Its table, behind `The numbers`; none unless given.
        note: How to read that table.
        after: What stands at its end.
        panels: What its figure shows as numbers, to be explored; none unless given.
    """

    heading: str
    intro: str
    draw: Callable[..., Figure]
    says: Callable[..., str] = lambda study, device: ""
    table: Callable[..., Grid] | None = None
    note: str = ""
    after: Callable[[Any], Sequence[Part]] = lambda study: ()
    panels: Callable[..., Sequence[Panel]] = lambda study, device="": ()

    def parts(self, study: Any, devices: Sequence[str] = (), **named: str) -> Iterator[Part]:
        """The section, for each of some devices; `named` stand for names in the introduction, too."""
        yield Heading(self.heading)
        yield Text(self.intro.format_map({**study.axes, **named}), "quiet")
        if devices:
            yield Beside([self._drawing(study, each, len(devices)) for each in devices])
        else:
            about, says = self.draw.__doc__ or "", self.says(study)
            panels = partial(self.panels, study)
            yield Drawing(partial(self.draw, study), about, caption=says, width="narrow", panels=panels)
        if self.table is not None:
            tables = [part for each in devices for part in (Heading(each, 3), self.table(study, each))]
            note = [Text(self.note, "quiet")] if self.note else []
            yield Folded("The numbers", [*(tables or [self.table(study)]), *note])
        yield from self.after(study)

    def _drawing(self, study: Any, device: str, of: int) -> Drawing:
        """Its figure for a device, narrow where there is no other beside it."""
        about, says = f"{self.draw.__doc__} ({device})", self.says(study, device)
        draw, panels = partial(self.draw, study, device), partial(self.panels, study, device)
        return Drawing(draw, about, device, says, "narrow" if of == 1 else "", panels)


def drawn(sections: Mapping[str, Section], study: Any, name: str, **which: str) -> Figure:
    """A section of a study, or of one of its devices.

    Raises:
        Error: There is no such section, or it was left out.
    """
    if name not in sections:
        raise unknown("section", name, list(sections))
    if not study.rows[name]:
        raise Error(f"the study has no section `{name}`", remedy="give what it sweeps")
    return sections[name].draw(study, **which)

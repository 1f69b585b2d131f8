"""Sections of a page about a study, each for all devices of the study or for several devices side by side."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.show.document import Collapsible, Drawing, Heading, SideBySideParts, Text
from sledlab.show.plots import find_panel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.show.document import Grid, Part
    from sledlab.show.series import Panel


@dataclass(frozen=True)
class Section:
    """A section of a study, or of one of its devices where it has several.

    Attributes:
        heading: Heading of the section.
        intro: Introduction; names of axes in braces stand for their values.
        draw: Draws the figure; the first line of its docstring is the figure's title.
        caption: Gives the caption of the figure: its outcome in words.
        table: Gives the table behind `Table of results`; no table by default.
        note: How to read the table.
        closing_parts: Gives the parts at the end of the section.
        panels: Gives the plots of the figure as numbers, to be explored; none by default.
    """

    heading: str
    intro: str
    draw: Callable[..., Figure]
    caption: Callable[..., str] = lambda study, device="": ""
    table: Callable[..., Grid] | None = None
    note: str = ""
    closing_parts: Callable[[Any], Sequence[Part]] = lambda study: ()
    panels: Callable[..., Sequence[Panel]] = lambda study, device="": ()

    def parts(self, study: Any, devices: Sequence[str] = (), **settings: str) -> Iterator[Part]:
        """The parts of the section, a figure for each of `devices`; `settings` fills the introduction too."""
        yield Heading(self.heading)
        yield Text(self.intro.format_map({**study.axes, **settings}), "quiet")
        if devices:
            yield SideBySideParts([self._drawing(study, each, len(devices)) for each in devices])
        else:
            title, caption = self.draw.__doc__ or "", self.caption(study)
            panels = partial(self.panels, study)
            yield Drawing(partial(self.draw, study), title, caption=caption, width="narrow", panels=panels)
        if self.table is not None:
            tables = [part for each in devices for part in (Heading(each, 3), self.table(study, each))]
            note = [Text(self.note, "quiet")] if self.note else []
            yield Collapsible("Table of results", [*(tables or [self.table(study)]), *note])
        yield from self.closing_parts(study)

    def _drawing(self, study: Any, device: str, device_count: int) -> Drawing:
        """The figure for a device, narrow where it is the only one."""
        title, caption = f"{self.draw.__doc__} ({device})", self.caption(study, device)
        draw, panels = partial(self.draw, study, device), partial(self.panels, study, device)
        return Drawing(draw, title, device, caption, "narrow" if device_count == 1 else "", panels)


def draw_section(sections: Mapping[str, Section], study: Any, name: str, **selection: str) -> Figure:
    """Draw the figure of a section of a study, or of one of its devices.

    Raises:
        Error: There is no such section, or the study has no rows for it.
    """
    section = find_panel(sections, name)
    if not study.rows[name]:
        raise Error(f"the study has no section `{name}`", remedy="specify values of its axis")
    return section.draw(study, **selection)

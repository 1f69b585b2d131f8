"""The palette of all figures, which the pages read too: `palette.json`.

Colors of categories follow Okabe and Ito (2008), so that color-blind readers can distinguish them, also in
grayscale; some are darker, for a contrast of 3 on white. Those of dark pages have a contrast of 4.5. Each
meaning has one color in all figures.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PALETTE: Mapping[str, Any] = json.loads(files("sledlab.show").joinpath("palette.json").read_text("utf-8"))

INK: str = PALETTE["ink"]
QUIET: str = PALETTE["quiet"]
FAINT: str = PALETTE["faint"]
GRAY: str = PALETTE["gray"]
PAPER: str = PALETTE["paper"]
BLUE: str = PALETTE["blue"]
VERMILION: str = PALETTE["vermilion"]
GREEN: str = PALETTE["green"]
PURPLE: str = PALETTE["purple"]
SKY: str = PALETTE["sky"]
AMBER: str = PALETTE["amber"]

STATE_COLORS: Mapping[str, str] = PALETTE["states"]
"""Color of each state of a device."""


def text_color(color: str) -> str:
    """Return the color of a text that names something drawn in `color`: its contrast is at least 4.5.

    Examples:
        >>> text_color(BLUE), text_color(SKY)
        ('#0072b2', '#1b6f9e')
    """
    darker: str = PALETTE["text"].get(color, color)
    return darker


def color_places(names: Sequence[str]) -> list[int]:
    """Return the place in `PALETTE["series"]` of the color of each name.

    Well-known names have a place of their own, so that a scheduler has the same color in all figures. Other
    names, and those whose place is taken, get the first free place.

    Examples:
        >>> color_places(["sptf", "my-scheduler"])
        [1, 0]
    """
    count = len(PALETTE["series"])
    places: dict[int, int] = {}
    for index, name in enumerate(names):
        place = PALETTE["places"].get(name.lower())
        if place is not None and place not in places.values():
            places[index] = place
    free_places = [place for place in range(count) if place not in places.values()]
    for index in range(len(names)):
        if index not in places:
            places[index] = free_places.pop(0) if free_places else index % count
    return [places[index] for index in range(len(names))]

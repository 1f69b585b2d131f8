"""Ways to save energy that a study compares, alone and together (PW-05, PW-10, PW-13, PW-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab import _native

SETTINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "base": (("power.kind", "fixed"),),
    "immediate": (("power.kind", "immediate"),),
    "merging": (("power.kind", "fixed"), ("merge.kind", "chains")),
    "subsector": (("power.kind", "fixed"), ("device.subsector_access", "true")),
}
"""What each of them sets."""

NAMES = (*SETTINGS, "all")
"""What they are called; `all` is all of them together."""


def known(given: Any, devices: Mapping[str, _native.Experiment]) -> dict[str, tuple[str, ...]]:
    """For each device, the strategies asked for that it knows.

    Raises:
        Error: There is no such strategy, or no device knows it.
    """
    everything = isinstance(given, str) and given == "all"
    words = NAMES if everything else (given,) if isinstance(given, str) else given
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise Error(f"expected strategies, found {given!r}", remedy=f"give some of: {', '.join(NAMES)}")
    if not words:
        raise Error("there are no strategies to compare", remedy=f"give some of: {', '.join(NAMES)}")
    for word in words:
        if word not in NAMES:
            raise unknown("strategy", word, NAMES)
    found = {
        name: tuple(word for word in dict.fromkeys(("base", *words)) if _refusal(base, word) is None)
        for name, base in devices.items()
    }
    for word in words:
        refused = [_refusal(base, word) for base in devices.values()]
        if not everything and all(refused):
            raise Error(f"strategy `{word}`: {refused[0]}", remedy="leave it out, or choose another device")
    return found


def _refusal(base: _native.Experiment, way: str) -> str | None:
    """Why a device cannot follow a strategy: it lacks the switch, or refuses the combination."""
    try:
        for key, value in SETTINGS.get(way, ()):
            base = base.with_setting(key, value)
        base.check()
    except Error as error:
        return error.message
    return None


def settings(way: str, base: _native.Experiment) -> tuple[tuple[str, str], ...]:
    """The settings of a strategy on a device; of `all`, those of every one the device knows."""
    if way != "all":
        return SETTINGS[way]
    joined = dict(SETTINGS["immediate"])
    for each in ("merging", "subsector"):
        if _refusal(base, each) is None:
            joined |= {key: value for key, value in SETTINGS[each] if key != "power.kind"}
    return tuple(joined.items())

"""Sentences and table rows about garbage collection in a run on flash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sledlab.show.wording import figure, percent, pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.runs.result import Result

PREFIX = "flash_"
"""Prefix of the columns of counts of flash in tables of studies."""

MIN_STEADY = 1.05
"""Smallest write amplification in the steady state whose absence is worth a warning."""


def rows(result: Result) -> Iterator[tuple[str, str]]:
    """The numbers about garbage collection, as rows of a table: name and value.

    There are none without writes to flash.
    """
    flash = result.summary.get("flash")
    if flash is None or not flash["written_pages"]:
        return
    steady = figure(flash["steady_write_amplification"])
    yield "write amplification", f"{figure(flash['write_amplification'])}; in the steady state {steady}"
    yield "time of dies for garbage collection", percent(flash["collection_share"])


def warning(result: Result) -> str:
    """A warning if no write met garbage collection, otherwise an empty text."""
    flash = result.summary.get("flash")
    if flash is None or not has_avoided_collection(flash):
        return ""
    return f"{avoided_collection('', flash)}; {remedy(result.config)}."


def remedy(config: Mapping[str, Any]) -> str:
    """The settings with which flash begins in its steady state, as a clause."""
    tables = [name for name in ("device", "front") if config.get(name, {}).get("kind") == "ssd"]
    settings = " and ".join(f"{name}.precondition=random" for name in tables)
    return f"set {settings} to begin there"


def avoided_by_all(device: str, runs: Sequence[Mapping[str, float]]) -> str:
    """A clause with the writes of the longest run, if no run met garbage collection; otherwise empty.

    Args:
        device: Name of the device; empty if there is no other.
        runs: The counts of each run by column, of which those of flash begin with `flash_`.
    """
    flash = [
        {key.removeprefix(PREFIX): value for key, value in counts.items() if key.startswith(PREFIX)}
        for counts in runs
    ]
    if not flash or not all(counts and has_avoided_collection(counts) for counts in flash):
        return ""
    return avoided_collection(device, max(flash, key=lambda counts: counts["written_pages"]))


def has_avoided_collection(flash: Mapping[str, Any]) -> bool:
    """Whether writes met no garbage collection, although they do in the steady state.

    Args:
        flash: Counts of a run, or their means.
    """
    has_collected = flash["moved_pages"] or flash["erased_blocks"]
    is_steady = not flash["written_pages"] or flash["steady_write_amplification"] < MIN_STEADY
    return not has_collected and not is_steady


def avoided_collection(device: str, flash: Mapping[str, Any]) -> str:
    """A clause: the writes of a device that met no garbage collection."""
    writes = pluralize(round(flash["written_pages"]), "page write")
    steady = figure(flash["steady_write_amplification"])
    return (
        f"{writes}{f' on {device}' if device else ''} met no garbage collection "
        f"(write amplification 1; {steady} in the steady state of random writes)"
    )

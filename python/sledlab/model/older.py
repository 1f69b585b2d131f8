"""Experiment files of older versions: keys, tables and schedulers that were renamed or dropped since.

A renamed key is read under its new name; a dropped key that changed nothing is left out; a dropped key that
cannot be translated raises an error that says what to write. Renaming a key includes adding a line here.
"""

from __future__ import annotations

import re
import tomllib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, Notice
from sledlab.model.settings import document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True)
class Older:
    """A key of device tables that was renamed or dropped.

    Attributes:
        key: The old key.
        now: The key of today; empty for a dropped key.
        value: Turns a value of the old key into one of today's key.
        remedy: What to write instead of a dropped key that cannot be translated; empty for others.
    """

    key: str
    now: str = ""
    value: Callable[[Any], Any] = lambda value: value
    remedy: str = ""


ZONES = (
    "describe the disk by `zones = [{ first_cylinder = 0, cylinders = 1000, sectors_per_track = 100 }]`, "
    "as `sledlab device show mobile-disk --toml` does"
)

DEVICE = (
    Older("appends_writes", "appended_writes", lambda said: "joined" if said else "none"),
    Older("write_back", "buffers_writes", lambda said: said != "never"),
    Older("keeps_requested", "drops_requested", lambda said: said == "never"),
    Older("zero_latency_writes"),
    Older("holds_bus_for_reads"),
    Older("never_disconnects"),
    Older("write_segments"),
    Older("write_watermark"),
    Older("read_disconnect_after_read_us"),
    Older("read_disconnect_after_write_us"),
    Older("cylinders", remedy=ZONES),
    Older("sectors_per_track", remedy=ZONES),
    Older("track_skew_sectors", remedy=ZONES),
    Older("cylinder_skew_sectors", remedy=ZONES),
)
"""Renamed and dropped keys of `[device]` and `[front]`."""

STUDY = {"compare": "compare"}
"""Tables that studies had before `[study]`, and the `kind` of `[study]` that each is today."""


SCHEDULERS = {"sptf-scan": "sptf-exhaustive"}
"""Renamed schedulers, old name to today's: `scan` names the elevator (SCAN)."""


def today(text: str) -> str:
    """The text of an experiment or a study with today's names; unchanged where it has no older ones.

    A `Notice` says what a renamed scheduler is called now.

    Raises:
        Error: A key was dropped, and only the author of the file can say what to put in its place.

    Examples:
        >>> print(today("[compare]\\nspeedups = [1]\\n"))
        [study]
        kind = "compare"
        speedups = [1]
        <BLANKLINE>
        >>> today("seed = 1 # as it is")
        'seed = 1 # as it is'
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:  # the simulator reports it with its place when it reads the text
        return text
    changed = [_renamed(table) for table in _devices(tables)]
    scheduler = tables.get("scheduler")
    if isinstance(scheduler, dict) and (now := SCHEDULERS.get(str(scheduler.get("kind")))):
        notice = f"the scheduler `{scheduler['kind']}` is called `{now}` now; both names are read"
        warnings.warn(Notice(notice), stacklevel=2)
        scheduler["kind"] = now
        changed.append(True)
    for name, kind in STUDY.items():
        if isinstance(tables.get(name), dict) and "study" not in tables:
            tables["study"] = {"kind": kind, **tables.pop(name)}
            changed.append(True)
    return document(tables) if any(changed) else text


def remedy_for(message: str, line: str = "") -> str:
    """What to do about an unknown key that device files of older versions have; empty for other errors.

    Args:
        message: The message of the error.
        line: The line of the file that sets the key; empty for a key that an option sets.

    Examples:
        >>> remedy_for("unknown key `device.write_back`", 'write_back = "never"')
        'write `buffers_writes = false` in its place: that is what it is called now'
        >>> remedy_for("unknown key `device.spin`")
        ''
    """
    said = re.match(r"unknown key `(?:device|front)\.(\w+)`", message)
    older = next((each for each in DEVICE if said is not None and each.key == said[1]), None)
    if older is None:
        return ""
    if older.remedy:  # a key set with --set, without a line, comes from no older file
        return older.remedy if line else ""
    if not older.now:
        return "leave it out: it changed nothing"
    try:
        now = document({older.now: older.value(tomllib.loads(line)[older.key])}).strip()
    except (tomllib.TOMLDecodeError, KeyError):
        now = older.now
    return f"write `{now}` in its place: that is what it is called now"


def _devices(tables: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tables of devices in a file."""
    groups = tables.get("group")
    parts = (
        [tables, *(each for each in groups if isinstance(each, dict))]
        if isinstance(groups, list)
        else [tables]
    )
    for part in parts:
        yield from (part[name] for name in ("device", "front") if isinstance(part.get(name), dict))


def _renamed(table: dict[str, Any]) -> bool:
    """Renames and drops older keys in the table of a device; returns whether it had any."""
    found = [each for each in DEVICE if each.key in table]
    for each in found:
        if each.remedy:
            raise Error(f"device.{each.key}: there is no such key any more", remedy=each.remedy)
        value = table.pop(each.key)
        if each.now:
            table.setdefault(each.now, each.value(value))
    return bool(found)

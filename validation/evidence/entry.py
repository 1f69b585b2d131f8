"""Entries: measurements that can be repeated, and the pages that are made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class EvidenceEntry:
    """A measurement.

    Attributes:
        name: Its name, different from that of every other entry.
        fingerprint: Computes a hash that changes when the result does, in seconds.
        measure: Measures and leaves the result in the folder of results; its argument is the fingerprint.
        missing_reason: The reason why it cannot be measured on this machine, if any.
        is_cheap: Whether the fingerprint is computed at every check; others are saved until a source changes.
    """

    name: str
    fingerprint: Callable[[], str]
    measure: Callable[[str], None]
    missing_reason: str | None = None
    is_cheap: bool = False


def publish_nothing(_: Mapping[str, str]) -> None:
    """Do nothing: tests have no page."""


@dataclass(frozen=True)
class Output:
    """A page, and the entries that it is made from.

    Attributes:
        path: Its path in the project.
        group: The command that it belongs to: `validate` or `reproduce`.
        entries: Its entries.
        publish: Writes the file, or the committed data that it is made from, from the results of the entries
            just measured, given with their fingerprints.
        workers: Number of entries that are measured at a time.
    """

    path: str
    group: str
    entries: Sequence[EvidenceEntry]
    publish: Callable[[Mapping[str, str]], None] = publish_nothing
    workers: int = 1

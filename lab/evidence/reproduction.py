"""The experiments of the papers as entries, and the pages of docs/reproduction that are made from them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from ..reproduction.__main__ import TOPICS, write_page
from ..reproduction.fingerprint import fingerprint
from ..reproduction.runs import Planned, run
from ..reproduction.topic import Topic
from ..results import RESULTS
from ..simulator import parameters
from ..validation.mechanics import KINEMATICS
from .entry import EvidenceEntry, Output
from .numbers import numbers

DEVICES = ("mems-g1", "mems-g2", "mems-g3", "atlas-10k")


def directory(fingerprint: str) -> Path:
    """Return the directory of the experiments with a fingerprint: an interrupted one resumes there."""
    return RESULTS / "experiments" / fingerprint


def outputs() -> list[Output]:
    """Return the pages that are made from experiments."""
    return [_output(topic) for topic in TOPICS.values()]


def _output(topic: Topic) -> Output:
    """Return the page of a topic; a topic without experiments is measured while its page is written."""
    entries = [_entry(topic, planned) for planned in topic.whole]
    if not entries:
        entries = [EvidenceEntry(f"page-{topic.name}", _of_devices, lambda _: None, topic.missing)]

    def publish(measured: Mapping[str, str]) -> None:
        if topic.whole:
            topic.save({name: directory(found) / name for name, found in measured.items()})
        write_page(topic)

    workers = (os.cpu_count() or 1) if topic.side_by_side else 1
    return Output(f"docs/{topic.document}", "reproduce", entries, publish, workers)


def _entry(topic: Topic, planned: Planned) -> EvidenceEntry:
    def measure(found: str) -> None:
        run([planned], directory(found), side_by_side=topic.side_by_side)

    return EvidenceEntry(planned.place, lambda: fingerprint(planned), measure, topic.missing)


def _of_devices() -> str:
    """Return the hash of the parameters and of short runs of the devices of paper 000."""
    values = sorted(number for device in DEVICES for number in numbers(parameters(device)))
    return hashlib.sha256(f"{values} {KINEMATICS.fingerprint()}".encode()).hexdigest()[:12]

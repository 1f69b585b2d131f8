"""The experiments of the papers as entries, and the pages that are made from them when the docs are built."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from sledlab_papers import results
from sledlab_papers.__main__ import judge
from sledlab_papers.fingerprint import fingerprint
from sledlab_papers.numbers import numbers
from sledlab_papers.runs import PlannedExperiment, run
from sledlab_papers.topic import Topic
from sledlab_papers.topics import TOPICS

from .. import reference
from ..results import RESULTS
from ..sections.mechanics import KINEMATICS
from ..simulator import parameters
from . import validation_tables
from .entry import EvidenceEntry, Output

DEVICES = ("mems-g1", "mems-g2", "mems-g3", "atlas-10k")


def directory(fingerprint: str) -> Path:
    """Return the directory of the experiments with a fingerprint: an interrupted one resumes there."""
    return RESULTS / "experiments" / fingerprint


def outputs() -> list[Output]:
    """Return the pages that are made from experiments."""
    return [_output(topic) for topic in TOPICS.values()]


def _output(topic: Topic) -> Output:
    """Return the page of a topic, whose results and verdicts are committed."""
    entries = [_entry(topic, planned) for planned in topic.full_plan]
    if topic.validation_results:
        entries.append(VALIDATION_ENTRIES[topic.name])

    def publish(fingerprints: Mapping[str, str]) -> None:
        directories = {
            name: directory(entry_fingerprint) / name
            for name, entry_fingerprint in fingerprints.items()
            if name in planned_places
        }
        topic.save(directories)
        if len(directories) < len(fingerprints):
            results.replace(topic.name, validation_tables.TABLES[topic.name](), topic.experiments)
        judge(topic)

    planned_places = {planned.place for planned in topic.full_plan}
    workers = (os.cpu_count() or 1) if topic.side_by_side else 1
    return Output(f"docs/{topic.document_path}", "reproduce", entries, publish, workers)


def _entry(topic: Topic, planned: PlannedExperiment) -> EvidenceEntry:
    def measure(entry_fingerprint: str) -> None:
        run([planned], directory(entry_fingerprint), side_by_side=topic.side_by_side)

    return EvidenceEntry(planned.place, lambda: fingerprint(planned), measure, planned.missing_data)


def _device_fingerprint() -> str:
    """Return the hash of the parameters and of short runs of the devices of Hong 2006."""
    parameter_values = sorted(number for device in DEVICES for number in numbers(parameters(device)))
    return hashlib.sha256(f"{parameter_values} {KINEMATICS.fingerprint()}".encode()).hexdigest()[:12]


def _power_fingerprint() -> str:
    """Return the hash of the energies of the reference runs and of the statistics of the trace."""
    return validation_tables.fingerprint(validation_tables.power_tables())


MISSING_REASON = None if reference.is_present() else reference.MISSING_MESSAGE

VALIDATION_ENTRIES = {
    "device": EvidenceEntry("page-device", _device_fingerprint, lambda _: None),
    "power": EvidenceEntry("power-reference", _power_fingerprint, lambda _: None, MISSING_REASON),
}
"""Entries for the results of the validation, by topic; they are measured when they are saved."""

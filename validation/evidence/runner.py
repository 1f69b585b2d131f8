"""Measure stale entries in order; resume after an interruption."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CalledProcessError
from threading import Lock
from typing import TypeVar

from sledlab_papers.paths import EXPERIMENTS, PAPERS

from ..benches.result_files import machine
from ..build import profile, source_hash
from ..results import RESULTS, VALIDATION
from .entry import EvidenceEntry, Output
from .manifest import Manifest, Record, is_stale

T = TypeVar("T")
U = TypeVar("U")

PROGRAMS = (VALIDATION, VALIDATION / "sections", VALIDATION / "reference", Path(__file__).parent)
"""Folders of the programs that measure: not benchmarks, which have no fingerprint, and not tests."""

FAILURES = (CalledProcessError, OSError, LookupError, ValueError, RuntimeError, AssertionError)
"""Errors of one measurement, after which the others still run."""


@dataclass(frozen=True)
class Status:
    """An entry, its recorded and its present fingerprint, and the reason if the present one is unknown."""

    output: Output
    entry: EvidenceEntry
    record: Record | None
    fingerprint: str = ""
    unknown_reason: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the committed result is known to be the present one."""
        return not self.unknown_reason and not is_stale(self.record, self.fingerprint)

    @property
    def reason(self) -> str:
        """The reason why the entry is not current."""
        if self.unknown_reason:
            return f"not checked: {self.unknown_reason}"
        return "the result changed" if self.record and self.record.fingerprint else "no recorded fingerprint"


def inputs_hash() -> str:
    """Return the hash of everything that a saved fingerprint depends on."""
    digest = hashlib.sha256(source_hash().encode())
    programs = [file for folder in PROGRAMS for file in folder.glob("*.py")]
    for file in sorted([*programs, *PAPERS.rglob("*.py"), *EXPERIMENTS.glob("*.toml")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def map_in_order(function: Callable[[T], U], items: Sequence[T], workers: int) -> Iterator[tuple[T, U]]:
    """Yield each item with its result, computed in threads; an error or interruption starts no more."""
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            for item, future in zip(items, futures, strict=True):
                yield item, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class Fingerprints:
    """Fingerprints of the present sources; those computed are saved, so that a check resumes."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or RESULTS / "evidence" / "fingerprints.json"
        self._inputs_hash = inputs_hash()
        self._lock = Lock()
        self._saved: dict[str, str] = {}
        if self._file.is_file():
            saved_data = json.loads(self._file.read_text(encoding="utf-8"))
            self._saved = saved_data["fingerprints"] if saved_data["inputs"] == self._inputs_hash else {}

    def get(self, entry: EvidenceEntry) -> str:
        """Return the fingerprint of an entry."""
        saved_fingerprint = self._saved.get(entry.name)
        if saved_fingerprint is not None and not entry.is_cheap:
            return saved_fingerprint
        fingerprint = entry.fingerprint()
        with self._lock:
            self._saved[entry.name] = fingerprint
            self._file.parent.mkdir(parents=True, exist_ok=True)
            saved_data = {"inputs": self._inputs_hash, "fingerprints": self._saved}
            self._file.write_text(json.dumps(saved_data, indent=1) + "\n", encoding="utf-8")
        return fingerprint


def check(outputs: Sequence[Output], manifest: Manifest, fingerprints: Fingerprints) -> list[Status]:
    """Return the status of every entry, and write to the manifest which are stale."""
    entries = [(output, entry) for output in outputs for entry in output.entries]

    def status(output: Output, entry: EvidenceEntry) -> Status:
        record = manifest.get(output.path, entry.name)
        if entry.missing_reason:
            return Status(output, entry, record, unknown_reason=entry.missing_reason)
        try:
            return Status(output, entry, record, fingerprints.get(entry))
        except FAILURES as error:
            return Status(output, entry, record, unknown_reason=f"{type(error).__name__}: {error}")

    statuses = [each for _, each in map_in_order(lambda pair: status(*pair), entries, os.cpu_count() or 1)]
    manifest.refresh()
    for each in statuses:
        if not each.unknown_reason:
            manifest.mark(each.output.path, each.entry.name, is_stale=not each.is_current)
    manifest.write()
    return statuses


@dataclass
class Runner:
    """Runner of measurements, which also records them.

    Attributes:
        manifest: Receives the record of every measurement whose result is published.
        pending: Records of measurements whose results are not published yet, in the folder of results.
        log: Prints a line.
        failed_names: Names of the entries and paths of the pages that failed.
    """

    manifest: Manifest
    pending: Manifest = field(default_factory=lambda: Manifest.read(RESULTS / "evidence" / "pending.json"))
    log: Callable[[str], None] = lambda text: print(text, flush=True)
    failed_names: list[str] = field(default_factory=list)

    def run(self, statuses: Sequence[Status]) -> None:
        """Measure entries in order, and publish each page when its entries are measured."""
        paths = list(dict.fromkeys(each.output.path for each in statuses))
        unmeasured = list(statuses)
        for path in paths:
            page_statuses = [each for each in statuses if each.output.path == path]
            self.log(
                f"{path}: {len(page_statuses)} to measure, {remaining_text(unmeasured, self.latest_record)}"
            )
            records = self._measure_all(page_statuses, unmeasured)
            if records:
                self._publish(page_statuses[0].output, records)

    def latest_record(self, status: Status) -> Record | None:
        """Return the latest record of an entry, for its duration."""
        return self.pending.get(status.output.path, status.entry.name) or status.record

    def _measure_all(self, page_statuses: Sequence[Status], unmeasured: list[Status]) -> dict[str, Record]:
        records = {}
        for each, record in map_in_order(self._measure, page_statuses, page_statuses[0].output.workers):
            unmeasured.remove(each)
            if record:
                records[each.entry.name] = record
                remaining_time_text = remaining_text(unmeasured, self.latest_record)
                self.log(f"  {each.entry.name}: {record.seconds:.0f} s; {remaining_time_text}")
        return records

    def _measure(self, status: Status) -> Record | None:
        """Measure an entry unless an interrupted command has; return its record, or `None` if it failed."""
        path, entry = status.output.path, status.entry
        record = self.pending.get(path, entry.name)
        if record and not is_stale(record, status.fingerprint):
            return record
        start_s = time.monotonic()
        try:
            entry.measure(status.fingerprint)
        except FAILURES as error:
            self.failed_names.append(entry.name)
            self.log(f"  {entry.name} failed: {error}")
            return None
        duration_s = max(round(time.monotonic() - start_s, 1), 0.1)  # 0 is an unknown duration
        today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
        record = Record(status.fingerprint, source_hash(), profile(), machine(), today, duration_s)
        with _manifest_lock:
            self.pending.put(path, {entry.name: record})
            self.pending.write()
        return record

    def _publish(self, output: Output, records: dict[str, Record]) -> None:
        """Write a page, and move the records of its entries to the manifest."""
        try:
            output.publish({name: record.fingerprint for name, record in records.items()})
        except FAILURES as error:
            self.failed_names.append(output.path)
            self.log(f"  {output.path} failed: {error}")
            return
        self.manifest.refresh()
        self.manifest.put(output.path, records)
        self.manifest.write()
        self.pending.remove(output.path, records)
        self.pending.write()


_manifest_lock = Lock()


def remaining_text(unmeasured: Sequence[Status], latest_record: Callable[[Status], Record | None]) -> str:
    """Return how long the remaining measurements take, from their recorded durations."""
    records = [(each, latest_record(each)) for each in unmeasured]
    seconds = sum(record.seconds / each.output.workers for each, record in records if record)
    unknown_count = sum(1 for _, record in records if not record or not record.seconds)
    if not unmeasured:
        return "none left"
    if unknown_count == len(unmeasured):
        return f"{unknown_count} left, durations unknown"
    unknown_text = f" and {unknown_count} of unknown duration" if unknown_count else ""
    return f"{len(unmeasured)} left, about {_duration(seconds)}{unknown_text}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"


def outdated_entries(statuses: Sequence[Status]) -> Iterator[Status]:
    """Yield the entries that are not current."""
    return (each for each in statuses if not each.is_current)

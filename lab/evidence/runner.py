"""Measures what is stale, in order; resumes after an interruption."""

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

from benches.result_files import machine

from ..build import profile, sources
from ..results import PROJECT, RESULTS
from .entry import EvidenceEntry, Output
from .manifest import Manifest, Record, is_stale

T = TypeVar("T")
U = TypeVar("U")

FAILURES = (CalledProcessError, OSError, LookupError, ValueError, RuntimeError, AssertionError)
"""Errors of one measurement, after which the others still run."""


@dataclass(frozen=True)
class Status:
    """An entry, its recorded and its present fingerprint, and the reason if the latter is unknown."""

    output: Output
    entry: EvidenceEntry
    record: Record | None
    fingerprint: str = ""
    unknown: str = ""

    @property
    def is_current(self) -> bool:
        """Whether the committed result is known to be the present one."""
        return not self.unknown and not is_stale(self.record, self.fingerprint)

    @property
    def reason(self) -> str:
        """The reason why the entry is not current."""
        if self.unknown:
            return f"not checked: {self.unknown}"
        return "the result changed" if self.record and self.record.fingerprint else "no recorded fingerprint"


def inputs() -> str:
    """Return the hash of everything that a saved fingerprint depends on."""
    digest = hashlib.sha256(sources().encode())
    for file in sorted(
        [*(PROJECT / "lab").rglob("*.py"), *PAPERS.rglob("*.py"), *EXPERIMENTS.glob("*.toml")]
    ):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def map_in_order(work: Callable[[T], U], items: Sequence[T], workers: int) -> Iterator[tuple[T, U]]:
    """Yield each item with its result, computed in threads; an error or interruption starts no more."""
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for item, future in zip(items, futures, strict=True):
                yield item, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class Fingerprints:
    """Fingerprints of the present sources; those computed are saved, so that a check resumes."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or RESULTS / "evidence" / "fingerprints.json"
        self._inputs = inputs()
        self._lock = Lock()
        self._known: dict[str, str] = {}
        if self._file.is_file():
            data = json.loads(self._file.read_text(encoding="utf-8"))
            self._known = data["fingerprints"] if data["inputs"] == self._inputs else {}

    def get(self, entry: EvidenceEntry) -> str:
        """Return the fingerprint of an entry."""
        known = self._known.get(entry.name)
        if known is not None and not entry.is_cheap:
            return known
        fingerprint = entry.fingerprint()
        with self._lock:
            self._known[entry.name] = fingerprint
            self._file.parent.mkdir(parents=True, exist_ok=True)
            data = {"inputs": self._inputs, "fingerprints": self._known}
            self._file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        return fingerprint


def check(outputs: Sequence[Output], manifest: Manifest, fingerprints: Fingerprints) -> list[Status]:
    """Return the status of every entry, and write to the manifest which are stale."""
    choice = [(output, entry) for output in outputs for entry in output.entries]

    def status(output: Output, entry: EvidenceEntry) -> Status:
        record = manifest.get(output.path, entry.name)
        if entry.missing:
            return Status(output, entry, record, unknown=entry.missing)
        try:
            return Status(output, entry, record, fingerprints.get(entry))
        except FAILURES as error:
            return Status(output, entry, record, unknown=f"{type(error).__name__}: {error}")

    result = [each for _, each in map_in_order(lambda pair: status(*pair), choice, os.cpu_count() or 1)]
    manifest.refresh()
    for each in result:
        if not each.unknown:
            manifest.mark(each.output.path, each.entry.name, stale=not each.is_current)
    manifest.write()
    return result


@dataclass
class Runner:
    """Runner of measurements, which also records them.

    Attributes:
        manifest: Receives the record of every measurement whose result is published.
        pending: Records of measurements whose results are not published yet, in the folder of results.
        say: Prints a line.
    """

    manifest: Manifest
    pending: Manifest = field(default_factory=lambda: Manifest.read(RESULTS / "evidence" / "pending.json"))
    log: Callable[[str], None] = lambda text: print(text, flush=True)
    failed: list[str] = field(default_factory=list)

    def run(self, todo: Sequence[Status]) -> None:
        """Measure entries in order, and publish each page when its entries are measured."""
        outputs = list(dict.fromkeys(each.output.path for each in todo))
        left = list(todo)
        for path in outputs:
            mine = [each for each in todo if each.output.path == path]
            self.log(f"{path}: {len(mine)} to measure, {remaining_text(left, self.latest_record)}")
            measured = self._measure_all(mine, left)
            if measured:
                self._publish(mine[0].output, measured)

    def latest_record(self, status: Status) -> Record | None:
        """Return the latest record of an entry, for its duration."""
        return self.pending.get(status.output.path, status.entry.name) or status.record

    def _measure_all(self, mine: Sequence[Status], left: list[Status]) -> dict[str, Record]:
        measured = {}
        for each, record in map_in_order(self._measure, mine, mine[0].output.workers):
            left.remove(each)
            if record:
                measured[each.entry.name] = record
                self.log(
                    f"  {each.entry.name}: {record.seconds:.0f} s; {remaining_text(left, self.latest_record)}"
                )
        return measured

    def _measure(self, status: Status) -> Record | None:
        """Measure an entry unless an interrupted command has; return its record, or `None` if it failed."""
        path, entry = status.output.path, status.entry
        record = self.pending.get(path, entry.name)
        if record and not is_stale(record, status.fingerprint):
            return record
        began = time.monotonic()
        try:
            entry.measure(status.fingerprint)
        except FAILURES as error:
            self.failed.append(entry.name)
            self.log(f"  {entry.name} failed: {error}")
            return None
        took = max(round(time.monotonic() - began, 1), 0.1)  # 0 is an unknown duration
        today = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}"
        record = Record(status.fingerprint, sources(), profile(), machine(), today, took)
        with _manifest_lock:
            self.pending.put(path, {entry.name: record})
            self.pending.write()
        return record

    def _publish(self, output: Output, measured: dict[str, Record]) -> None:
        """Write a page, and move the records of its entries to the manifest."""
        try:
            output.publish({name: record.fingerprint for name, record in measured.items()})
        except FAILURES as error:
            self.failed.append(output.path)
            self.log(f"  {output.path} failed: {error}")
            return
        self.manifest.refresh()
        self.manifest.put(output.path, measured)
        self.manifest.write()
        self.pending.remove(output.path, measured)
        self.pending.write()


_manifest_lock = Lock()


def remaining_text(left: Sequence[Status], known: Callable[[Status], Record | None]) -> str:
    """Return how long the remaining measurements take, from their recorded durations."""
    records = [(each, known(each)) for each in left]
    seconds = sum(record.seconds / each.output.workers for each, record in records if record)
    unknown = sum(1 for _, record in records if not record or not record.seconds)
    if not left:
        return "none left"
    if unknown == len(left):
        return f"{unknown} left, durations unknown"
    more = f" and {unknown} of unknown duration" if unknown else ""
    return f"{len(left)} left, about {_duration(seconds)}{more}"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02} min"


def outdated_entries(result: Sequence[Status]) -> Iterator[Status]:
    """Yield the entries that are not current."""
    return (each for each in result if not each.is_current)

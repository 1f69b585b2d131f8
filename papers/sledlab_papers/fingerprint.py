"""Fingerprints of experiments: hashes of the results of short runs, of seconds each.

Most changes of the sources change no result. While the fingerprint of an experiment stays the same, its
results stay valid, and no long run is needed to find that out. A short run can miss a change that a long run
meets, so `papers/tests/test_recomputed.py` computes ten verdicts a day in full.

Only numbers are hashed, column by column: names and the order of columns do not matter, a new column does.
"""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import sledlab as sl

from .numbers import numbers
from .runs import PlannedExperiment, last_values
from .simulator import experiment, run_in_worker

REQUEST_OPTIONS = ("--limit", "300", "--warmup", "0")
JOB_DATA_SIZES = {"scale_factor": "0.002", "transactions_per_node": "500", "records": "20000"}
"""Sizes of a job's data in a short run, by the name of the setting."""

WALL_CLOCK_TABLES = ("decision_cost.csv",)
"""Tables of wall-clock time."""

LOOP = """{"work": 1, "job": "join", "nodes": 1, "files": {"outer": 73728000, "inner": 2457600}}
{"phase": "loop", "node": 0, "reads": [{"file": "outer"}, {"file": "inner", "per_block_of": "outer"}]}
"""
"""Work record of a nested loop that is long enough for the replay to skip passes."""
LOOP_BLOCK_KB = 24
LOOP_STORES = ("mems-g1", "hp-c2490a", "ram")


@dataclass(frozen=True)
class ShortRun:
    """The short run of an experiment, for its fingerprint."""

    planned_experiment: PlannedExperiment

    @property
    def options(self) -> tuple[str, ...]:
        """Options that override those of the experiment."""
        study = experiment(self.planned_experiment.experiment)["study"]
        if study["kind"] != "smart":
            return (*REQUEST_OPTIONS, "--seed", self.seed)
        sizes = _size_settings(self.planned_experiment.options) or _size_settings(study["job_settings"])
        return tuple(word for size in sizes for word in ("--job-set", f"{size}={JOB_DATA_SIZES[size]}"))

    @property
    def seed(self) -> str:
        """The first seed that the options of the experiment select; 1 if they select none."""
        options = self.planned_experiment.options
        seed_range = dict(zip(options[::2], options[1::2], strict=True)).get("--seed", "1")
        return seed_range.partition("..")[0]

    @property
    def planned_run(self) -> PlannedExperiment:
        """The planned short run."""
        return replace(
            self.planned_experiment,
            options=(*self.planned_experiment.options, *self.options, "--parallel", "1"),
        )

    def fingerprint(self, directory: Path) -> str:
        """Return the hash of the settings of the experiment and of the tables that the short run left."""
        tables = [file for file in sorted(directory.glob("*.csv")) if file.name not in WALL_CLOCK_TABLES]
        if not tables:
            raise FileNotFoundError(f"a short run of {self.planned_experiment.place} left no tables")
        parts = [self.settings_hash(), *sorted(_table_hash(file) for file in tables)]
        if self.has_join:
            parts.append(sampled_loop_hash())
        return _hash(parts)

    def settings_hash(self) -> str:
        """Return the hash of all numbers in the experiment's file and options, also of those overridden."""
        # Ranges of seeds in options begin where those of the experiment do.
        options = [value.rpartition("..")[2] for value in self.planned_experiment.options[1::2]]
        values = [*numbers(experiment(self.planned_experiment.experiment)), *numbers(options)]
        return _hash(map(repr, sorted(values)))

    @property
    def has_join(self) -> bool:
        """Whether the experiment runs a join: its nested loops are too short for sampling in a short run."""
        study = experiment(self.planned_experiment.experiment)["study"]
        jobs = dict(
            zip(self.planned_experiment.options[::2], self.planned_experiment.options[1::2], strict=True)
        ).get("--job")
        return study["kind"] == "smart" and "join" in (jobs.split(",") if jobs else study.get("job", ()))


@cache
def sampled_loop_hash() -> str:
    """Return the hash of the replays of a nested loop, some of whose passes are skipped."""
    with tempfile.TemporaryDirectory(prefix="sledlab-loop-") as parent:
        work_record = Path(parent) / "loop.work"
        work_record.write_text(LOOP, encoding="utf-8")
        settings = {"node.preset": "smart-2003", "node.block_kb": LOOP_BLOCK_KB}
        replays = [sl.replay(work_record, store, settings=settings, what_if=False) for store in LOOP_STORES]
    if not all(each.skipped_passes for each in replays):
        raise AssertionError("the replay of the nested loop skips no pass")
    return _hash(
        repr((each.skipped_passes, each.elapsed_s, each.sampling_error, each.energy)) for each in replays
    )


def fingerprint(planned: PlannedExperiment) -> str:
    """Return the fingerprint of an experiment: seconds of simulation."""
    short_run = ShortRun(planned)
    with tempfile.TemporaryDirectory(prefix="sledlab-fingerprint-") as parent:
        directory = Path(parent) / planned.place
        run_in_worker(planned.experiment, directory, last_values(short_run.planned_run.options))
        return short_run.fingerprint(directory)


def _table_hash(file: Path) -> str:
    """Return the hash of the numbers in a table; columns without a number hold names."""
    with file.open(newline="", encoding="utf-8") as lines:
        columns = list(zip(*list(csv.reader(lines))[1:], strict=True))
    return _hash(sorted(_hash(column) for column in columns if _has_number(column)))


def _has_number(column: Sequence[str]) -> bool:
    return next(numbers(column), None) is not None


def _hash(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _size_settings(words: Iterable[str]) -> list[str]:
    """Return the settings of data sizes among some words of options."""
    return [name for name in (word.split("=", maxsplit=1)[0] for word in words) if name in JOB_DATA_SIZES]

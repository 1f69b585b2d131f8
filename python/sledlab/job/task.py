"""A job with its parameters, data, nodes and seed, and running it in one process."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job import answer as answers
from sledlab.job import find, lockstep, log
from sledlab.job.data import find as find_data
from sledlab.job.files import Rows
from sledlab.job.node import Node
from sledlab.job.parameters import apply_settings
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sledlab.job import Job
    from sledlab.job.copies import CopyHolders
    from sledlab.job.data import Data
    from sledlab.job.files import SharedFile
    from sledlab.job.running_job import JobRun

    # Called with the current step and the share of it that is done, where that is known.
    Tell = Callable[[str, float | None], None]
    Save = Callable[[bytes], None]

MAX_NODES = 4096
"""Most nodes of a job: bytes sent are counted for all pairs of nodes."""


@dataclass(frozen=True)
class JobTask:
    """A job with the arguments of its run.

    Attributes:
        job: The job.
        nodes: Number of nodes.
        parameters: Values of all parameters of the job.
        data: The data that it runs on; None where the job's own file makes it.
        memory_mb: Memory of a node for the job, in MB of 2^20 bytes.
        seed: Seed of random numbers.
        measured: Whether the processor's time is taken instead of operations counted.
        arguments: The arguments of `task`, from which other processes make the same task.
        shares: The holders of the files of each node, where these have copies; otherwise empty.
    """

    job: Job
    nodes: int
    parameters: Mapping[str, Any]
    data: Data | None
    memory_mb: float
    seed: int
    measured: bool
    arguments: Mapping[str, Any]
    shares: Sequence[CopyHolders | None] = ()

    @property
    def header(self) -> dict[str, Any]:
        """The header of the record, without files, groups and answer."""
        data_parameters = self.data.identity() if self.data is not None else {}
        parameters = {**self.parameters, **data_parameters, "memory_mb": self.memory_mb}
        if self.measured:
            parameters["measured"] = True
        return {
            "work": 1,
            "job": self.job.name,
            "parameters": parameters,
            "seed": self.seed,
            "nodes": self.nodes,
        }

    @property
    def content(self) -> str:
        """A hash of everything that determines the record."""
        data = self._hash_own_data() if self.data is None else self.data.generator(self.nodes, self.seed)
        inputs = [self.header, self.job.source, data]
        return sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    def node(self, number: int, scratch: Path) -> Node:
        """A node, with its part of the data on its store."""
        memory = int(self.memory_mb * 2**20)
        share = self.shares[number] if self.shares else None
        new_node = Node(
            number,
            self.nodes,
            scratch,
            memory=memory,
            seed=self.seed,
            measures_time=self.measured,
            share=share,
        )
        if self.data is not None:
            new_node.add_shared_files(self._shared_files)
        else:
            new_node.add_files(self._make_files(number))
        return new_node

    @cached_property
    def _shared_files(self) -> Mapping[str, SharedFile]:
        """The files of the data, of which each node has a part."""
        assert self.data is not None
        return self.data.files(self.nodes, self.seed)

    def _hash_own_data(self) -> str:
        """A hash of the data of all nodes, made by the user's file, which may read other files for them."""
        hasher = sha256()
        for number in range(self.nodes):
            for name, file in self._make_files(number).items():
                hasher.update(repr((number, name, file.array.dtype, file.array.shape)).encode())
                hasher.update(np.ascontiguousarray(file.array).tobytes())
        return hasher.hexdigest()

    def _make_files(self, number: int) -> Mapping[str, Rows]:
        """The files of a node, made by the function `data` of the user's file.

        Raises:
            Error: The function fails, or returns no dict of arrays.
        """
        assert self.job.make is not None
        try:
            arrays_by_file = self.job.make(number, self.nodes, self.seed)
            return {
                name: Rows(rows, rows.nbytes // max(1, len(rows))) for name, rows in arrays_by_file.items()
            }
        except Exception as error:
            raise Error(
                f"the data of node {number} cannot be generated: {type(error).__name__}: {error}",
                remedy="let data(number, nodes, seed) return a dict of arrays by the names of files",
            ) from error

    def answer(self, parts: Sequence[Any]) -> Sequence[Any]:
        """The job's answer: the parts of all nodes, or the one that its client makes of them.

        Raises:
            Error: The job's client fails.
        """
        if self.job.client is None:
            return parts
        try:
            return [self.job.client(parts)]
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise Error(f"the client of the job `{self.job.name}` failed: {reason}") from error

    def record(self, job_run: JobRun, digests: Sequence[str]) -> bytes:
        """The text of the work record."""
        header = {**self.header, "answer": answers.combine_digests(digests)}
        return log.record(header, job_run.logs, job_run.collectives)


def task(
    job: str | Path,
    *,
    nodes: int,
    memory_mb: float,
    seed: int,
    data: str,
    measured: bool,
    settings: Mapping[str, Any],
) -> JobTask:
    """A job with the arguments of its run, checked.

    Raises:
        Error: An argument is invalid.
    """
    check_size(nodes, memory_mb)
    if not 0 <= seed < 2**64:
        raise Error(f"invalid seed {seed}", remedy="use a number from 0")
    job_definition = find(job, data)
    data_class = find_data(job_definition.data).kind if job_definition.data else None
    parameters, data_parameters = apply_settings(job_definition.settings, settings)
    data_set = data_class(**data_parameters) if data_class is not None else None
    arguments = {
        "job": str(Path(job).resolve()) if job_definition.file else str(job),
        "nodes": nodes,
        "memory_mb": memory_mb,
        "seed": seed,
        "data": data,
        "measured": measured,
        "settings": dict(settings),
    }
    return JobTask(job_definition, nodes, parameters, data_set, memory_mb, seed, measured, arguments)


def check_size(nodes: int, memory_mb: float) -> None:
    """Refuse a number of nodes, or a size of their memory, that a job cannot run on.

    Raises:
        Error: The number of nodes, or the memory, is out of range.
    """
    if not 1 <= nodes <= MAX_NODES:
        raise Error(f"a job cannot run on {nodes:,} nodes", remedy=f"choose 1 to {MAX_NODES:,}")
    if not 2**-10 <= memory_mb <= 2**20:
        raise Error(f"a node cannot have {memory_mb:g} MiB of memory", remedy="choose 0.001 to 1,048,576")


def run_lockstep(job_task: JobTask, answer: Path | None, tell: Tell, save: Save) -> None:
    """Run a job with all nodes in this process.

    Args:
        job_task: The job.
        answer: A file for the answer; None for no file.
        tell: Called with the progress of the job.
        save: Called with the text of the record, before the answer is written, which may fail.
    """
    job = job_task.job
    with scratch() as directory:
        nodes = [job_task.node(number, directory) for number in range(job_task.nodes)]
        job_run = lockstep.run(
            job.name, job.function, nodes, job_task.parameters, track_progress(job, job_task.nodes, tell)
        )
        parts = job_task.answer(job_run.answers)
        save(job_task.record(job_run, [answers.digest(part) for part in parts]))
        if answer is not None:
            answers.write(parts, answer)


@contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """A directory for files of nodes, removed when the run ends; by default where temporary files are."""
    with tempfile.TemporaryDirectory(prefix="sledlab-", dir=parent) as directory:
        yield Path(directory)


def track_progress(job: Job, nodes: int, tell: Tell) -> Callable[[str, int], None]:
    """Turn progress in a phase into progress of the job, where the job's phases are known."""
    max_share = 0.0

    def report_share(phase: str, done_nodes: int) -> None:
        nonlocal max_share
        phase_names = job.phases
        phase_index = next((index for index, name in enumerate(phase_names) if phase.startswith(name)), None)
        # A phase of several supersteps begins again at 0 with each: progress never goes back.
        max_share = max(max_share, ((phase_index or 0) + done_nodes / nodes) / max(1, len(phase_names)))
        tell(phase, max_share if phase_names else None)

    return report_share

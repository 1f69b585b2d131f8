"""Running a job and keeping what its nodes did: a work record."""

from __future__ import annotations

import json
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.files import check_writable, drafted
from sledlab.job import answer as answers
from sledlab.job import find, lockstep, log, said
from sledlab.job.data import home
from sledlab.job.files import Rows
from sledlab.job.node import Node
from sledlab.traces.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sledlab.job import Job
    from sledlab.job.data import Data
    from sledlab.job.files import Stored
    from sledlab.job.running import Ran

    # Called with what is going on and the share of it that is done, where that is known.
    Tell = Callable[[str, float | None], None]

MOST_NODES = 4096
"""Nodes of a job: who sends whom how much is counted for all pairs."""


@dataclass(frozen=True)
class Task:
    """A job with all that is said of it."""

    job: Job
    nodes: int
    parameters: Mapping[str, Any]
    data: Data | None
    memory_mb: float
    seed: int
    measured: bool

    @property
    def header(self) -> dict[str, Any]:
        """The header of the record, without files, groups and answer."""
        of_data = self.data.identity() if self.data is not None else {}
        parameters = {**self.parameters, **of_data, "memory_mb": self.memory_mb}
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
        """A hash of everything that the record depends on."""
        return sha256(json.dumps([self.header, self.job.source], sort_keys=True).encode()).hexdigest()

    def node(self, number: int, scratch: Path) -> Node:
        """A node with its part of the data."""
        return Node(
            number,
            self.nodes,
            self._files(number),
            scratch,
            memory=int(self.memory_mb * 2**20),
            seed=self.seed,
            measured=self.measured,
        )

    def _files(self, number: int) -> Mapping[str, Stored]:
        """The files of a node at the beginning."""
        if self.data is not None:
            return self.data.files(self.nodes, self.seed, number)
        assert self.job.make is not None
        try:
            made = self.job.make(number, self.nodes, self.seed)
            return {name: Rows(rows, rows.nbytes // max(1, len(rows))) for name, rows in made.items()}
        except Exception as error:
            raise Error(
                f"the data of node {number} cannot be made: {type(error).__name__}: {error}",
                remedy="let data(number, nodes, seed) return a dict of arrays by the names of files",
            ) from error

    def record(self, ran: Ran, digests: Sequence[str]) -> bytes:
        """The text of the record."""
        header = {**self.header, "answer": answers.whole(digests)}
        return log.record(header, ran.logs, ran.collectives)


def task(
    job: str | Path,
    *,
    nodes: int,
    memory_mb: float,
    seed: int,
    data: str,
    measured: bool,
    settings: Mapping[str, Any],
) -> Task:
    """A job with all that is said of it, checked.

    Raises:
        Error: Something makes no sense.
    """
    if not 1 <= nodes <= MOST_NODES:
        raise Error(f"a job cannot run on {nodes:,} nodes", remedy=f"choose 1 to {MOST_NODES:,}")
    if not 2**-10 <= memory_mb <= 2**20:
        raise Error(f"a node cannot have {memory_mb:g} MB of memory", remedy="choose 0.001 to 1,048,576")
    if not 0 <= seed < 2**64:
        raise Error(f"{seed} is no seed", remedy="choose a number from 0")
    found = find(job, data)
    parameters, chosen = said(found, settings)
    return Task(found, nodes, parameters, chosen, memory_mb, seed, measured)


def record(
    job: str | Path,
    nodes: int = 4,
    *,
    work: str | Path | None = None,
    answer: str | Path | None = None,
    data: str = "",
    memory_mb: float = 64.0,
    seed: int = 1,
    mpi: bool = False,
    measured: bool = False,
    again: bool = False,
    progress: Tell | None = None,
    **settings: Any,
) -> Work:
    """Runs a job on real data and records what each node did.

    Records are kept: the same job on the same data gives the one that is there.

    Args:
        job: A job (`sledlab job list`), or a Python file that defines one.
        nodes: Number of nodes.
        work: A file to write the record to.
        answer: A file to write the answer to: rows as Parquet, plain data as JSON.
        data: The data to run on, if not that of the job.
        memory_mb: Memory of a node in MB of 2^20 bytes: what is larger is worked on out of core.
        seed: Seed of random numbers.
        mpi: Whether each node is a process of its own under MPI, not all nodes one process.
        measured: Whether to take the time of this machine's processor instead of counting operations; such a
            record is another one every time.
        again: Whether to run although there is a record.
        progress: Called now and then with what is going on and the share of it that is done.
        **settings: Parameters of the job and of its data.

    Returns:
        The record.

    Raises:
        Error: Something makes no sense, or goes wrong in the job; the message says where.
        KeyboardInterrupt: Ctrl-C.

    Examples:
        >>> import sledlab as sl
        >>> sort = sl.record("sort", nodes=4, scale_factor=0.001)
        >>> sort.phases["phase"].to_list()
        ['sampling', 're-distribution', 'internal sort']
        >>> sl.replay(sort, "mems-g2").elapsed_s < sl.replay(sort, "hp-c2490a").elapsed_s
        True
    """
    for path in (work, answer):
        if path is not None:
            check_writable(Path(path))
    chosen = task(
        job, nodes=nodes, memory_mb=memory_mb, seed=seed, data=data, measured=measured, settings=settings
    )
    kept = home() / "records" / f"{chosen.content}.work"
    tell: Tell = progress or (lambda what, share: None)
    if again or measured or answer is not None or not kept.exists():
        run(chosen, kept, answer=Path(answer) if answer is not None else None, mpi=mpi, tell=tell)
    if work is not None:
        with drafted(Path(work)) as draft:
            shutil.copyfile(kept, draft)
    return Work(str(work or kept), _native.Work(str(kept)))


def run(chosen: Task, kept: Path, *, answer: Path | None, mpi: bool, tell: Tell) -> None:
    """Runs a job and keeps its record in a file.

    Raises:
        Error: Something goes wrong.
    """
    if chosen.data is not None:
        chosen.data.prepare(chosen.nodes, chosen.seed, tell)
    text = in_lockstep(chosen, answer, tell)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with drafted(kept) as draft:
        _native.Work("the record", text).write(str(draft))


def in_lockstep(chosen: Task, answer: Path | None, tell: Tell) -> bytes:
    """Runs a job with all nodes in this process; gives the text of its record."""
    job = chosen.job
    with scratch() as directory:
        nodes = [chosen.node(number, directory) for number in range(chosen.nodes)]
        ran = lockstep.run(job.name, job.function, nodes, chosen.parameters, _share(job, chosen.nodes, tell))
        digests = [answers.digest(part) for part in ran.answers]
        if answer is not None:
            answers.write(ran.answers, answer)
    return chosen.record(ran, digests)


@contextmanager
def scratch() -> Iterator[Path]:
    """A directory for what nodes write, which goes with the run."""
    with tempfile.TemporaryDirectory(prefix="sledlab-") as directory:
        yield Path(directory)


def _share(job: Job, nodes: int, tell: Tell) -> Callable[[str, int], None]:
    """Turns what a driver tells into what is going on, and the share of the whole where phases are known."""

    def told(phase: str, done: int) -> None:
        names = job.phases
        place = next((at for at, name in enumerate(names) if phase.startswith(name)), None)
        tell(phase, (place + done / nodes) / len(names) if place is not None else None)

    return told

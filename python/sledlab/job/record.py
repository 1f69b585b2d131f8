"""Running a job and keeping its work record."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.errors import Error
from sledlab.files import atomic_write, check_writable
from sledlab.job import MEMORY_MB
from sledlab.job.copies import shares
from sledlab.job.data import home
from sledlab.job.mpiexec import run_mpi
from sledlab.job.task import run_lockstep, task
from sledlab.traces.work import Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.job.task import JobTask, Tell


def record(
    job: str | Path,
    node_count: int = 4,
    *,
    work: str | Path | None = None,
    answer: str | Path | None = None,
    data: str = "",
    memory_mb: float = MEMORY_MB,
    seed: int = 1,
    mpi: bool = False,
    mpiexec: str = "mpiexec",
    measured: bool = False,
    again: bool = False,
    redundancy: str = "none",
    failed: int | Sequence[int] | None = None,
    progress: Tell | None = None,
    **settings: Any,
) -> Work:
    """Run a job on real data and record what each node did.

    Records are kept: the same job on the same data returns the kept record, and the job does not run.

    Args:
        job: A job (`sledlab list job`), or a Python file that defines one.
        node_count: Number of nodes.
        work: A file to write the record to.
        answer: A file to write the answer to: rows as Parquet, plain data as JSON.
        data: The kind of data to run on, if not that of the job.
        memory_mb: Memory of a node for the job, in MB of 2^20 bytes; larger data are worked on out of core.
            By default that of a node of Chiu 2004, 64 MB, less its system and buffers.
        seed: Seed of random numbers.
        mpi: Whether each node is a process of its own under MPI, not all nodes one process.
        mpiexec: The command that starts these processes: takes `-n N` and a command, such as `srun`.
        measured: Whether to take the time of this machine's processor instead of counting operations; such a
            record differs from run to run.
        again: Whether to run the job although its record is kept.
        redundancy: The holder of copies of a node's files: no node (`none`), its mirror (`mirror`: nodes 2i
            and 2i + 1 hold each other's), or the next node (`chained`).
        failed: A node that has failed, or several: their files are read from copies, and the record is the
            same; a replay includes its cost. The job runs even if its record is kept.
        progress: Called now and then with the current step and the share of it that is done.
        **settings: Parameters of the job and of its data.

    Returns:
        The record.

    Raises:
        Error: An argument is invalid, or the job fails; the message has the location.
        KeyboardInterrupt: Ctrl-C.

    Examples:
        >>> import sledlab as sl
        >>> sort = sl.record("sort", node_count=4, scale_factor=0.001)
        >>> sort.phases["phase"].to_list()
        ['sampling', 're-distribution', 'internal sort']
        >>> sl.replay(sort, "mems-g2").elapsed_s < sl.replay(sort, "hp-c2490a").elapsed_s
        True
    """
    for path in (work, answer):
        if path is not None:
            check_writable(Path(path))
    job_task = task(
        job, nodes=node_count, memory_mb=memory_mb, seed=seed, data=data, measured=measured, settings=settings
    )
    failed_nodes = [failed] if isinstance(failed, int) else list(failed or ())
    if redundancy != "none" or failed_nodes:
        if mpi:
            remedy = "omit --mpi, or --redundancy and --failed"
            raise Error("copies of files on other nodes are for jobs in one process", remedy=remedy)
        job_task = replace(job_task, shares=shares(redundancy, node_count, failed_nodes))
    record_path = home() / "records" / f"{job_task.content}.work"
    tell: Tell = progress or (lambda step, share: None)
    if again or measured or answer is not None or job_task.shares or not record_path.exists():
        _run(
            job_task, record_path, Path(answer) if answer is not None else None, tell, mpiexec if mpi else ""
        )
    return export_record(record_path, work)


def export_record(record_path: Path, work: str | Path | None) -> Work:
    """A kept record, copied to the user's file if one is named."""
    if work is not None:
        with atomic_write(Path(work)) as draft:
            shutil.copyfile(record_path, draft)
    return Work(str(work or record_path), _native.Work(str(record_path)))


def save_record(record_bytes: bytes, path: Path) -> None:
    """Keep the text of a record in a file.

    Raises:
        Error: The text is no record that can be replayed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        _native.Work("the record", record_bytes).write(str(draft))


def _run(job_task: JobTask, record_path: Path, answer: Path | None, tell: Tell, mpiexec: str) -> None:
    """Run a job, under MPI if a command that starts ranks is given, and save its record in a file.

    Raises:
        Error: The job fails, or its data cannot be generated.
    """
    if job_task.data is not None:
        job_task.data.prepare(job_task.nodes, job_task.seed, tell)

    def save(record_bytes: bytes) -> None:
        save_record(record_bytes, record_path)

    if mpiexec:
        run_mpi(job_task, answer, tell, save, mpiexec)
    else:
        run_lockstep(job_task, answer, tell, save)

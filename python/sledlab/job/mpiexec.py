"""Start the ranks of a job under MPI; `python -m sledlab.job.mpiexec DIRECTORY` is such a rank.

The job's arguments, its record and its errors are files in a directory that all ranks see.
"""

from __future__ import annotations

import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.job import answer as answers
from sledlab.job.data import home
from sledlab.job.task import JobTask, scratch, task, track_progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sledlab.job.task import Save, Tell

INSTALL = "pip install 'sledlab[mpi]'"
PROGRESS_PREFIX = "sledlab-progress "
"""Prefix of a line of output that reports the progress of the job."""


def run_mpi(job_task: JobTask, answer: Path | None, tell: Tell, save: Save, program: str) -> None:
    """Run a job with a process for every node.

    Args:
        job_task: The job.
        answer: A file for the answer; None for no file.
        tell: Called with the progress of the job.
        save: Called with the text of the record, even if the answer cannot be written.
        program: The command that starts ranks: takes `-n N` and a command, as `mpiexec` or `srun` do.

    Raises:
        Error: The job failed, a rank ended before the job did, or MPI is not installed.
    """
    command = _launch_command(program)
    runs_directory = home() / "runs"
    runs_directory.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs_directory) as directory, scratch() as scratch_directory:
        run_directory = Path(directory)
        (run_directory / "task.json").write_text(
            json.dumps(
                {
                    **job_task.arguments,
                    "answer": str(answer) if answer else None,
                    "room": str(scratch_directory),
                }
            )
        )
        ranks = [*command, "-n", str(job_task.nodes), sys.executable, "-m", "sledlab.job.mpiexec", directory]
        # mpiexec and MPI leave temporary files behind if they are killed; all hosts share the runs directory.
        code, reason = _run_to_end(ranks, os.environ | {"TMPDIR": directory}, tell)
        record_file = run_directory / "record"
        if record_file.exists():
            save(record_file.read_bytes())
        for error_file in sorted(run_directory.glob("error-*")):
            raise pickle.loads(error_file.read_bytes())
        if code or not record_file.exists():
            raise Error(f"a rank of the job ended before the job did: {reason}")


def _launch_command(command: str) -> list[str]:
    """The command that starts ranks, as a list.

    Raises:
        Error: No such program is installed, or mpi4py is missing.
    """
    if find_spec("mpi4py") is None:
        raise Error("jobs under MPI require mpi4py, which is not installed", remedy=INSTALL)
    name, *options = shlex.split(command) or ["mpiexec"]
    sibling_path = Path(sys.executable).with_name(name)
    executable = str(sibling_path) if sibling_path.exists() else shutil.which(name)
    if executable is None:
        raise Error(f"the MPI launcher `{name}` is not installed", remedy=INSTALL)
    return [executable, *options]


def _run_to_end(command: list[str], environment: dict[str, str], tell: Tell) -> tuple[int, str]:
    """Run a command to its end; return its exit code and the reason that its output names for the end."""
    report_lines: list[str] = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env=environment, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(PROGRESS_PREFIX):
                    tell(*json.loads(line.removeprefix(PROGRESS_PREFIX)))
                elif report_lines or line.startswith("====="):  # begins MPICH's report on a rank that died
                    report_lines.append(line)
                else:
                    sys.stdout.write(line)
        except BaseException:
            process.terminate()  # mpiexec ends its ranks before it ends
            raise
        code = process.wait()
        errors.seek(0)
        report_lines += errors.readlines()
    reasons = [
        line.partition("STRING:")[2] or line for line in report_lines if "STRING:" in line or "Error" in line
    ]
    return code, reasons[0].strip() if reasons else f"exit code {code}"


def main(directory: str) -> None:
    """Run the job as one rank."""
    from mpi4py import MPI  # noqa: PLC0415 (starts MPI)

    from sledlab.job.mpi import Ranks  # noqa: PLC0415

    world = MPI.COMM_WORLD
    run_directory = Path(directory)
    task_arguments = json.loads((run_directory / "task.json").read_text())
    answer, scratch_directory = task_arguments.pop("answer"), Path(task_arguments.pop("room"))
    try:
        # In a directory that is removed even if this rank is killed; a rank on another machine has none.
        with scratch(scratch_directory if scratch_directory.is_dir() else None) as node_scratch:
            _run_rank(
                world,
                Ranks(world),
                task(**task_arguments),
                answer and Path(answer),
                node_scratch,
                run_directory / "record",
            )
    except BaseException as error:
        # The other ranks wait for this one, and would do so for ever.
        if isinstance(error, Error):
            _write_whole(run_directory / f"error-{world.rank:05}", pickle.dumps(error))
        else:
            traceback.print_exc()
        world.Abort(1)


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file that has its name when complete: another rank's abort may end this one meanwhile."""
    draft = path.with_name(f"draft-{path.name}")
    draft.write_bytes(content)
    draft.rename(path)


def _run_rank(
    world: Any, ranks: Any, job_task: JobTask, answer: Path | None, node_scratch: Path, record_path: Path
) -> None:
    """Run a job on this rank; rank 0 writes the record, and the answer, if a file for that is named."""

    def tell(phase: str, share: float | None) -> None:
        if world.rank == 0:
            print(PROGRESS_PREFIX + json.dumps([phase, share]), flush=True)

    node = job_task.node(world.rank, node_scratch)
    job = job_task.job
    job_run = ranks.run(
        job.name, job.function, node, job_task.parameters, track_progress(job, job_task.nodes, tell)
    )
    answer_part = job_run.answers[0]
    if job.client is not None:
        parts = world.gather(answer_part)
        answer_part = job_task.answer(parts)[0] if world.rank == 0 else None
    digests = world.gather(answers.digest(answer_part))
    if world.rank == 0:
        _write_whole(record_path, job_task.record(job_run, digests))
    if answer is not None:
        _write_answer(world, answer_part, answer)


def _write_answer(world: Any, part: Any, path: Path) -> None:
    """Write the answer on rank 0, which receives the parts of the other ranks one after another."""
    if world.rank:
        has_rows = answers.is_rows(part)
        world.send((has_rows, list(answers.blocks(part)) if has_rows else part), dest=0)
        return

    def parts() -> Iterator[Any]:
        yield part
        for rank in range(1, world.size):
            has_rows, received = world.recv(source=rank)
            yield from received if has_rows else [received]

    answers.write(parts(), path)


if __name__ == "__main__":
    main(sys.argv[1])

"""Starts the ranks of a job under MPI; `python -m sledlab.job.mpiexec DIRECTORY` is such a rank.

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
PROGRESS = "sledlab-progress "
"""Begins a line of output that reports the progress of the job."""


def run_mpi(choice: JobTask, answer: Path | None, tell: Tell, save: Save, program: str) -> None:
    """Runs a job with a process for every node.

    Args:
        choice: The job.
        answer: A file for the answer; None for no file.
        tell: Called with the progress of the job.
        save: Called with the text of the record, even if the answer cannot be written.
        program: The command that starts ranks: takes `-n N` and a command, as `mpiexec` or `srun` do.

    Raises:
        Error: The job failed, a rank ended before the job did, or MPI is not installed.
    """
    command = _program(program)
    runs = home() / "runs"
    runs.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs) as directory, scratch() as room:
        place = Path(directory)
        (place / "task.json").write_text(
            json.dumps({**choice.arguments, "answer": str(answer) if answer else None, "room": str(room)})
        )
        ranks = [*command, "-n", str(choice.nodes), sys.executable, "-m", "sledlab.job.mpiexec", directory]
        # mpiexec and MPI leave temporary files behind if they are killed; all hosts share the runs directory.
        code, last = _wait(ranks, os.environ | {"TMPDIR": directory}, tell)
        result = place / "record"
        if result.exists():
            save(result.read_bytes())
        for error in sorted(place.glob("error-*")):
            raise pickle.loads(error.read_bytes())
        if code or not result.exists():
            raise Error(f"a rank of the job ended before the job did: {last}")


def _program(command: str) -> list[str]:
    """The command that starts ranks, as a list.

    Raises:
        Error: No such program is installed, or mpi4py is missing.
    """
    if find_spec("mpi4py") is None:
        raise Error("jobs under MPI require mpi4py, which is not installed", remedy=INSTALL)
    name, *remaining = shlex.split(command) or ["mpiexec"]
    sibling = Path(sys.executable).with_name(name)
    result = str(sibling) if sibling.exists() else shutil.which(name)
    if result is None:
        raise Error(f"the MPI launcher `{name}` is not installed", remedy=INSTALL)
    return [result, *remaining]


def _wait(command: list[str], environment: dict[str, str], tell: Tell) -> tuple[int, str]:
    """Runs a command to its end; returns its exit code and the reason that its output names for the end."""
    arguments: list[str] = []
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env=environment, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(PROGRESS):
                    tell(*json.loads(line.removeprefix(PROGRESS)))
                elif arguments or line.startswith("====="):  # begins MPICH's report on a rank that died
                    arguments.append(line)
                else:
                    sys.stdout.write(line)
        except BaseException:
            process.terminate()  # mpiexec ends its ranks before it ends
            raise
        code = process.wait()
        errors.seek(0)
        arguments += errors.readlines()
    ends = [
        line.partition("STRING:")[2] or line for line in arguments if "STRING:" in line or "Error" in line
    ]
    return code, ends[0].strip() if ends else f"exit code {code}"


def main(directory: str) -> None:
    """Runs the job as one rank."""
    from mpi4py import MPI  # noqa: PLC0415 (starts MPI)

    from sledlab.job.mpi import Ranks  # noqa: PLC0415

    world = MPI.COMM_WORLD
    place = Path(directory)
    command = json.loads((place / "task.json").read_text())
    answer, room = command.pop("answer"), Path(command.pop("room"))
    try:
        # In a directory that is removed even if this rank is killed; a rank on another machine has none.
        with scratch(room if room.is_dir() else None) as mine:
            _rank(world, Ranks(world), task(**command), answer and Path(answer), mine, place / "record")
    except BaseException as error:
        # The other ranks wait for this one, and would do so for ever.
        if isinstance(error, Error):
            _write_whole(place / f"error-{world.rank:05}", pickle.dumps(error))
        else:
            traceback.print_exc()
        world.Abort(1)


def _write_whole(path: Path, content: bytes) -> None:
    """Writes a file that has its name when complete: another rank's abort may end this one meanwhile."""
    draft = path.with_name(f"draft-{path.name}")
    draft.write_bytes(content)
    draft.rename(path)


def _rank(world: Any, ranks: Any, choice: JobTask, answer: Path | None, mine: Path, record: Path) -> None:
    """Runs a job on this rank; rank 0 writes the record, and the answer, if a file for that is named."""

    def tell(phase: str, share: float | None) -> None:
        if world.rank == 0:
            print(PROGRESS + json.dumps([phase, share]), flush=True)

    node = choice.node(world.rank, mine)
    job = choice.job
    ran = ranks.run(job.name, job.function, node, choice.parameters, track_progress(job, choice.nodes, tell))
    part = ran.answers[0]
    if job.client is not None:
        parts = world.gather(part)
        part = choice.answer(parts)[0] if world.rank == 0 else None
    digests = world.gather(answers.digest(part))
    if world.rank == 0:
        _write_whole(record, choice.record(ran, digests))
    if answer is not None:
        _write(world, part, answer)


def _write(world: Any, part: Any, path: Path) -> None:
    """Writes the answer on rank 0, which receives the parts of the other ranks one after another."""
    if world.rank:
        rows = answers.is_rows(part)
        world.send((rows, list(answers.blocks(part)) if rows else part), dest=0)
        return

    def parts() -> Iterator[Any]:
        yield part
        for rank in range(1, world.size):
            rows, came = world.recv(source=rank)
            yield from came if rows else [came]

    answers.write(parts(), path)


if __name__ == "__main__":
    main(sys.argv[1])

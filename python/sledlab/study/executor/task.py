"""A point as it is handed to a worker, and what the worker does with it, on this machine or another."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError
from sledlab.files import drafted
from sledlab.study.inputs import files_of, module, module_contents, plug_ins, with_files
from sledlab.study.measure import measure
from sledlab.study.program import program
from sledlab.traces.contents import content
from sledlab.traces.samples import PREFIX, located

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sledlab.study.measure import FoundOf
    from sledlab.study.plan import Plan, Point
    from sledlab.traces.read import Trace


@dataclass(frozen=True)
class Needs:
    """What a worker on another machine must have, lest it find something else.

    Attributes:
        program: The build of sledlab.
        files: Files that are read, each with a hash of what it holds.
        modules: Classes of plug-ins, `module:Class`, each with a hash of its module.
    """

    program: str
    files: tuple[tuple[str, str], ...]
    modules: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Task:
    """A point for a worker.

    Attributes:
        run: What measures it.
        text: The complete experiment.
        trace: Replayed instead of what that names.
        watch: As of `Plan`.
        plugins: As of `Plan`.
        needs: What the worker must have; nothing where it is a process of this one.
    """

    run: Callable[..., FoundOf[Any]]
    text: str
    trace: Trace | None
    watch: bool
    plugins: tuple[str, ...]
    needs: Needs | None = None


@dataclass(frozen=True)
class Answer:
    """What a worker says.

    Attributes:
        host: The machine.
        worker: The process.
        found: What was measured, if it was.
        error: Why the point failed.
        refused: Why this worker can measure nothing.
    """

    host: str
    worker: str
    found: FoundOf[Any] | None = None
    error: Error | InternalError | None = None
    refused: Error | None = None


def task_of(plan: Plan, point: Point) -> Task:
    """A point for a worker that shares this machine and this moment."""
    run = plan.measure or measure
    return Task(run, plan.texts[point], plan.trace_of(point), plan.watch, plan.plugins)


def for_elsewhere(task: Task) -> Task:
    """The same for a worker on any machine: names of files are complete, and it says what it needs.

    Raises:
        Error: A file cannot be read here.
    """
    text, trace = with_files(task.text, task.trace, _absolute)
    names = files_of(text, trace)
    try:
        files = tuple((name, content(located(name))) for name in names)
    except OSError as error:
        raise Error(f"cannot read `{error.filename}`: {error.strerror}", remedy="check the path") from error
    modules = tuple((word, module_contents(word)) for word in plug_ins(text))
    return replace(task, text=text, trace=trace, needs=Needs(program(), files, modules))


def _absolute(name: str) -> str:
    return name if name.startswith(PREFIX) else os.path.abspath(name)


def work(task: Task, trace: Trace | None = None, sent: Sequence[bytes] = ()) -> Answer:
    """Measures a point: what a worker runs.

    Args:
        task: The point.
        trace: Its trace, where that is in memory and was sent apart from it.
        sent: What the files hold that it reads, where they were sent; others are read by name.
    """
    host, worker = socket.gethostname(), _worker()
    task = replace(task, trace=trace) if trace is not None else task
    if task.needs is not None:
        if (refused := _lacking(task.needs, host, worker, read=not sent)) is not None:
            return Answer(host, worker, refused=refused)
        if sent:
            task = _unpacked(task, task.needs, sent)
    try:
        return Answer(host, worker, task.run(task.text, task.trace, task.watch, task.plugins))
    except (Error, InternalError) as error:
        return Answer(host, worker, error=error)


def _worker() -> str:
    """What this worker is called: on a cluster by its address."""
    found = _of_dask()
    return str(found.address) if found is not None else f"{socket.gethostname()}, process {os.getpid()}"


def _of_dask() -> Any:
    """The worker of Dask that runs this, if one does."""
    library = sys.modules.get("distributed")
    try:
        return library.get_worker() if library is not None else None
    except (ValueError, AttributeError):  # there is none, or Dask is still being imported
        return None


def _lacking(needs: Needs, host: str, worker: str, *, read: bool) -> Error | None:
    """Why a worker would find something else, if it would."""
    if needs.program != program():
        return Error(
            f"worker {worker} runs another build of sledlab ({program()}, here {needs.program})",
            remedy="install the same wheel there",
        )
    for name, digest in needs.files if read else ():
        remedy = "put it on a shared file system, or add --send-trace"
        try:
            if content(located(name)) != digest:
                return Error(f"{host} has another file under the name {name}", remedy=remedy)
        except OSError:
            return Error(f"{host} cannot read {name}", remedy=remedy)
    for word, digest in needs.modules:
        found = module_contents(word)
        if found != digest:
            trouble = f"has another version of the plug-in `{module(word)}`"
            trouble = trouble if found else f"cannot import the plug-in `{module(word)}`"
            remedy = "put it on a shared file system, and start workers with PYTHONPATH=its directory"
            return Error(f"{host} {trouble}", remedy=remedy)
        _refresh(module(word), digest)
    return None


_imported: dict[str, str] = {}
"""Modules of plug-ins that this process has imported, with what they held then."""


def _refresh(name: str, digest: str) -> None:
    """Has a plug-in that was changed since it was imported imported anew."""
    if _imported.setdefault(name, digest) != digest:
        _imported[name] = digest
        sys.modules.pop(name, None)


def _unpacked(task: Task, needs: Needs, sent: Sequence[bytes]) -> Task:
    """A task whose files are those that were sent, written down here once."""
    place = Path(getattr(_of_dask(), "local_directory", None) or tempfile.gettempdir()) / "sledlab-traces"
    place.mkdir(mode=0o700, exist_ok=True)
    found = {}
    for (name, digest), data in zip(needs.files, sent, strict=True):
        path = place / f"{digest[:16]}-{Path(located(name)).name}"
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            with drafted(path) as draft:
                draft.write_bytes(data)
        found[name] = str(path)
    text, trace = with_files(task.text, task.trace, lambda name: found.get(name, name))
    return replace(task, text=text, trace=trace)

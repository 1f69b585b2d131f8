"""Tasks: runs as submitted to a worker, and their execution there."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError
from sledlab.files import atomic_write
from sledlab.lazy import tempfile
from sledlab.sources import build_name
from sledlab.study.inputs import input_files, module, module_contents, plugin_names, rename_files
from sledlab.study.measure import measure
from sledlab.traces.contents import content
from sledlab.traces.samples import PREFIX, locate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sledlab.study.measure import MeasuredRun
    from sledlab.study.plan import Plan, RunSpec
    from sledlab.traces.read import Trace


@dataclass(frozen=True)
class TaskRequirements:
    """The build, files and plug-ins that a worker on another machine must have, to find the same results.

    Attributes:
        build: The build of sledlab, as far as it determines results.
        files: Names of files that are read, each with a hash of its contents.
        modules: Classes of plug-ins, `module:Class`, each with a hash of its module.
    """

    build: str
    files: tuple[tuple[str, str], ...]
    modules: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Task:
    """A run for a worker.

    Attributes:
        run: The function that executes the run.
        text: The complete experiment.
        trace: The trace to replay instead of the one that the experiment names.
        counts_idle_periods: Whether idle periods are counted; see `Plan`.
        plugins: Plug-ins that may run; see `Plan`.
        requirements: Build, files and plug-ins that the worker must have; None for a process of this machine.
    """

    run: Callable[..., MeasuredRun[Any]]
    text: str
    trace: Trace | None
    counts_idle_periods: bool
    plugins: tuple[str, ...]
    requirements: TaskRequirements | None = None


@dataclass(frozen=True)
class Answer:
    """The answer of a worker to a task.

    Attributes:
        host: The machine.
        worker: The process.
        measured_run: The result, if the run completed.
        error: The error, if the run failed.
        refusal: The error, if this worker cannot execute any run.
    """

    host: str
    worker: str
    measured_run: MeasuredRun[Any] | None = None
    error: Error | InternalError | None = None
    refusal: Error | None = None


def make_task(plan: Plan, spec: RunSpec) -> Task:
    """Return the task of a run for a worker on this machine."""
    measure_run = plan.measure or measure
    return Task(measure_run, plan.texts[spec], plan.trace_of(spec), plan.counts_idle_periods, plan.plugins)


def portable_task(task: Task) -> Task:
    """Return the task for a worker on any machine, with absolute paths and a list of required inputs.

    Raises:
        Error: A file cannot be read here.
    """
    text, trace = rename_files(task.text, task.trace, _absolute)
    names = input_files(text, trace)
    try:
        files = tuple((name, content(locate(name))) for name in names)
    except OSError as error:
        raise Error(f"cannot read `{error.filename}`: {error.strerror}", remedy="check the path") from error
    modules = tuple((word, module_contents(word)) for word in plugin_names(text))
    return replace(
        task,
        text=text,
        trace=trace,
        requirements=TaskRequirements(build_name(task.run.__module__), files, modules),
    )


def _absolute(name: str) -> str:
    return name if name.startswith(PREFIX) else os.path.abspath(name)


def work(task: Task, trace: Trace | None = None, contents: Sequence[bytes] = ()) -> Answer:
    """Execute a run on a worker.

    Args:
        task: The run.
        trace: The trace of the run, if it is in memory and was sent separately.
        contents: Contents of the input files that were sent; other files are read by name.
    """
    host, worker = platform.node(), _worker_name()
    task = replace(task, trace=trace) if trace is not None else task
    if task.requirements is not None:
        build = build_name(task.run.__module__)
        if (
            refusal := _missing_part(task.requirements, host, worker, build, reads_files=not contents)
        ) is not None:
            return Answer(host, worker, refusal=refusal)
        if contents:
            task = _unpack_files(task, task.requirements, contents)
    try:
        return Answer(host, worker, task.run(task.text, task.trace, task.counts_idle_periods, task.plugins))
    except (Error, InternalError) as error:
        return Answer(host, worker, error=error)


def _worker_name() -> str:
    """Return the name of this worker: on a cluster its address."""
    dask_worker = _dask_worker()
    return (
        str(dask_worker.address) if dask_worker is not None else f"{platform.node()}, process {os.getpid()}"
    )


def _dask_worker() -> Any:
    """Return the worker of Dask that runs this process, if any."""
    library = sys.modules.get("distributed")
    try:
        return library.get_worker() if library is not None else None
    except (ValueError, AttributeError):  # no worker, or Dask is still being imported
        return None


def _missing_part(
    requirements: TaskRequirements, host: str, worker: str, build: str, *, reads_files: bool
) -> Error | None:
    """Return the error about a build, file or plug-in that this worker lacks, if any."""
    if requirements.build != build:
        return Error(
            f"worker {worker} runs another build of sledlab ({build}, here {requirements.build})",
            remedy="install the same wheel there",
        )
    for name, digest in requirements.files if reads_files else ():
        remedy = "put it on a shared file system, or add --send-trace"
        try:
            if content(locate(name)) != digest:
                return Error(f"{host} has another file under the name {name}", remedy=remedy)
        except OSError:
            return Error(f"{host} cannot read {name}", remedy=remedy)
    for word, digest in requirements.modules:
        local_digest = module_contents(word)
        if local_digest != digest:
            problem = f"has another version of the plug-in `{module(word)}`"
            problem = problem if local_digest else f"cannot import the plug-in `{module(word)}`"
            remedy = "put it on a shared file system, and start workers with PYTHONPATH=its directory"
            return Error(f"{host} {problem}", remedy=remedy)
        _refresh(module(word), digest)
    return None


_imported_modules: dict[str, str] = {}
"""Modules of plug-ins that this process has imported, with the hash of each at that time."""


def _refresh(name: str, digest: str) -> None:
    """Drop a plug-in whose module has changed since it was imported, so that it is imported anew."""
    if _imported_modules.setdefault(name, digest) != digest:
        _imported_modules[name] = digest
        sys.modules.pop(name, None)


def _unpack_files(task: Task, requirements: TaskRequirements, contents: Sequence[bytes]) -> Task:
    """Return the task with its files replaced by the sent contents, written once to this machine."""
    directory = (
        Path(getattr(_dask_worker(), "local_directory", None) or tempfile.gettempdir()) / "sledlab-traces"
    )
    directory.mkdir(mode=0o700, exist_ok=True)
    paths_by_name = {}
    for (name, digest), data in zip(requirements.files, contents, strict=True):
        path = directory / f"{digest[:16]}-{Path(locate(name)).name}"
        if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            with atomic_write(path) as draft:
                draft.write_bytes(data)
        paths_by_name[name] = str(path)
    text, trace = rename_files(task.text, task.trace, lambda name: paths_by_name.get(name, name))
    return replace(task, text=text, trace=trace)

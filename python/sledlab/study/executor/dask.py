"""Runs on a cluster of Dask that the user has started and also ends."""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sledlab.errors import Error, InternalError, Notice
from sledlab.lazy import distributed
from sledlab.sources import build_name
from sledlab.study.executor.pool import MIN_WINDOW, load_error
from sledlab.study.executor.task import Answer, Task, portable_task, work
from sledlab.study.inputs import is_in_memory
from sledlab.traces.samples import locate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from queue import SimpleQueue

CONNECT_TIMEOUT = "10s"
"""Longest time that a scheduler may take to answer."""

MAX_SENT_BYTES = 1_000_000_000
"""Most bytes of a file that is sent to workers."""

RETRIES = 2
"""Number of times that a run is executed again after an error of Dask itself."""

POLL_INTERVAL_S = 5.0
"""Seconds between two requests to the scheduler for the number of workers."""

TOGETHER_S, MAX_BATCH = 0.1, 16
"""Runs that take less than 0.1 s go to a worker in groups that take about as long; at most 16 in one."""

NEVER_POLLED = float("-inf")

START = "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"


@dataclass(frozen=True, eq=False)
class GroupMember:
    """A run of a group of runs that was submitted as one task of Dask."""

    future: Any
    index: int


def work_group(tasks: Sequence[Task]) -> list[Answer]:
    """Measure runs one after the other, on a worker."""
    return [work(task) for task in tasks]


def work_single(task: Task, trace: Any, contents: Sequence[bytes]) -> list[Answer]:
    """Measure one run on a worker; its trace or files were sent apart from the task."""
    return [work(task, trace, contents)]


class Dask:
    """The workers of a cluster, as a pool."""

    def __init__(self, client: Any, *, sends_files: bool) -> None:
        """The workers of a `distributed.Client`; `sends_files` says whether files are sent to them."""
        self._client, self._sends_files = client, sends_files
        self._sent_files: dict[str, Any] = {}
        self._traces: dict[int, Any] = {}
        self._threads, self._polled_s = 0, NEVER_POLLED
        self._started_s, self._answer_count = time.monotonic(), 0

    @property
    def concurrency(self) -> int:
        """Threads of all workers; polls the scheduler at intervals of `POLL_INTERVAL_S`."""
        if time.monotonic() - self._polled_s > POLL_INTERVAL_S:
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
            self._threads = sum(int(worker["nthreads"]) for worker in workers)
            if not self._threads and self._polled_s == NEVER_POLLED:
                warnings.warn(Notice("the cluster has no workers yet; runs wait for them"), stacklevel=2)
            self._polled_s = time.monotonic()
        return self._threads or 1

    @property
    def window(self) -> int:
        """Most runs that are submitted and not done."""
        return max(MIN_WINDOW, 4 * self.concurrency)

    def submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[GroupMember]:
        """See `Pool.submit`."""
        waiting = [portable_task(task) for task in tasks]
        group_size = self._group_size(len(waiting))
        members: list[GroupMember] = []
        while waiting:
            batch = waiting[:group_size] if all(map(self._is_light, waiting[:group_size])) else waiting[:1]
            del waiting[: len(batch)]
            members += self._submit(batch, done)
        return members

    def _submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[GroupMember]:
        """Submit runs as one task of Dask; a run whose trace or files are sent apart comes alone."""
        task_options = {"key": f"run-{uuid4().hex}", "pure": False, "retries": RETRIES}
        if all(map(self._is_light, tasks)):
            future = self._client.submit(work_group, list(tasks), **task_options)
        else:
            (task,) = tasks
            sent_trace, task_without_trace = self._send_trace(task)
            files = task.requirements.files if self._sends_files and task.requirements else ()
            sent = [self._send_file(name, digest) for name, digest in files]
            future = self._client.submit(work_single, task_without_trace, sent_trace, sent, **task_options)
        members = [GroupMember(future, index) for index in range(len(tasks))]

        def notify(_future: Any) -> None:
            for member in members:
                done.put(member)

        future.add_done_callback(notify)
        return members

    def _is_light(self, task: Task) -> bool:
        """Whether neither trace nor files are sent to workers apart from the task."""
        files = task.requirements.files if self._sends_files and task.requirements else ()
        return not files and not is_in_memory(task.trace)

    def _group_size(self, task_count: int) -> int:
        """Number of runs, out of `task_count`, to submit as one group, by the mean time of runs so far."""
        if not self._answer_count:
            return 1
        run_s = self.concurrency * (time.monotonic() - self._started_s) / self._answer_count
        # Larger groups could leave some workers without runs while one has many.
        fair_size = task_count // (4 * self.concurrency)
        return max(1, min(MAX_BATCH, fair_size, int(TOGETHER_S / run_s)))

    def poll(self, done: SimpleQueue[Any]) -> None:
        """Do nothing: Dask notifies of every run that is done."""

    def answers(self, futures: Sequence[GroupMember]) -> list[Answer | InternalError]:
        """See `Pool.answers`; the answers of all finished tasks are fetched together."""
        self._answer_count += len(futures)
        finished_futures = {
            id(member.future): member.future for member in futures if member.future.status == "finished"
        }
        try:
            answers_by_id = dict(
                zip(finished_futures, self._client.gather(list(finished_futures.values())), strict=True)
            )
        except OSError as error:  # the scheduler is gone, or the last worker that had the answers
            raise self._lost_worker_error() from error
        return [
            answers_by_id[id(member.future)][member.index]
            if id(member.future) in answers_by_id
            else self._run_error(member.future)
            for member in futures
        ]

    def _run_error(self, future: Any) -> InternalError:
        """The error about a run that no worker answered.

        Raises:
            Error: The cause is the same for every run.
        """
        if future.status in ("cancelled", "lost"):
            raise self._lost_worker_error()
        error = future.exception()
        if isinstance(error, distributed.KilledWorker):
            return InternalError("all workers that executed it ended")
        if isinstance(error, (ImportError, AttributeError)):
            raise load_error(error, self._incompatible_worker()) from error
        raise error

    def _lost_worker_error(self) -> Error:
        return Error(
            "the Dask scheduler, or its state, was lost",
            remedy="check that they run and repeat the command: cached runs in --out are not executed again",
        )

    def _incompatible_worker(self) -> str:
        """A worker on which this build cannot be loaded, by its address; `a worker` where none is found."""
        answers = self._client.run(build_name, __name__, on_error="return")
        addresses = [address for address, answer in answers.items() if isinstance(answer, Exception)]
        return f"worker {addresses[0]}" if addresses else "a worker"

    def cancel(self, futures: Sequence[GroupMember]) -> None:
        """Cancel tasks that have not begun. Running ones complete, and their results are not used."""
        if futures and self._client.status == "running":
            with suppress(OSError, RuntimeError):
                self._client.cancel(list({id(member.future): member.future for member in futures}.values()))

    def _send_trace(self, task: Task) -> tuple[Any, Task]:
        """A trace in memory, sent once to all workers, and the task without it; other traces stay in it."""
        trace = task.trace
        if not is_in_memory(trace):
            return None, task
        if id(trace) not in self._traces:
            # Kept with the trace itself: as long as the trace exists, no other has its id.
            self._traces[id(trace)] = (self._client.scatter(trace, broadcast=True, hash=False), trace)
        return self._traces[id(trace)][0], replace(task, trace=None)

    def _send_file(self, name: str, digest: str) -> Any:
        """The contents of a file, sent once to all workers.

        Raises:
            Error: The file is too large.
        """
        if digest not in self._sent_files:
            path = locate(name)
            if (size := path.stat().st_size) > MAX_SENT_BYTES:
                raise Error(
                    f"`{name}` is too large to be sent: {size / 1e9:.1f} GB, and the limit is 1 GB",
                    remedy="put it on a shared file system, and omit --send-trace",
                )
            self._sent_files[digest] = self._client.scatter(path.read_bytes(), broadcast=True, hash=False)
        return self._sent_files[digest]


@contextmanager
def cluster(address: Any, *, sends_files: bool) -> Iterator[Dask]:
    """The pool of a cluster, named by its scheduler's address or file, or by a client, which stays open.

    Raises:
        Error: No scheduler answers there.
    """
    if not isinstance(address, (str, Path)):
        yield Dask(address, sends_files=sends_files)
        return
    client = _client(str(address))
    try:
        yield Dask(client, sends_files=sends_files)
    finally:
        with suppress(OSError, RuntimeError, TimeoutError):
            client.close(timeout=1)


def _client(address: str) -> Any:
    """A client of the scheduler at an address, or of the scheduler that wrote a file."""
    is_file = "://" not in address and (address.endswith(".json") or Path(address).exists())
    if is_file and not Path(address).is_file():
        raise Error(
            f"there is no scheduler file `{address}`", remedy=f"{START}; `--scheduler-file` writes it"
        )
    location = {"scheduler_file": address} if is_file else {"address": address}
    try:
        client = distributed.Client(  # type: ignore[no-untyped-call]
            **location, timeout=CONNECT_TIMEOUT, set_as_default=False
        )
    except ModuleNotFoundError as error:
        raise Error(
            f"Dask is not installed here: {error}", remedy="pip install 'sledlab[cluster]'"
        ) from error
    except (OSError, ValueError, TimeoutError) as error:
        raise Error(f"no Dask scheduler answers at `{address}`", remedy=START) from error
    return client

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
"""How often a run is tried again after an error of Dask's own."""

POLL_INTERVAL_S = 5.0
"""Seconds between two questions to the scheduler about the number of workers."""

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


def work_single(task: Task, trace: Any, sent: Sequence[bytes]) -> list[Answer]:
    """Measure one run on a worker; its trace or files were sent apart from the task."""
    return [work(task, trace, sent)]


class Dask:
    """The workers of a cluster, as a pool."""

    def __init__(self, client: Any, *, send: bool) -> None:
        """The workers that a `distributed.Client` knows; `send` says whether files are sent to them."""
        self._client, self._send = client, send
        self._sent: dict[str, Any] = {}
        self._traces: dict[int, Any] = {}
        self._threads, self._polled_s = 0, NEVER_POLLED
        self._begun, self._answered = time.monotonic(), 0

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
        many = self._group_size(len(waiting))
        parts: list[GroupMember] = []
        while waiting:
            some = waiting[:many] if all(map(self._is_light, waiting[:many])) else waiting[:1]
            del waiting[: len(some)]
            parts += self._submit(some, done)
        return parts

    def _submit(self, tasks: Sequence[Task], done: SimpleQueue[Any]) -> list[GroupMember]:
        """Submit runs as one task of Dask; a run whose trace or files are sent apart comes alone."""
        address = {"key": f"run-{uuid4().hex}", "pure": False, "retries": RETRIES}
        if all(map(self._is_light, tasks)):
            future = self._client.submit(work_group, list(tasks), **address)
        else:
            (task,) = tasks
            apart, remaining = self._trace(task)
            files = task.needs.files if self._send and task.needs else ()
            sent = [self._file(name, digest) for name, digest in files]
            future = self._client.submit(work_single, remaining, apart, sent, **address)
        parts = [GroupMember(future, index) for index in range(len(tasks))]

        def tell(_future: Any) -> None:
            for part in parts:
                done.put(part)

        future.add_done_callback(tell)
        return parts

    def _is_light(self, task: Task) -> bool:
        """Whether neither trace nor files are sent to workers apart from the task."""
        files = task.needs.files if self._send and task.needs else ()
        return not files and not is_in_memory(task.trace)

    def _group_size(self, tasks: int) -> int:
        """Number of runs, out of `tasks`, to submit as one group, by the mean time of runs so far."""
        if not self._answered:
            return 1
        each_s = self.concurrency * (time.monotonic() - self._begun) / self._answered
        fair = tasks // (4 * self.concurrency)  # lest one worker has many runs while others have none
        return max(1, min(MAX_BATCH, fair, int(TOGETHER_S / each_s)))

    def poll(self, done: SimpleQueue[Any]) -> None:
        """Do nothing: Dask notifies of every run that is done."""

    def answers(self, futures: Sequence[GroupMember]) -> list[Answer | InternalError]:
        """See `Pool.answers`; the answers of all finished tasks are fetched together."""
        self._answered += len(futures)
        full = {id(part.future): part.future for part in futures if part.future.status == "finished"}
        try:
            result = dict(zip(full, self._client.gather(list(full.values())), strict=True))
        except OSError as error:  # the scheduler is gone, or the last worker that had the answers
            raise self._lost_worker_error() from error
        return [
            result[id(part.future)][part.index] if id(part.future) in result else self._run_error(part.future)
            for part in futures
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
        result = self._client.run(build_name, __name__, on_error="return")
        names = [address for address, answer in result.items() if isinstance(answer, Exception)]
        return f"worker {names[0]}" if names else "a worker"

    def cancel(self, futures: Sequence[GroupMember]) -> None:
        """Cancel tasks that have not begun. Running ones complete, and their results are not used."""
        if futures and self._client.status == "running":
            with suppress(OSError, RuntimeError):
                self._client.cancel(list({id(part.future): part.future for part in futures}.values()))

    def _trace(self, task: Task) -> tuple[Any, Task]:
        """A trace in memory, sent once to all workers, and the task without it; other traces stay in it."""
        trace = task.trace
        if not is_in_memory(trace):
            return None, task
        if id(trace) not in self._traces:
            # Kept with the trace itself: as long as the trace exists, no other has its id.
            self._traces[id(trace)] = (self._client.scatter(trace, broadcast=True, hash=False), trace)
        return self._traces[id(trace)][0], replace(task, trace=None)

    def _file(self, name: str, digest: str) -> Any:
        """The contents of a file, sent once to all workers.

        Raises:
            Error: The file is too large.
        """
        if digest not in self._sent:
            path = locate(name)
            if (size := path.stat().st_size) > MAX_SENT_BYTES:
                raise Error(
                    f"`{name}` is too large to be sent: {size / 1e9:.1f} GB, and the limit is 1 GB",
                    remedy="put it on a shared file system, and omit --send-trace",
                )
            self._sent[digest] = self._client.scatter(path.read_bytes(), broadcast=True, hash=False)
        return self._sent[digest]


@contextmanager
def cluster(address: Any, *, send: bool) -> Iterator[Dask]:
    """The pool of a cluster, named by its scheduler's address or file, or by a client, which stays open.

    Raises:
        Error: No scheduler answers there.
    """
    if not isinstance(address, (str, Path)):
        yield Dask(address, send=send)
        return
    client = _client(str(address))
    try:
        yield Dask(client, send=send)
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
    where = {"scheduler_file": address} if is_file else {"address": address}
    try:
        client = distributed.Client(  # type: ignore[no-untyped-call]
            **where, timeout=CONNECT_TIMEOUT, set_as_default=False
        )
    except ModuleNotFoundError as error:
        raise Error(
            f"Dask is not installed here: {error}", remedy="pip install 'sledlab[cluster]'"
        ) from error
    except (OSError, ValueError, TimeoutError) as error:
        raise Error(f"no Dask scheduler answers at `{address}`", remedy=START) from error
    return client

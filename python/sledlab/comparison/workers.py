"""Processes that measure points side by side.

Each is a fresh interpreter fed through pipes. Unlike those of `multiprocessing` it does not run the
caller's script again, so that scripts need no guard and notebooks work; and Ctrl-C does not reach it:
whoever holds the workers stops them.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from sledlab.traces import Trace

    Measure = Callable[[str, Trace | None], dict[str, Any]]

SERVE = "from sledlab.comparison.workers import serve; serve()"


class Workers:
    """So many processes; a context that ends them, whatever they are at."""

    def __init__(self, jobs: int, trace: Trace | None, measure: Measure) -> None:
        """`trace` is replayed instead of what the experiments name; `measure` runs one of them."""
        self._jobs = jobs
        self._measure = measure
        self._trace = trace
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[threading.Thread] = []
        self._waiting: deque[tuple[int, str]] = deque()
        self._answers: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()

    def __enter__(self) -> Workers:
        """Starts the processes."""
        # What can be imported here can be imported there: schedulers in Python, and sledlab itself.
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        for _ in range(self._jobs):
            self._processes.append(
                subprocess.Popen(
                    [sys.executable, "-c", SERVE],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, "PYTHONPATH": paths},
                    start_new_session=True,
                )
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the processes."""
        self._waiting.clear()
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):  # what was not sent yet cannot be sent any more
                    assert pipe is not None
                    pipe.close()
            process.wait()

    def measured(self, texts: Sequence[str]) -> Iterator[tuple[int, Any]]:
        """Measures experiments, the first ones first.

        Yields:
            As they are done: the index of an experiment, and what `measure` gave or raised.
        """
        self._waiting.extend(enumerate(texts))
        for process in self._processes:
            thread = threading.Thread(target=self._feed, args=(process,), daemon=True)
            self._threads.append(thread)
            thread.start()
        for _ in texts:
            yield self._next()

    def _next(self) -> tuple[int, Any]:
        """The next answer; with a time-out, without which Ctrl-C would wait for it on some systems."""
        while True:
            with suppress(queue.Empty):
                return self._answers.get(timeout=0.5)

    def _feed(self, process: subprocess.Popen[bytes]) -> None:
        """Hands one experiment after another to a process."""
        assert process.stdin is not None
        assert process.stdout is not None
        index = -1
        try:
            pickle.dump((self._measure, self._trace), process.stdin)
            while self._waiting:
                index, text = self._waiting.popleft()
                pickle.dump(text, process.stdin)
                process.stdin.flush()
                self._answers.put((index, pickle.load(process.stdout)))
        except IndexError:
            return
        except (EOFError, OSError, pickle.PickleError):
            died = InternalError(f"a worker process ended unexpectedly, with code {process.wait()}")
            self._answers.put((index, died))


def serve() -> None:
    """Measures the experiments that come in until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a scheduler prints must not get among the answers
    measure, trace = pickle.load(sys.stdin.buffer)
    while True:
        try:
            text = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: Any = measure(text, trace)
        except (Error, InternalError) as error:
            answer = error
        except Exception as error:
            answer = InternalError(unexpected(error))
        pickle.dump(answer, answers)
        answers.flush()


def unexpected(error: Exception) -> str:
    """An exception that nobody expected, with its traceback."""
    import traceback

    return "".join(traceback.format_exception(error)).rstrip()

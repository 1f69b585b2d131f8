"""Signals that stop a command: raised as an exception, or noted until the command can stop."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sledlab.early_exit import exit_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

TERMINATION_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process at once, unless it handles them."""

STOP_SIGNALS = (signal.SIGINT, *TERMINATION_SIGNALS)
"""Signals that may stop a command."""

RESEND_S = 0.01
"""Seconds after which a signal that arrived during an import is handled again."""

MAX_IMPORT_S = 5
"""Longest time for which imports delay a signal, in seconds: a plug-in may work while it is imported."""


class StopSignal(KeyboardInterrupt):
    """A signal: Ctrl-C, or one that ends the process.

    Attributes:
        number: The number of the signal.
    """

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(text)
        self.number = number


def exit_code(error: BaseException | None) -> int:
    """The exit code of a process that stops for a signal, as a shell gives it: 130 for Ctrl-C."""
    return 128 + (error.number if isinstance(error, StopSignal) else signal.SIGINT)


class _Handler:
    """The handler of signals that stop a command: it raises `StopSignal`.

    Python may lose an exception that is raised during an import, in the callbacks of the import system, or
    leave a module half imported. A signal that arrives then is handled after the import.
    """

    def __init__(self) -> None:
        self._delayed_since: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if _is_importing(frame):
            now = time.monotonic()
            self._delayed_since = self._delayed_since or now
            if now - self._delayed_since < MAX_IMPORT_S:
                _thread.start_new_thread(_send_again, (number,))
                return
        self._delayed_since = None
        raise StopSignal(number)


stop = _Handler()
"""The handler of the command line."""

_DEFAULT_HANDLERS = (signal.SIG_DFL, signal.default_int_handler, exit_at_once)
"""Handlers that the command line replaces while it runs."""


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a frame, or a caller of it, is in Python's import system."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    time.sleep(RESEND_S)
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # also ends a wait of that thread
    else:
        _thread.interrupt_main(signal.Signals(number))


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Within this context signals that end a process stop whatever it is doing, as Ctrl-C does.

    Used by the command line alone: a program that imports sledlab may handle these signals itself. Signals
    that are ignored, as under `nohup`, stay ignored.
    """
    handlers_by_signal = {}
    if threading.current_thread() is threading.main_thread():
        handlers_by_signal = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    replaced_handlers_by_signal = {
        number: handler for number, handler in handlers_by_signal.items() if handler in _DEFAULT_HANDLERS
    }
    for number in replaced_handlers_by_signal:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in replaced_handlers_by_signal.items():
            signal.signal(number, handler)


class Interrupt:
    """Within this context a signal to stop is noted, for `check` to raise; a second one raises at once.

    Signals to stop are Ctrl-C and, within `stop_on_signals`, those that end a process. Outside of the main
    thread nothing changes: Python delivers signals to no other thread. Nor does it for ignored signals, as in
    the processes of a study, which the process that started them ends.

    Attributes:
        pending_signal: The number of the signal that arrived; 0 for none.
    """

    def __init__(self, *, stops_reading: bool = False) -> None:
        """Create the context; where `stops_reading`, readers of traces in it raise a noted signal, too."""
        self.pending_signal = 0
        self.stops_reading = stops_reading
        self._former_handlers_by_signal: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        """Begin to note signals instead of handling them."""
        if threading.current_thread() is threading.main_thread():
            handlers_by_signal = {number: signal.getsignal(number) for number in STOP_SIGNALS}
            self._former_handlers_by_signal = {
                number: handler
                for number, handler in handlers_by_signal.items()
                if handler is stop or (number == signal.SIGINT and handler is not signal.SIG_IGN)
            }
        for number in self._former_handlers_by_signal:
            signal.signal(number, self._note_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restore the former handlers of the signals."""
        for number, handler in self._former_handlers_by_signal.items():
            signal.signal(number, handler)

    def _note_signal(self, number: int, frame: FrameType | None) -> None:
        if self.pending_signal:
            stop(number, frame)
        self.pending_signal = number

    def check(self) -> None:
        """Raise `StopSignal` if a signal was noted."""
        if self.pending_signal:
            raise StopSignal(self.pending_signal)


def restore_handler() -> None:
    """Install the present handler of SIGINT again, in place of a library's own, such as that of polars.

    The import of polars replaces the handler by one that also interrupts its operations, in all threads.
    """
    if threading.current_thread() is threading.main_thread():
        handler = signal.getsignal(signal.SIGINT)
        if handler is not None:
            signal.signal(signal.SIGINT, handler)


def check_noted_signal() -> None:
    """Raise `StopSignal` if the innermost `Interrupt` of the main thread noted one and stops reading.

    The simulator calls this while it reads a trace, where it may find no request for minutes.
    """
    if threading.current_thread() is threading.main_thread():
        for number in STOP_SIGNALS:
            interrupt = getattr(signal.getsignal(number), "__self__", None)
            if isinstance(interrupt, Interrupt) and interrupt.stops_reading:
                interrupt.check()

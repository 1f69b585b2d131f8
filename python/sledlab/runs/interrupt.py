"""Signals that stop a run, put off to a moment at which the run can stop and keep its result so far."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

TERMINATION_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process at once, unless it handles them."""

STOP_SIGNALS = (signal.SIGINT, *TERMINATION_SIGNALS)
"""Signals that may stop a run."""


class StopSignal(KeyboardInterrupt):
    """A signal: Ctrl-C, or one that ends the process.

    Attributes:
        number: The number of the signal.
    """

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(text)
        self.number = number


class Interrupted(StopSignal):
    """Ctrl-C, or a signal that ends the process, during a run.

    Attributes:
        result: The result of the requests served until then.

    Examples:
        >>> import sledlab as sl
        >>> try:
        ...     result = sl.simulate(sl.workload("uniform"), "mems-g2", limit=1000)
        ... except sl.Interrupted as interrupted:
        ...     result = interrupted.result
        >>> result.interrupted
        False
    """

    def __init__(self, result: Any, number: int = signal.SIGINT) -> None:
        super().__init__(number, "the run was interrupted")
        self.result = result


def exit_code(error: BaseException | None) -> int:
    """The exit code of a process that stops for a signal, as a shell gives it: 130 for Ctrl-C."""
    return 128 + (error.number if isinstance(error, StopSignal) else signal.SIGINT)


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Within this context the signals that end a process stop whatever it is doing, as Ctrl-C does.

    Used by the command line alone: a program that imports sledlab may handle these signals itself. Signals
    that are ignored, as under `nohup`, stay ignored.
    """
    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number in TERMINATION_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise StopSignal(number)


class Interrupt:
    """Within this context a signal to stop is noted, for `check` to raise; a second one raises at once.

    Signals to stop are Ctrl-C and, within `stop_on_signals`, those that end a process. Outside of the main
    thread nothing changes: Python delivers signals to no other thread. Nor does it for ignored signals, as in
    the processes of a study, which the process that started them ends.

    Attributes:
        pending_signal: The number of the signal that arrived; 0 for none.
    """

    def __init__(self) -> None:
        self.pending_signal = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        """Begins to note signals instead of handling them."""
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
            self._before = {
                number: handler
                for number, handler in before.items()
                if handler is _stop or (number == signal.SIGINT and handler is not signal.SIG_IGN)
            }
        for number in self._before:
            signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Restores the former handlers of the signals."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.pending_signal:
            raise StopSignal(number)
        self.pending_signal = number

    def check(self) -> None:
        """Raises `StopSignal` if a signal was noted."""
        if self.pending_signal:
            raise StopSignal(self.pending_signal)

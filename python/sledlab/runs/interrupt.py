"""Signals that stop a run, put off to a moment at which it can stop and keep what it has."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

ENDS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process at once, unless it stops for them in order."""

STOPS = (signal.SIGINT, *ENDS)
"""Those for which it may stop."""


class Stopped(KeyboardInterrupt):
    """A signal: Ctrl-C, or one that ends the process.

    Attributes:
        number: Of the signal.
    """

    def __init__(self, number: int, words: str = "") -> None:
        super().__init__(words)
        self.number = number


class Interrupted(Stopped):
    """Ctrl-C or the like during a run.

    Attributes:
        result: What had been done by then.

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


def code_of(error: BaseException | None) -> int:
    """The exit code of a process that stops for a signal, as a shell gives it: 130 for Ctrl-C."""
    return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)


@contextmanager
def in_order() -> Iterator[None]:
    """Within this context the signals that end a process stop what it does, as Ctrl-C does.

    For programs of ours alone: those of others may have plans of their own for these signals. Those that are
    ignored, as under `nohup`, stay so.
    """
    taken = []
    if threading.current_thread() is threading.main_thread():
        taken = [number for number in ENDS if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    raise Stopped(number)


class Interrupt:
    """Within this context a signal that stops is noted, for `check` to raise; a second one raises at once.

    Such are Ctrl-C and, in our own programs, those that end a process. Outside of the main thread nothing
    changes: Python tells no other thread about signals. Nor does it where the signal is ignored, as in the
    processes of a study, which are ended by whoever started them.

    Attributes:
        noted: The signal that came; 0 for none.
    """

    def __init__(self) -> None:
        self.noted = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        """Begins to take notes."""
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.getsignal(number) for number in STOPS}
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
        """Leaves the signals to whom they belonged."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            raise Stopped(number)
        self.noted = number

    def check(self) -> None:
        """Raises what was noted."""
        if self.noted:
            raise Stopped(self.noted)

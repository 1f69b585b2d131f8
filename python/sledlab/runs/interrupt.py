"""The user's interrupt, put off to a moment at which a run can stop and keep what it has."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType, TracebackType


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run.

    Attributes:
        result: What had been done by then.
    """

    def __init__(self, result: Any) -> None:
        super().__init__("the run was interrupted")
        self.result = result


class Interrupt:
    """Within this context Ctrl-C is noted, for `check` to raise; a second one raises at once.

    Outside of the main thread nothing changes: Python tells no other thread about signals. Nor does it where
    the signal is ignored, as in the processes of a study, which are ended by whoever started them.

    Attributes:
        noted: Whether it came.
    """

    def __init__(self) -> None:
        self.noted = False
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        """Begins to take notes."""
        ours = threading.current_thread() is threading.main_thread()
        if ours and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the signal to whom it belonged."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.noted:
            signal.default_int_handler(number, frame)
        self.noted = True

    def check(self) -> None:
        """Raises what was noted."""
        if self.noted:
            raise KeyboardInterrupt

"""The plug of a server's device, pulled by a signal."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.show import emulation as words
from sledlab.show import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from sledlab.emulation.server import Server


class Plug:
    """What a signal pulls.

    Attributes:
        server: Whose power fails; none as long as there is none.
    """

    def __init__(self) -> None:
        self.server: Server | None = None
        self._asked = 0

    def pull(self, number: int, frame: FrameType | None) -> None:
        """Has the power fail, and says what that has done, or why it cannot; it goes on in both cases."""
        self._asked += 1
        if self._asked > 1:
            return  # the signal has come while the power was failing: it fails again after that
        while self._asked:
            try:
                told = words.power_failure(self.server.power_fail()) if self.server else "There is no device."
            except Error as error:
                told = str(error)
            terminal.tell(told)
            self._asked -= 1


@contextmanager
def pulled() -> Iterator[Plug]:
    """Within this context SIGUSR1 has the power of a server fail, where it would end this process."""
    plug = Plug()
    if not hasattr(signal, "SIGUSR1") or threading.current_thread() is not threading.main_thread():
        yield plug
        return
    before = signal.signal(signal.SIGUSR1, plug.pull)
    try:
        yield plug
    finally:
        signal.signal(signal.SIGUSR1, before)

"""Power failures of a server's device by the signal SIGUSR1."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sledlab.errors import Error
from sledlab.show import emulation as summary
from sledlab.show import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from sledlab.emulation.server import Server


class Plug:
    """The power plug of a served device, pulled by a signal.

    Attributes:
        server: The server whose device loses its power; `None` until it has started, and while it stops.
    """

    def __init__(self) -> None:
        self.server: Server | None = None
        self._pending = 0

    def pull(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal: make the power fail, and print the loss or why the power cannot fail."""
        self._pending += 1
        if self._pending > 1:
            return  # a handler that the signal interrupted is in the loop below, and handles this one too
        while self._pending:
            try:
                message = (
                    summary.power_failure(self.server.power_fail())
                    if self.server
                    else "No device is being served."
                )
            except Error as error:
                message = str(error)
            terminal.tell(message)
            self._pending -= 1


@contextmanager
def handle_power_failures() -> Iterator[Plug]:
    """Within this context SIGUSR1 makes the power of a server's device fail; else it ends this process."""
    plug = Plug()
    if not hasattr(signal, "SIGUSR1") or threading.current_thread() is not threading.main_thread():
        yield plug
        return
    former_handler = signal.signal(signal.SIGUSR1, plug.pull)
    try:
        yield plug
    finally:
        signal.signal(signal.SIGUSR1, former_handler)

"""The live status of a server, on two lines of a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sledlab.lazy import rich_console, rich_live
from sledlab.show.emulation import status_text
from sledlab.show.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType


class StatusLines:
    """Two lines of status on standard error, if that is a terminal."""

    def __init__(self, name: str, status: Callable[[], Mapping[str, Any]]) -> None:
        """Watch the server called `name`; every update calls `status`."""
        self._name = name
        self._status = status
        self._live: Any = None

    def __enter__(self) -> StatusLines:
        """Begin to show the lines, if standard error is a terminal."""
        if sys.stderr.isatty() and not Progress.silent:
            self._live = rich_live.Live(console=rich_console.Console(stderr=True), transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the lines."""
        if self._live is not None:
            self._live.stop()

    def update(self) -> None:
        """Update the lines to the present status."""
        if self._live is not None:
            self._live.update("\n".join(status_text(self._status(), self._name)))

"""A progress bar with rate and time left, on a terminal only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sledlab.lazy import rich_console, rich_progress

if TYPE_CHECKING:
    from types import TracebackType


class Progress:
    """Shows how far a run is, on standard error; silent when that is not a terminal."""

    def __init__(self, what: str, *, of: str = "requests", quiet: bool = False) -> None:
        """A bar titled `what` that counts `of`, shown once entered."""
        self.what = what
        self.of = of
        self.shown = not quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        """Starts the bar."""
        if self.shown:
            self._bar = rich_progress.Progress(
                rich_progress.TextColumn("{task.description}"),
                rich_progress.BarColumn(),
                rich_progress.TaskProgressColumn(),
                rich_progress.TextColumn("{task.fields[done]}"),
                rich_progress.TimeRemainingColumn(),
                console=rich_console.Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.what, total=None, done=f"0 {self.of}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def going(self, what: str, fraction: float | None) -> None:
        """Says what is going on, and moves the bar to the share of the whole where known."""
        if self._bar is not None:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, description=what, total=total, completed=fraction or 0.0, done="")

    def update(self, count: int, fraction: float | None) -> None:
        """Moves the bar: how many are done, and the share of the whole where known."""
        if self._bar is None:
            return
        elapsed = self._bar.tasks[0].elapsed or 0
        rate = f", {count / elapsed / 1e6:.2f} M/s" if elapsed and count >= 1000 else ""
        self._bar.update(
            self._task,
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
            done=f"{count:,} {self.of}{rate}",
        )

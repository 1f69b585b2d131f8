"""How far work is: a bar on a terminal and in a notebook, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.lazy import rich_console, rich_progress
from sledlab.show.wording import counted, lasting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

APART_S = 60.0
"""Seconds between two lines in a log, at least."""

STEP = 0.1
"""Share of the whole between two lines in a log, at least, where it is known."""

FEW = 5
"""Runs of which nobody needs to be told how long they will take, at most."""

SHORT_S = 10.0
"""Seconds for which nobody needs to be warned, at most."""


class Progress:
    """Shows how far work is, on standard error."""

    silent: ClassVar[bool] = False
    """Whether nothing is shown of any work, see `quietly`."""

    def __init__(self, what: str, *, of: str = "requests") -> None:
        """Progress of what is called `what`, which counts `of`, shown once entered."""
        self.what = what
        self.of = of
        self._bar: Any = None
        self._task: Any = None
        self._begun = self._told = 0.0
        self._share: float | None = 0.0
        self._expected = False
        self.workers = 0
        """Processes that have done some of it; none and one are not told of."""

    def __enter__(self) -> Progress:
        """Starts the bar, where there can be one."""
        self._begun = self._told = time.monotonic()
        if not self.silent and (sys.stderr.isatty() or in_notebook()):
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
        """Says what is going on, and how much of the whole is done where known."""
        self._show(what, fraction, "")

    def update(self, count: int, fraction: float | None) -> None:
        """Says how many are done, and the share of the whole where known."""
        elapsed = time.monotonic() - self._begun
        rate = f", {count / elapsed / 1e6:.2f} M/s" if elapsed and count >= 1000 else ""
        by = f" on {self.workers:,} workers" if self.workers > 1 else ""
        self._show(self.what, fraction, f"{count:,} {self.of}{by}{rate}")

    def tell(self, text: str) -> None:
        """Says something that belongs to no result, unless nothing is shown."""
        if not self.silent:
            self._say(text)

    def expect(self, done: int, runs: int, at_once: int, requests: int | None = None) -> None:
        """Says once how long all runs will take, when as many are done as go on at the same time.

        Args:
            done: How many are.
            runs: How many there are; of a few nothing is said.
            at_once: How many go on at the same time.
            requests: How many requests each has, where they are alike.
        """
        if self.silent or self._expected or done < at_once or runs <= FEW:
            return
        self._expected = True
        whole = (time.monotonic() - self._begun) / done * runs
        if whole > SHORT_S:
            each = f" of {counted(requests, 'request')}" if requests else ""
            processors = "processor" if at_once == 1 else "processors"
            self._say(f"{runs:,} runs{each}, about {lasting(whole)} on {at_once} {processors}")

    def _show(self, what: str, fraction: float | None, done: str) -> None:
        if self._bar is not None:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, description=what, total=total, completed=fraction or 0.0, done=done)
            return
        now = time.monotonic()
        if self.silent or now - self._told < APART_S or not self._far(fraction):
            return
        self._told, self._share = now, fraction
        said = [] if fraction is None else [f"{fraction:.0%}"]
        if fraction:
            said.append(f"about {lasting((now - self._begun) * (1 / fraction - 1))} left")
        self._say(f"{what}: {', '.join([*said[:1], *filter(None, [done]), *said[1:]])}")

    def _far(self, fraction: float | None) -> bool:
        """Whether work has come far enough since the last line; work that began anew has."""
        if fraction is None or self._share is None:
            return True
        come = fraction - self._share
        return come < 0 or round(come, 9) >= STEP

    def _say(self, text: str) -> None:
        """A line, above the bar where there is one."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


@contextmanager
def quietly() -> Iterator[None]:
    """Shows no progress of whatever goes on meanwhile."""
    before, Progress.silent = Progress.silent, True
    try:
        yield
    finally:
        Progress.silent = before


def in_notebook() -> bool:
    """Whether this is a notebook that can show a bar."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return type(running).__name__ == "ZMQInteractiveShell" and find_spec("ipywidgets") is not None

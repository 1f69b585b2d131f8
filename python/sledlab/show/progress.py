"""Progress reports: a bar on a terminal and in a notebook, occasional lines in a log."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.lazy import rich_console, rich_progress
from sledlab.show.wording import duration, pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

LOG_INTERVAL_S = 60.0
"""Least time between two lines in a log, in seconds."""

STEP = 0.1
"""Least progress between two lines in a log, as a share of the whole, where that is known."""

SLOW_S = 5.0
"""A part of the work is named when it has taken this many seconds."""

MAX_UNESTIMATED_RUNS = 5
"""No estimate of the duration is printed for this many runs or fewer."""

MAX_UNESTIMATED_S = 10.0
"""No estimate of the duration is printed for work of this many seconds or less."""


class Progress:
    """Shows the progress of work on standard error."""

    silent: ClassVar[bool] = False
    """Whether no progress is shown at all, see `suppress_progress`."""

    def __init__(self, what: str, *, unit: str = "requests") -> None:
        """Progress of the work called `what`, counted in `unit`; shown once entered."""
        self.what = what
        self.unit = unit
        self._bar: Any = None
        self._task: Any = None
        self._begun = self._reported_s = 0.0
        self._begun_share = 0.0
        self._step = ("", 0.0)
        self._patience = LOG_INTERVAL_S
        self._share: float | None = 0.0
        self._expected = False
        self.workers = 0
        """Number of processes that have done some of the work; shown when more than one."""

    def __enter__(self) -> Progress:
        """Start the bar, on a terminal or in a notebook."""
        self._begun = self._reported_s = time.monotonic()
        if not self.silent and (sys.stderr.isatty() or is_notebook()):
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
            self._task = self._bar.add_task(self.what, total=None, done=f"0 {self.unit}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def show_step(self, what: str, fraction: float | None) -> None:
        """Show the step of the work called `what`, and the completed share of the step where known."""
        share = fraction or 0.0
        if what != self._step[0] or share < self._step[1]:
            self._begun, self._begun_share = time.monotonic(), share
            if self._bar is not None:
                self._bar.reset(self._task, completed=share)
        self._step = (what, share)
        self._show(what, fraction, "")

    def update(self, count: int, fraction: float | None, slowest: tuple[str, float] | None = None) -> None:
        """Show the number of things done, and the completed share where known.

        Args:
            count: Number of things done.
            fraction: Share of the whole.
            slowest: The part of the work that is in progress for the longest time, and for how many seconds.
        """
        elapsed = time.monotonic() - self._begun
        rate = f", {count / elapsed / 1e6:.2f} M/s" if elapsed and count >= 1000 else ""
        by = f" on {self.workers:,} workers" if self.workers > 1 else ""
        lasts = slowest is not None and slowest[1] >= SLOW_S
        slow = f", {slowest[0]} for {duration(slowest[1])}" if slowest is not None and lasts else ""
        self._show(self.what, fraction, f"{count:,} {self.unit}{by}{rate}{slow}", lasts=lasts)

    def tell(self, text: str) -> None:
        """Print a message about the work, unless `silent`."""
        if not self.silent:
            self._say(text)

    def expect(self, done: int, runs: int, at_once: int, requests: int | None = None) -> None:
        """Print once how long all runs will take, as soon as `at_once` of them are done.

        Args:
            done: Number of runs done.
            runs: Number of all runs; nothing is printed for a few.
            at_once: Number of runs that execute at the same time.
            requests: Requests of each run, where all have the same number.
        """
        if self.silent or self._expected or done < at_once or runs <= MAX_UNESTIMATED_RUNS:
            return
        self._expected = True
        full = (time.monotonic() - self._begun) / done * runs
        if full > MAX_UNESTIMATED_S:
            each = f" of {pluralize(requests, 'request')}" if requests else ""
            processors = "processor" if at_once == 1 else "processors"
            self._say(f"{runs:,} runs{each}, about {duration(full)} on {at_once} {processors}")

    def _show(self, what: str, fraction: float | None, done: str, *, lasts: bool = False) -> None:
        if self._bar is not None:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, description=what, total=total, completed=fraction or 0.0, done=done)
            return
        now = time.monotonic()
        far = self._is_line_due(fraction)
        if (
            self.silent
            or now - self._reported_s < (LOG_INTERVAL_S if far else self._patience)
            or not (far or lasts)
        ):
            return
        self._patience = LOG_INTERVAL_S if far else 2 * self._patience
        self._reported_s, self._share = now, fraction
        parts = [] if fraction is None else [f"{fraction:.0%}"]
        if fraction is not None and fraction > self._begun_share:
            remaining = (1 - fraction) / (fraction - self._begun_share)
            parts.append(f"about {duration((now - self._begun) * remaining)} left")
        self._say(f"{what}: {', '.join([*parts[:1], *filter(None, [done]), *parts[1:]])}")

    def _is_line_due(self, fraction: float | None) -> bool:
        """Return whether to print a line: enough progress since the last line, or a restart."""
        if fraction is None or self._share is None:
            return True
        come = fraction - self._share
        return come < 0 or round(come, 9) >= STEP

    def _say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


@contextmanager
def suppress_progress() -> Iterator[None]:
    """Within this context no progress is shown."""
    before, Progress.silent = Progress.silent, True
    try:
        yield
    finally:
        Progress.silent = before


def is_notebook() -> bool:
    """Return whether this is a notebook that can show a bar."""
    ipython = sys.modules.get("IPython")
    running = ipython.get_ipython() if ipython is not None else None
    return type(running).__name__ == "ZMQInteractiveShell" and find_spec("ipywidgets") is not None

"""Progress reports: a bar on a terminal and in a notebook, occasional lines in a log."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.lazy import rich_console, rich_progress
from sledlab.show.wording import duration

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
    """Progress of work, shown on standard error."""

    silent: ClassVar[bool] = False
    """Whether no progress is shown at all, see `suppress_progress`."""

    def __init__(self, title: str, *, unit: str = "requests") -> None:
        """Progress of the work called `title`, counted in `unit`; shown once entered."""
        self.title = title
        self.unit = unit
        self._bar: Any = None
        self._task: Any = None
        self._started_s = self._reported_s = 0.0
        self._started_fraction = 0.0
        self._step = ("", 0.0)
        self._log_interval_s = LOG_INTERVAL_S
        self._reported_fraction: float | None = 0.0
        self._has_estimated = False
        self.workers = 0
        """Number of processes that have done some of the work; shown when more than one."""

    def __enter__(self) -> Progress:
        """Start the bar, on a terminal or in a notebook."""
        self._started_s = self._reported_s = time.monotonic()
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
            self._task = self._bar.add_task(self.title, total=None, done=f"0 {self.unit}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()

    def show_step(self, title: str, fraction: float | None) -> None:
        """Show the step of the work called `title`, and the completed share of the step where known."""
        completed = fraction or 0.0
        if title != self._step[0] or completed < self._step[1]:
            self._started_s, self._started_fraction = time.monotonic(), completed
            if self._bar is not None:
                self._bar.reset(self._task, completed=completed)
        self._step = (title, completed)
        self._show(title, fraction, "")

    def update(self, count: int, fraction: float | None, slowest: tuple[str, float] | None = None) -> None:
        """Show the number of things done, and the completed share where known.

        Args:
            count: Number of things done.
            fraction: Share of the whole.
            slowest: The part of the work that is in progress for the longest time, and for how many seconds.
        """
        elapsed = time.monotonic() - self._started_s
        rate_text = f", {count / elapsed / 1e6:.2f} M/s" if elapsed and count >= 1000 else ""
        workers_text = f" on {self.workers:,} workers" if self.workers > 1 else ""
        is_slow = slowest is not None and slowest[1] >= SLOW_S
        slowest_text = f", {slowest[0]} for {duration(slowest[1])}" if slowest is not None and is_slow else ""
        self._show(
            self.title,
            fraction,
            f"{count:,} {self.unit}{workers_text}{rate_text}{slowest_text}",
            is_slow=is_slow,
        )

    def tell(self, text: str) -> None:
        """Print a message about the work, unless `silent`."""
        if not self.silent:
            self._say(text)

    def print_estimate(self, runs: int, remaining_s: float, parallel_runs: int) -> None:
        """Print once how long all runs of this step will take.

        Args:
            runs: Number of all runs; nothing is printed for a few.
            remaining_s: Expected time until all are done.
            parallel_runs: Number of runs that execute at the same time.
        """
        if self.silent or self._has_estimated or runs <= MAX_UNESTIMATED_RUNS:
            return
        self._has_estimated = True
        total_s = time.monotonic() - self._started_s + remaining_s
        if total_s > MAX_UNESTIMATED_S:
            processors = "processor" if parallel_runs == 1 else "processors"
            estimate = f"about {duration(total_s)} on {parallel_runs} {processors}"
            self._say(f"{self.title}: {runs:,} runs, {estimate}")

    def _show(self, title: str, fraction: float | None, done: str, *, is_slow: bool = False) -> None:
        if self._bar is not None:
            total = None if fraction is None else 1.0
            self._bar.update(self._task, description=title, total=total, completed=fraction or 0.0, done=done)
            return
        now = time.monotonic()
        is_due = self._is_line_due(fraction)
        if (
            self.silent
            or now - self._reported_s < (LOG_INTERVAL_S if is_due else self._log_interval_s)
            or not (is_due or is_slow)
        ):
            return
        self._log_interval_s = LOG_INTERVAL_S if is_due else 2 * self._log_interval_s
        self._reported_s, self._reported_fraction = now, fraction
        parts = [] if fraction is None else [f"{fraction:.0%}"]
        if fraction is not None and fraction > self._started_fraction:
            remaining_ratio = (1 - fraction) / (fraction - self._started_fraction)
            parts.append(f"about {duration((now - self._started_s) * remaining_ratio)} left")
        self._say(f"{title}: {', '.join([*parts[:1], *filter(None, [done]), *parts[1:]])}")

    def _is_line_due(self, fraction: float | None) -> bool:
        """Return whether to print a line: enough progress since the last line, or a restart."""
        if fraction is None or self._reported_fraction is None:
            return True
        advance = fraction - self._reported_fraction
        return advance < 0 or round(advance, 9) >= STEP

    def _say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(text, highlight=False)
        else:
            print(text, file=sys.stderr, flush=True)


@contextmanager
def suppress_progress() -> Iterator[None]:
    """Within this context no progress is shown."""
    previous, Progress.silent = Progress.silent, True
    try:
        yield
    finally:
        Progress.silent = previous


def is_notebook() -> bool:
    """Return whether this is a notebook that can show a bar."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell" and find_spec("ipywidgets") is not None

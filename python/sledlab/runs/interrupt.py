"""The exception of a run that a signal stopped."""

from __future__ import annotations

import signal
from typing import Any

from sledlab.stop_signals import StopSignal


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

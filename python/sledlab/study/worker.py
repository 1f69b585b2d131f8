"""What a process of a study begins with: it stops for nobody but whoever started it, and never outlives that.

Imports little, so that a process that has just been started is soon under its rules.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from sledlab.runs.interrupt import STOPS

POLL_S = 0.2
"""How often a process looks for whoever started it, where the system does not tell."""

PR_SET_PDEATHSIG = 1
"""Of <sys/prctl.h>: a signal for this process when its parent ends."""


def begin(paths: list[str], parent: int) -> None:
    """Makes a process ready.

    Args:
        paths: Where modules are looked for: what can be imported there can be imported here.
        parent: Who started it, who is told of signals, and with whom it ends.
    """
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    if not _tied():
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # gone before it was tied
        os._exit(1)
    sys.path[:] = paths
    sys.stdout = sys.stderr  # what plug-ins print goes astray


def _tied() -> bool:
    """Has the system kill this process when its parent ends; whether it can."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 (nothing else needs it, and elsewhere nobody)

    try:
        failed = ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return not failed


def _follow(parent: int) -> None:
    """Ends this process when whoever started it is gone."""
    while os.getppid() == parent:
        time.sleep(POLL_S)
    os._exit(1)

"""Initialization of a worker process: it ignores signals, which its parent handles, and ends with its parent.

Imports little, so that a new process is tied to its parent soon.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from sledlab.stop_signals import STOP_SIGNALS

POLL_S = 0.2
"""Seconds between two checks of the parent process, if the system cannot signal its end."""

PR_SET_PDEATHSIG = 1
"""Operation of prctl(2), from <sys/prctl.h>: a signal for this process when its parent ends."""


def begin(paths: list[str], parent: int) -> None:
    """Prepare a worker process.

    Args:
        paths: Directories of modules, so that the worker can import what its parent can.
        parent: Process id of the parent, which handles signals, and with which the worker ends.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if not _end_with_parent():
        threading.Thread(target=_exit_after_parent, args=(parent,), daemon=True).start()
    if os.getppid() != parent:  # the parent ended before this process was tied to it
        os._exit(1)
    sys.path[:] = paths
    sys.stdout = sys.stderr  # output of plug-ins must not mix with that of the command


def _end_with_parent() -> bool:
    """Have the system kill this process when its parent ends; return whether the system can."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 (needed on Linux only)

    try:
        error_code = ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return False
    return not error_code


def _exit_after_parent(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(POLL_S)
    os._exit(1)

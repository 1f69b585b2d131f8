"""Ctrl-C while the command line is imported: the process exits without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def exit_at_once(number: int, frame: FrameType | None) -> None:
    """Handle a signal before the command line has started: nothing is to be saved or written."""
    os._exit(128 + number)


def _is_command_line() -> bool:
    """Whether this process runs `sledlab` or `python -m sledlab`, as far as its arguments tell."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""
    arguments = list(zip(sys.orig_argv, sys.orig_argv[1:], strict=False))
    return name in ("sledlab", "sledlab.exe") or (name == "-m" and ("-m", "sledlab") in arguments)


if _is_command_line() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, exit_at_once)

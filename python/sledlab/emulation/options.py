"""Options of a server, besides those of the store that it serves."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from sledlab.errors import Error
from sledlab.runs.options import Around, Option, Scheduled, Set, Trusted
from sledlab.runs.written import number


class Emulated(Scheduled, Around, Set, Trusted, total=False):
    """Options of a server."""

    socket: Annotated[
        str | Path, Option("Unix socket to listen on.", "FILE", "a new one that nobody else may open")
    ]
    tcp: Annotated[
        str, Option("TCP address of this machine to listen on, instead of a socket.", "127.0.0.1:PORT")
    ]
    data: Annotated[
        str | Path, Option("File that holds the data, made as large as the device.", "FILE", "in memory")
    ]
    scratch: Annotated[bool, Option("Start from the contents of --data, and leave that file as it is.")]
    untimed: Annotated[bool, Option("Answer at once, without the model: to load data fast.")]
    time_scale: Annotated[
        float,
        Option("Run the device S times slower, so that this machine disturbs the device less.", "S", "1"),
    ]
    host_us: Annotated[
        float | str,
        Option(
            "Time from the server to the client and back, by which replies leave earlier.",
            "auto | US",
            "auto",
        ),
    ]
    priority: Annotated[
        Literal["auto", "normal", "realtime"],
        Option("Priority of the server: auto | normal | realtime.", "P", "auto: real time where allowed"),
    ]
    power_failures: Annotated[
        bool, Option("Have the power fail on SIGUSR1; takes memory for data that a failure may bring back.")
    ]
    power_fail_after_s: Annotated[
        float,
        Option("Have the power fail S seconds after the start, once.", "S", "never", flag="power-fail-after"),
    ]
    attach: Annotated[
        str,
        Option(
            "Attach the device as a file, a block device or a mounted file system.",
            "file:DIR | loop | ext4:DIR",
            "none",
        ),
    ]
    serve_s: Annotated[
        float, Option("End after S seconds.", "S", "with the command, or with Ctrl-C", flag="duration")
    ]
    record: Annotated[
        str | Path, Option("Write the requests that came as a trace, .parquet or .csv.", "FILE", read=Path)
    ]


def scale_of(said: float | str | None) -> tuple[int, int]:
    """How many times slower the device runs, as a ratio.

    Raises:
        Error: `said` is no positive, finite number.

    Examples:
        >>> scale_of(None), scale_of(2.5)
        ((1, 1), (5, 2))
    """
    value = number(said) if isinstance(said, str) else 1 if said is None else said
    if not 0 < value < math.inf:
        raise Error(f"a device cannot run {value:g} times slower", remedy="give a number such as 10")
    ratio = Fraction(str(value)).limit_denominator(1000)
    return ratio.numerator, ratio.denominator


def fail_after(said: float | str | None) -> float | None:
    """Seconds from the start to a power failure; `None` where the power is not to fail.

    Raises:
        Error: `said` is no number of seconds.

    Examples:
        >>> fail_after(None), fail_after("2.5")
        (None, 2.5)
    """
    if said is None:
        return None
    value = number(said) if isinstance(said, str) else said
    if not 0 <= value < threading.TIMEOUT_MAX:
        raise Error(f"the power cannot fail after {value:g} s", remedy="give seconds, such as 30")
    return float(value)


def host_of(said: float | str | None) -> float | None:
    """The time from the server to a client and back, in µs; `None` where it is to be measured.

    Raises:
        Error: `said` is neither `auto` nor a time.

    Examples:
        >>> host_of("auto"), host_of("0"), host_of(12.5)
        (None, 0.0, 12.5)
    """
    if said is None or said == "auto":
        return None
    value = number(said) if isinstance(said, str) else said
    if not 0 <= value <= 1e6:
        raise Error(f"the way to a client cannot take {value:g} us", remedy="say `auto`, 0 or microseconds")
    return float(value)

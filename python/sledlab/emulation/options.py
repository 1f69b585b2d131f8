"""Options of a server, besides those of the store that it serves."""

from __future__ import annotations

import math
import threading
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from sledlab.errors import Error
from sledlab.runs.options import Option, PluginOptions, SchedulerOptions, SeedSettingOptions, StorageOptions
from sledlab.runs.parsing import number


class ServeOptions(SchedulerOptions, StorageOptions, SeedSettingOptions, PluginOptions, total=False):
    """Options of a server."""

    socket: Annotated[str | Path, Option("Unix socket to listen on.", "FILE", "private")]
    tcp: Annotated[str, Option("Listen on TCP, 127.0.0.1:PORT.", "ADDRESS")]
    data: Annotated[str | Path, Option("File for the data.", "FILE", "in memory")]
    scratch: Annotated[bool, Option("Read --data but do not change it.", advanced=True)]
    untimed: Annotated[bool, Option("Reply at once, to load data fast.")]
    time_scale: Annotated[
        float,
        Option("Run S times slower than wall-clock time.", "S"),
    ]
    host_us: Annotated[
        float | str,
        Option(
            "Round-trip time to the client; replies are sent this much earlier.",
            "auto | US",
            "auto",
            advanced=True,
        ),
    ]
    priority: Annotated[
        Literal["auto", "normal", "realtime"],
        Option(
            "Priority of the server: auto | normal | realtime.",
            "P",
            "auto: realtime if permitted",
            advanced=True,
        ),
    ]
    power_failures: Annotated[
        bool, Option("Fail the power on SIGUSR1; needs memory for lost writes.", advanced=True)
    ]
    power_fail_after_s: Annotated[
        float,
        Option("Fail the power once after S seconds.", "S", flag="power-fail-after"),
    ]
    attach: Annotated[
        str,
        Option(
            "Attach as file:DIR, loop or ext4:DIR.",
            "HOW",
            "none",
        ),
    ]
    serve_s: Annotated[float, Option("Stop after S seconds.", "S", "until Ctrl-C", flag="duration")]
    record: Annotated[str | Path, Option("Write requests as .parquet or .csv trace.", "FILE", read=Path)]


def parse_time_scale(setting: float | str | None) -> tuple[int, int]:
    """How many times slower the device runs, as a ratio.

    Raises:
        Error: `setting` is no positive, finite number.

    Examples:
        >>> parse_time_scale(None), parse_time_scale(2.5)
        ((1, 1), (5, 2))
    """
    scale = number(setting) if isinstance(setting, str) else 1 if setting is None else setting
    if not 0 < scale < math.inf:
        raise Error(f"invalid time scale {scale:g}", remedy="use a number above 0, such as 10")
    ratio = Fraction(str(scale)).limit_denominator(1000)
    return ratio.numerator, ratio.denominator


def parse_failure_delay(setting: float | str | None) -> float | None:
    """Seconds from the start to a power failure; `None` without a power failure.

    Raises:
        Error: `setting` is no number of seconds.

    Examples:
        >>> parse_failure_delay(None), parse_failure_delay("2.5")
        (None, 2.5)
    """
    if setting is None:
        return None
    delay_s = number(setting) if isinstance(setting, str) else setting
    if not 0 <= delay_s < threading.TIMEOUT_MAX:
        raise Error(f"invalid time of a power failure: {delay_s:g} s", remedy="use seconds, such as 30")
    return float(delay_s)


def parse_host_time(setting: float | str | None) -> float | None:
    """The time from the server to a client and back, in µs; `None` where it is to be measured.

    Raises:
        Error: `setting` is neither `auto` nor a time.

    Examples:
        >>> parse_host_time("auto"), parse_host_time("0"), parse_host_time(12.5)
        (None, 0.0, 12.5)
    """
    if setting is None or setting == "auto":
        return None
    host_us = number(setting) if isinstance(setting, str) else setting
    if not 0 <= host_us <= 1e6:
        raise Error(
            f"invalid round-trip time to the client: {host_us:g} us",
            remedy="use `auto` or microseconds from 0",
        )
    return float(host_us)

"""Response times of emulated devices, measured by a client that shares no code with sledlab.

The client is `timing_client.c`. Each response time that it measures is compared with the simulated one of the
same request, at several queue depths, over the Unix socket and through nbdfuse. The client has real-time
priority below that of the server, so that other programs do not affect the result.

As a control, the same client measures `timing_control.c`, a server that only polls the clock: its errors are
those of the machine.

Needs a C compiler and root; for nbdfuse also `/dev/fuse` and Debian's packages `libnbd-bin` and `fuse3`.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import sledlab as sl
from client_delay import raised_priority
from emulation import STRIPE
from timing_errors import deviations, relative_errors

PROGRAMS = ("timing_client", "timing_control")
SPAN_BYTES = 1 << 30
PATHS = {"socket": "Unix socket", "file": "nbdfuse"}
CONTROL = "control"
"""The path of the client to the control."""
DEPTHS = {"socket": (1, 16), "file": (1, 8, 16)}
"""Queue depths by path: nbdfuse passes at most ten requests at a time."""
CONTROL_S = 60
"""Time limit of a control in seconds."""


@dataclass(frozen=True)
class TimedSystem:
    """A served system and the accuracy that is required of it.

    Attributes:
        name: Name of the system.
        options: Options of `serve`.
        reads: Reads of a run, by queue depth.
        control_us: Response time of the control in us: about the mean of the system at queue depth 1.
        required: Required shares of replies in percent by queue depth, each with its tolerance in percent of
            the simulated response time.
    """

    name: str
    options: dict[str, Any]
    reads: dict[int, int]
    control_us: int
    required: dict[int, dict[int, float]]


TIMED_SYSTEMS = (
    TimedSystem(
        "mems-g2",
        {"device": "mems-g2"},
        {1: 5000, 8: 5000, 16: 5000},
        630,
        {1: {2: 97, 5: 99.3}},
    ),
    TimedSystem(
        "8 mems-g2 striped, 20 times slower",
        {**STRIPE, "time_scale": 20},
        {1: 2000, 8: 4000, 16: 4000},
        11_000,
        {1: {2: 99.9}, 16: {2: 99.9}},
    ),
)


def missing_programs(path: str) -> str:
    """Return what this machine lacks to measure over a path; empty if nothing is missing."""
    programs = ["cc", *(["nbdfuse", "fusermount3"] if path == "file" else [])]
    missing_names = [name for name in programs if shutil.which(name) is None]
    if path == "file" and not os.access("/dev/fuse", os.R_OK | os.W_OK):
        missing_names.append("/dev/fuse")
    if os.geteuid() != 0:
        missing_names.append("root")
    if path == CONTROL and (os.cpu_count() or 1) == 1:
        missing_names.append("second processor")  # the control polls at a higher priority than the client's
    return ", ".join(missing_names)


@contextmanager
def compiled_programs() -> Iterator[Path]:
    """Compile the programs into a directory, if there is a compiler; it is deleted afterwards."""
    with TemporaryDirectory(prefix="sledlab-timing-") as directory:
        for name in PROGRAMS if shutil.which("cc") else ():
            source = Path(__file__).with_name(f"{name}.c")
            command = ["cc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", f"{directory}/{name}", source]
            subprocess.run(command, check=True)
        yield Path(directory)


def measure_control(programs: Path, response_us: int, reads: int) -> np.ndarray:
    """Return for each read of a control the measured response time relative to the median, minus 1.

    The control replies after `response_us`; the median includes the time that the socket takes.
    """
    with TemporaryDirectory(prefix="sledlab-control-") as directory, raised_priority():
        socket = Path(directory) / "socket"
        with subprocess.Popen([programs / "timing_control", socket, str(response_us * 1000)]) as server:
            try:
                while not socket.exists() and server.poll() is None:
                    time.sleep(0.01)
                client_output = _run_client(programs, "socket", socket, 1, reads, timeout=CONTROL_S)
            finally:
                server.kill()
    return deviations(client_output)


def _run_client(
    programs: Path, path: str, target: str | Path, depth: int, reads: int, timeout: float | None = None
) -> str:
    arguments = [programs / "timing_client", path, target, depth, reads, SPAN_BYTES, 1]
    return subprocess.run(
        list(map(str, arguments)), check=True, stdout=subprocess.PIPE, text=True, timeout=timeout
    ).stdout


def measure_errors(programs: Path, options: dict[str, Any], path: str, depth: int, reads: int) -> np.ndarray:
    """Return for each read the measured response time relative to the simulated one, minus 1."""
    with TemporaryDirectory(prefix="sledlab-timing-") as directory:
        mount = Path(directory) / "attached"
        mount.mkdir()
        out = Path(directory) / "out"
        attach = {"attach": f"file:{mount}"} if path == "file" else {}
        with raised_priority(), sl.serve(**options, **attach, out=out) as server:
            target = server.disk if path == "file" else server.socket
            client_output = _run_client(programs, path, target, depth, reads)
            emulation = server.stop(report=False)
        requests = pl.read_parquet(out / "trace.parquet")
    closed_loop = emulation.closed_loop
    assert closed_loop is not None
    assert closed_loop.closed, closed_loop
    return relative_errors(client_output, requests, emulation.frame(), emulation.scale)

"""Response times of emulated devices, measured by a client that shares no code with sledlab.

The client is `timing_client.c`. Each response time that it measures is compared with the simulated one of the
same request, at queue depths 1 and 16, over the Unix socket and through nbdfuse. The client has real-time
priority below that of the server, so that other programs do not affect the result.

Needs a C compiler and root; for nbdfuse also `/dev/fuse` and Debian's packages `libnbd-bin` and `fuse3`.
"""

import os
import shutil
import subprocess
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
from timing_errors import relative_errors

SOURCE = Path(__file__).with_name("timing_client.c")
SPAN_BYTES = 1 << 30
DEPTHS = (1, 16)
PATHS = {"socket": "Unix socket", "file": "nbdfuse"}


@dataclass(frozen=True)
class TimedSystem:
    """A served system and the accuracy that is required of it.

    Attributes:
        name: Name of the system.
        options: Options of `serve`.
        reads: Reads of a run, by queue depth.
        required: Required shares of replies in percent by queue depth, each with its tolerance in percent of
            the simulated response time.
    """

    name: str
    options: dict[str, Any]
    reads: dict[int, int]
    required: dict[int, dict[int, float]]


TIMED_SYSTEMS = (
    TimedSystem("mems-g2", {"device": "mems-g2"}, {1: 5000, 16: 5000}, {1: {2: 97, 5: 99.3}}),
    TimedSystem(
        "8 mems-g2 striped, 20 times slower",
        {**STRIPE, "time_scale": 20},
        {1: 2000, 16: 4000},
        {1: {2: 99.9}, 16: {2: 99.9}},
    ),
)


def missing(path: str) -> str:
    """Return what this machine lacks to measure over a path; empty if nothing is missing."""
    programs = ["cc", *(["nbdfuse", "fusermount3"] if path == "file" else [])]
    absent = [name for name in programs if shutil.which(name) is None]
    if path == "file" and not os.access("/dev/fuse", os.R_OK | os.W_OK):
        absent.append("/dev/fuse")
    if os.geteuid() != 0:
        absent.append("root")
    return ", ".join(absent)


@contextmanager
def compiled_client() -> Iterator[Path]:
    """Compile the client, if there is a compiler; it is deleted afterwards."""
    if shutil.which("cc") is None:
        yield Path()
        return
    with TemporaryDirectory(prefix="sledlab-client-") as place:
        program = Path(place) / "timing_client"
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", program, SOURCE], check=True)
        yield program


def measure_errors(program: Path, options: dict[str, Any], path: str, depth: int, reads: int) -> np.ndarray:
    """Return for each read the measured response time relative to the simulated one, minus 1."""
    with TemporaryDirectory(prefix="sledlab-timing-") as place:
        attached = Path(place) / "attached"
        attached.mkdir()
        out = Path(place) / "out"
        attach = {"attach": f"file:{attached}"} if path == "file" else {}
        with raised_priority(), sl.serve(**options, **attach, out=out) as server:
            target = server.disk if path == "file" else server.socket
            words = [program, path, target, depth, reads, SPAN_BYTES, 1]
            printed = subprocess.run(
                list(map(str, words)), check=True, stdout=subprocess.PIPE, text=True
            ).stdout
            emulation = server.stop(report=False)
        recorded = pl.read_parquet(out / "trace.parquet")
    loop = emulation.closed_loop
    assert loop is not None
    assert loop.closed, loop
    return relative_errors(printed, recorded, emulation.frame(), emulation.scale)

"""Arrays of four disks on one bus, compared with the recorded run of the reference simulator."""

from __future__ import annotations

import csv
import gzip
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sledlab as sl
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells

from .. import reference
from ..simulator import command_line
from .section import ValidationSection

COMPONENTS = reference.ROOT / "disks" / "components"
MISSING_MESSAGE = f"no reference runs in {COMPONENTS} (set SLEDLAB_REFERENCE)"

TURN_MS = 11.11
"""Time of a rotation of the HP C3323A, at 5400 rpm, in ms."""

ARRAYS = {"stripe": 0, "concatenation": 1, "raid5": 3}
"""Kinds of systems, and arrays of the recorded run. sledlab has no array with all parity on one disk."""

BUSES = ("own", "shared")

Times = npt.NDArray[np.float64]


class Cyclic:
    """C-LOOK by the reference simulator's rule: a request at the sweep's position joins the sweep."""

    def __init__(self) -> None:
        self.queue: list[Any] = []
        self.sweep_lbn = 0

    def push(self, request: Any) -> None:
        """Add a request to the queue."""
        self.queue.append(request)

    def pop(self, _now_ns: int, _device: Any) -> Any:
        """Remove and return the next request upwards, or the lowest if there is none."""
        ahead = [request for request in self.queue if request.lbn >= self.sweep_lbn] or self.queue
        request = min(ahead, key=lambda request: (request.lbn, request.id))
        self.queue.remove(request)
        self.sweep_lbn = request.lbn
        return request

    def __len__(self) -> int:
        """Return the number of queued requests."""
        return len(self.queue)


@dataclass(frozen=True)
class Pair:
    """Response times of both simulators in ms, and whether each request was alone in its array."""

    is_read: npt.NDArray[np.bool_]
    is_alone: npt.NDArray[np.bool_]
    recorded_ms: Times
    ours_ms: Times

    def alone_differences_ms(self, *, reads: bool) -> Times:
        """Return the differences of response times in ms, for reads or writes that were alone."""
        is_selected = self.is_alone & (self.is_read == reads)
        differences_ms: Times = (self.ours_ms - self.recorded_ms)[is_selected]
        return differences_ms


@dataclass(frozen=True)
class ArrayRow:
    """An array on a bus; times in ms, the deviation relative."""

    kind: str
    bus: str
    requests: int
    recorded_ms: float
    ours_ms: float
    same_alone: float
    """Share of the requests alone in their array with the recorded response time to 0.1 ms."""

    @property
    def deviation(self) -> float:
        """Relative deviation of the mean response time."""
        return self.ours_ms / self.recorded_ms - 1


def is_present() -> bool:
    """Return whether the reference data exists."""
    return COMPONENTS.is_dir()


def import_disk(name: str, folder: Path) -> Path:
    """Return the device file of the disk of a recorded run."""
    parameters = (reference.ROOT / "disks" / "params").glob("hp_c3323a*")
    for file in (*parameters, COMPONENTS / "params" / f"{name}.parv"):
        shutil.copy(file, folder)
    out = folder / "drive.toml"
    if command_line(["device", "import", str(folder / f"{name}.parv"), "--save", str(out)]):
        raise RuntimeError(f"{name}.parv cannot be imported")
    return out


@cache
def replay_array(kind: str, bus: str) -> Pair:
    """Replay the requests to one array of the recorded run."""
    with gzip.open(COMPONENTS / "syntharrays.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if int(row["device"]) == ARRAYS[kind]]
    is_read = np.array([int(row["flags_hex"], 16) & 1 for row in rows], dtype=bool)
    arrivals_ms = np.array([float(row["arrival_ms"]) for row in rows])
    responses_ms = np.array([float(row["response_us"]) for row in rows]) / 1e3
    previous_ends_ms = np.maximum.accumulate(np.concatenate([[0.0], (arrivals_ms + responses_ms)[:-1]]))
    is_alone = (previous_ends_ms <= arrivals_ms) & (
        np.append(arrivals_ms[1:], np.inf) >= arrivals_ms + responses_ms
    )
    settings = {
        "system.kind": kind,
        "system.devices": 4,
        "system.unit_blocks": 128,
        "system.bus": bus,
        "system.start": "ready",
    }
    with tempfile.TemporaryDirectory(prefix="sledlab-validation-") as parent:
        folder = Path(parent)
        trace = folder / f"{kind}.trace"
        lines = (
            f"{row['arrival_ms']} 0 {row['lbn']} {row['blocks']} {int(is_read_request)}"
            for row, is_read_request in zip(rows, is_read, strict=True)
        )
        trace.write_text("\n".join(lines) + "\n")
        result = sl.simulate(
            sl.read_trace(trace, start="zero"),
            device=import_disk("syntharrays", folder),
            scheduler=f"{__name__}:Cyclic",
            power="never",
            settings=settings,
            requests=True,
        )
    ours_ms = result.requests.sort("id")["response_ns"].to_numpy() / 1e6
    return Pair(is_read, is_alone, responses_ms, ours_ms)


def measure() -> tuple[ArrayRow, ...]:
    """Replay every array, with a bus per disk and with one for all."""

    def row(kind: str, bus: str) -> ArrayRow:
        pair = replay_array(kind, bus)
        differences_ms = (pair.ours_ms - pair.recorded_ms)[pair.is_alone]
        return ArrayRow(
            kind=kind,
            bus=bus,
            requests=len(pair.ours_ms),
            recorded_ms=float(pair.recorded_ms.mean()),
            ours_ms=float(pair.ours_ms.mean()),
            same_alone=float(np.mean(np.abs(differences_ms) < 0.1)),
        )

    return tuple(row(kind, bus) for kind in ARRAYS for bus in BUSES)


def _template_values(array_rows: tuple[ArrayRow, ...]) -> dict[str, object]:
    row_format = (
        "`{0.kind}` | `{0.bus}` | {0.requests:,} | {0.recorded_ms:.3f} | {0.ours_ms:.3f} | {0.deviation:+%2}"
    )
    rows = [cells(f"{row_format} | {{0.same_alone:%1}}", row) for row in array_rows]
    header = "array | bus | requests | recorded, ms | sledlab, ms | deviation, % | same alone, %"
    return {"arrays": table(header, rows, word_columns=2)}


SECTION = ValidationSection("arrays", tuple[ArrayRow, ...], measure, _template_values)

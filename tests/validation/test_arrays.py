"""Arrays of four disks beside the recorded run of the reference simulator.

Its disks share a bus, ours do not, so what is compared exactly are requests that have their array to
themselves: they go to the same disks and the same blocks, and take as long. Where RAID 5 starts two
accesses at once, the bus of the reference can delay one of them: some writes are a turn late there.
"""

import csv
import gzip
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import sledlab as sl

from lab.reference import ROOT
from lab.simulator import command_line

COMPONENTS = ROOT / "disks" / "components"
TURN_MS = 11.11
"""Of the HP C3323A, at 5400 rpm."""

pytestmark = pytest.mark.skipif(not COMPONENTS.is_dir(), reason=f"no reference runs in {COMPONENTS}")

Times = npt.NDArray[np.float64]


class Cyclic:
    """C-LOOK as the reference has it: what arrives where the sweep is joins it."""

    def __init__(self):
        self.queue, self.at = [], 0

    def push(self, request):
        self.queue.append(request)

    def pop(self, _now_ns, _device):
        ahead = [request for request in self.queue if request.lbn >= self.at] or self.queue
        request = min(ahead, key=lambda request: (request.lbn, request.id))
        self.queue.remove(request)
        self.at = request.lbn
        return request

    def __len__(self):
        return len(self.queue)


@dataclass(frozen=True)
class Pair:
    """Response times of both simulators, and which requests were alone on their array."""

    reads: npt.NDArray[np.bool_]
    alone: npt.NDArray[np.bool_]
    reference_ms: Times
    ours_ms: Times

    def apart_ms(self, *, reads: bool) -> Times:
        chosen = self.alone & (self.reads == reads)
        return (self.ours_ms - self.reference_ms)[chosen]

    def mean_deviation(self) -> float:
        return float(self.ours_ms.mean() / self.reference_ms.mean() - 1)


def imported(name: str, folder: Path) -> Path:
    """The device file of the disk of a recorded run."""
    for file in (*(ROOT / "disks" / "params").glob("hp_c3323a*"), COMPONENTS / "params" / f"{name}.parv"):
        shutil.copy(file, folder)
    out = folder / "drive.toml"
    assert command_line(["device", "import", str(folder / f"{name}.parv"), "--out", str(out)]) == 0
    return out


@pytest.fixture
def drive(tmp_path):
    return imported("syntharrays", tmp_path)


def compared(number: int, kind: str, drive, tmp_path) -> Pair:
    """The requests to one array of the recorded run, replayed."""
    with gzip.open(COMPONENTS / "syntharrays.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if int(row["device"]) == number]
    trace = tmp_path / f"{kind}.trace"
    reads = np.array([int(row["flags_hex"], 16) & 1 for row in rows], dtype=bool)
    lines = (
        f"{r['arrival_ms']} 0 {r['lbn']} {r['blocks']} {int(read)}"
        for r, read in zip(rows, reads, strict=True)
    )
    trace.write_text("\n".join(lines) + "\n")
    arrival = np.array([float(row["arrival_ms"]) for row in rows])
    response = np.array([float(row["response_us"]) for row in rows]) / 1e3
    ends = np.maximum.accumulate(np.concatenate([[0.0], (arrival + response)[:-1]]))
    alone = (ends <= arrival) & (np.append(arrival[1:], np.inf) >= arrival + response)
    settings = {"system.kind": kind, "system.devices": 4, "system.unit_blocks": 128, "device.startup_ms": 0.0}
    result = sl.simulate(
        str(trace), device=drive, scheduler=f"{__name__}:Cyclic", power="never", settings=settings
    )
    table = result.requests.sort("id")
    return Pair(reads, alone, response, table["response_ns"].to_numpy() / 1e6)


@pytest.mark.parametrize(("number", "kind"), [(0, "stripe"), (1, "concatenation")])
def test_requests_alone_on_their_array_take_as_long(number, kind, drive, tmp_path):
    pair = compared(number, kind, drive, tmp_path)
    for reads in (True, False):
        apart_ms = pair.apart_ms(reads=reads)
        assert len(apart_ms) > 50
        assert np.mean(np.abs(apart_ms) < 0.1) > 0.97
    # With others, they also wait for the bus there.
    assert -0.05 < pair.mean_deviation() < 0


def test_raid_5_differs_by_turns_that_the_bus_costs(drive, tmp_path):
    pair = compared(3, "raid5", drive, tmp_path)
    writes, reads = pair.apart_ms(reads=False), pair.apart_ms(reads=True)
    same, earlier = np.abs(writes) < 0.1, np.abs(writes + TURN_MS) < 0.1
    assert np.all(same | earlier)
    assert same.sum() > earlier.sum()
    assert np.mean(np.abs(reads) < 0.1) > 0.9
    assert pair.mean_deviation() < 0

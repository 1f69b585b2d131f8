"""Recorded runs of the reference simulator, DiskSim 4.0, and their location.

They are not part of the project: their directory is `$SLEDLAB_REFERENCE`, or one next to the project. Tests
that need them are skipped if they are missing. A small part, validation/reference, belongs to the project.
"""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sledlab_papers.paths import REFERENCE as REFERENCE_DATA

ROOT = REFERENCE_DATA
MEMS = ROOT / "mems"


@dataclass(frozen=True)
class Collection:
    """A folder of recorded runs of the reference simulator: on sleds in `mems`, on drives in `disks/open`."""

    root: Path

    @property
    def mems(self) -> Path:
        """Runs on sleds, with their index and traces."""
        return self.root / "mems"

    @property
    def open(self) -> Path:
        """Open arrivals on drives."""
        return self.root / "disks" / "open"


REFERENCE = Collection(ROOT)
BUNDLED = Collection(Path(__file__).parent)
"""Reference runs on generated requests that are part of the project; see `validation.reference.bundle`."""

MISSING_MESSAGE = f"no reference runs in {MEMS} (set SLEDLAB_REFERENCE)"

SCHEDULERS = {
    "FCFS": "fcfs",
    "ELEVATOR_LBN": "scan",
    "CYCLE_LBN": "c-scan",
    "SSTF_LBN": "sstf:distance=blocks",
    "SPTF_OPT": "sptf",
    "WPTF_OPT": "wstf:max_wait_ms={weight}",
    "ASPTF_OPT": "asptf:weight={weight}",
    "SDF_APPROX": "sdf:rule=disksim-approx",
    "SDF_EXACT": "sdf:rule=disksim-exact",
}
"""Schedulers of the reference runs that sledlab has, by their names in the reference.

`weight` is the timeout weight of the run. The three schedulers that order by cylinders are missing: they are
not described precisely enough to implement them.
"""

KINEMATICS = ("disksim-piecewise", "disksim-closed")
LAYOUTS = {6: "row-first", 7: "streaming"}


def is_present() -> bool:
    """Return whether the reference data exists."""
    return (MEMS / "index.csv").is_file()


@dataclass(frozen=True)
class RecordedRun:
    """One recorded run: its line of the index, and its collection."""

    row: dict[str, str]
    collection: Collection = REFERENCE

    @property
    def name(self) -> str:
        """The run's name in the index."""
        return self.row["run"]

    @property
    def family(self) -> str:
        """The family of runs that are compared in the same way: the first word of the name."""
        return {"sweep0": "sweep"}.get(family := self.name.split("_")[0], family)

    @property
    def device(self) -> str:
        """The device: G1, G2, G3 or V1."""
        return self.row["device"]

    @property
    def scheduler(self) -> str | None:
        """Sledlab's name of the run's scheduler, with its parameters; None if sledlab does not have it."""
        name_template = SCHEDULERS.get(self.row["scheduler"])
        return name_template and name_template.format(weight=self.record["system"].get("timeout_weight"))

    @property
    def trace(self) -> Path:
        """The trace that the run replays."""
        return trace(self.row["trace"], self.collection)

    @property
    def mean_response_ms(self) -> float:
        """Mean response time in ms, from the index."""
        return float(self.row["mean_response_ms"])

    @property
    def charged_energy_j(self) -> float:
        """Energy in J that the reference simulator reports."""
        return float(self.row["total_energy_j"])

    @property
    def energy_j(self) -> float:
        """Energy in J that the reference run consumed up to its last completion.

        The reference simulator never charges the idle time before a spin-down; the index holds the sum of
        these times. The simulator runs on until an extra request 100 s after the last one, so the last of
        these idle times lies after the last completion, where a replay has ended.
        """
        final_idle_j = float(self.parameters["inactive_after_ms"] * self.parameters["active_mw"]) / 1e6
        return self.charged_energy_j + float(self.row["uncharged_idle_energy_j"]) - final_idle_j

    @cached_property
    def record(self) -> dict[str, Any]:
        """The recorded run: device, system, results."""
        recorded_run: dict[str, Any] = json.loads(
            (self.collection.mems / "runs" / f"{self.name}.json").read_text()
        )
        return recorded_run

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the device."""
        parameters: dict[str, Any] = self.record["device_parameters"]
        return parameters

    @property
    def changes(self) -> dict[str, Any]:
        """Parameters that differ, or may differ, from those of the device's `-disksim` profile."""
        p = self.parameters
        return {
            "command_overhead_ms": p["command_overhead_ms"],
            "block_transfer_us": round(p["block_transfer_ms"] * 1e3, 9),
            "idle_timeout_ms": p["inactive_after_ms"],
            "startup_ms": p["startup_ms"],
            "spring_factor": p["spring_factor"],
            "kinematics": KINEMATICS[p["seek_function"]],
            "layout": LAYOUTS[p["layout_policy"]],
        }

    def responses_ns(self) -> npt.NDArray[np.int64]:
        """Return the recorded response times in whole nanoseconds, in trace order."""
        with gzip.open(self.collection.mems / "runs" / f"{self.name}.csv.gz", "rt") as file:
            responses_ms = {int(row["id"]): float(row["response_ms"]) for row in csv.DictReader(file)}
        return np.rint(np.array([responses_ms[i] for i in range(len(responses_ms))]) * 1e6).astype(np.int64)


@cache
def runs(collection: Collection = REFERENCE) -> dict[str, RecordedRun]:
    """Return all runs of a collection on sleds, by name."""
    with (collection.mems / "index.csv").open(newline="") as file:
        return {row["run"]: RecordedRun(row, collection) for row in csv.DictReader(file)}


def trace(name: str, collection: Collection = REFERENCE) -> Path:
    """Return the path of a trace of the runs on sleds."""
    return collection.mems / "traces" / f"{name}.txt.gz"


def table(path: Path) -> dict[str, npt.NDArray[np.float64]]:
    """Return a compressed table of numbers, by column."""
    with gzip.open(path, "rt") as file:
        columns = file.readline().strip().split(",")
        rows = np.loadtxt(file, delimiter=",", ndmin=2)
    return dict(zip(columns, rows.T, strict=True))

"""Access to internal parts of sledlab: no other module of the validation imports them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import sledlab as sl
from sledlab import _native
from sledlab.cli import run as command_line
from sledlab.studies.calibration import StatisticRow
from sledlab.studies.calibration.statistics import Statistic
from sledlab.studies.calibration.summary import cells
from sledlab.studies.calibration.targets import Target
from sledlab.studies.drive import demerit_ms
from sledlab_papers.simulator import PARKED_START, calibration, catalog, parameters, random_pairs

__all__ = [
    "PARKED_START",
    "Statistic",
    "StatisticRow",
    "Target",
    "calibration",
    "catalog",
    "cells",
    "command_line",
    "demerit_ms",
    "parameters",
    "random_pairs",
]

Times = npt.NDArray[np.int64]


def replay(
    trace: Path, device: str | Path, *, scheduler: str = "fcfs", requests: bool = False, **overrides: Any
) -> sl.Result:
    """Replay a trace, open, on a device with some parameters changed.

    Arrivals keep the zero of the file, where the angle of a recorded platter counts from.
    """
    return sl.simulate(
        sl.read_trace(trace, start="zero"),
        sl.device(device, **overrides),
        scheduler=scheduler,
        settings=PARKED_START,
        requests=requests,
    )


def replay_measured(device: str, stream: Path, overrides: dict[str, float]) -> tuple[Times, Times]:
    """Return the measured service times of a stream in ns, and those simulated with changed parameters."""
    experiment = _native.Experiment().with_device(device)
    for key, value in overrides.items():
        experiment = experiment.with_setting(f"device.{key}", repr(float(value)))
    _, measured_bytes, simulated_bytes = _native.replay_measured_requests(experiment, str(stream))
    return np.frombuffer(measured_bytes, "<u8").astype(np.int64), np.frombuffer(
        simulated_bytes, "<u8"
    ).astype(np.int64)


@cache
def convert_specs(specs: Path) -> Path:
    """Convert a DiskSim parameter file to a device file that exists as long as this process."""
    device_toml, _ = _native.import_device(specs.read_bytes(), specs.name, None)
    file = Path(_scratch().name) / f"{specs.stem.lower()}.toml"
    file.write_text(device_toml)
    return file


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sledlab-validation-")

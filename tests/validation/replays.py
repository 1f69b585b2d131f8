"""The few calls to sledlab that validation is made of."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import sledlab as sl
from sledlab import _native
from sledlab.devices import describe


def replay(
    trace: Path, device: str | Path, *, scheduler: str = "fcfs", requests: bool = False, **changes: Any
) -> sl.Result:
    """Replays a trace as it arrives, on a device with some parameters changed."""
    return sl.simulate(trace, sl.device(device, **changes), scheduler=scheduler, requests=requests)


@cache
def random_pairs(device: str, count: int, **changes: Any) -> sl.Result:
    """`count` reads of one block at random places, each from where the one before it ended."""
    chosen = sl.device(device, **changes)
    workload = sl.workload("uniform", read_share=1.0)
    return sl.simulate(workload, chosen, replay="closed:1", limit=count, seed=1, requests=True)


@cache
def parameters(device: str) -> dict[str, Any]:
    """Every parameter of a device, and `capacity_blocks`."""
    return describe(_native.Experiment().with_device(device))


@cache
def imported(specs: Path) -> Path:
    """The device of a DiskSim parameter file, as a device file that lives as long as this process."""
    text, _ = _native.import_device(specs.read_text(), specs.name, None)
    file = Path(_scratch().name) / f"{specs.stem.lower()}.toml"
    file.write_text(text)
    return file


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sledlab-validation-")

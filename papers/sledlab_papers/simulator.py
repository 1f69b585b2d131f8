"""Access to the parts of sledlab that have no public name."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from threading import Lock
from typing import Any

import sledlab as sl
from sledlab.cli import run as command_line
from sledlab.display import DisplayedResult
from sledlab.model import catalog
from sledlab.model.device import describe
from sledlab.studies import calibration
from sledlab.studies.seek_map import SeekMap
from sledlab.study.statistics import half_width

from .paths import EXPERIMENTS, PAPERS

__all__ = ["PARKED_START", "SeekMap", "calibration", "catalog", "command_line", "half_width"]

PARKED_START = {"system.start": "parked"}
"""The start of published runs: each device is parked until its first request."""


def experiment(name: str) -> dict[str, Any]:
    """The tables of an experiment's file."""
    return tomllib.loads((EXPERIMENTS / f"{name}.toml").read_text(encoding="utf-8"))


def run_study(name: str, out: Path, options: Sequence[str]) -> None:
    """Execute the runs of an experiment that `out` does not hold yet, by the study named in its file."""
    print(f"{out.name} ...", flush=True)
    kind = experiment(name)["study"]["kind"]
    command = [sys.executable, "-m", "sledlab", kind, str(EXPERIMENTS / f"{name}.toml")]
    # Some experiments have a scheduler of this package.
    paths = filter(None, (str(PAPERS), os.environ.get("PYTHONPATH")))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run(
        [*command, "--out", str(out), *options], check=True, stdout=subprocess.DEVNULL, env=environment
    )


def run_in_worker(name: str, out: Path, options: Sequence[str]) -> None:
    """Run an experiment in a process that is kept for further ones, without writing its page."""
    kind = experiment(name)["study"]["kind"]
    arguments = [kind, str(EXPERIMENTS / f"{name}.toml"), *options, "--out", str(out)]
    error = _workers().submit(_run_without_page, arguments).result()
    if error:
        raise RuntimeError(f"sledlab {' '.join(arguments)}: {error}")


POOL_LOCK = Lock()
"""Lock for the start of worker processes, as experiments run from several threads."""


def _workers() -> ProcessPoolExecutor:
    with POOL_LOCK:
        return _pool()


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))


def _run_without_page(arguments: list[str]) -> str:
    """Run a command and return what it wrote to standard error if it failed."""
    # A page takes longer than the run.
    setattr(DisplayedResult, "report", lambda _self, path, **_: Path(path))  # noqa: B010
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as errors:
        exit_code = command_line(arguments)
    return errors.getvalue() or f"exit code {exit_code}" if exit_code else ""


@cache
def random_pairs(device: str, count: int, **overrides: Any) -> sl.Result:
    """`count` reads of one block at random places, each from where the last one left the device."""
    device_choice = sl.device(device, **overrides)
    workload = sl.workload("uniform", blocks=1, read_share=1.0)
    return sl.simulate(
        workload, device_choice, replay="closed:1", limit=count, seed=1, settings=PARKED_START, requests=True
    )


@cache
def parameters(device: str) -> dict[str, Any]:
    """Every parameter of a device, and `capacity_blocks`."""
    return describe(sl.Experiment().with_device(device))

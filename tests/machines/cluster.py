"""A cluster of Dask on this machine, as a user would start one with two shells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python"
COMMANDS = {name: (sys.executable, "-m", "distributed.cli.dask_" + name) for name in ("scheduler", "worker")}
PATIENCE_S = 60


def wait_until(condition: Callable[[], object], *processes: subprocess.Popen[bytes]) -> None:
    """Wait for a condition while processes run."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s, "it did not happen"
        assert all(process.poll() is None for process in processes), "a process has ended"
        time.sleep(0.02)


@dataclass
class Cluster:
    """A scheduler and its workers, of one thread each.

    Attributes:
        directory: A directory for the scheduler's file and what workers write.
        package: The directory from which they import sledlab.
        file: The scheduler's file.
        workers: The workers.
    """

    directory: Path
    package: Path = PACKAGE
    file: Path = field(init=False)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.file = self.directory / "scheduler.json"
        arguments = (
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(self.file),
        )
        self.scheduler = self._start("scheduler", *arguments)
        wait_until(self._is_described, self.scheduler)

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        dask_settings = {
            # Detects dead workers sooner than Dask's default of 30 s.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s",
            # Killed processes leave temporary files behind.
            "DASK_TEMPORARY_DIRECTORY": str(self.directory),
        }
        env = os.environ | dask_settings | {"PYTHONPATH": str(self.package)}
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*COMMANDS[kind], *arguments], cwd=self.directory, env=env, **streams)

    def _is_described(self) -> bool:
        """Whether the scheduler has written all of its file."""
        try:
            return bool(self.address)
        except (FileNotFoundError, json.JSONDecodeError):
            return False

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Start a worker, without a nanny that would restart it."""
        arguments = (
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--local-directory",
            str(self.directory),
        )
        self.workers.append(self._start("worker", self.address, *arguments))
        return self.workers[-1]

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

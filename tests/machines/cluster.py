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


def until(what: Callable[[], object], *processes: subprocess.Popen[bytes]) -> None:
    """Waits for something while processes run."""
    limit = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < limit, "it did not happen"
        assert all(process.poll() is None for process in processes), "a process has ended"
        time.sleep(0.02)


@dataclass
class Cluster:
    """A scheduler and its workers, of one thread each.

    Attributes:
        place: A directory for the scheduler's file and what workers write.
        package: Where they import sledlab from.
        file: The scheduler's file.
        workers: The workers.
    """

    place: Path
    package: Path = PACKAGE
    file: Path = field(init=False)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.file = self.place / "scheduler.json"
        text = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file))
        self.scheduler = self._start("scheduler", *text)
        until(self.file.exists, self.scheduler)

    def _start(self, kind: str, *text: str) -> subprocess.Popen[bytes]:
        settings = {
            # Detects dead workers sooner than Dask's default of 30 s.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s",
            # Killed processes leave temporary files behind.
            "DASK_TEMPORARY_DIRECTORY": str(self.place),
        }
        env = os.environ | settings | {"PYTHONPATH": str(self.package)}
        out = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([*COMMANDS[kind], *text], cwd=self.place, env=env, **out)

    @property
    def address(self) -> str:
        return str(json.loads(self.file.read_text())["address"])

    def add_worker(self) -> subprocess.Popen[bytes]:
        """One more, without a process that would start it again."""
        text = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self.place))
        self.workers.append(self._start("worker", self.address, *text))
        return self.workers[-1]

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

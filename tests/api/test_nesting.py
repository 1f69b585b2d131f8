"""A plug-in that simulates with itself, in another thread or process, ends in an error."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.runs import nesting

THREADS = """
from concurrent.futures import ThreadPoolExecutor
import sledlab as sl

class Again:
    def __init__(self):
        self.queue = []
    def push(self, request):
        self.queue.append(request.id)
    def __len__(self):
        return len(self.queue)
    def pop(self, now, device):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(again).result()
        return self.queue.pop()

def again():
    return sl.simulate(sl.workload("uniform"), "mems-g2", scheduler="NAME:Again", limit=3)
"""

TOGETHER = """
from threading import Barrier

together = Barrier(40, timeout=60)

class Lcfs:
    def __init__(self):
        self.queue = []
    def push(self, request):
        self.queue.append(request)
    def __len__(self):
        return len(self.queue)
    def pop(self, now, device):
        together.wait()
        return self.queue.pop()
"""
"""A scheduler that waits until 40 runs with it are under way."""

PROCESSES = THREADS.replace(
    "            pool.submit(again).result()",
    "            again = [sys.executable, '-c', 'import NAME; NAME.again()']\n"
    "            pool.submit(subprocess.run, again, check=True).result()",
).replace("import sledlab", "import subprocess, sys\nimport sledlab", 1)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Writes a module that can be imported, here and in processes begun here."""

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text.replace("NAME", name))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))

    return write


def simulate(scheduler: str, **said):
    return sl.simulate(sl.workload("uniform"), "mems-g2", scheduler=scheduler, limit=3, **said)


def test_threads_within_threads_are_refused(module, monkeypatch):
    monkeypatch.setattr(nesting, "MOST_AT_ONCE", 32)
    module("again_in_threads", THREADS)
    with pytest.raises(sl.Error, match="32 runs with plug-ins are under way") as caught:
        simulate("again_in_threads:Again")
    assert "simulate with itself" in caught.value.remedy
    assert nesting.VARIABLE not in os.environ


def test_threads_side_by_side_are_no_recursion(module):
    module("side_by_side", TOGETHER)
    with ThreadPoolExecutor(40) as pool:
        runs = [pool.submit(simulate, "side_by_side:Lcfs") for _ in range(40)]
    assert [run.result().count for run in runs] == [3] * 40
    assert nesting.VARIABLE not in os.environ


@pytest.mark.slow("starts four processes, one within the other")
def test_processes_within_processes_are_refused(module):
    module("again_in_processes", PROCESSES)
    found = subprocess.run(
        [sys.executable, "-c", "import again_in_processes; again_in_processes.again()"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert found.returncode == 1
    assert f"processes run plug-ins within each other, {nesting.DEEPEST} deep" in found.stderr


def test_a_process_that_is_deep_runs_what_has_no_plug_ins():
    code = "import sledlab as sl; print(sl.simulate(sl.workload('uniform'), 'mems-g2', limit=3).count)"
    deep = os.environ | {nesting.VARIABLE: str(nesting.DEEPEST)}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=deep)
    assert found.stdout.split() == ["3"]

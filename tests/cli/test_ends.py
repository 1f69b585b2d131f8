"""Ends of processes: no worker outlives its parent, and completed runs stay cached whatever ends it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cached_runs import cached_bytes

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")

LONG_COMPARISON = (
    "compare",
    "--device",
    "mems-g2",
    "--workload",
    "uniform",
    "--limit",
    3_000_000,
    "--parallel",
    2,
)
LONG_COMPARISON = (
    *LONG_COMPARISON,
    "--scheduler",
    "fcfs,sptf",
    "--speedup",
    "0.1,0.2,0.3,0.4,0.5,0.6",
    "--quiet",
)
RUNS = 12

CODES = {"SIGTERM": 143, "SIGHUP": 129, "SIGINT": 130, "SIGKILL": -9}

PATIENCE_S = 60
"""A guard against hangs; no test measures time."""


def process_fields(process_id: int) -> list[str] | None:
    """Fields of a process from `/proc`, such as state and parent, or None if it has ended."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields


def descendants(parent: int) -> dict[int, str]:
    """Ids of the descendants of a process, with their start times."""
    start_times, known_ids = {}, {parent}
    process_ids = sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    for process_id in process_ids * 2:  # a child may have a smaller id than its parent
        fields = process_fields(process_id)
        if fields is not None and int(fields[1]) in known_ids:
            known_ids.add(process_id)
            start_times[process_id] = fields[19]
    return start_times


def running_processes(start_times: dict[int, str]) -> list[int]:
    return [
        process_id
        for process_id, start_time in start_times.items()
        if (process_fields(process_id) or [""] * 20)[19] == start_time
    ]


def start(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sledlab", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, start_new_session=True, **pipes, **options)


def wait_until(condition, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition() and process.poll() is None and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


def send_and_wait(process: subprocess.Popen[bytes], name: str, *, is_group: bool) -> tuple[int, str]:
    """Send a signal; return exit code and output after all processes have ended."""
    start_times = descendants(process.pid)
    assert start_times
    signal_number = getattr(signal, name)
    (os.killpg if is_group else os.kill)(process.pid, signal_number)
    code = process.wait(timeout=PATIENCE_S)
    deadline_s = time.monotonic() + PATIENCE_S
    while running_processes(start_times) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert running_processes(start_times) == []
    out, err = process.communicate(timeout=PATIENCE_S)  # returns only if no other process holds the pipes
    return code, (out + err).decode()


@pytest.mark.slow("runs three million requests at a time, until it is stopped")
@pytest.mark.parametrize("is_group", [False, True], ids=["parent", "group"])
@pytest.mark.parametrize("name", CODES)
def test_no_process_is_left_and_runs_are_kept(tmp_path, name, is_group):
    process = start(*LONG_COMPARISON, "--out", tmp_path)
    wait_until(lambda: cached_bytes(tmp_path).count(b"\n") >= 2, process)
    assert len(descendants(process.pid)) >= 4  # two workers and their resource tracker
    code, output = send_and_wait(process, name, is_group=is_group)
    assert code == CODES[name]
    saved = cached_bytes(tmp_path).count(b"\n")
    assert saved >= 2
    if name == "SIGKILL":
        assert output == ""
    else:
        saved_clause = f"{saved} of {RUNS} runs are saved in {tmp_path}; the same command continues"
        assert output == f"\ninterrupted: {saved_clause}\n"
    assert not (tmp_path / "study.toml").exists()


@pytest.mark.parametrize(("name", "after_s"), [("SIGTERM", 0), ("SIGKILL", 0.1), ("SIGTERM", 0.3)])
def test_just_started_process_ends_without_children(tmp_path, name, after_s):
    process = start(*LONG_COMPARISON, "--out", tmp_path)
    wait_until(lambda: len(descendants(process.pid)) >= 3, process)
    time.sleep(after_s)
    code, output = send_and_wait(process, name, is_group=False)
    assert code == CODES[name]
    assert output == "" if name == "SIGKILL" else output.strip().startswith("interrupted")


@pytest.mark.slow("runs three million requests at a time, until it is stopped")
def test_ending_processes_needs_no_other_program(tmp_path):
    process = start(*LONG_COMPARISON, "--out", tmp_path, env={**os.environ, "PATH": "/nowhere"})
    wait_until(lambda: len(descendants(process.pid)) >= 4, process)
    code, output = send_and_wait(process, "SIGTERM", is_group=False)
    assert (code, output.startswith("\ninterrupted: ")) == (143, True)


WORKER = """
import os, pathlib, sys, time
from sledlab.study.worker import begin
sys.platform = sys.argv[1]
begin(sys.path, os.getppid())
pathlib.Path(sys.argv[2]).touch()
time.sleep(60)
"""

PARENT = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"


@pytest.mark.parametrize("platform", ["linux", "other"])
def test_process_ends_with_its_parent(tmp_path, platform):
    command = [sys.executable, "-c", PARENT, WORKER, platform, tmp_path / "ready"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until((tmp_path / "ready").exists, process)
    assert send_and_wait(process, "SIGKILL", is_group=False) == (-9, "")


def test_terminated_run_keeps_partial_results(tmp_path):
    arguments = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 30_000_000)
    process = start(*arguments, "--out", tmp_path, "--json")
    wait_until(lambda: list(tmp_path.glob(".part-*-requests.parquet")), process)
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (143, b"")
    assert b'"interrupted": true' in out
    assert (tmp_path / "requests.parquet").exists()
    assert not list(tmp_path.glob(".part-*"))


@pytest.mark.slow("writes 2 million requests and a page")
def test_ignored_signal_stays_ignored(tmp_path):
    options = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    arguments = ("simulate", "--device", "mems-g2", "--workload", "uniform", "--limit", 2_000_000)
    process = start(*arguments, "--out", tmp_path, **options)
    wait_until(lambda: list(tmp_path.glob(".part-*-requests.parquet")), process)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0


SCRIPT = """
import sledlab as sl
options = {"scheduler": "fcfs", "speedup": [0.1, 0.2, 0.3, 0.4], "limit": 3_000_000, "parallel": 2}
sl.compare(sl.workload("uniform"), "mems-g2", out="race", **options)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_processes_of_a_script_end_with_it(tmp_path, name):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", SCRIPT]
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **pipes)
    wait_until(lambda: len(descendants(process.pid)) >= 4, process)
    time.sleep(0.5)
    assert send_and_wait(process, name, is_group=False) == (-getattr(signal, name), "")


@pytest.mark.parametrize(
    "arguments",
    [
        # Half a billion pages, one after another.
        ("simulate", "--device", "ssd-tlc", "--outside", "clip", "--quiet"),
        ("trace", "hits", "--replacement", "arc", "--cache-mb", "100", "--segment-kb", "0.5"),
    ],
    ids=["simulate", "hits"],
)
def test_work_on_one_long_request_is_interrupted(arguments, tmp_path):
    trace = tmp_path / "long.csv"
    lines = [f"{number},{'RW'[number % 2]},0,{2**41 - 512}" for number in range(16)]
    trace.write_text("\n".join(["time_us,op,offset_bytes,length_bytes", *lines, ""]))
    command, *options = arguments
    trace_arguments = ("--trace", trace) if command == "simulate" else (options.pop(0), trace)
    process = start(command, *trace_arguments, *options)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130
    assert "Traceback" not in process.communicate()[1].decode()

"""Workers of a cluster that die, run another build, or lack a file or plug-in."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import distributed
import pytest
import sledlab as sl
from sledlab.study.executor.task import Answer, Task

from tests.cached_runs import cached_bytes, cached_lines
from tests.machines.cluster import PACKAGE, Cluster, wait_until

COMPARE = ("compare", "--device", "mems-g2", "--workload", "uniform", "--scheduler", "fcfs,sptf", "--quiet")
LONG_COMPARISON = (*COMPARE, "--limit", "120000", "--speedup", "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8")
"""Sixteen runs, long enough to kill processes meanwhile."""


def start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sledlab", *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, start_new_session=True, **streams)


def run_to_end(*arguments: object) -> None:
    process = start(*arguments)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err


def race(**options: object) -> sl.Comparison:
    defaults = {"scheduler": ["fcfs"], "speedup": [1, 2], "limit": 200, **options}
    return sl.compare(
        defaults.pop("source", sl.workload("uniform")), defaults.pop("device", "mems-g2"), **defaults
    )


@pytest.fixture(scope="module")
def expected_table(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The table of runs of the long comparison."""
    out = tmp_path_factory.mktemp("whole")
    run_to_end(*LONG_COMPARISON, "--parallel", 2, "--out", out)
    return (out / "runs.csv").read_bytes()


@pytest.mark.slow("runs millions of requests on a cluster")
def test_killed_worker_changes_no_result(cluster, tmp_path, expected_table) -> None:
    worker = cluster.add_worker()
    with distributed.Client(cluster.address, set_as_default=False) as client:
        wait_until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == 3, worker)
    process = start(*LONG_COMPARISON, "--cluster", cluster.address, "--out", tmp_path)
    wait_until(lambda: len(cached_lines(tmp_path)) >= 4, process)
    worker.send_signal(signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert b"Traceback" not in err
    assert (tmp_path / "runs.csv").read_bytes() == expected_table


@pytest.mark.slow("runs millions of requests on a cluster")
def test_killed_client_resumes_without_repeating_cached_runs(cluster, tmp_path, expected_table) -> None:
    process = start(*LONG_COMPARISON, "--cluster", cluster.file, "--out", tmp_path)
    wait_until(lambda: len(cached_lines(tmp_path)) >= 4, process)
    process.kill()
    process.communicate()
    cached_before = cached_bytes(tmp_path)
    run_to_end(*LONG_COMPARISON, "--cluster", cluster.file, "--out", tmp_path)
    assert (tmp_path / "runs.csv").read_bytes() == expected_table
    keys = [json.loads(line)["key"] for line in cached_lines(tmp_path)]
    assert len(keys) == len(set(keys)) == 16
    assert cached_before in cached_bytes(tmp_path)


def running_processes(group: int) -> list[int]:
    """Ids of the processes of a group that still run."""
    process_ids = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[2]) == group and fields[0] not in "ZX":
            process_ids.append(int(path.parent.name))
    return process_ids


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.slow("runs millions of requests on a cluster, until it is stopped")
def test_interrupt_cancels_waiting_runs_and_keeps_the_cluster(cluster, tmp_path) -> None:
    process = start(*LONG_COMPARISON, "--seed", "1..4", "--cluster", cluster.file, "--out", tmp_path)
    wait_until(lambda: len(cached_lines(tmp_path)) >= 2, process)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert re.fullmatch(rb"\ninterrupted: \d+ of 64 runs are saved in .*; the same command continues\n", err)
    time.sleep(2)
    assert running_processes(process.pid) == []
    with distributed.Client(cluster.address, set_as_default=False) as client:
        task_keys = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        assert [key for key in task_keys if key.startswith("run-")] == []
        assert len(client.scheduler_info(n_workers=-1)["workers"]) >= 2


@pytest.mark.slow("starts a cluster of its own")
def test_worker_of_another_build_is_refused(sledlab, tmp_path) -> None:
    package = tmp_path / "elsewhere" / "sledlab"
    ignored = shutil.ignore_patterns("*.so", "__pycache__", "sample", "experiments")
    shutil.copytree(PACKAGE / "sledlab", package, ignore=ignored)
    for name in ("sample", "experiments", "_native.abi3.so"):
        (package / name).symlink_to(PACKAGE / "sledlab" / name)
    with (package / "runs" / "execute.py").open("a") as file:
        file.write("# another build\n")
    cluster = Cluster(tmp_path, package.parent)
    try:
        cluster.add_worker()
        answer = sledlab(*COMPARE, "--limit", 50, "--speedup", 1, "--cluster", cluster.file)
    finally:
        cluster.end()
    assert (answer.code, answer.out) == (2, "")
    assert "error: worker tcp://127.0.0.1:" in answer.err
    assert f" runs another build of sledlab ({sl.__version__} " in answer.err
    assert "help: install the same wheel there" in answer.err


def test_missing_dask_scheduler_is_reported_with_remedy(sledlab, monkeypatch) -> None:
    monkeypatch.setattr("sledlab.study.executor.dask.CONNECT_TIMEOUT", "200ms")
    with socket.socket() as free_port:
        free_port.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free_port.getsockname()[1]}"
    sledlab(*COMPARE, "--cluster", address).assert_refused(f"no Dask scheduler answers at `{address}`")


@pytest.mark.slow("starts a cluster of its own")
def test_waiting_for_workers_is_reported(tmp_path) -> None:
    cluster = Cluster(tmp_path)
    try:
        command = (
            *COMPARE,
            "--limit",
            50,
            "--speedup",
            1,
            "--cluster",
            cluster.file,
            "--out",
            tmp_path / "race",
        )
        process = start(*command)
        assert process.stderr is not None
        warning = process.stderr.readline()
        cluster.add_worker()
        _, err = process.communicate(timeout=60)
    finally:
        cluster.end()
    assert process.returncode == 0
    assert warning == b"warning: the cluster has no workers yet; runs wait for them\n"
    assert err == b""


def test_without_dask_there_is_a_remedy(sledlab, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(vars(sys.modules["sledlab.lazy"].distributed), "Client", raising=False)
    sledlab(*COMPARE, "--cluster", "tcp://127.0.0.1:1").assert_refused("pip install 'sledlab[cluster]'")


def test_the_environment_names_the_cluster_and_options_win(cluster, monkeypatch, refused) -> None:
    monkeypatch.setenv("SLEDLAB_CLUSTER", "nowhere.json")
    with refused("there is no scheduler file `nowhere.json`"):
        race()
    assert race(parallel=1).runs.height == 2
    with distributed.Client(cluster.address, set_as_default=False) as client:
        assert race(cluster=client).runs.height == 2
        assert client.status == "running"


TRACE = "time_us,op,offset_bytes,length_bytes\n0,R,0,4096\n900,W,8192,512\n"


def test_traces_are_sent_to_workers(cluster, tmp_path, monkeypatch) -> None:
    file = tmp_path / "app.csv"
    file.write_text(TRACE)
    local_runs = race(source=file, parallel=1).runs
    monkeypatch.chdir(tmp_path)
    assert race(source="app.csv", cluster=cluster.file).runs.equals(local_runs)  # wherever workers run
    assert race(source="app.csv", cluster=cluster.file, send_trace=True).runs.equals(local_runs)
    assert list(cluster.directory.glob("**/sledlab-traces/*app.csv"))
    assert race(source=sl.trace(sl.read_trace(file).frame()), cluster=cluster.file).runs.equals(local_runs)
    assert race(source="sample:oltp-bank-a", cluster=cluster.file).runs.height == 2


class RemoteExecutor:
    """An executor with one worker on another machine, which calls `change` before each run."""

    def __init__(self, change: Callable[[], object], hosts: tuple[str, ...] = ("n7",)) -> None:
        self.change, self.hosts, self.submitted = change, hosts, 0

    def submit(self, run: Callable[[Task], Answer], task: Task) -> Future[Answer]:
        self.change()
        self.submitted += 1
        host = self.hosts[self.submitted % len(self.hosts)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("platform.node", lambda: host)
            future: Future[Answer] = Future()
            future.set_result(run(task))
        return future


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.unlink(missing_ok=True), "n7 cannot read {}"),
        (lambda file: file.write_text(TRACE + "1000,R,0,512\n"), "n7 has another file under the name {}"),
    ],
    ids=["missing", "another"],
)
def test_missing_trace_error_names_the_machine(tmp_path, change, message) -> None:
    file = tmp_path / "app.csv"
    file.write_text(TRACE)
    with pytest.raises(sl.Error) as caught:
        race(source=file, executor=RemoteExecutor(lambda: change(file)), speedup=[1])
    assert caught.value.message == message.format(file)
    assert caught.value.remedy == "put it on a shared file system, or add --send-trace"


PLUG_IN_SOURCE = """
class First(list):
    def push(self, request):
        self.append(request)

    def pop(self, now_ns, device):
        return super().pop(0)
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.unlink(missing_ok=True), "n7 cannot import the plug-in `sledlab_far`"),
        (
            lambda file: file.write_text(PLUG_IN_SOURCE + "#\n"),
            "n7 has another version of the plug-in `sledlab_far`",
        ),
        (lambda file: None, None),
    ],
    ids=["missing", "another", "the same"],
)
def test_missing_plug_in_error_names_the_machine(tmp_path, monkeypatch, change, message) -> None:
    file = tmp_path / "sledlab_far.py"
    file.write_text(PLUG_IN_SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        options = {"scheduler": "sledlab_far:First", "speedup": [1]}
        if message is None:
            assert race(executor=RemoteExecutor(lambda: None), **options).runs.height == 1
            return
        with pytest.raises(sl.Error) as caught:
            race(executor=RemoteExecutor(lambda: change(file)), **options)
    finally:
        sys.modules.pop("sledlab_far", None)
    assert caught.value.message == message
    assert "PYTHONPATH" in caught.value.remedy


def test_summary_names_workers_and_results_do_not(tmp_path, capsys) -> None:
    race(executor=RemoteExecutor(lambda: None, ("n1", "n2")), speedup=[1, 2, 3], out=tmp_path / "two")
    assert "3 runs executed on n1 (1) and n2 (2)" in capsys.readouterr().err
    race(executor=RemoteExecutor(lambda: None), speedup=[1, 2, 3], out=tmp_path / "one")
    assert "ran on" not in capsys.readouterr().err
    for name in ("runs.csv", "summary.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()

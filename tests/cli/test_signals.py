"""Signals while modules are imported, traces are read, queries run or devices are served."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import polars
import pytest
import sledlab
from sledlab.emulation.client import WRITE, Client

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs signals of POSIX")

CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}

PATIENCE_S = 120
"""A guard against hangs; no test measures time."""


def start(*command, **environment):
    return subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
        start_new_session=True,
    )


def finish(process):
    """Return exit code and output; a process that hangs is killed, and fails the test."""
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        pytest.fail(f"the process did not end: {stdout + stderr}")
    return process.returncode, stdout.decode(), stderr.decode()


def wait_until(condition, process):
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline_s, "the process does not reach the state of the test"
        time.sleep(0.02)


SENDING = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"


@pytest.mark.parametrize("module", ["inspect", "click"])
@pytest.mark.parametrize("start_method", ["script", "module"])
def test_ctrl_c_during_first_imports_exits_without_output(tmp_path, module, start_method):
    (tmp_path / f"{module}.py").write_text(SENDING)
    script = tmp_path / "bin" / "sledlab"
    script.parent.mkdir()
    script.write_text("from sledlab.cli import main\nmain()\n")
    program = [script] if start_method == "script" else ["-m", "sledlab"]
    python_path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    process = start(sys.executable, *program, "list", "device", PYTHONPATH=python_path)
    assert finish(process) == (130, "", "")


def test_import_of_the_library_leaves_ctrl_c_alone():
    program = "import signal, sledlab; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert finish(start(sys.executable, "-c", program)) == (0, "True\n", "")


LATE_IMPORT = """
import sys
sys.path.insert(0, sys.argv[1])
from sledlab.stop_signals import StopSignal, stop_on_signals
with stop_on_signals():
    try:
        import slow_module
        while True:
            pass
    except StopSignal as stopped:
        print(stopped.number, sys.modules["slow_module"].complete)
"""

SLOW_MODULE = """
import os, signal, weakref

class Lock:
    pass

def callback(_):
    os.kill(os.getpid(), getattr(signal, {name!r}))

lock = Lock()
reference = weakref.ref(lock, callback)  # Python would lose an exception of the callback
del lock
complete = True
"""


@pytest.mark.parametrize("name", CODES)
def test_signal_during_late_import_is_raised_after_it(tmp_path, name):
    (tmp_path / "slow_module.py").write_text(SLOW_MODULE.format(name=name))
    process = start(sys.executable, "-c", LATE_IMPORT, tmp_path)
    assert finish(process) == (0, f"{int(getattr(signal, name))} True\n", "")


CLIENT = """
import os, pathlib, signal, sys, time
from sledlab.emulation.client import WRITE, Client
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN if sys.argv[2] == "stubborn" else signal.SIG_DFL)
with Client(os.environ["SLEDLAB_SOCKET"]) as client:
    client.send_request(WRITE, 1, 0, bytes(4096))
    client.read_reply()
pathlib.Path(sys.argv[1], "ready").write_text(f"{os.getpid()} {os.environ['SLEDLAB_SOCKET']}")
time.sleep(600)
"""


FORBIDDEN = 'raise RuntimeError("{name} must not be imported")\n'
"""A module that replaces a library for figures, whose import takes seconds."""


@pytest.mark.slow("serves a device")
@pytest.mark.parametrize(
    ("name", "client"),
    [*((name, "simple") for name in CODES), ("SIGINT", "stubborn"), ("SIGTERM", "stubborn")],
)
@pytest.mark.parametrize("device", ["ram", "ram,mems-g2"])
def test_signal_to_server_ends_its_command_without_drawing(tmp_path, name, client, device):
    (tmp_path / "modules").mkdir()
    for module in ("matplotlib", "jinja2"):
        (tmp_path / "modules" / module).with_suffix(".py").write_text(FORBIDDEN.format(name=module))
    python_path = os.pathsep.join([str(tmp_path / "modules"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", CLIENT, tmp_path, client]
    process = start(
        *(sys.executable, "-m", "sledlab", "serve", "--device", device, "--out", tmp_path / "out", "--json"),
        *("--", *command),
        PYTHONPATH=python_path,
    )
    ready = tmp_path / "ready"
    wait_until(lambda: ready.exists() and ready.read_text(), process)
    process_id, socket = ready.read_text().split()
    process.send_signal(getattr(signal, name))
    code, out, err = finish(process)
    assert (code, err) == (CODES[name], ""), err
    assert not Path(f"/proc/{process_id}").exists()
    assert not Path(socket).exists()
    is_one_device = device == "ram"
    assert not is_one_device or json.loads(out)["write"]["requests"] == 1
    results = tmp_path / "out" if is_one_device else tmp_path / "out" / "ram"
    names = {each.name for each in results.iterdir()}
    assert {"emulation.json", "emulation.parquet", "trace.parquet", "summary.json"} <= names
    assert "report.html" not in names
    report = sledlab.open(results).report(results / "report.html")
    assert "Timing accuracy" in report.read_text()


@pytest.mark.slow("serves a device and writes its report")
def test_ctrl_c_to_server_without_command_writes_report(tmp_path):
    process = start(sys.executable, "-m", "sledlab", "serve", "--device", "ram", "--out", tmp_path / "out")
    socket = process.stdout.readline().decode().strip().partition("socket=")[2]
    with Client(socket) as client:
        client.send_request(WRITE, 1, 0, bytes(4096))
        client.read_reply()
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 0, err
    assert "Timing accuracy" in (tmp_path / "out" / "report.html").read_text()


SLOW_END = """
import pathlib, signal, sys, time

def end(number, frame):
    time.sleep(1.5)
    pathlib.Path(sys.argv[1]).write_text("complete")
    sys.exit()

signal.signal(signal.SIGTERM, end)
signal.pause()
"""


@pytest.mark.slow("serves a device for seconds")
def test_command_may_end_slowly_after_the_duration(tmp_path):
    marker = tmp_path / "result"
    arguments = (
        "serve",
        "--device",
        "ram",
        "--json",
        "--duration",
        2,
        "--",
        sys.executable,
        "-c",
        SLOW_END,
        marker,
    )
    code, _, err = finish(start(sys.executable, "-m", "sledlab", *arguments))
    assert (code, err) == (0, "")
    assert marker.read_text() == "complete"


MEMBERS = 40
"""Members of a compressed file, each of a gigabyte of empty lines: reading takes longer than a signal."""


@pytest.fixture(scope="module")
def endless_trace(tmp_path_factory):
    """A trace without requests that takes minutes to read."""
    file = tmp_path_factory.mktemp("endless") / "empty.csv.gz"
    member = gzip.compress(b"\n" * 2**20, 1)
    with file.open("wb") as out:
        out.write(gzip.compress(b"time_us,op,offset_bytes,length_bytes\n"))
        out.write(member * 2**10 * MEMBERS)
    return file


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize(
    "command", [["trace", "info"], ["simulate", "--device", "ram", "--trace"], ["trace", "convert"]], ids=str
)
def test_signal_stops_reading_of_a_trace_without_requests(tmp_path, endless_trace, command, name):
    outputs = [tmp_path / "out.csv"] if command[-1] == "convert" else []
    process = start(sys.executable, "-m", "sledlab", *command, endless_trace, *outputs)
    wait_until(lambda: has_open(process, endless_trace), process)
    process.send_signal(getattr(signal, name))
    code, out, err = finish(process)
    assert (code, out, err.strip()) == (CODES[name], "", "interrupted")
    assert list(tmp_path.iterdir()) == []


def has_open(process, file):
    descriptors = Path(f"/proc/{process.pid}/fd")
    with suppress(OSError):  # the process may close the file meanwhile
        return any(os.readlink(each) == str(file) for each in descriptors.iterdir())
    return False


def cpu_s(process):
    """Return the processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


QUERY = (
    "select count(*) as n from region a, range(100000) b, range(1000000) c where b.range * c.range % 7 = 3"
)


QUERY_CPU_S = 2
"""Processor time after which the query is running: its preparation takes less than a second."""


@pytest.mark.slow("imports DuckDB and polars in each process")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signal_stops_a_query(tmp_path, name):
    pytest.importorskip("duckdb", reason="make setup")
    polars.DataFrame({"r": [1, 2]}).write_parquet(tmp_path / "region.parquet")
    (tmp_path / "slow.sql").write_text(QUERY)
    arguments = (
        "smart",
        "--query",
        tmp_path / "slow.sql",
        "--tables",
        tmp_path,
        "--device",
        "ram",
        "--node-count",
        1,
    )
    process = start(sys.executable, "-m", "sledlab", *arguments, TMPDIR=str(tmp_path))
    wait_until(lambda: list(tmp_path.glob("sledlab-*")), process)
    cpu_at_start_s = cpu_s(process)
    wait_until(lambda: cpu_s(process) > cpu_at_start_s + QUERY_CPU_S, process)
    process.send_signal(getattr(signal, name))
    code, out, err = finish(process)
    assert (code, out) == (CODES[name], "")
    assert err.strip().startswith("interrupted")
    assert not list(tmp_path.glob("sledlab-*"))

"""Real programs use an emulated device, and a replay gives the replies that they received."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.emulation.client import REQUEST, REQUEST_MAGIC, WRITE, Client
from sledlab.emulation.recording import RecordedOperations

from tests.require import need

pytestmark = pytest.mark.slow("programs use devices for seconds, and servers keep processors awake meanwhile")

SIZE = "4M"


def fio(uri: str, **settings: object) -> dict:
    """Run fio, and return the report of its job."""
    options = {
        "name": "job",
        "ioengine": "nbd",
        "uri": uri,
        "size": SIZE,
        "randseed": 7,
        "verify_state_save": 0,
        **settings,
    }
    arguments = [f"--{name}={value}" for name, value in options.items() if value is not None]
    command = [need("fio"), *arguments, "--output-format=json", "--group_reporting"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr + completed.stdout
    report = json.loads(completed.stdout[completed.stdout.index("{") :])
    return report["jobs"][0]


def assert_loop_closed(server: sl.Server) -> None:
    loop = server.emulation.closed_loop
    assert loop is not None
    assert loop.operations > 0
    assert loop.different == 0
    assert loop.same_results


@pytest.mark.parametrize(("depth", "jobs"), [(1, 1), (32, 1), (4, 8)])
def test_fio_verifies_its_writes(depth, jobs):
    with sl.serve("mems-g2", scheduler="sptf", time_scale=0.1) as server:
        job = fio(
            server.uri,
            rw="randrw",
            bs="4k",
            iodepth=depth,
            numjobs=jobs,
            offset_increment=SIZE,
            io_size="1M",
            verify="crc32c",
            fsync=16,
        )
    assert job["error"] == 0
    assert_loop_closed(server)
    counts = server.emulation.server["counts"]
    assert counts["bytes_read"] == job["read"]["io_bytes"]
    assert counts["bytes_written"] == job["write"]["io_bytes"]
    assert counts["flushes"] >= job["sync"]["total_ios"] > 0


def test_qemu_tools_read_their_writes(run, tmp_path):
    qemu_io, qemu_img = need("qemu-io"), need("qemu-img")
    image = tmp_path / "image"
    image.write_bytes(os.urandom(1 << 20) + bytes(1 << 20) + os.urandom(123 * 512))
    with sl.serve("mems-g2", time_scale=0.1) as server:
        steps = (
            "write -P 0xab 4096 65536",
            "read -P 0xab 4096 65536",
            "write -f -P 7 1000 24",
            "read -P 7 1000 24",
        )
        arguments = ("write -z 8192 4096", "read -P 0 8192 4096", "discard 0 1M", "read -P 0 0 1M", "flush")
        printed = run(
            qemu_io,
            "-f",
            "raw",
            *(argument for step in (*steps, *arguments) for argument in ("-c", step)),
            server.uri,
        )
        assert "Pattern verification failed" not in printed
        run(qemu_img, "convert", "-n", "-f", "raw", "-O", "raw", image, server.uri)
        image_options = f"driver=raw,size={image.stat().st_size},file.driver=nbd,file.server.type=unix"
        run(
            qemu_img,
            "compare",
            "--image-opts",
            f"{image_options},file.server.path={server.socket}",
            f"driver=raw,file.filename={image}",
        )
    assert_loop_closed(server)


def test_libnbd_s_tools_copy_both_ways(run, tmp_path):
    nbdcopy, nbdinfo = need("nbdcopy"), need("nbdinfo")
    with sl.serve("ram", settings={"device.capacity_mb": 3}) as server:
        contents = os.urandom(int(run(nbdinfo, "--size", server.uri)))
        (tmp_path / "there").write_bytes(contents)
        run(nbdcopy, tmp_path / "there", server.uri)
        run(nbdcopy, server.uri, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == contents
    assert_loop_closed(server)


SYSTEMS = {
    "sled": {"device": "mems-g2", "scheduler": "sptf"},
    "disk": {"device": "atlas-10k"},
    "merging": {"device": "mems-g2", "merge": "chains", "scheduler": "c-look"},
    "raid5": {"device": "mems-g2", "system": sl.system("raid5", devices=5)},
    "cached": {"device": "mems-g2", "cache": sl.cache("write-back", volatile=True)},
    "hybrid": {"device": "atlas-10k", "hybrid": "caching-disk"},
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("scale", [0.5, 10])
def test_served_times_equal_replayed_times(name, scale, tmp_path):
    options = dict(SYSTEMS[name])
    out = tmp_path / "run"
    with sl.serve(options.pop("device"), **options, time_scale=scale, out=out) as server:
        fio(server.uri, rw="randrw", bs="4k", iodepth=8, time_based=1, runtime=1, fsync=8, size="64M")
    assert_loop_closed(server)
    sl.simulate(experiment=out / "experiment.toml", out=tmp_path / "again")
    for file in ("summary.json", "requests.parquet"):
        assert (out / file).read_bytes() == (tmp_path / "again" / file).read_bytes()


def serve(*arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "sledlab", "serve", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_different_replay_is_reported(monkeypatch):
    """Recorded requests are shifted by a nanosecond, so completions and results must differ."""
    read = RecordedOperations.read

    def read_changed(path, power_failures):
        (recorded,) = read(path, power_failures)
        recorded.records["stamp_ns"][5:] += 1
        return [recorded]

    monkeypatch.setattr(RecordedOperations, "read", read_changed)
    with sl.serve("mems-g2", host_us=0) as server:
        fio(server.uri, rw="randread", bs="4k", number_ios=20)
    loop = server.emulation.closed_loop
    assert not loop.closed
    assert loop.different > 0
    assert not loop.same_results


def test_command_ends_after_the_duration():
    start_s = time.monotonic()
    with serve("--device", "ram", "--duration", "1", "--", "sleep", "60") as process:
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert time.monotonic() - start_s < 30


def test_command_receives_device_and_sets_exit_code(tmp_path):
    script = 'test -S "$SLEDLAB_SOCKET" && echo "$SLEDLAB_URI $SLEDLAB_TIME_SCALE" && exit 7'
    with serve("--device", "ram", "--time-scale", "2", "--", "sh", "-c", script) as process:
        printed, _ = process.communicate(timeout=60)
    assert process.returncode == 7
    assert printed.splitlines()[0].startswith("nbd+unix:")
    assert printed.splitlines()[0].endswith(" 2")


def test_killed_server_keeps_acknowledged_writes_in_file(run, tmp_path):
    qemu_io, data = need("qemu-io"), tmp_path / "disk.img"
    socket = tmp_path / "s"
    with serve("--device", "mems-g2", "--data", str(data), "--socket", str(socket)) as server:
        while not socket.exists():
            time.sleep(0.01)
        uri = f"nbd+unix:///?socket={socket}"
        run(qemu_io, "-f", "raw", "-c", "write -P 0x5a 1M 64k", uri)
        server.send_signal(signal.SIGKILL)
    with data.open("rb") as file:
        file.seek(1 << 20)
        assert file.read(1 << 16) == b"\x5a" * (1 << 16)
    # A leftover socket does not block a new server.
    with serve("--device", "mems-g2", "--data", str(data), "--socket", str(socket)) as server:
        assert server.stdout.readline().strip() == uri
        run(qemu_io, "-f", "raw", "-c", "read -P 0x5a 1M 64k", uri)
        server.send_signal(signal.SIGINT)
        printed, stderr = server.communicate(timeout=30)
    assert server.returncode == 0, stderr
    assert "timing accuracy" in printed


def start_untimed_server(data: Path, socket: Path) -> subprocess.Popen[str]:
    """Start an untimed server on a file, and wait until it accepts clients."""
    arguments = ("--device", "ram", "--untimed", "--data", str(data), "--socket", str(socket))
    server = serve(*arguments)
    assert server.stdout is not None
    assert server.stdout.readline()
    return server


def write_request(number: int, offset: int, payload: bytes) -> bytes:
    return REQUEST.pack(REQUEST_MAGIC, 0, WRITE, number, offset, len(payload)) + payload


@pytest.mark.parametrize("sent_bytes", [0, 1, 1000, 4095])
def test_killed_server_leaves_no_incomplete_write(sent_bytes, tmp_path):
    data, socket = tmp_path / "disk.img", tmp_path / "s"
    with start_untimed_server(data, socket) as server, Client(socket) as client:
        client.send(write_request(1, 0, b"1" * 8192))
        assert client.read_reply() == 1
        # The reply to the third write shows that the server has received the first bytes of the fourth.
        partial_request = write_request(4, 512, b"2" * 4096)[: REQUEST.size + sent_bytes]
        client.send(write_request(3, 8192, b"3" * 512) + partial_request)
        assert client.read_reply() == 3
        server.send_signal(signal.SIGKILL)
    with data.open("rb") as file:
        assert file.read(8704) == b"1" * 8192 + b"3" * 512


@pytest.mark.parametrize("sent_bytes", [512 << 10, 1 << 20])
def test_killed_server_leaves_whole_sectors(sent_bytes, tmp_path):
    """The signal arrives while the server receives or stores the last write."""
    data, socket, length = tmp_path / "disk.img", tmp_path / "s", 1 << 20
    with start_untimed_server(data, socket) as server, Client(socket) as client:
        client.send(write_request(1, 0, b"1" * length))
        assert client.read_reply() == 1
        client.send(write_request(2, 0, b"2" * length)[: REQUEST.size + sent_bytes])
        server.send_signal(signal.SIGKILL)
    with data.open("rb") as file:
        sectors = {file.read(512) for _ in range(length // 512)}
    possible_sectors = {b"1" * 512, b"2" * 512} if sent_bytes == length else {b"1" * 512}
    assert sectors <= possible_sectors


def test_scratch_copy_leaves_the_file_unchanged(run, tmp_path):
    qemu_io, data = need("qemu-io"), tmp_path / "disk.img"
    with sl.serve("mems-g2", data=data) as server:
        run(qemu_io, "-f", "raw", "-c", "write -P 1 0 4k", server.uri)

    def read_start():
        with data.open("rb") as file:
            return file.read(8192)

    start_before = read_start()
    assert start_before[:4096] == b"\x01" * 4096
    with sl.serve("mems-g2", data=data, scratch=True) as server:
        run(qemu_io, "-f", "raw", "-c", "read -P 1 0 4k", "-c", "write -P 2 0 4k", server.uri)
    assert read_start() == start_before


class Sleeps(sl.Scheduler):
    """First come, first served, by a scheduler that thinks for 8 ms."""

    def __init__(self) -> None:
        self.queue = []

    def push(self, request):
        self.queue.append(request)

    def pop(self, now_ns, device):
        time.sleep(0.008)
        return self.queue.pop(0)

    def __len__(self):
        return len(self.queue)


def test_sleeping_python_scheduler_is_named_as_cause():
    with sl.serve("mems-g2", scheduler=f"{__name__}:Sleeps") as server:
        fio(server.uri, rw="randread", bs="4k", number_ios=50)
    emulation = server.emulation
    assert not emulation.kept_time
    assert emulation.chief_cause == "model"
    assert emulation.late_replies >= 45
    assert_loop_closed(server)


def test_stopped_server_is_reported(tmp_path):
    socket = tmp_path / "s"
    with serve("--device", "mems-g2", "--json", "--socket", str(socket), "--duration", "30") as server:
        while not socket.exists():
            time.sleep(0.01)
        time.sleep(0.5)
        command = [
            need("fio"),
            "--name=j",
            "--ioengine=nbd",
            f"--uri=nbd+unix:///?socket={socket}",
            "--rw=randread",
        ]
        with subprocess.Popen(
            [*command, "--bs=4k", f"--size={SIZE}", "--time_based", "--runtime=3"], stdout=subprocess.PIPE
        ) as client:
            time.sleep(1)  # until fio sends requests: an idle server has no stalls
            for _ in range(5):
                server.send_signal(signal.SIGSTOP)
                time.sleep(0.05)
                server.send_signal(signal.SIGCONT)
                time.sleep(0.2)
            client.wait()
        server.send_signal(signal.SIGINT)
        printed, stderr = server.communicate(timeout=60)
    assert server.returncode == 0, stderr
    stalls = json.loads(printed)["emulation"]["server"]["stalls"]
    long_stalls = [stall for stall in stalls["listed"] if stall["length_ns"] > 30e6]
    assert len(long_stalls) == 5
    assert sum(stall["length_ns"] for stall in long_stalls) == pytest.approx(250e6, rel=0.3)


def test_nothing_is_left_after_an_error(tmp_path):
    thread_count = len(os.listdir("/proc/self/task"))
    sockets = []

    def fail(server):
        sockets.append(Path(server.socket))
        assert sockets[0].stat().st_mode & 0o777 == 0o600
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), sl.serve("mems-g2") as server:
        fail(server)
    assert not sockets[0].exists()
    assert len(os.listdir("/proc/self/task")) <= thread_count
    with pytest.raises(sl.Error, match="both a socket"):
        sl.serve("mems-g2", socket=tmp_path / "s", tcp="127.0.0.1:0")
    with pytest.raises(sl.Error, match=r"loopback|reach"):
        sl.serve("mems-g2", tcp="0.0.0.0:10809")


def test_device_file_is_created_by_nbdfuse(tmp_path):
    need("nbdfuse")
    (tmp_path / "disk").mkdir()
    try:
        with open("/dev/fuse", "rb"):
            pass
    except OSError:
        with pytest.raises(sl.Error, match="nbdfuse ended"):
            sl.serve("mems-g2", attach=f"file:{tmp_path / 'disk'}")
        return
    data = os.urandom(1 << 20)
    attached = sl.serve("mems-g2", attach=f"file:{tmp_path / 'disk'}", time_scale=0.1)
    with attached as server, open(server.disk, "r+b") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        assert file.read(len(data)) == data
        file.close()
    assert not os.path.ismount(tmp_path / "disk")
    assert_loop_closed(server)


def test_report_starts_with_the_timing_verdict(sledlab_program):
    command = [*sledlab_program, "serve", "--device", "ram", "--exercise", "randread", "--duration", "0.5"]
    heading, verdict, *_ = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert heading.split("  ")[0] == "ram served over NBD"
    assert verdict.startswith(("Kept time: yes. ", "Kept time: no. "))


def test_exercise_needs_no_other_program(sledlab_program):
    command = [
        *sledlab_program,
        "serve",
        "--device",
        "ram",
        "--exercise",
        "randrw",
        "--duration",
        "0.5",
        "--json",
    ]
    summary = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    exercise = summary["exercise"]
    assert exercise["requests"] == summary["requests"] > 10
    assert min(summary["read"]["requests"], summary["write"]["requests"]) > 0
    assert exercise["client_ms"]["mean"] > exercise["simulated_ms"]["mean"] > 0

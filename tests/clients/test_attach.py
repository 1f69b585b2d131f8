"""Emulated devices as file, block device and file system: attaching, use and detaching."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path

import pytest
import sledlab as sl
from sledlab.emulation import attachment
from sledlab.emulation.mounts import find_mount

from tests.require import need

pytestmark = pytest.mark.slow("kernels and programs get to know devices, and servers keep processors awake")

KINDS = ("file", "loop", "ext4")

DELAY_MS = 20
"""A delay long enough that other programs on the machine hardly change it."""

OPEN_FILE = attachment._fuse_file

COMMAND = (sys.executable, "-m", "sledlab", "serve", "--device", "mems-g2")


@pytest.fixture
def mount_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory to attach to, in which nothing may be left; skips where attaching is impossible."""
    need("nbdfuse")
    need("mkfs.ext4")
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        pytest.skip("attaching needs root and /dev/fuse")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    directory = tmp_path / "disk"
    directory.mkdir()
    yield directory
    assert list(directory.iterdir()) == []
    assert list(tmp_path.glob("sledlab-disk-*")) == []
    for command in (["cat", "/proc/self/mountinfo"], ["losetup", "--list"]):
        assert str(tmp_path) not in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def attach_option(kind: str, mount_point: Path) -> str:
    return kind if kind == "loop" else f"{kind}:{mount_point}"


def read_times_us(path: str, bytes: int = 4096, count: int = 60) -> list[float]:
    """Durations of uncached reads, in us."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    times_us = []
    with mmap(-1, bytes) as page:
        for _ in range(count):
            start_ns = time.perf_counter_ns()
            assert os.preadv(handle, [page], 0) == bytes
            times_us.append((time.perf_counter_ns() - start_ns) / 1e3)
    os.close(handle)
    return times_us


@contextmanager
def delayed_file(directory: Path, uri: str, force: list[object]) -> Iterator[Path]:
    """The file of nbdfuse, with a layer in between that takes `DELAY_MS` for each read."""
    socket = directory.parent / "slower"
    arguments = ["nbd", f"uri={uri}", f"rdelay={DELAY_MS}ms", "-f", "-U", socket, "--filter=delay"]
    with subprocess.Popen([need("nbdkit"), *arguments]) as nbdkit:
        while not socket.exists():
            time.sleep(0.01)
        with OPEN_FILE(directory, f"nbd+unix:///?socket={socket}", force) as file:
            yield file
        nbdkit.terminate()


@pytest.mark.parametrize("kind", ["file", "loop"])
def test_replies_leave_earlier_by_the_host_time(kind, mount_point, monkeypatch):
    """The application observes the times of the model although the host adds a long delay."""
    monkeypatch.setattr(attachment, "_fuse_file", delayed_file)
    out = mount_point.parent / "out"
    with sl.serve("mems-g2", attach=attach_option(kind, mount_point), time_scale=200, out=out) as server:
        client_us = read_times_us(server.disk)
    host = server.emulation.server["host"]
    assert host["through"] == kind
    assert host["read_us"] > DELAY_MS * 1e3
    assert host["write_us"] < host["read_us"]
    # The kernel may have read from the new device before.
    model_us = server.emulation.response_ns[-len(client_us) :] / 1e3
    excess_us = [client - model for client, model in zip(client_us, model_us, strict=True)]
    # Other programs only add time, so the fastest reads decide. Uncompensated, all would exceed the delay.
    assert abs(statistics.quantiles(excess_us, n=10)[0]) < DELAY_MS * 1e3 / 2
    saved = json.loads((out / "emulation.json").read_text(encoding="utf-8"))
    assert saved["server"]["host"] == host


def test_host_time_can_be_given(mount_point):
    with sl.serve("mems-g2", attach=attach_option("file", mount_point), host_us=150) as server:
        read_times_us(server.disk)
    assert server.emulation.server["host"]["read_us"] == 150
    assert server.emulation.server["host"]["through"] == "declared"
    assert set(server.emulation.frame()["host_ns"]) == {150_000}


def test_probes_leave_data_and_recording_as_they_are(mount_point):
    data = mount_point.parent / "disk.img"
    contents = os.urandom(1 << 17)
    with sl.serve("mems-g2", data=data, untimed=True, attach=attach_option("loop", mount_point)) as server:
        Path(server.disk).write_bytes(contents)
    with sl.serve("mems-g2", data=data, attach=attach_option("loop", mount_point)) as server:
        pass
    assert server.result is None
    with data.open("rb") as file:
        assert file.read(len(contents)) == contents


@pytest.mark.parametrize("kind", KINDS)
def test_written_data_survives_a_restart(kind, mount_point):
    data, contents = mount_point.parent / "disk.img", os.urandom(1 << 16)
    for time_scale in (0.1, 0.5):
        with sl.serve(
            "mems-g2", data=data, attach=attach_option(kind, mount_point), time_scale=time_scale
        ) as server:
            file = Path(server.disk, "file") if kind == "ext4" else Path(server.disk)
            with file.open("r+b" if file.exists() else "wb") as handle:
                if time_scale == 0.1:
                    handle.write(contents)
                    handle.flush()
                    os.fsync(handle.fileno())
                else:
                    assert handle.read(len(contents)) == contents
        if server.emulation.closed_loop is not None:
            assert server.emulation.closed_loop.closed


def test_only_client_operations_are_recorded(mount_point):
    """Making and mounting a file system takes thousands of requests, a file of a page few."""
    with sl.serve("ram", attach=attach_option("ext4", mount_point)) as server:
        Path(server.disk, "file").write_bytes(bytes(4096))
    assert 0 < server.result.count < 50


def test_another_file_system_stays_unchanged(mount_point):
    data = mount_point.parent / "disk.img"
    with sl.serve("mems-g2", data=data, untimed=True, attach=attach_option("loop", mount_point)) as server:
        subprocess.run([need("mkfs.ext4"), "-q", "-F", "-t", "ext2", server.disk], check=True)
    with pytest.raises(sl.Error, match="contains ext2, not ext4"):
        sl.serve("mems-g2", data=data, attach=attach_option("ext4", mount_point))


def test_unprobed_file_lists_missing_features(mount_point, monkeypatch):
    monkeypatch.setattr(
        "sledlab.emulation.attachment._loop_device", lambda _: UnrelatedFile(mount_point.parent)
    )
    with pytest.raises(sl.Error, match="cannot measure") as caught:
        sl.serve("mems-g2", attach="loop")
    assert "--host-us 0" in str(caught.value.remedy)


class UnrelatedFile:
    """An attachment whose file does not belong to the server."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "elsewhere"
        self.path.write_bytes(bytes(1 << 17))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.path.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_leaves_nothing(kind, mount_point):
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), sl.serve("mems-g2", attach=attach_option(kind, mount_point)):
        fail()


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_nothing(kind, mount_point):
    """The signal reaches all processes of the terminal, so nbdfuse must not be one of them."""
    fill = 'test -d "$SLEDLAB_DISK" && dd if=/dev/zero of="$SLEDLAB_DISK/file" bs=1M count=2'
    script = f"{fill}; echo; sleep 60"
    with start_attached(mount_point, kind, "--", "sh", "-c", script, start_new_session=True) as process:
        process.stdout.readline()
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=90)
    assert process.returncode == 130, error
    if kind == "ext4":
        # Data not yet written when the signal arrives is written before the file system is unmounted.
        assert (
            json.loads((mount_point.parent / "out" / "emulation.json").read_text())["server"]["counts"][
                "bytes_written"
            ]
            > 2e6
        )


def start_attached(mount_point: Path, kind: str, *arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [
        *COMMAND,
        "--attach",
        attach_option(kind, mount_point),
        "--time-scale",
        "0.2",
        "--out",
        str(mount_point.parent / "out"),
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, *arguments], **pipes, **options)


def test_a_killed_command_leaves_nothing(mount_point):
    with start_attached(
        mount_point, "ext4", "--", "sh", "-c", 'echo x > "$SLEDLAB_DISK/file"; kill -9 $$'
    ) as process:
        process.communicate(timeout=90)
    assert process.returncode == 128 + 9


def test_busy_file_system_is_unmounted(mount_point):
    """A command may leave a process whose working directory is the mount point."""
    with start_attached(
        mount_point, "ext4", "--", "sh", "-c", 'cd "$SLEDLAB_DISK"; sleep 15 >/dev/null 2>&1 & sleep 1'
    ) as process:
        _, error = process.communicate(timeout=90)
    assert process.returncode == 0, error
    assert find_mount(mount_point) is None
    # Afterwards the kernel releases the device, too.
    time.sleep(15)


@pytest.mark.parametrize("kind", KINDS)
def test_killed_nbdfuse_is_reported_and_cleaned_up(kind, mount_point):
    server = sl.serve("mems-g2", attach=attach_option(kind, mount_point))
    os.kill(find_child(os.getpid(), "nbdfuse"), signal.SIGKILL)
    with pytest.raises(sl.Error, match="nbdfuse ended before the server"):
        server.stop()


def find_child(parent: int, name: str) -> int:
    """Id of the child of that name."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, name_and_fields = stat.read_text().split(" (", 1)
        except OSError:
            continue
        process_name, _, fields = name_and_fields.rpartition(") ")
        if process_name == name and int(fields.split()[1]) == parent:
            return int(pid)
    raise LookupError(name)


@pytest.mark.parametrize("kind", ["file", "ext4"])
def test_leftovers_of_killed_server_are_reported_with_remedy(kind, mount_point):
    with start_attached(mount_point, kind, "--", "sh", "-c", "echo; sleep 1") as process:
        process.stdout.readline()
        with pytest.raises(sl.Error, match="is in use by another server"):
            sl.serve("mems-g2", attach=attach_option(kind, mount_point))
        process.kill()
    with pytest.raises(sl.Error, match="is a stale mount of a killed server") as caught:
        sl.serve("mems-g2", attach=attach_option(kind, mount_point))
    subprocess.run(["sh", "-c", str(caught.value.remedy).removeprefix("run: ")], check=True)
    with sl.serve("mems-g2", attach=attach_option(kind, mount_point), untimed=True):
        pass


def test_exit_without_stop_leaves_nothing(mount_point):
    program = (
        f"import sledlab as sl; server = sl.serve('mems-g2', attach={attach_option('ext4', mount_point)!r})"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=90)


def test_mount_point_of_another_file_system_is_refused(mount_point):
    subprocess.run(["mount", "-t", "tmpfs", "none", mount_point], check=True)
    try:
        with pytest.raises(sl.Error, match="mount point of another file system"):
            sl.serve("mems-g2", attach=attach_option("file", mount_point))
    finally:
        subprocess.run(["umount", mount_point], check=True)

"""A file, a block device and a file system of an emulated device: how they come, and how they go."""

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

WAY_MS = 4
"""A way that other programs on the machine hardly make longer."""

FILE = attachment._fuse_file

COMMAND = (sys.executable, "-m", "sledlab", "serve", "--device", "mems-g2")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty directory, of which nothing is left in the end; skips where nothing can be attachment."""
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
    for messages in (["cat", "/proc/self/mountinfo"], ["losetup", "--list"]):
        assert (
            str(tmp_path) not in subprocess.run(messages, capture_output=True, text=True, check=True).stdout
        )


def attach_option(kind: str, place: Path) -> str:
    return kind if kind == "loop" else f"{kind}:{place}"


def read_times_us(path: str, bytes: int = 4096, times: int = 60) -> list[float]:
    """Reads without a cache; what each took, in us."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECT)
    took = []
    with mmap(-1, bytes) as page:
        for _ in range(times):
            begun = time.perf_counter_ns()
            assert os.preadv(handle, [page], 0) == bytes
            took.append((time.perf_counter_ns() - begun) / 1e3)
    os.close(handle)
    return took


@contextmanager
def slower(directory: Path, uri: str, force: list[object]) -> Iterator[Path]:
    """The file of nbdfuse, with a layer in between that takes `WAY_MS` for each read."""
    socket = directory.parent / "slower"
    text = ["nbd", f"uri={uri}", f"rdelay={WAY_MS}ms", "-f", "-U", socket, "--filter=delay"]
    with subprocess.Popen([need("nbdkit"), *text]) as nbdkit:
        while not socket.exists():
            time.sleep(0.01)
        with FILE(directory, f"nbd+unix:///?socket={socket}", force) as file:
            yield file
        nbdkit.terminate()


@pytest.mark.parametrize("kind", ["file", "loop"])
def test_replies_leave_earlier_by_the_whole_way(kind, place, monkeypatch):
    """What the application sees is the model's time, though the way is long."""
    monkeypatch.setattr(attachment, "_fuse_file", slower)
    out = place.parent / "out"
    with sl.serve("mems-g2", attach=attach_option(kind, place), time_scale=30, out=out) as server:
        seen_us = read_times_us(server.disk)
    host = server.emulation.server["host"]
    assert host["through"] == kind
    assert host["read_us"] > WAY_MS * 1e3
    assert host["write_us"] < host["read_us"]
    # A kernel that gets to know a device may have read before.
    model_us = server.emulation.response_ns[-len(seen_us) :] / 1e3
    beyond_us = [seen - model for seen, model in zip(seen_us, model_us, strict=True)]
    # Others on the machine only ever add: the least disturbed tell. Without allowance none is below the way.
    assert abs(statistics.quantiles(beyond_us, n=10)[0]) < WAY_MS * 1e3 / 2
    cached = json.loads((out / "emulation.json").read_text(encoding="utf-8"))
    assert cached["server"]["host"] == host


def test_host_time_can_be_given(place):
    with sl.serve("mems-g2", attach=attach_option("file", place), host_us=150) as server:
        read_times_us(server.disk)
    assert server.emulation.server["host"]["read_us"] == 150
    assert server.emulation.server["host"]["through"] == "declared"
    assert set(server.emulation.frame()["host_ns"]) == {150_000}


def test_probes_leave_data_and_recording_as_they_are(place):
    data = place.parent / "disk.img"
    written = os.urandom(1 << 17)
    with sl.serve("mems-g2", data=data, untimed=True, attach=attach_option("loop", place)) as server:
        Path(server.disk).write_bytes(written)
    with sl.serve("mems-g2", data=data, attach=attach_option("loop", place)) as server:
        pass
    assert server.result is None
    with data.open("rb") as file:
        assert file.read(len(written)) == written


@pytest.mark.parametrize("kind", KINDS)
def test_written_data_survives_a_restart(kind, place):
    data, written = place.parent / "disk.img", os.urandom(1 << 16)
    for time_scale in (0.1, 0.5):
        with sl.serve(
            "mems-g2", data=data, attach=attach_option(kind, place), time_scale=time_scale
        ) as server:
            file = Path(server.disk, "file") if kind == "ext4" else Path(server.disk)
            with file.open("r+b" if file.exists() else "wb") as handle:
                if time_scale == 0.1:
                    handle.write(written)
                    handle.flush()
                    os.fsync(handle.fileno())
                else:
                    assert handle.read(len(written)) == written
        if server.emulation.closed_loop is not None:
            assert server.emulation.closed_loop.closed


def test_only_client_operations_are_recorded(place):
    """Making and mounting a file system takes thousands of requests, a file of a page few."""
    with sl.serve("ram", attach=attach_option("ext4", place)) as server:
        Path(server.disk, "file").write_bytes(bytes(4096))
    assert 0 < server.result.count < 50


def test_another_file_system_stays_unchanged(place):
    data = place.parent / "disk.img"
    with sl.serve("mems-g2", data=data, untimed=True, attach=attach_option("loop", place)) as server:
        subprocess.run([need("mkfs.ext4"), "-q", "-F", "-t", "ext2", server.disk], check=True)
    with pytest.raises(sl.Error, match="contains ext2, not ext4"):
        sl.serve("mems-g2", data=data, attach=attach_option("ext4", place))


def test_unprobed_file_lists_missing_features(place, monkeypatch):
    monkeypatch.setattr("sledlab.emulation.attachment._loop_device", lambda _: Elsewhere(place.parent))
    with pytest.raises(sl.Error, match="cannot measure") as caught:
        sl.serve("mems-g2", attach="loop")
    assert "--host-us 0" in str(caught.value.remedy)


class Elsewhere:
    """Stands for a way that does not lead to the server."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "elsewhere"
        self.path.write_bytes(bytes(1 << 17))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.path.unlink()


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_leaves_nothing(kind, place):
    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), sl.serve("mems-g2", attach=attach_option(kind, place)):
        fail()


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_leaves_nothing(kind, place):
    """It goes to all of a terminal's programs, nbdfuse among them if that were one."""
    fill = 'test -d "$SLEDLAB_DISK" && dd if=/dev/zero of="$SLEDLAB_DISK/file" bs=1M count=2'
    script = f"{fill}; echo; sleep 60"
    with start_attached(place, kind, "--", "sh", "-c", script, start_new_session=True) as process:
        process.stdout.readline()
        time.sleep(1)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=90)
    assert process.returncode == 130, error
    if kind == "ext4":
        # What was not yet there when it came is written before the file system goes.
        assert (
            json.loads((place.parent / "out" / "emulation.json").read_text())["server"]["counts"][
                "bytes_written"
            ]
            > 2e6
        )


def start_attached(place: Path, kind: str, *text: str, **options: object) -> subprocess.Popen[str]:
    command = [
        *COMMAND,
        "--attach",
        attach_option(kind, place),
        "--time-scale",
        "0.2",
        "--out",
        str(place.parent / "out"),
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, *text], **pipes, **options)


def test_a_killed_command_leaves_nothing(place):
    with start_attached(
        place, "ext4", "--", "sh", "-c", 'echo x > "$SLEDLAB_DISK/file"; kill -9 $$'
    ) as process:
        process.communicate(timeout=90)
    assert process.returncode == 128 + 9


def test_busy_file_system_is_unmounted(place):
    """A command may leave a process of its own behind that sits in the directory."""
    with start_attached(
        place, "ext4", "--", "sh", "-c", 'cd "$SLEDLAB_DISK"; sleep 15 >/dev/null 2>&1 & sleep 1'
    ) as process:
        _, error = process.communicate(timeout=90)
    assert process.returncode == 0, error
    assert find_mount(place) is None
    # Then the kernel lets go of the device, too.
    time.sleep(15)


@pytest.mark.parametrize("kind", KINDS)
def test_killed_nbdfuse_is_reported_and_cleaned_up(kind, place):
    server = sl.serve("mems-g2", attach=attach_option(kind, place))
    os.kill(find_child(os.getpid(), "nbdfuse"), signal.SIGKILL)
    with pytest.raises(sl.Error, match="nbdfuse ended before the server"):
        server.stop()


def find_child(parent: int, name: str) -> int:
    """The process of that name that a process has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, remaining = stat.read_text().split(" (", 1)
        except OSError:
            continue
        called, _, after = remaining.rpartition(") ")
        if called == name and int(after.split()[1]) == parent:
            return int(pid)
    raise LookupError(name)


@pytest.mark.parametrize("kind", ["file", "ext4"])
def test_leftovers_of_killed_server_are_reported_with_remedy(kind, place):
    with start_attached(place, kind, "--", "sh", "-c", "echo; sleep 1") as process:
        process.stdout.readline()
        with pytest.raises(sl.Error, match="is in use by another server"):
            sl.serve("mems-g2", attach=attach_option(kind, place))
        process.kill()
    with pytest.raises(sl.Error, match="is a stale mount of a killed server") as caught:
        sl.serve("mems-g2", attach=attach_option(kind, place))
    subprocess.run(["sh", "-c", str(caught.value.remedy).removeprefix("run: ")], check=True)
    with sl.serve("mems-g2", attach=attach_option(kind, place), untimed=True):
        pass


def test_an_exit_without_an_end_leaves_nothing(place):
    program = f"import sledlab as sl; server = sl.serve('mems-g2', attach={attach_option('ext4', place)!r})"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=90)


def test_a_place_that_is_something_else_s(place):
    subprocess.run(["mount", "-t", "tmpfs", "none", place], check=True)
    try:
        with pytest.raises(sl.Error, match="mount point of another file system"):
            sl.serve("mems-g2", attach=attach_option("file", place))
    finally:
        subprocess.run(["umount", place], check=True)

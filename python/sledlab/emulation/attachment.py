"""A server's device attached to this machine: as a file, a block device, or a mounted file system.

`nbdfuse` makes a file of the device, `losetup` a block device of the file, and `mount` a file system of the
block device; the last two need root. Missing programs are named before anything starts. The time through the
file or the block device is measured before a file system is made or mounted: then nothing else uses it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sledlab.emulation.mounts import FILE, check_not_mounted, find_mount
from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PACKAGES = {
    "nbdfuse": "libnbd-bin",
    "fusermount3": "fuse3",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "blkid": "util-linux",
    "mkfs.ext4": "e2fsprogs",
}
"""Debian's packages of the programs that are needed."""

PROGRAMS = {
    "file": ("nbdfuse", "fusermount3"),
    "loop": ("nbdfuse", "fusermount3", "losetup"),
    "ext4": ("nbdfuse", "fusermount3", "losetup", "blkid", "mkfs.ext4", "mount", "umount"),
}
"""Programs that each kind of attachment needs."""

FUSE = "check that /dev/fuse exists and can be opened"

CONNECTIONS = 10
"""Connections of nbdfuse to the server, each with one request at a time; the default of nbdfuse is four.

libfuse, on which nbdfuse is built, processes ten requests at a time.
"""

WAIT_S = 20.0
"""Seconds within which nbdfuse must have made its file."""

BUSY_S = 5.0
"""Seconds that processes which still use a file system are given before it is unmounted lazily."""


class AttachedDevice:
    """A server's device attached as a file, a block device or a file system, until it is detached.

    Attributes:
        path: The file, the block device, or the directory of the file system.
    """

    def __init__(self, path: Path, stack: ExitStack, force: Sequence[Callable[[], object]]) -> None:
        self.path = path
        self._stack = stack
        self._force = force
        atexit.register(self.detach)

    def detach(self) -> None:
        """Detaches the device; all that was written to it has reached the server then.

        Raises:
            Error: The device was no longer attached, or cannot be detached.
        """
        try:
            self._stack.close()
        finally:
            atexit.unregister(self.detach)

    def force_detach(self) -> None:
        """Detaches the device at once, after it has lost its power: processes that use it get errors.

        Data that the kernel had buffered and not yet written is lost, as when a host loses its power too.
        """
        for act in reversed(self._force):
            with suppress(Error):
                act()
        with suppress(Error):
            self.detach()


@contextmanager
def attach_device(
    attachment: str, uri: str, probe: Callable[[Path], None] | None = None, *, made: bool = False
) -> Iterator[AttachedDevice]:
    """Makes a file (`file:DIR`), a block device (`loop`) or a file system (`ext4:DIR`) of a server's device.

    `probe` measures the time through the file, or the block device. Where `made`, the file system was made
    before, and is only mounted.

    Raises:
        Error: `attachment` is none of these, a program or root is missing, or one of the programs fails.
    """
    kind, _, place = attachment.partition(":")
    _check(kind, place, attachment)
    force: list[Callable[[], object]] = []
    with ExitStack() as stack:
        directory = (
            Path(place)
            if kind == "file"
            else Path(stack.enter_context(TemporaryDirectory(prefix="sledlab-disk-")))
        )
        path = stack.enter_context(_file(Path(directory), uri, force))
        if kind != "file":
            path = stack.enter_context(_loop(path))
        if probe is not None:
            probe(path)
        if kind == "ext4":
            path = stack.enter_context(_mount(path, Path(place), force, made=made))
        result = AttachedDevice(path, stack.pop_all(), force)
    try:
        yield result
    finally:
        result.detach()


def _check(kind: str, place: str, attachment: str) -> None:
    """Refuses a device that cannot be attached on this machine, or not at that place.

    Raises:
        Error: The kind is unknown, the place is no empty directory, or programs or root are missing.
    """
    if kind not in PROGRAMS or bool(place) != (kind != "loop"):
        raise Error(f"unknown attachment `{attachment}`", remedy="use file:DIR, loop or ext4:DIR")
    if place:
        check_not_mounted(Path(place))
    if place and not Path(place).is_dir():
        raise Error(f"`{place}` is not a directory", remedy="create it first: the device is mounted there")
    if place and any(Path(place).iterdir()):
        raise Error(f"`{place}` is not empty", remedy="name an empty directory")
    missing = [name for name in PROGRAMS[kind] if find_program(name) is None]
    if missing:
        packages = " ".join(sorted({PACKAGES[name] for name in missing}))
        newer = " (nbdfuse is a separate package on some systems)" if "nbdfuse" in missing else ""
        raise Error(f"not installed: {', '.join(missing)}", remedy=f"apt-get install {packages}{newer}")
    if kind != "file" and os.geteuid() != 0:
        raise Error(f"`--attach {kind}` requires root", remedy="run it as root, or use --attach file:DIR")


def find_program(name: str) -> str | None:
    """Return the path of a program, also in directories that only root has in `PATH`."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))


def _run_program(*command: str) -> str:
    """Runs a program and returns its standard output.

    Raises:
        Error: The program fails.
    """
    program = find_program(command[0]) or command[0]
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        text = (done.stderr.strip() or f"code {done.returncode}").splitlines()
        raise Error(
            f"`{' '.join(command)}` failed: {text[-1]}", remedy="run the command by hand to find the cause"
        )
    return done.stdout.strip()


@contextmanager
def _file(directory: Path, uri: str, force: list[Callable[[], object]]) -> Iterator[Path]:
    """The device as a file in a directory.

    Raises:
        Error: nbdfuse cannot create it, or has ended too early.
    """
    path = directory / FILE
    program = find_program("nbdfuse") or "nbdfuse"
    # Ctrl-C must not reach nbdfuse, which has to run until all buffered writes have reached the server.
    with subprocess.Popen(
        [program, *_connections(program), str(directory), uri],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        force += [partial(_run_program, "fusermount3", "-uz", str(directory)), process.kill]
        try:
            _wait(path, process)
            yield path
        finally:
            gone = process.poll() is not None
            _unmount(directory, "fusermount3", "-u", lazily="-uz")
            with suppress(subprocess.TimeoutExpired):
                gone |= process.wait(BUSY_S) < 0
            process.kill()
        if gone:
            raise Error(
                "nbdfuse ended before the server",
                remedy="check what killed it; later writes did not reach the device",
            )


def _connections(program: str) -> tuple[str, ...]:
    """The options for `CONNECTIONS` connections; none for versions of nbdfuse without such an option."""
    known = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    return ("--connections", str(CONNECTIONS)) if "--connections" in known else ()


def _wait(path: Path, process: subprocess.Popen[str]) -> None:
    """Waits until nbdfuse has created its file.

    Raises:
        Error: nbdfuse has ended, or takes too long.
    """
    begun = time.monotonic()
    while not path.exists():
        if process.poll() is not None:
            text = (process.stderr.read() if process.stderr else "").strip().splitlines() or ["no message"]
            raise Error(
                f"nbdfuse ended: {text[-1]}",
                remedy="check that /dev/fuse exists and can be opened",
            )
        if time.monotonic() - begun > WAIT_S:
            raise Error(
                f"nbdfuse did not create a file within {WAIT_S:g} s",
                remedy="check that /dev/fuse exists and can be opened",
            )
        time.sleep(0.005)


def _unmount(place: Path, program: str, *options: str, lazily: str) -> None:
    """Unmounts a file system: lazily if processes still use it after `BUSY_S` seconds.

    Raises:
        Error: The file system cannot be unmounted.
    """
    begun = time.monotonic()
    while find_mount(place) is not None:
        busy = time.monotonic() - begun > BUSY_S
        try:
            _run_program(program, *([lazily] if busy else options), str(place))
        except Error:
            if busy:
                raise
            time.sleep(0.05)


@contextmanager
def _loop(path: Path) -> Iterator[Path]:
    """A block device of a file."""
    device = _run_program("losetup", "--find", "--show", "--direct-io=on", str(path))
    try:
        yield Path(device)
    finally:
        _run_program("losetup", "--detach", device)


@contextmanager
def _mount(device: Path, place: Path, force: list[Callable[[], object]], *, made: bool) -> Iterator[Path]:
    """A mounted file system on a device; made first if the device is empty, unless it was `made` before.

    Raises:
        Error: The device holds something other than an ext4 file system.
    """
    result = _content_type(device)
    if not result and not made:
        # All inode tables and the journal at once: else the kernel initializes them later, while we measure.
        _run_program("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(device))
    elif result != "ext4":
        raise Error(
            f"the device contains {result or 'unknown data'}, not ext4",
            remedy="use --attach loop and mount its own file system",
        )
    _run_program("mount", "-t", "ext4", str(device), str(place))
    force.append(partial(_run_program, "umount", "-l", str(place)))
    try:
        yield place
    finally:
        _unmount(place, "umount", lazily="-l")


def _content_type(device: Path) -> str:
    """The kind of file system or partition table that a device holds; empty if blkid knows none there."""
    program = find_program("blkid") or "blkid"
    command = [program, "--probe", "--output", "value", "-s", "TYPE", "-s", "PTTYPE", str(device)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

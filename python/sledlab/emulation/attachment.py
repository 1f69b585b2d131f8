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
"""Debian packages of the programs that attachments need."""

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

    def __init__(self, path: Path, stack: ExitStack, force_actions: Sequence[Callable[[], object]]) -> None:
        self.path = path
        self._stack = stack
        self._force_actions = force_actions
        atexit.register(self.detach)

    def detach(self) -> None:
        """Detach the device; all that was written to it has reached the server then.

        Raises:
            Error: The device was no longer attached, or cannot be detached.
        """
        try:
            self._stack.close()
        finally:
            atexit.unregister(self.detach)

    def force_detach(self) -> None:
        """Detach the device at once, after it has lost its power: processes that use it get errors.

        Data that the kernel had buffered and not yet written is lost, as when a host loses its power too.
        """
        for action in reversed(self._force_actions):
            with suppress(Error):
                action()
        with suppress(Error):
            self.detach()


@contextmanager
def attach_device(
    attachment: str, uri: str, probe: Callable[[Path], None] | None = None, *, has_file_system: bool = False
) -> Iterator[AttachedDevice]:
    """Make a file (`file:DIR`), a block device (`loop`) or a file system (`ext4:DIR`) of a server's device.

    `probe` measures the time through the file, or the block device. A device that `has_file_system`
    already is only mounted.

    Raises:
        Error: `attachment` is none of these, a program or root is missing, or one of the programs fails.
    """
    kind, _, directory_name = attachment.partition(":")
    _check_attachable(kind, directory_name, attachment)
    force_actions: list[Callable[[], object]] = []
    with ExitStack() as stack:
        directory = (
            Path(directory_name)
            if kind == "file"
            else Path(stack.enter_context(TemporaryDirectory(prefix="sledlab-disk-")))
        )
        path = stack.enter_context(_fuse_file(Path(directory), uri, force_actions))
        if kind != "file":
            path = stack.enter_context(_loop_device(path))
        if probe is not None:
            probe(path)
        if kind == "ext4":
            path = stack.enter_context(
                _mounted_file_system(
                    path, Path(directory_name), force_actions, has_file_system=has_file_system
                )
            )
        device = AttachedDevice(path, stack.pop_all(), force_actions)
    try:
        yield device
    finally:
        device.detach()


def _check_attachable(kind: str, directory_name: str, attachment: str) -> None:
    """Refuse a device that cannot be attached on this machine, or not at that place.

    Raises:
        Error: The kind is unknown, the place is no empty directory, or programs or root are missing.
    """
    if kind not in PROGRAMS or bool(directory_name) != (kind != "loop"):
        raise Error(f"unknown attachment `{attachment}`", remedy="use file:DIR, loop or ext4:DIR")
    if directory_name:
        check_not_mounted(Path(directory_name))
    if directory_name and not Path(directory_name).is_dir():
        raise Error(
            f"`{directory_name}` is not a directory", remedy="create it first: the device is mounted there"
        )
    if directory_name and any(Path(directory_name).iterdir()):
        raise Error(f"`{directory_name}` is not empty", remedy="name an empty directory")
    missing = [name for name in PROGRAMS[kind] if find_program(name) is None]
    if missing:
        packages = " ".join(sorted({PACKAGES[name] for name in missing}))
        package_note = " (nbdfuse is a separate package on some systems)" if "nbdfuse" in missing else ""
        raise Error(
            f"not installed: {', '.join(missing)}", remedy=f"apt-get install {packages}{package_note}"
        )
    if kind != "file" and os.geteuid() != 0:
        raise Error(f"`--attach {kind}` requires root", remedy="run it as root, or use --attach file:DIR")


def find_program(name: str) -> str | None:
    """Return the path of a program, also in directories that only root has in `PATH`."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))


def _run_program(*command: str) -> str:
    """Run a program and return its standard output.

    Raises:
        Error: The program fails.
    """
    program = find_program(command[0]) or command[0]
    completed = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        error_lines = (completed.stderr.strip() or f"code {completed.returncode}").splitlines()
        raise Error(
            f"`{' '.join(command)}` failed: {error_lines[-1]}",
            remedy="run the command by hand to find the cause",
        )
    return completed.stdout.strip()


@contextmanager
def _fuse_file(directory: Path, uri: str, force_actions: list[Callable[[], object]]) -> Iterator[Path]:
    """The device as a file in a directory.

    Raises:
        Error: nbdfuse cannot create it, or has ended too early.
    """
    path = directory / FILE
    program = find_program("nbdfuse") or "nbdfuse"
    # Ctrl-C must not reach nbdfuse, which has to run until all buffered writes have reached the server.
    with subprocess.Popen(
        [program, *_connection_options(program), str(directory), uri],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        force_actions += [partial(_run_program, "fusermount3", "-uz", str(directory)), process.kill]
        try:
            _wait_for_file(path, process)
            yield path
        finally:
            has_ended = process.poll() is not None
            _unmount(directory, "fusermount3", "-u", lazy_option="-uz")
            with suppress(subprocess.TimeoutExpired):
                has_ended |= process.wait(BUSY_S) < 0
            process.kill()
        if has_ended:
            raise Error(
                "nbdfuse ended before the server",
                remedy="check what killed it; later writes did not reach the device",
            )


def _connection_options(program: str) -> tuple[str, ...]:
    """The options for `CONNECTIONS` connections; none for versions of nbdfuse without such an option."""
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=False).stdout
    return ("--connections", str(CONNECTIONS)) if "--connections" in help_text else ()


def _wait_for_file(path: Path, process: subprocess.Popen[str]) -> None:
    """Wait until nbdfuse has created its file.

    Raises:
        Error: nbdfuse has ended, or takes too long.
    """
    start_s = time.monotonic()
    while not path.exists():
        if process.poll() is not None:
            error_lines = (process.stderr.read() if process.stderr else "").strip().splitlines() or [
                "no message"
            ]
            raise Error(
                f"nbdfuse ended: {error_lines[-1]}",
                remedy="check that /dev/fuse exists and can be opened",
            )
        if time.monotonic() - start_s > WAIT_S:
            raise Error(
                f"nbdfuse did not create a file within {WAIT_S:g} s",
                remedy="check that /dev/fuse exists and can be opened",
            )
        time.sleep(0.005)


def _unmount(directory: Path, program: str, *options: str, lazy_option: str) -> None:
    """Unmount a file system: lazily if processes still use it after `BUSY_S` seconds.

    Raises:
        Error: The file system cannot be unmounted.
    """
    start_s = time.monotonic()
    while find_mount(directory) is not None:
        is_overdue = time.monotonic() - start_s > BUSY_S
        try:
            _run_program(program, *([lazy_option] if is_overdue else options), str(directory))
        except Error:
            if is_overdue:
                raise
            time.sleep(0.05)


@contextmanager
def _loop_device(path: Path) -> Iterator[Path]:
    """A block device of a file."""
    device = _run_program("losetup", "--find", "--show", "--direct-io=on", str(path))
    try:
        yield Path(device)
    finally:
        _run_program("losetup", "--detach", device)


@contextmanager
def _mounted_file_system(
    device: Path, directory: Path, force_actions: list[Callable[[], object]], *, has_file_system: bool
) -> Iterator[Path]:
    """A mounted file system on a device; an empty device gets one first, unless it `has_file_system`.

    Raises:
        Error: The device holds something other than an ext4 file system.
    """
    content_type = _content_type(device)
    if not content_type and not has_file_system:
        # All inode tables and the journal at once: else the kernel initializes them later, while we measure.
        _run_program("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", str(device))
    elif content_type != "ext4":
        raise Error(
            f"the device contains {content_type or 'unknown data'}, not ext4",
            remedy="use --attach loop and mount its own file system",
        )
    _run_program("mount", "-t", "ext4", str(device), str(directory))
    force_actions.append(partial(_run_program, "umount", "-l", str(directory)))
    try:
        yield directory
    finally:
        _unmount(directory, "umount", lazy_option="-l")


def _content_type(device: Path) -> str:
    """The kind of file system or partition table that a device holds; empty if blkid knows none there."""
    program = find_program("blkid") or "blkid"
    command = [program, "--probe", "--output", "value", "-s", "TYPE", "-s", "PTTYPE", str(device)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

"""What a server's device is made of on this machine: a file, a block device, or a mounted file system.

`nbdfuse` makes a file of it, `losetup` a block device of that, and `mount` a file system of that; the last
two need root. What is missing is said before anything starts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from sledlab.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = {
    "nbdfuse": "nbdfuse",
    "fusermount3": "fuse3",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "mkfs.ext4": "e2fsprogs",
}
"""Debian's packages of the programs that are needed; on Debian 12 `nbdfuse` is in libnbd-bin."""

FUSE = "is /dev/fuse there, and may it be opened?"

WAIT_S = 20.0
"""Seconds in which a file or a device must be there."""

FILE = "nbd"
"""The file that nbdfuse makes in its directory."""


class Attached:
    """A file, a device or a file system, until it is taken away.

    Attributes:
        path: It.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._stack = stack

    def detach(self) -> None:
        """Takes it away; what has been written has reached the server then."""
        self._stack.close()


@contextmanager
def attached(said: str, uri: str) -> Iterator[Attached]:
    """Makes a file (`file:DIR`), a block device (`loop`) or a file system (`ext4:DIR`) of a server's device.

    Raises:
        Error: It is none of these, a program or root is missing, or one of the programs fails.
    """
    kind, _, place = said.partition(":")
    _check(kind, place, said)
    with ExitStack() as stack:
        directory = (
            Path(place)
            if kind == "file"
            else Path(stack.enter_context(TemporaryDirectory(prefix="sledlab-")))
        )
        path = stack.enter_context(_file(Path(directory), uri))
        if kind != "file":
            path = stack.enter_context(_loop(path))
        if kind == "ext4":
            path = stack.enter_context(_mounted(path, Path(place)))
        made = Attached(path, stack.pop_all())
    try:
        yield made
    finally:
        made.detach()


def _check(kind: str, place: str, said: str) -> None:
    """Refuses what cannot be made here.

    Raises:
        Error: It cannot.
    """
    programs = {
        "file": ("nbdfuse", "fusermount3"),
        "loop": ("nbdfuse", "fusermount3", "losetup"),
        "ext4": ("nbdfuse", "fusermount3", "losetup", "mkfs.ext4", "mount", "umount"),
    }
    if kind not in programs or bool(place) != (kind != "loop"):
        raise Error(f"`{said}` is nothing to attach", remedy="say file:DIR, loop or ext4:DIR")
    if place and not Path(place).is_dir():
        raise Error(f"`{place}` is no directory", remedy="make it first: it becomes the place of the device")
    if place and any(Path(place).iterdir()):
        raise Error(f"`{place}` is not empty", remedy="name an empty directory")
    missing = [name for name in programs[kind] if _program(name) is None]
    if missing:
        packages = sorted({PACKAGES[name] for name in missing})
        raise Error(f"{', '.join(missing)} is not installed", remedy=f"apt-get install {' '.join(packages)}")
    if kind != "file" and os.geteuid() != 0:
        raise Error(f"`--attach {kind}` needs root", remedy="run it as root, or say --attach file:DIR")


def _program(name: str) -> str | None:
    """The path of a program, also of one that only root has on its path."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"]))


def _do(*command: str) -> str:
    """Runs a program and gives what it prints.

    Raises:
        Error: It fails.
    """
    program = _program(command[0]) or command[0]
    done = subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = (done.stderr.strip() or f"code {done.returncode}").splitlines()
        raise Error(f"`{' '.join(command)}` failed: {words[-1]}", remedy="see what it says about its reason")
    return done.stdout.strip()


@contextmanager
def _file(directory: Path, uri: str) -> Iterator[Path]:
    """The device as a file in a directory."""
    path = directory / FILE
    program = _program("nbdfuse") or "nbdfuse"
    with subprocess.Popen([program, str(directory), uri], stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait(path, process)
            yield path
        finally:
            if process.poll() is None:
                _unmount(directory)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(WAIT_S)
                process.kill()


def _wait(path: Path, process: subprocess.Popen[str]) -> None:
    """Waits until a file is there.

    Raises:
        Error: The program that makes it has ended, or takes too long.
    """
    begun = time.monotonic()
    while not path.exists():
        if process.poll() is not None:
            words = (process.stderr.read() if process.stderr else "").strip().splitlines() or ["nothing"]
            raise Error(
                f"nbdfuse has ended, and says: {words[-1]}",
                remedy="is /dev/fuse there, and may it be opened?",
            )
        if time.monotonic() - begun > WAIT_S:
            raise Error(
                f"nbdfuse made no file in {WAIT_S:g} s", remedy="is /dev/fuse there, and may it be opened?"
            )
        time.sleep(0.005)


def _unmount(directory: Path) -> None:
    """Takes a file of nbdfuse away; who still has it open is given a moment."""
    begun = time.monotonic()
    while True:
        try:
            _do("fusermount3", "-u", str(directory))
        except Error:
            if time.monotonic() - begun > WAIT_S:
                raise
            time.sleep(0.05)
        else:
            return


@contextmanager
def _loop(path: Path) -> Iterator[Path]:
    """A block device of a file."""
    device = _do("losetup", "--find", "--show", "--direct-io=on", str(path))
    try:
        yield Path(device)
    finally:
        _do("losetup", "--detach", device)


@contextmanager
def _mounted(device: Path, place: Path) -> Iterator[Path]:
    """A file system on a device, made if there is none."""
    if _do("lsblk", "--noheadings", "--output", "FSTYPE", str(device)) != "ext4":
        _do("mkfs.ext4", "-q", "-F", str(device))
    _do("mount", str(device), str(place))
    try:
        yield place
    finally:
        _do("umount", str(place))

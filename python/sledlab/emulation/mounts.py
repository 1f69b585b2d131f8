"""Mounts of this machine, and those that a killed server has left behind."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path

from sledlab.errors import Error

MOUNTS = Path("/proc/self/mountinfo")

NBDFUSE = ("fuse", "fuse.nbdfuse")
"""What kernels call the kind of file system that nbdfuse makes."""

FILE = "nbd"
"""The file that nbdfuse makes in its directory."""


@dataclass(frozen=True)
class Mount:
    """A mount: its directory, the kind of its file system, and its source, such as a device."""

    directory: Path
    kind: str
    source: str


def find_mount(directory: Path) -> Mount | None:
    """The mount on a directory, the last one if there are several; `None` if nothing is mounted on it.

    Works also where the mounted file system no longer answers.
    """
    path = os.path.realpath(directory)
    mount = None
    for line in MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        mount_fields, _, source_fields = line.partition(" - ")
        mount_point = _unescape(mount_fields.split()[4])
        if mount_point == path:
            kind, source = source_fields.split()[:2]
            mount = Mount(Path(mount_point), kind, _unescape(source))
    return mount


def _unescape(text: str) -> str:
    r"""A path of `mountinfo` without the kernel's escapes of spaces and the like.

    Examples:
        >>> _unescape(r"/a\040b")
        '/a b'
    """
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def check_not_mounted(directory: Path) -> None:
    """Refuse a directory on which something is mounted.

    Raises:
        Error: Something is mounted; for a killed server, the remedy has the commands that unmount it.
    """
    mount = find_mount(directory)
    if mount is None:
        return
    if mount.kind in NBDFUSE:
        file, unmount_commands = mount.directory / FILE, [f"fusermount3 -uz {mount.directory}"]
    else:
        backing = _backing_file(mount.source)
        if backing is None:
            raise Error(
                f"`{directory}` is a mount point of another file system", remedy="use an empty directory"
            )
        file = backing
        unmount_commands = [
            f"umount -l {mount.directory}",
            f"losetup -d {mount.source}",
            f"fusermount3 -uz {backing.parent}",
            f"rmdir {backing.parent}",
        ]
    if _is_responsive(file):
        raise Error(
            f"`{directory}` is in use by another server", remedy="stop that server, or use another directory"
        )
    raise Error(
        f"`{directory}` is a stale mount of a killed server", remedy=f"run: {'; '.join(unmount_commands)}"
    )


def _backing_file(device: str) -> Path | None:
    """The file of nbdfuse behind a loop device; `None` for other devices, and loop devices of other files."""
    try:
        backing_file = Path("/sys/block", Path(device).name, "loop/backing_file").read_text(encoding="utf-8")
    except OSError:
        return None
    file = Path(backing_file.rstrip("\n"))
    mount = find_mount(file.parent)
    return file if file.name == FILE and mount is not None and mount.kind in NBDFUSE else None


def _is_responsive(file: Path) -> bool:
    """Whether a running server answers reads of a file of nbdfuse."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        return False
    try:
        with mmap(-1, 4096) as page:
            return os.preadv(handle, [page], 0) > 0
    except OSError:
        return False
    finally:
        os.close(handle)

"""Programs and libraries that tests need and that may be missing.

A test declares each program or library that it needs, and is skipped with its name if it is missing:

    fio = need("fio")

Under `SLEDLAB_REQUIRE=1`, as in continuous integration, nothing may be skipped (tests/rules.py). Run as a
program, this prints the Debian packages of the programs that are missing here.
"""

from __future__ import annotations

import importlib.util
import shutil

PROGRAMS = {
    "blkparse": "blktrace",
    "bzip2": "bzip2",
    "cargo": "",
    "cargo-clippy": "",
    "cargo-deny": "",
    "cargo-fmt": "",
    "cargo-shear": "",
    "cc": "gcc",
    "chromium": "chromium fonts-dejavu-core",
    "fio": "fio",
    "groff": "groff",
    "gzip": "gzip",
    "mkfs.ext4": "e2fsprogs",
    "nbdcopy": "libnbd-bin",
    "nbdfuse": "libnbd-bin fuse3",
    "nbdinfo": "libnbd-bin",
    "pg_ctlcluster": "postgresql",
    "nbdkit": "nbdkit",
    "nm": "binutils",
    "qemu-img": "qemu-utils",
    "qemu-io": "qemu-utils",
    "smpicc": "libsimgrid-dev",
    "smpirun": "libsimgrid-dev",
    "sqlite3": "sqlite3",
    "xz": "xz-utils",
    "zstd": "zstd",
}
"""Debian's packages of the programs; empty for those that `make setup` installs."""


def need(name: str) -> str:
    """The path of a program, or the name of a library; skip the calling test if it is missing."""
    import pytest  # noqa: PLC0415 - runs before any package is installed

    if name not in PROGRAMS:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: make setup")
        return name
    path = shutil.which(name)
    if path is None:
        packages = PROGRAMS[name]
        pytest.skip(f"{name} is not installed: {f'apt-get install {packages}' if packages else 'make setup'}")
    return path


def missing_packages() -> list[str]:
    """Debian's packages of the programs that are missing on this machine."""
    package_lists = (package_line for name, package_line in PROGRAMS.items() if shutil.which(name) is None)
    return sorted({package for package_line in package_lists for package in package_line.split()})


if __name__ == "__main__":
    print(*missing_packages())

"""Programs and libraries that tests need and that may be missing.

A test that needs one declares it, and is skipped, naming it, where it is missing:

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
    """The path of a program, or the name of a library; skips the calling test where it is missing."""
    import pytest  # noqa: PLC0415 - runs before any package is installed

    if name not in PROGRAMS:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: make setup")
        return name
    result = shutil.which(name)
    if result is None:
        packages = PROGRAMS[name]
        pytest.skip(f"{name} is not installed: {f'apt-get install {packages}' if packages else 'make setup'}")
    return result


def missing_packages() -> list[str]:
    """Debian's packages of the programs that are missing on this machine."""
    missing = (packages for name, packages in PROGRAMS.items() if shutil.which(name) is None)
    return sorted({package for packages in missing for package in packages.split()})


if __name__ == "__main__":
    print(*missing_packages())

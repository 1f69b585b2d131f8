"""The build that a measurement uses: its sources and its profile."""

from __future__ import annotations

import hashlib
from functools import cache

from sledlab import _native

from .results import PROJECT

RELEASE = "release"

PYTHON_SOURCES = ("job", "model", "runs", "studies", "study", "traces")
"""Python packages that results depend on; those that format, draw or serve results are not among them."""


class WrongBuildError(Exception):
    """The native module is not the release build."""


@cache
def source_hash() -> str:
    """Return the hash of the sources of the native module and of the Python packages behind results."""
    digest = hashlib.sha256(_native.__sources__.encode())
    packages = (PROJECT / "python" / "sledlab" / name for name in PYTHON_SOURCES)
    for file in sorted(file for package in packages for file in package.rglob("*.py")):
        digest.update(f"{file.relative_to(PROJECT).as_posix()}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def profile() -> str:
    """Return the Cargo profile of the native module: `release`, `quick` or `debug`."""
    return _native.BUILD_PROFILE


def require_release_build() -> None:
    """Raise `WrongBuildError` unless the native module is the release build."""
    if profile() != RELEASE:
        raise WrongBuildError(
            f"the native module is a `{profile()}` build; measurements need the release build: "
            "make release-build"
        )

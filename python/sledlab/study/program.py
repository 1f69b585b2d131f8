"""The build of sledlab, as far as results depend on it.

The file of the extension does not count: other processors, compilers and debugging give the same results.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from sledlab import _native

MEASURING_PARTS = (
    "model",
    "traces",
    "runs",
    "study/measure.py",
    "study/replays.py",
    "study/idle_periods.py",
    "study/access_map.py",
)
"""Parts of the package, besides the compiled code, that determine results of runs."""

PACKAGE = Path(__file__).parents[1]

SHOWN_CHARACTERS = 12
"""Characters of the hash that messages show."""


@cache
def program() -> str:
    """Return the version, and a hash of all sources, of Rust and of Python, on which results of runs depend.

    Examples:
        >>> version, sources = program().split()
        >>> len(sources)
        12
    """
    digest = hashlib.sha256(_native.__sources__.encode())
    for part in MEASURING_PARTS:
        place = PACKAGE / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            # A checkout on Windows may have other ends of lines.
            text = file.read_bytes().replace(b"\r\n", b"\n")
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + text + b"\0")
    return f"{_native.__version__} {digest.hexdigest()[:SHOWN_CHARACTERS]}"

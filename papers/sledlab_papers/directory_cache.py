"""Generated directories, which are made again when their inputs change."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path


def hash_inputs(inputs: Iterable[bytes]) -> str:
    """Return a hash of some inputs."""
    digest = hashlib.sha256()
    for each in inputs:
        digest.update(len(each).to_bytes(8, "big"))
        digest.update(each)
    return digest.hexdigest()[:12]


def directory(folder: Path, key: str, make: Callable[[Path], None]) -> Path:
    """Return the directory `folder/key`; call `make` with the path of a draft if there is none."""
    directory = folder / key
    if not directory.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as parent:
            draft = Path(parent) / key
            draft.mkdir()
            make(draft)
            with suppress(OSError):  # another process has made the directory
                draft.rename(directory)
    return directory

"""Columns kept in files of numpy, which nodes map into memory: a node holds only the rows that it reads."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sledlab.files import atomic_write
from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sledlab.job.files import Array


def open_array(path: Path) -> Array:
    """The array in a file, mapped into memory."""
    if path.stat().st_size < 4096:  # an empty array cannot be mapped
        array: Array = np.load(path)
        return array
    mapped_array: Array = np.load(path, mmap_mode="r")
    return mapped_array


@contextmanager
def create_array(path: Path, dtype: Any, shape: tuple[int, ...]) -> Iterator[Array]:
    """An array to be filled; its file gets its name only when the array is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as draft:
        if 0 in shape:
            array: Array = np.empty(shape, dtype)
            yield array
            with draft.open("wb") as file:
                np.save(file, array)
        else:
            array = np.lib.format.open_memmap(draft, mode="w+", dtype=dtype, shape=shape)
            yield array
            array.flush()

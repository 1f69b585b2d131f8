"""A hash of whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from sledlab.job.files import Array


def splitmix64(values: Array) -> Array:
    """A hash of whole numbers, one to one: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    values = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Array = values ^ (values >> np.uint64(31))
    return result

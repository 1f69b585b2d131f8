"""Seek-time maps: times of the sled from one place to all others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.display import DisplayedResult
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import numpy as np
from sledlab.model.catalog import require, with_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from sledlab.model.catalog import ModelChoice

THRESHOLDS_MS = (0.3, 0.325, 0.35, 0.4)
"""Seek times whose regions are shown, in ms (Hong 2006, section 4: zones of equivalent seek time)."""


@dataclass(frozen=True)
class Region:
    """The places reached within a time.

    Attributes:
        threshold_ms: The time, in ms.
        width_bits: Extent in x along the row of the start, in bits.
        height_bits: Extent in y, in bits.
        aspect: Height over width; `None` when the region has no width.
        share: Share of all places, 0 to 1.
    """

    threshold_ms: float
    width_bits: int
    height_bits: int
    aspect: float | None
    share: float


@dataclass(frozen=True, repr=False)
class SeekMap(DisplayedResult):
    """Positioning times from one place to the start of every row of every column.

    Attributes:
        device: Name of the device.
        start: Start of the sled: x and y in bits from the center, and its direction in y, 1 or -1.
        x_bit: x of each column, in bits from the center.
        y_bit: y of the middle of each row, in bits from the center.
        ms: Positioning times in ms, settling and turnarounds included; shape (rows, columns).
        next_column_ms: Time in ms from the central column to the next one, in x alone, with settling.
        full_stroke_ms: Time in ms from the first column to the last, in x alone, with settling.

    Examples:
        >>> import sledlab as sl
        >>> seek_map = sl.seek_map("mems-g2", x_bit=1000)
        >>> seek_map.mean_ms < seek_map.max_ms < seek_map.full_stroke_ms
        True
    """

    device: str
    start: tuple[int, int, int]
    x_bit: npt.NDArray[np.int32]
    y_bit: npt.NDArray[np.int32]
    ms: npt.NDArray[np.float64]
    next_column_ms: float
    full_stroke_ms: float

    @property
    def mean_ms(self) -> float:
        """Mean positioning time over all places, in ms."""
        return float(self.ms.mean())

    @property
    def max_ms(self) -> float:
        """The longest positioning time, in ms."""
        return float(self.ms.max())

    def regions(self, thresholds_ms: tuple[float, ...] = THRESHOLDS_MS) -> list[Region]:
        """Return the places reached within each of several times.

        Args:
            thresholds_ms: The times, in ms.

        Examples:
            >>> import sledlab as sl
            >>> [region.width_bits for region in sl.seek_map("mems-g2").regions((0.3, 0.4))]
            [73, 357]
        """
        return [self._region(threshold) for threshold in thresholds_ms]

    def _region(self, threshold_ms: float) -> Region:
        is_reached = self.ms <= threshold_ms
        width = _extent(self.x_bit, is_reached.any(axis=0))
        height = _extent(self.y_bit, is_reached.any(axis=1))
        return Region(
            threshold_ms, width, height, height / width if width else None, float(is_reached.mean())
        )

    def plot(self, *, width: str | None = None) -> Figure:
        """Draw the map with the regions outlined.

        Args:
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Returns:
            A matplotlib figure.
        """
        return self._draw(width=width)

    def to_dict(self) -> dict[str, Any]:
        """Start, extremes and regions as plain data; the map itself is omitted."""
        x_bit, y_bit, direction = self.start
        return {
            "device": self.device,
            "start": {"x_bit": x_bit, "y_bit": y_bit, "direction": direction},
            "mean_ms": self.mean_ms,
            "max_ms": self.max_ms,
            "next_column_ms": self.next_column_ms,
            "full_stroke_ms": self.full_stroke_ms,
            "columns": len(self.x_bit),
            "rows": len(self.y_bit),
            "regions": [asdict(region) for region in self.regions()],
        }


def _extent(positions: npt.NDArray[np.int32], is_reached: Any) -> int:
    """Distance from the first to the last place that is inside, both included."""
    reached = positions[is_reached]
    if not len(reached):
        return 0
    step = int(np.diff(positions).max(initial=1))
    return int(reached.max() - reached.min()) + step


def seek_map(device: ModelChoice | str, x_bit: int = 0, y_bit: int = 0, direction: int = 1) -> SeekMap:
    """Positioning times from one place of the sled to all others.

    Args:
        device: A device, or its name or file.
        x_bit: Start in x, in bits from the center.
        y_bit: Start in y, in bits from the center.
        direction: Direction of motion in y at the start, 1 or -1.

    Raises:
        Error: The start is outside of the sled's range, or the device has no sled.

    Examples:
        >>> import sledlab as sl
        >>> seek_map = sl.seek_map("mems-g2")
        >>> seek_map.ms.shape
        (27, 2500)
    """
    choice = require("device", device)
    experiment = with_settings(_native.Experiment(), {"device": choice})
    return compute(experiment, choice.name, x_bit, y_bit, direction)


def compute(experiment: _native.Experiment, name: str, x_bit: int, y_bit: int, direction: int) -> SeekMap:
    """Return the map for the device of an experiment."""
    (columns, rows, times), x_times_ms = _native.seek_map(experiment, x_bit, y_bit, direction)
    x = np.frombuffer(columns, "<i4")
    y = np.frombuffer(rows, "<i4")
    ms = np.frombuffer(times, "<f8").reshape(len(y), len(x))
    return SeekMap(name, (x_bit, y_bit, direction), x, y, ms, *x_times_ms)


def writer(path: Path) -> Callable[[SeekMap], None]:
    """Return the function that writes a map to a file, chosen by the ending of its name.

    Raises:
        Error: The ending is unknown.
    """
    write_map = WRITERS.get(path.suffix.lower())
    if write_map is None:
        raise Error(
            f"unknown format of the map `{path}`", remedy=f"use a name that ends in {', '.join(WRITERS)}"
        )

    def write(result: SeekMap) -> None:
        with atomic_write(path) as draft:
            write_map(result, draft)

    return write


def _write_csv(result: SeekMap, path: Path) -> None:
    y, x = np.meshgrid(result.y_bit, result.x_bit, indexing="ij")
    table = np.column_stack((x.ravel(), y.ravel(), result.ms.ravel()))
    np.savetxt(
        path, table, fmt=("%d", "%d", "%.6f"), delimiter=",", header="x_bit,y_bit,seek_ms", comments=""
    )


WRITERS: dict[str, Callable[[SeekMap, Path], Any]] = {
    ".png": lambda result, path: result.plot().savefig(path, dpi=200),
    ".svg": lambda result, path: result.plot().savefig(path),
    ".html": lambda result, path: result.report(path),
    ".csv": _write_csv,
    ".npz": lambda result, path: np.savez_compressed(
        path, x_bit=result.x_bit, y_bit=result.y_bit, ms=result.ms
    ),
}
"""Functions that write a map, by the ending of the file."""

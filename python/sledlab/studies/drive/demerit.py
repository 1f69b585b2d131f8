"""Comparing a disk model with measurements of a real drive.

The measured stream is replayed the way it was issued: one request at a time, each as long after the
completion of the previous one as in the measurement. Distributions of service times are compared.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab import _native
from sledlab.display import DisplayedResult
from sledlab.errors import Error
from sledlab.model.catalog import require, with_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from sledlab.model.catalog import ModelChoice

BUCKETS = 1750
POINTS = 10_000


def edges_us() -> list[int]:
    """Edges of the buckets in which service times are counted: 1 us wide at first, then about 1 % each.

    Examples:
        >>> edges_us()[:3], edges_us()[-1]
        ([0, 1, 2], 2069657113)
    """
    edges = [0]
    for _ in range(BUCKETS):
        edges.append(edges[-1] + 1 + edges[-1] // 100)
    return edges


def quantiles_ms(services_ns: Sequence[int]) -> list[float]:
    """Service times at 10,000 evenly spaced shares up to 1, read off their bucketed distribution."""
    ordered = sorted(service // 1000 for service in services_ns)
    count = len(ordered)
    # Rounded as in DiskSim's tables: rounding matters for the slowest few requests of a stream.
    curve = [(edge / 1000, round(bisect_left(ordered, edge) / count, 6)) for edge in edges_us()]
    quantiles, index = [], 0
    for point in range(1, POINTS + 1):
        share = point / POINTS
        while index < len(curve) - 1 and curve[index][1] < share:
            index += 1
        (x0, y0), (x1, y1) = curve[max(index - 1, 0)], curve[index]
        quantiles.append(x0 + (x1 - x0) * (share - y0) / (y1 - y0) if y1 > y0 else x1)
    return quantiles


def demerit_ms(measured_ns: Sequence[int], simulated_ns: Sequence[int]) -> float:
    """Return the demerit figure: root mean square of the horizontal distance between two distributions.

    The distributions are of service times. Defined as in DiskSim's validation (Ruemmler and Wilkes 1994
    introduced it), buckets included, so that figures can be compared with published ones.

    Examples:
        >>> demerit_ms([1_000_000, 2_000_000], [1_000_000, 2_000_000])
        0.0
        >>> round(demerit_ms([5_000_000] * 10, [6_000_000] * 10), 1)
        1.0
    """
    pairs = zip(quantiles_ms(measured_ns), quantiles_ms(simulated_ns), strict=True)
    return math.sqrt(sum((a - b) ** 2 for a, b in pairs) / POINTS)


@dataclass(frozen=True, repr=False)
class DriveValidation(DisplayedResult):
    """Measured service times of a drive and those of its model.

    Attributes:
        drive: Name or file of the model.
        host: The host that the drive is attached to; None for the bus in the model's file.
        reads: For each request, whether it is a read.
        measured_ns: Measured service times, in ns.
        simulated_ns: Service times of the model, in ns.

    Examples:
        >>> validation = DriveValidation("hp-c2247a", None, (True,) * 10, [5_000_000] * 10, [6_000_000] * 10)
        >>> round(validation.demerit_ms, 1), validation.mean_ms(reads=True)
        (1.0, (5.0, 6.0))
    """

    drive: str
    host: str | None
    reads: tuple[bool, ...]
    measured_ns: Sequence[int]
    simulated_ns: Sequence[int]

    @cached_property
    def demerit_ms(self) -> float:
        """The demerit figure: see the function `demerit_ms`."""
        return demerit_ms(self.measured_ns, self.simulated_ns)

    def mean_ms(self, *, reads: bool) -> tuple[float, float] | None:
        """Return mean measured and simulated service time of reads or writes; None without such requests."""
        indices = [index for index, is_read in enumerate(self.reads) if is_read == reads]
        if not indices:
            return None
        means = [
            sum(times[index] for index in indices) / len(indices) / 1e6
            for times in (self.measured_ns, self.simulated_ns)
        ]
        return means[0], means[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the number of requests, demerit figure and means, for JSON."""
        return {
            "drive": self.drive,
            "host": self.host,
            "requests": len(self.reads),
            "demerit_ms": self.demerit_ms,
            **{
                f"mean_{name}_ms": dict(zip(("measured", "simulated"), means, strict=True))
                for name, means in (("read", self.mean_ms(reads=True)), ("write", self.mean_ms(reads=False)))
                if means is not None
            },
        }

    def plot(self, *, width: str | None = None) -> Figure:
        """Both distributions of service times, of reads and of writes.

        Args:
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.
        """
        return self._draw(width=width)


def validate_drive(
    drive: ModelChoice | str | Path, measured: str | Path, *, host: str | None = None
) -> DriveValidation:
    """Replay a measured stream on a model of the drive it was measured on.

    Args:
        drive: A device: a preset by name, a file, or `sl.device(...)` with parameters.
        measured: The measured stream, as DiskSim validates: a line `R|W action lbn blocks service_us gap_us`
            each.
        host: The host whose bus the drive is attached to; for a preset by default the one it was measured on.
            `none` keeps the bus of the device file.

    Raises:
        Error: The device or the host is unknown, the stream cannot be read or does not fit the drive.

    Examples:
        >>> import tempfile, pathlib, sledlab as sl
        >>> stream = pathlib.Path(tempfile.mkdtemp()) / "measured.txt"
        >>> _ = stream.write_text("R Miss 1130508 8 21392.02 17403.765\\nW Hit 843900 21 17264.9 22142.5\\n")
        >>> sl.validate_drive("hp-c2247a", stream).reads
        (True, False)
    """
    choice = require("device", drive)
    name = choice.name
    if host is None:
        host = choice.parameters.get("host", name if name in _native.host_names() else None)
    if host is not None:
        choice = replace(choice, parameters={**choice.parameters, "host": host})
    experiment = with_settings(_native.Experiment(), {"device": choice})
    ops, measured_ns, simulated_ns = _native.replay_measured_requests(experiment, str(measured))
    if not ops:
        raise Error(f"{measured}: the stream holds no requests", remedy="check the file")
    reads = tuple(op == ord("R") for op in ops)
    return DriveValidation(
        name, None if host == "none" else host, reads, array("Q", measured_ns), array("Q", simulated_ns)
    )

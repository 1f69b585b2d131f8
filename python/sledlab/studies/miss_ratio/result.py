"""Miss-ratio curves as typed tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from sledlab._native import __version__
from sledlab.display import SCHEMA, DisplayedResult, find_presentation
from sledlab.results import OUTCOME, read_errors, read_json
from sledlab.study.columns import Column, frame, records
from sledlab.study.saved import from_plain, output_files, write_result

if TYPE_CHECKING:
    from pathlib import Path

    import polars
    from matplotlib.figure import Figure

KIND = "miss-ratio"
"""The kind of these results, named in the directory that they are written to."""

TABLES = ("curves", "responses")
"""Names of the tables."""

OUTPUT_FILES = output_files(*TABLES)
"""All files that `write` creates in a directory."""


@dataclass(frozen=True)
class CurvePoint:
    """Misses of a cache."""

    policy: Annotated[str, Column("the replacement policy")]
    cache_bytes: Annotated[int, Column("size of the cache", "bytes")]
    room: Annotated[int, Column("segments that the cache holds")]
    miss_ratio: Annotated[float | None, Column("share of uses of segments that miss")]
    error: Annotated[float, Column("by how much miss_ratio of a sample can be wrong; 0 where it is exact")]
    read_miss_ratio: Annotated[float | None, Column("share of uses by reads that miss")]
    write_miss_ratio: Annotated[float | None, Column("share of uses by writes that miss")]
    byte_miss_ratio: Annotated[float | None, Column("share of bytes in segments that miss")]
    read_byte_miss_ratio: Annotated[float | None, Column("share of bytes read in segments that miss")]
    write_byte_miss_ratio: Annotated[float | None, Column("share of bytes written in segments that miss")]
    request_miss_ratio: Annotated[
        float | None, Column("share of requests of which a segment misses; none for a sample")
    ]
    read_request_miss_ratio: Annotated[float | None, Column("share of reads of which a segment misses")]
    write_request_miss_ratio: Annotated[float | None, Column("share of writes of which a segment misses")]
    destage_ratio: Annotated[
        float | None, Column("segments that a write-back cache destages over segments written")
    ]

    @property
    def cache_mb(self) -> float:
        """Size of the cache, in 10^6 bytes."""
        return self.cache_bytes / 1e6


@dataclass(frozen=True)
class ResponsePoint:
    """A simulated cache in front of a device."""

    policy: Annotated[str, Column("the replacement policy; empty without a cache")]
    cache_bytes: Annotated[int, Column("size of the cache", "bytes")]
    room: Annotated[int, Column("segments that the cache holds; 0 without a cache")]
    mean_ms: Annotated[float, Column("mean response time", "ms")]
    p99_ms: Annotated[float, Column("99th percentile of the response times", "ms")]
    read_mean_ms: Annotated[float | None, Column("mean response time of reads", "ms")]
    write_mean_ms: Annotated[float | None, Column("mean response time of writes", "ms")]
    utilization: Annotated[float, Column("share of time in which the device behind the cache was busy")]
    saturated: Annotated[bool, Column("whether the queue kept growing")]

    @property
    def cache_mb(self) -> float:
        """Size of the cache, in 10^6 bytes."""
        return self.cache_bytes / 1e6


@dataclass(frozen=True, repr=False)
class MissRatioCurves(DisplayedResult):
    """Miss ratios by replacement policy and size of the cache.

    Displays itself as a table in a notebook, and prints as one.

    Attributes:
        trace: Name of the trace.
        segment_kb: Size of a segment, in 1024 bytes.
        segments: Number of different segments that the trace uses.
        uses: Number of uses of segments.
        sampled_share: The smallest share of the segments that was sampled for a size; 1 if all are exact.
        points: Misses of each cache, in order of policies, then of sizes.
        device: The device behind the cache; empty without one.
        simulated: Simulated caches in front of the device, in order of policies, then of sizes.
        admit: The requests whose segments enter the caches, `all` or `writes`.

    Examples:
        >>> import sledlab as sl
        >>> columns = {"time_us": [0, 5, 9], "op": ["R", "W", "R"], "offset_bytes": [0, 65536, 0]}
        >>> curves = sl.miss_ratio_curves(sl.trace({**columns, "length_bytes": [512] * 3}), replacement="lru")
        >>> curves.footprint_mb, curves.curves["room"].to_list()
        (0.016384, [1, 2])
    """

    trace: str
    segment_kb: float
    segments: int
    uses: int
    sampled_share: float
    points: Sequence[CurvePoint] = field(repr=False)
    device: str = ""
    simulated: Sequence[ResponsePoint] = field(repr=False, default=())
    admit: str = "all"

    @cached_property
    def curves(self) -> polars.DataFrame:
        """A row for each policy and size.

        Columns `policy`, `cache_bytes`, `room` (segments), `miss_ratio` of uses of segments and its
        `error`, 0 where exact; `read_miss_ratio` and `write_miss_ratio`;
        the same of bytes (`byte_miss_ratio`, `read_byte_...`, `write_byte_...`) and of requests
        (`request_miss_ratio`, ...), which miss if one of their segments does and have no ratio in a sample;
        and `destage_ratio`, the segments that a write-back cache destages over the segments written. A
        write-through cache destages 1.
        """
        return frame(self.points, CurvePoint)

    @cached_property
    def responses(self) -> polars.DataFrame:
        """A row for each simulated cache in front of the device; the first is the device without a cache.

        Columns `policy`, `cache_bytes`, `room`, `mean_ms`, `p99_ms`, `read_mean_ms`, `write_mean_ms`,
        `utilization` of the device, and `saturated`, whether the queue kept growing.
        """
        return frame(self.simulated, ResponsePoint)

    @property
    def footprint_mb(self) -> float:
        """Size of all different segments that the trace uses, in 10^6 bytes."""
        return self.segments * self.segment_kb * 1024 / 1e6

    @property
    def policies(self) -> list[str]:
        """The policies of the curves."""
        return list(dict.fromkeys(point.policy for point in self.points))

    def curve(self, policy: str) -> list[CurvePoint]:
        """The points of a policy, the smallest cache first."""
        return [point for point in self.points if point.policy == policy]

    def sum_of_misses(self, policy: str) -> float:
        """Return the sum of the miss ratios of a policy over all sizes, to compare policies."""
        return sum(point.miss_ratio or 0.0 for point in self.curve(policy))

    @property
    def answer(self) -> str:
        """The policy with the fewest misses, and the size from which more cache does not pay."""
        return find_presentation(self).answer(self)

    def plot(self, kind: str = "misses", *, width: str | None = None) -> Figure:
        """Draw curves against the size of the cache.

        Args:
            kind: `misses` of uses of segments, `reads` and `writes` of these, `bytes`, `requests` or
                `destages`; with a device `response`, the mean response time, or `load`, the utilization of
                the device.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such kind.
        """
        return self._draw(kind, width=width)

    def to_dict(self) -> dict[str, Any]:
        """All results as plain data: printed by `--json`."""
        return {
            "schema": SCHEMA,
            "answer": self.answer,
            "warnings": self.warnings,
            "trace": self.trace,
            "segment_kb": self.segment_kb,
            "admit": self.admit,
            "segments": self.segments,
            "uses": self.uses,
            "sampled_share": self.sampled_share,
            "curves": records(self.points),
            "device": self.device,
            "responses": records(self.simulated),
            "version": __version__,
        }

    def write(self, directory: Path) -> None:
        """Write page, tables (also as LaTeX) and summary into a directory."""
        write_result(self, self.to_dict(), {name: getattr(self, name) for name in TABLES}, directory)


def every_nth(sizes: Sequence[Any], count: int) -> list[Any]:
    """Return `count` of the sizes at equal distances, the last one included; all if there are fewer.

    Examples:
        >>> every_nth(range(1, 41), 4), every_nth([1, 2], 4)
        ([10, 20, 30, 40], [1, 2])
    """
    step = max(1, len(sizes) // count)
    return list(reversed(sizes[::-1][::step][:count]))


def read(directory: Path) -> MissRatioCurves:
    """Read the curves that `MissRatioCurves.write` wrote into a directory.

    Raises:
        Error: A file is missing or damaged.
    """
    with read_errors(directory / OUTCOME) as path:
        saved = read_json(path)
        points = tuple(from_plain(Sequence[CurvePoint], saved.pop("points")))
        simulated = tuple(from_plain(Sequence[ResponsePoint], saved.pop("simulated")))
        return MissRatioCurves(points=points, simulated=simulated, **saved)

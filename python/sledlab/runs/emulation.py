"""Timing accuracy of an emulated device: lateness of replies, its causes, and the closed loop."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy
    import polars

CAUSES = ("on time", "scheduling delay", "model", "data", "client", "minimum reply time")
"""Causes of late replies, by the number that the server gives each."""

EMULATION, REPLIES = "emulation.json", "emulation.parquet"
"""Files that `serve` writes besides those of a run."""

SCHEMA = 2
"""Version of the keys of `emulation.json`."""

TOLERANCE = 0.02
"""A reply is on time if it is early or late by no more than this share of its response time."""

MIN_ON_TIME_SHARE = 0.99
"""A run has kept time if at least this share of replies was on time, as for Memulator (FAST 2002)."""

SHARES = (0.01, 0.02, 0.05)
"""Shares of the response time for which the share of replies within them is reported."""

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p999": 99.9}

LATE_NS = 5_000_000
"""Replies later than this, in wall-clock time, are counted as late."""


@dataclass(frozen=True)
class ClosedLoop:
    """Completions that a server planned, compared with those of a replay of the same requests.

    Attributes:
        operations: Number of operations compared.
        different: Operations that the replay completes at another time than the server planned.
        same_results: Whether the summary and every column of the per-request table are the same to the bit.

    Examples:
        >>> import sledlab as sl
        >>> sl.ClosedLoop(operations=1000, different=0, same_results=True).closed
        True
    """

    operations: int
    different: int
    same_results: bool

    @property
    def closed(self) -> bool:
        """Whether the replay has the same completions and the same results."""
        return self.different == 0 and self.same_results


@dataclass(frozen=True)
class PowerFailure:
    """A power failure of an emulated device, and the outcome of blocks that were not durable.

    For each block being written at that moment, a random number decided whether it reached its medium.

    Attributes:
        model_s: Time of the failure, in seconds of the device's time since it was switched on.
        real_s: Time of the failure, in seconds of wall-clock time since the server started.
        on_s: Time at which the device was on again, in seconds of wall-clock time since the server started.
        seed: Seed of these random numbers.
        in_flight: Requests that had arrived and were never answered.
        newest: Blocks whose last write was not durable (with a volatile cache: not flushed), and which hold
            its data nevertheless.
        older: Blocks whose last write was not durable, and which hold older data.
        lost: Blocks among `older` that lost an acknowledged write, which was in a volatile cache or disk
            buffer.

    Examples:
        >>> import sledlab as sl
        >>> with sl.serve("mems-g2", power_failures=True) as server:  # programs would write here
        ...     failure = server.power_fail(seed=7)
        >>> failure.in_flight, failure.blocks_at_risk, failure.seed
        (0, 0, 7)
    """

    model_s: float
    real_s: float
    on_s: float
    seed: int
    in_flight: int
    newest: int
    older: int
    lost: int

    @property
    def blocks_at_risk(self) -> int:
        """Blocks whose last write was not durable."""
        return self.newest + self.older

    @classmethod
    def read(cls, report: Mapping[str, Any]) -> PowerFailure:
        """The power failure that a server reports."""
        return cls(**{field.name: report[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class Emulation:
    """Timing accuracy of an emulated device: lateness of replies, with its causes.

    Lateness is the time at which a reply was passed to the kernel minus the time at which it was due, in
    wall-clock time; that of early replies is negative. `scale` is how many times slower than wall-clock time
    the device ran.

    Examples:
        >>> import sledlab as sl
        >>> with sl.serve("mems-g2") as server:  # fio, QEMU or another client of NBD would be busy here
        ...     pass
        >>> server.emulation.replies, server.emulation.kept_time
        (0, True)
    """

    scale: float
    untimed: bool
    closed_loop: ClosedLoop | None
    server: Mapping[str, Any] = field(repr=False)
    """The server's report about itself: stalls, processor time, the time to the client."""
    response_ns: numpy.ndarray = field(repr=False)
    """Response time of every reply by the model, in ns of wall-clock time."""
    lateness_ns: numpy.ndarray = field(repr=False)
    """Lateness of every reply, in ns of wall-clock time."""
    cause: numpy.ndarray = field(repr=False)
    """Cause of the lateness of every reply, as an index into `CAUSES`."""
    table: Any = field(repr=False, default=None)
    """A row for every reply; see `frame`."""
    power_failures: tuple[PowerFailure, ...] = ()
    """Power failures, in order."""

    @classmethod
    def read(cls, data: Mapping[str, Any], table: polars.DataFrame) -> Emulation:
        """Return the emulation whose `to_dict` and `frame` are given."""
        scale, closed_loop = float(data["time_scale"]), data["closed_loop"]
        model_response_ns = table["planned_ns"].cast(int) - table["arrival_ns"].cast(int)
        return cls(
            scale=scale,
            untimed=bool(data["untimed"]),
            closed_loop=None if closed_loop is None else ClosedLoop(**closed_loop),
            server=data["server"],
            response_ns=model_response_ns.to_numpy() * scale,
            lateness_ns=table["lateness_ns"].to_numpy(),
            cause=np.array([CAUSES.index(cause) for cause in table["cause"]], dtype=np.int64),
            table=table,
            power_failures=tuple(map(PowerFailure.read, data["power_failures"])),
        )

    @property
    def replies(self) -> int:
        """Number of replies that were sent."""
        return len(self.lateness_ns)

    def on_time_share(self, share: float) -> float | None:
        """Share of replies, 0 to 1, whose lateness is at most `share` of their response time, early or late.

        Replies to requests that take no time in the model, such as trims, do not count; None without others.
        """
        has_response_time = self.response_ns > 0
        if not has_response_time.any():
            return None
        distance_ns = np.abs(self.lateness_ns[has_response_time])
        return float(np.mean(distance_ns <= share * self.response_ns[has_response_time]))

    @cached_property
    def lateness_us(self) -> Mapping[str, float | None]:
        """Percentiles of the lateness, and the largest, in us of wall-clock time; None without replies."""
        if not self.replies:
            return dict.fromkeys((*PERCENTILES, "max"))
        values_us = self.lateness_ns / 1e3
        percentiles = {name: float(np.percentile(values_us, rank)) for name, rank in PERCENTILES.items()}
        return {**percentiles, "max": float(values_us.max())}

    @property
    def late_replies(self) -> int:
        """Number of replies more than 5 ms late, in wall-clock time."""
        return int(np.count_nonzero(self.lateness_ns > LATE_NS))

    @cached_property
    def causes(self) -> Mapping[str, int]:
        """Number of replies by the cause of their lateness."""
        counts = np.bincount(self.cause, minlength=len(CAUSES))
        return {name: int(count) for name, count in zip(CAUSES, counts, strict=True) if count}

    @property
    def stalls(self) -> Mapping[str, Any]:
        """Stalls of the server: `count`, `sum_ns`, `longest_ns`, `arrivals`, `listed`."""
        stalls: Mapping[str, Any] = self.server["stalls"]
        return stalls

    @property
    def kept_time(self) -> bool:
        """Whether 99 % of replies left within 2 % of their response time; True without replies."""
        share = self.on_time_share(TOLERANCE)
        return self.untimed or share is None or share >= MIN_ON_TIME_SHARE

    @cached_property
    def chief_cause(self) -> str:
        """The most common cause among replies that were not on time; empty if all were on time."""
        is_off_time = np.abs(self.lateness_ns) > TOLERANCE * self.response_ns
        counts = np.bincount(self.cause[is_off_time], minlength=len(CAUSES))
        counts[0] = 0
        return CAUSES[int(counts.argmax())] if counts.any() else ""

    @cached_property
    def sufficient_scale(self) -> float:
        """The time scale at which 99 % of replies like these would have been on time."""
        has_response_time = self.response_ns > 0
        if not has_response_time.any():
            return self.scale
        lateness_ns = np.percentile(np.abs(self.lateness_ns[has_response_time]), 99)
        short_response_ns = np.percentile(self.response_ns[has_response_time], 10) / self.scale
        return float(_round_up(max(lateness_ns / (TOLERANCE * short_response_ns), self.scale)))

    def frame(self) -> polars.DataFrame:
        """A row for every reply.

        Columns `id`, `arrival_ns`, `planned_ns` and `sent_ns` in the time of the model, `lateness_ns` and
        `host_ns` (the time subtracted from the due time to compensate for the round trip to the client) in
        wall-clock time, `cause`, `connection`, and `power_failures`, the number of power failures before the
        reply. Ids and times restart after each power failure.
        """
        frame: polars.DataFrame = self.table
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Everything but the table as plain data: the content of `emulation.json`."""
        closed_loop = self.closed_loop
        return {
            "schema": SCHEMA,
            "kept_time": self.kept_time,
            "time_scale": self.scale,
            "untimed": self.untimed,
            "replies": self.replies,
            "within": {f"{share * 100:g} %": self.on_time_share(share) for share in SHARES},
            "lateness_us": dict(self.lateness_us),
            "later_than_5_ms": self.late_replies,
            "causes": dict(self.causes),
            "chief_cause": self.chief_cause,
            "sufficient_scale": self.sufficient_scale,
            "closed_loop": None
            if closed_loop is None
            else {
                "operations": closed_loop.operations,
                "different": closed_loop.different,
                "same_results": closed_loop.same_results,
            },
            "power_failures": [asdict(failure) for failure in self.power_failures],
            "server": dict(self.server),
        }

    def to_json(self) -> str:
        """The data of `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)


def _round_up(scale: float) -> float:
    """A time scale rounded up to one significant digit.

    Examples:
        >>> _round_up(3.2), _round_up(12.0), _round_up(0.5)
        (4.0, 20.0, 0.5)
    """
    step = 10.0 ** math.floor(math.log10(scale))
    return math.ceil(scale / step - 1e-9) * step

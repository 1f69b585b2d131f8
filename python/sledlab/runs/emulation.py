"""How true a run was: how late replies left, why, and whether the model says the same again."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab.lazy import numpy as np
from sledlab.lazy import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy
    import polars

CAUSES = ("on time", "woken late", "model", "data", "client", "floor")
"""Why a reply was late, by the number that the server gives it."""

SCHEMA = 1
"""Version of what `emulation.json` holds."""

TOLERANCE = 0.02
"""A reply is on time that leaves within this share of its response time."""

KEPT_SHARE = 0.99
"""Share of replies on time from which a run has kept time: that of Memulator (FAST 2002)."""

SHARES = (0.01, 0.02, 0.05)
"""Shares of the response time that are told of."""

PERCENTILES = {"p50": 50, "p90": 90, "p99": 99, "p999": 99.9}

LATE_NS = 5_000_000
"""Replies later than this, of real time, are told of."""


@dataclass(frozen=True)
class ClosedLoop:
    """The answers of a server, against a replay of the same requests.

    Attributes:
        operations: Number of operations compared.
        different: Of these, how many the replay completes at another time.
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
        """Whether the replay says the same of everything."""
        return self.different == 0 and self.same_results


@dataclass(frozen=True)
class PowerFailure:
    """What a power failure of an emulated device has done.

    Of each block that was on its way to a medium then, chance has said whether it got there.

    Attributes:
        model_s: When, in seconds of the device's time since it was switched on.
        real_s: When, in seconds of real time since the server began.
        on_s: When the device was on again, in the same seconds.
        seed: Root of the random numbers of that chance.
        under_way: Requests that were never answered.
        newest: Blocks whose last write was not durable, and was kept all the same.
        older: Blocks whose last write was not durable, and which hold something older.
        lost: How many of these an acknowledged write had changed after that: a volatile cache has lost it.

    Examples:
        >>> import sledlab as sl
        >>> with sl.serve("mems-g2", power_failures=True) as server:  # programs would write here
        ...     failure = server.power_fail(seed=7)
        >>> failure.under_way, failure.at_risk, failure.seed
        (0, 0, 7)
    """

    model_s: float
    real_s: float
    on_s: float
    seed: int
    under_way: int
    newest: int
    older: int
    lost: int

    @property
    def at_risk(self) -> int:
        """Blocks whose last write was not durable."""
        return self.newest + self.older

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> PowerFailure:
        """Of what the server says."""
        return cls(**{each.name: told[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class Emulation:
    """How true the times of an emulated device were: lateness of replies, with its causes.

    Lateness is when a reply was handed to the kernel, less when it was to leave, in real time; early replies
    are below zero. `scale` is how many times slower than real time the device ran.

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
    """What the server says of itself: stalls, processor time, the way to the client."""
    response_ns: numpy.ndarray = field(repr=False)
    """Response times that the model gives the replies, in ns of real time."""
    lateness_ns: numpy.ndarray = field(repr=False)
    """Lateness of every reply, in ns of real time."""
    cause: numpy.ndarray = field(repr=False)
    """Numbers of causes."""
    table: Any = field(repr=False, default=None)
    """Every reply, as an Arrow table."""
    power_failures: tuple[PowerFailure, ...] = ()
    """Power failures, in order."""

    @property
    def replies(self) -> int:
        """Replies that were sent."""
        return len(self.lateness_ns)

    def within(self, share: float) -> float:
        """The share of replies that left within that share of their response time, 0 to 1.

        Replies of which the model takes no time, such as those to trims, do not count.
        """
        timed = self.response_ns > 0
        if not timed.any():
            return 1.0
        off = np.abs(self.lateness_ns[timed])
        return float(np.mean(off <= share * self.response_ns[timed]))

    @cached_property
    def lateness_us(self) -> Mapping[str, float]:
        """Percentiles of the lateness, and the largest, in us of real time."""
        if not self.replies:
            return dict.fromkeys((*PERCENTILES, "max"), 0.0)
        real = self.lateness_ns / 1e3
        found = {name: float(np.percentile(real, at)) for name, at in PERCENTILES.items()}
        return {**found, "max": float(real.max())}

    @property
    def late(self) -> int:
        """Replies more than 5 ms late, of real time."""
        return int(np.count_nonzero(self.lateness_ns > LATE_NS))

    @cached_property
    def causes(self) -> Mapping[str, int]:
        """Replies by what made them late."""
        counts = np.bincount(self.cause, minlength=len(CAUSES))
        return {name: int(count) for name, count in zip(CAUSES, counts, strict=True) if count}

    @property
    def stalls(self) -> Mapping[str, Any]:
        """Times for which the server was held up: `count`, `sum_ns`, `longest_ns`, `arrivals`, `listed`."""
        stalls: Mapping[str, Any] = self.server["stalls"]
        return stalls

    @property
    def kept_time(self) -> bool:
        """Whether 99 % of replies left within 2 % of their response time."""
        return self.untimed or self.within(TOLERANCE) >= KEPT_SHARE

    @cached_property
    def chief_cause(self) -> str:
        """What made most of those replies late that were not on time; none if all were."""
        off = np.abs(self.lateness_ns) > TOLERANCE * self.response_ns
        counts = np.bincount(self.cause[off], minlength=len(CAUSES))
        counts[0] = 0
        return CAUSES[int(counts.argmax())] if counts.any() else ""

    @cached_property
    def sufficient_scale(self) -> float:
        """The time scale at which 99 % of replies like these would have been on time."""
        timed = self.response_ns > 0
        if not timed.any():
            return self.scale
        late_ns = np.percentile(np.abs(self.lateness_ns[timed]), 99)
        quick_ns = np.percentile(self.response_ns[timed], 10) / self.scale
        return float(_round(max(late_ns / (TOLERANCE * quick_ns), self.scale)))

    def frame(self) -> polars.DataFrame:
        """Every reply.

        Columns `id`, `arrival_ns`, `planned_ns` and `sent_ns` in the time of the model, `lateness_ns` and
        `host_ns` (how much earlier it was to leave for the way to the client) in real time, `cause`,
        `connection`, and `power_failures`: how many there had been. Numbers and times begin anew after each.
        """
        frame = pl.from_arrow(self.table)
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """All of it but the table, as plain data."""
        loop = self.closed_loop
        return {
            "schema": SCHEMA,
            "kept_time": self.kept_time,
            "time_scale": self.scale,
            "untimed": self.untimed,
            "replies": self.replies,
            "within": {f"{share * 100:g} %": self.within(share) for share in SHARES},
            "lateness_us": dict(self.lateness_us),
            "later_than_5_ms": self.late,
            "causes": dict(self.causes),
            "chief_cause": self.chief_cause,
            "sufficient_scale": self.sufficient_scale,
            "closed_loop": None
            if loop is None
            else {
                "operations": loop.operations,
                "different": loop.different,
                "same_results": loop.same_results,
            },
            "power_failures": [asdict(failure) for failure in self.power_failures],
            "server": dict(self.server),
        }

    def to_json(self) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)


def _round(scale: float) -> float:
    """A scale with one digit that is not less.

    Examples:
        >>> _round(3.2), _round(12.0), _round(0.5)
        (4.0, 20.0, 0.5)
    """
    step = 10.0 ** math.floor(math.log10(scale))
    return math.ceil(scale / step - 1e-9) * step

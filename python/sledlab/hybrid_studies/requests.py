"""The requests of a hybrid study: the same for every configuration, and what they are like."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sledlab import _native, settings
from sledlab.errors import Error
from sledlab.given import on_one_device
from sledlab.traces import Generated, Trace, read_trace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sledlab.traces import Opener

BLOCK_BYTES = 512


@dataclass(frozen=True)
class Requests:
    """Requests fitted to one device, whichever device they are replayed on.

    Attributes:
        of: Where they come from.
        devices: What becomes of a trace that names several devices.
        outside: What a request past the end gets.
        capacity_blocks: Blocks of the device that they are fitted to.
        limit: How many there are at most; 0 for all.
    """

    of: Opener
    devices: str
    outside: str
    capacity_blocks: int
    limit: int

    def open(self) -> _native.Source:
        """The requests, from the start."""
        source = on_one_device(self.of, self.devices)
        if self.outside != "reject":
            scaled = self.outside == "scale"
            end = max(_native.survey(on_one_device(self.of, self.devices))[1], default=0) if scaled else None
            source = _native.fit(source, self.outside, self.capacity_blocks, end)
        return _native.limit(source, self.limit) if self.limit else source

    def of_seed(self, seed: int) -> Requests:
        """The same with another root of random numbers, where there are any."""
        return replace(self, of=replace(self.of, seed=seed)) if isinstance(self.of, Generated) else self


def requests_of(config: Mapping[str, Any], trace: Trace | None, capacity_blocks: int) -> Trace:
    """What an experiment replays, fitted to a device of so many blocks.

    Args:
        config: The complete experiment as plain data.
        trace: Replayed instead of what it names.
        capacity_blocks: Blocks of the device.

    Raises:
        Error: The trace cannot be opened, or the workload never ends.
    """
    replayed, named = config["replay"], config.get("trace") or {}
    limit = int(replayed.get("limit") or 0)
    if trace is None and "workload" in config:
        trace = _generated(config, capacity_blocks, limit)
    elif trace is None:
        if named["file"] == "-":
            raise Error("standard input can be read only once", remedy="save the trace to a file first")
        window = int(named.get("sort_window") or 0)
        trace = read_trace(named["file"], named.get("format") or None, sort_window=window)
    devices, outside = str(named.get("devices", "one")), str(replayed["outside"])
    return Trace(trace.name, trace.format, Requests(trace.opener, devices, outside, capacity_blocks, limit))


def _generated(config: Mapping[str, Any], capacity_blocks: int, limit: int) -> Trace:
    said = dict(config["workload"])
    kind = said.pop("kind")
    if not said.get("requests") and not limit:
        raise Error(f"the workload `{kind}` never ends", remedy="say how many requests, with --limit N")
    return Trace(
        kind, "generated", Generated(kind, settings.table(said), int(config["seed"]), capacity_blocks)
    )


def seeded(trace: Trace, seed: int) -> Trace:
    """The requests of another seed; a recorded trace has only one."""
    opener = trace.opener
    return replace(trace, opener=opener.of_seed(seed)) if isinstance(opener, Requests) else trace


@dataclass(frozen=True)
class Facts:
    """What the requests of a study are like.

    Attributes:
        requests: Reads and writes.
        rate_per_s: Of them, before any speed-up.
        read_share: Of them.
        mean_kb: Mean size, in 1024 bytes.
        footprint_mb: What they touch, in 2^20 bytes.
        sequential_share: Those that begin where the one before ended.
        end_block: The first block that none of them reaches.
    """

    requests: int
    rate_per_s: float
    read_share: float
    mean_kb: float
    footprint_mb: float
    sequential_share: float
    end_block: int

    @classmethod
    def of(cls, trace: Trace) -> Facts:
        """Reads a trace.

        Raises:
            Error: It is wrong somewhere, or holds no reads and writes.
        """
        found = json.loads(_native.characterise(trace.open()))
        count = found["reads"] + found["writes"]
        if count == 0:
            raise Error(f"`{trace.name}` holds no reads and no writes", remedy="choose another trace")
        sizes = found["sizes"]
        return cls(
            requests=count,
            rate_per_s=float(found["rate_per_s"] or 0.0),
            read_share=float(found["read_share"]),
            mean_kb=float(sizes["all"]["mean_kb"]),
            footprint_mb=found["working_set"]["all_512_bytes"] / 2**20,
            sequential_share=float(found["sequentiality"]["one_stream_share"]),
            end_block=int(found["end_block"]),
        )

    def segment_kb(self) -> int:
        """The first power of two that holds a mean request, from 4 to 256 KB (paper 001, section 6.1).

        Example:
            >>> [Facts(1, 1, 1, kb, 1, 0, 1).segment_kb() for kb in (0.5, 8, 8.1, 900)]
            [4, 8, 16, 256]
        """
        return next((size for size in (4, 8, 16, 32, 64, 128) if size >= self.mean_kb), 256)

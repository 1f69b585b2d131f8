"""A generated fleet: the volumes of a cloud, with settings drawn from distributions as published.

Volume k follows from the seed, its number and the number of volumes alone: whichever process makes it, and in
whatever order, its requests are the same.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from sledlab import _native
from sledlab.errors import Error, unknown
from sledlab.model.settings import table
from sledlab.traces.columns import BLOCK_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "cloud"
"""The word before `:` of a generated fleet, where a place of volumes is expected."""

BUSY_SHARE = 0.019
"""Share of volumes with more than 100 requests/s (Li and others, IISWC 2020, finding 1)."""

BURSTY_SHARE = 0.2
"""Share of volumes whose peak is more than 100 times their mean (finding 2)."""


PEAKS_IN_STEP = (math.sin(math.pi / 8) / (math.pi / 8)) ** 2
"""Rise of the rate of all volumes over their mean rise: they peak between 11 and 17 h, mostly around 14 h."""


@dataclass(frozen=True)
class CloudParameter:
    """The declaration of a parameter: its meaning, its unit, its smallest and its largest value."""

    meaning: str
    unit: str
    min_value: float
    max_value: float


@dataclass(frozen=True)
class Cloud:
    """A fleet of generated volumes.

    Examples:
        >>> cloud = Cloud.parse("cloud:volumes=3,requests=3e4,seed=7")
        >>> [volume.settings["requests"] for volume in map(cloud.volume, range(3))]
        [19564, 6522, 3914]
        >>> cloud.name(2), round(cloud.duration_h, 2)
        ('volume-2', 0.48)
    """

    volumes: Annotated[int, CloudParameter("Number of volumes.", "", 1, 1e6)] = 100
    requests: Annotated[
        int, CloudParameter("Requests of all volumes; 0 follows from `hours`.", "", 0, 1e15)
    ] = 0
    hours: Annotated[
        float,
        CloudParameter(
            "Length of all traces; 0 follows from `requests`, and is 1 without them.", "h", 0, 1e5
        ),
    ] = 0.0
    zipf: Annotated[
        float, CloudParameter("Zipf exponent with which the rates of volumes fall with their rank.", "", 0, 5)
    ] = 1.0
    day_amplitude: Annotated[
        float,
        CloudParameter("Rise of rates above their daily mean, as a share, over all volumes.", "", 0, 0.63),
    ] = 0.5
    read_share: Annotated[
        float, CloudParameter("Mean share of reads; most volumes have a smaller share.", "", 0, 0.6)
    ] = 0.25
    footprint_gb: Annotated[
        float,
        CloudParameter(
            "Median footprint of a volume in 10^9 bytes; others have a tenth to ten times that.",
            "GB",
            1e-4,
            1e6,
        ),
    ] = 1.0
    seed: Annotated[int, CloudParameter("Seed of all random numbers.", "", 0, 2**63)] = 1

    @classmethod
    def parse(cls, text: str) -> Cloud:
        """The fleet that the text `cloud:key=value,key=value` describes.

        Raises:
            Error: There is no such parameter, or a value is out of range.
        """
        parameters: dict[str, Any] = {}
        for word in filter(None, text.partition(":")[2].split(",")):
            key, _, value = word.partition("=")
            if key not in PARAMETERS:
                raise unknown("parameter of a cloud", key, list(PARAMETERS))
            parameters[key] = _parse_value(key, value)
        cloud = cls(**parameters)
        if 0 < cloud.requests < cloud.volumes:
            raise Error(
                f"{cloud.requests} requests are not enough for {cloud.volumes} volumes",
                remedy="request at least one for each volume",
            )
        return cloud

    @cached_property
    def rates_per_s(self) -> tuple[float, ...]:
        """Mean rates of the volumes by number, before scaling to `requests` and `hours`.

        A share `BUSY_SHARE` of the rates is above 100 requests/s, whatever the exponent.
        """
        rank_seeds = [_volume_seed(self.seed, number, "rank") for number in range(self.volumes)]
        rates = [0.0] * self.volumes
        for rank, number in enumerate(sorted(range(self.volumes), key=rank_seeds.__getitem__)):
            share = (rank + 0.5) / self.volumes
            rates[number] = 100 * (BUSY_SHARE / share) ** self.zipf
        return tuple(rates)

    @property
    def duration_h(self) -> float:
        """Length of the traces of all volumes, in h."""
        if self.hours:
            return self.hours
        return self.requests / math.fsum(self.rates_per_s) / 3600 if self.requests else 1.0

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of requests of each volume, at least one, by the volume's number."""
        total = math.fsum(self.rates_per_s)
        extra_requests = (
            self.requests or max(round(total * self.duration_h * 3600), self.volumes)
        ) - self.volumes
        counts, assigned, sum_of_rates = [], 0, 0.0
        for rate in self.rates_per_s:
            sum_of_rates += rate
            assigned_end = min(round(extra_requests * (sum_of_rates / total)), extra_requests)
            counts.append(1 + assigned_end - assigned)
            assigned = assigned_end
        counts[-1] += extra_requests - assigned
        return tuple(counts)

    def name(self, number: int) -> str:
        """The name of a volume by its number; names sort as numbers do."""
        return f"volume-{number:0{len(str(self.volumes - 1))}}"

    def volume(self, number: int) -> CloudVolume:
        """The volume with a number.

        Its settings are drawn one after another from separate random numbers: see docs/volumes.md for each.
        """
        draw = Random(_volume_seed(self.seed, number, "settings"))
        count, duration_s = self.counts[number], self.duration_h * 3600
        is_bursty = draw.random() < BURSTY_SHARE
        burst_ratio = _log_uniform(draw, 150, 500) if is_bursty else _log_uniform(draw, 2, 40)
        burst_share = (0.6 if is_bursty else 0.3) / burst_ratio
        amplitude = min(self.day_amplitude / PEAKS_IN_STEP * (0.5 + draw.random()), 1.0)
        peak_h = 11 + 6 * (draw.random() + draw.random()) / 2
        read_share = _read_share(draw, self.read_share)
        is_mostly_random = (
            draw.random() < 0.2
        )  # finding 8: volumes more than half of whose requests are random
        sequential_share = 0.05 + 0.4 * draw.random() if is_mostly_random else 0.6 + 0.3 * draw.random()
        footprint_mb = self.footprint_gb * 1e9 / 2**20 * 10 ** (2 * draw.random() - 1)
        mean_per_s = count / duration_s / _share_of_day(self.duration_h, amplitude, peak_h)
        settings = {
            "rate_per_s": min(max(mean_per_s, 1e-6), 1e6),
            "day_amplitude": amplitude,
            "peak_h": peak_h,
            "burst_ratio": burst_ratio,
            "burst_share": burst_share,
            # Ten bursts at least, so that a short fleet has its share of them.
            "burst_s": min(max(min(60.0, duration_s * burst_share / 10), 1e-3), 1e6),
            "read_share": read_share,
            "read_kb": _log_uniform(draw, 35, 90),
            "write_kb": _log_uniform(draw, 20, 55),
            "sequential_share": sequential_share,
            "read_zipf": 0.2 + 0.8 * draw.random(),
            "write_zipf": 0.5 + 0.7 * draw.random(),
            "footprint_mb": footprint_mb,
        }
        # Six digits: the last digits of a logarithm differ between machines.
        rounded_settings = {key: float(f"{value:.6g}") for key, value in settings.items()}
        blocks = max(int(rounded_settings["footprint_mb"] * 2**20) // BLOCK_BYTES, 1)
        return CloudVolume(
            number, self.seed, blocks, table({"requests": count, "exact_length": True, **rounded_settings})
        )


@dataclass(frozen=True)
class CloudVolume:
    """A generated volume.

    Attributes:
        number: Number of the volume in the fleet, from 0.
        seed: Root of the fleet's random numbers.
        capacity_blocks: Size of the volume in blocks.
        parameters: Parameters of the generator `volume`, as TOML.
    """

    number: int
    seed: int
    capacity_blocks: int
    parameters: str

    @property
    def settings(self) -> Mapping[str, Any]:
        """The parameters by name."""
        pairs = (line.split(" = ") for line in self.parameters.splitlines())
        return {key: json.loads(value) for key, value in pairs}

    def open(self) -> _native.Source:
        """Open the volume's requests at the first."""
        seed = _volume_seed(self.seed, self.number, "requests")
        return _native.Source.generate("volume", self.parameters, seed, self.capacity_blocks)

    def identity(self) -> str:
        """A text that differs for volumes with different requests."""
        return f"volume {self.number} {self.seed} {self.capacity_blocks}\n{self.parameters}"


def _parameter(hint: Any) -> CloudParameter:
    result: CloudParameter = hint.__metadata__[0]
    return result


PARAMETERS: Mapping[str, CloudParameter] = {
    name: _parameter(hint)
    for name, hint in get_type_hints(Cloud, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}
"""Parameters of a cloud, by name."""

DEFAULTS: Mapping[str, Any] = {each.name: each.default for each in fields(Cloud)}
"""Defaults of the parameters of a cloud, by name."""


def _parse_value(key: str, value: str) -> int | float:
    parameter = PARAMETERS[key]
    try:
        number = float(value)
    except ValueError:
        raise Error(f"`{key}={value}`: not a number", remedy=f"write it as {key}={DEFAULTS[key]}") from None
    is_whole = isinstance(DEFAULTS[key], int)
    if not parameter.min_value <= number <= parameter.max_value or (is_whole and number != int(number)):
        noun = "a whole number" if is_whole else "a number"
        raise Error(
            f"`{key}={value}` is out of range",
            remedy=(
                f"give {noun} from {parameter.min_value:g} to {parameter.max_value:g} {parameter.unit}"
            ).rstrip(),
        )
    return int(value) if is_whole and value.isdigit() else int(number) if is_whole else number


def _volume_seed(seed: int, number: int, use: str) -> int:
    """The seed of the random numbers for one use (rank, settings or requests) of one volume."""
    return int.from_bytes(blake2b(f"{seed} {number} {use}".encode(), digest_size=8).digest(), "little")


def _log_uniform(draw: Random, minimum: float, maximum: float) -> float:
    """A random number from `minimum` to `maximum` whose logarithm is uniform."""
    return float(minimum * (maximum / minimum) ** draw.random())


def _read_share(draw: Random, mean: float) -> float:
    """A random share of reads: with mean 0.25, a quarter of the volumes mostly read, most hardly ever."""
    highest = min(2 * mean, 1.0)
    writing_mean, reading_mean = highest / 5, 0.725
    mostly_reads = draw.random() < (mean - writing_mean) / (reading_mean - writing_mean)
    fraction = draw.random()
    return 0.5 + 0.45 * fraction if mostly_reads else highest * fraction**4


def _share_of_day(hours: float, amplitude: float, peak_h: float) -> float:
    """Mean rate in the first `hours` of the trace, over the mean rate of a day."""
    radians_per_hour = math.tau / 24
    swing = math.sin(radians_per_hour * (hours - peak_h)) + math.sin(radians_per_hour * peak_h)
    return 1 + amplitude * swing / (radians_per_hour * hours)

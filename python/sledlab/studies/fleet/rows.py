"""The rows of the tables of a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sledlab.study.columns import Column, ColumnSelection
from sledlab.study.measure import RunFigures  # noqa: TC001 - annotations are read at run time

MIX = "mix"
"""Name of the fleet in which each volume is on the kind of device that serves it best."""


@dataclass(frozen=True)
class VolumeRow:
    """A volume on a kind of device."""

    volume: Annotated[str, Column("the volume")]
    device: Annotated[str, Column("the kind of device")]
    requests: Annotated[int, Column("reads and writes")]
    rate_iops: Annotated[float, Column("reads and writes over the time of the fleet", "1/s")]
    busiest_minute_iops: Annotated[
        float, Column("reads and writes over the busiest minute, or over the time of a shorter fleet", "1/s")
    ]
    read_share: Annotated[float, Column("share of reads")]
    mean_kb: Annotated[float, Column("mean size of a request", "1024 bytes")]
    reach_gb: Annotated[float, Column("end of the last block that is used", "10^9 bytes")]
    fits: Annotated[bool, Column("whether the device can hold the volume")]
    load: Annotated[
        float | None, Column("time that the volume alone keeps a device busy, over the time of the fleet")
    ]
    mean_ms: Annotated[float | None, Column("mean response time, alone", "ms")]
    p50_ms: Annotated[float | None, Column("median response time, alone", "ms")]
    p99_ms: Annotated[float | None, Column("99th percentile of response times, alone", "ms")]
    max_ms: Annotated[float | None, Column("slowest response, alone", "ms")]
    saturated: Annotated[bool | None, Column("whether the queue kept growing, alone")]
    meets: Annotated[bool | None, Column("whether the volume alone meets the goal")]
    energy_j: Annotated[
        float | None, Column("mean power of a device, alone, times the time of the fleet", "J")
    ]
    usd: Annotated[
        float | None, Column("money over the years: the volume's share of a device, and energy", "USD")
    ]
    fastest: Annotated[
        bool, Column("whether p99 of the volume is lowest on this kind, of those not overloaded if any")
    ]
    lowest_energy: Annotated[bool, Column("whether energy of the volume is minimal on this kind")]
    cheapest: Annotated[bool, Column("whether the cost of the volume is minimal on this kind")]
    best: Annotated[bool, Column("whether this kind serves the volume best: the cheapest under the goal")]
    number: Annotated[int | None, Column("device that the volume is placed on, from 0")]
    placed_mean_ms: Annotated[float | None, Column("mean response time as placed", "ms")]
    placed_p99_ms: Annotated[float | None, Column("99th percentile as placed", "ms")]
    placed_meets: Annotated[bool | None, Column("whether the volume meets the goal as placed")]


@dataclass(frozen=True)
class DeviceRow:
    """A device, or a group of them, as volumes are placed."""

    fleet: Annotated[str, Column("kind of all devices of the fleet, or the mix")]
    device: Annotated[str, Column("the kind of device")]
    number: Annotated[int, Column("which device of the kind, from 0")]
    volumes: Annotated[int, Column("volumes on the device")]
    load: Annotated[float, Column("loads of its volumes together, each as alone")]
    used: Annotated[float, Column("share of the device's capacity that volumes take")]
    run: Annotated[
        RunFigures,
        ColumnSelection(
            *("requests", "mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms"),
            *("queue_mean", "queue_max", "utilization", "saturated", "service_time_ms", "elapsed_s"),
            *("read_mean_ms", "write_mean_ms", "startups", "request_energy_uj"),
        ),
    ]
    energy_j: Annotated[float, Column("mean power times the time of the fleet", "J")]


@dataclass(frozen=True)
class PlacementRow:
    """The place of a volume: its device and first block."""

    fleet: Annotated[str, Column("kind of all devices of the fleet, or the mix")]
    device: Annotated[str, Column("the kind of device")]
    volume: Annotated[str, Column("the volume")]
    number: Annotated[
        int | None, Column("which device of the kind, from 0; none where the volume is on no device")
    ]
    offset_blocks: Annotated[int | None, Column("first block of the volume on the device", "blocks")]
    blocks: Annotated[int, Column("length of the volume up to its last used block", "blocks")]
    load: Annotated[float, Column("share of the time in which the volume alone keeps a device busy")]
    why: Annotated[str, Column("why the volume is on no device")]


@dataclass(frozen=True)
class FleetRow:
    """All volumes on one kind of device, or on the mix."""

    fleet: Annotated[str, Column("kind of all devices of the fleet, or the mix")]
    devices: Annotated[int, Column("devices")]
    volumes: Annotated[int, Column("volumes on these devices")]
    left: Annotated[int, Column("volumes that are on no device")]
    fill: Annotated[float | None, Column("share of time and of capacity to which shared devices are filled")]
    requests: Annotated[int, Column("reads and writes")]
    mean_ms: Annotated[float | None, Column("mean response time over all requests", "ms")]
    p50_ms: Annotated[float | None, Column("median over all requests", "ms")]
    p90_ms: Annotated[float | None, Column("90th percentile over all requests", "ms")]
    p95_ms: Annotated[float | None, Column("95th percentile over all requests", "ms")]
    p99_ms: Annotated[float | None, Column("99th percentile over all requests", "ms")]
    p999_ms: Annotated[float | None, Column("99.9th percentile over all requests", "ms")]
    max_ms: Annotated[float | None, Column("slowest response", "ms")]
    volume_p99_p50_ms: Annotated[float | None, Column("p99 of the volume in the middle", "ms")]
    volume_p99_p90_ms: Annotated[float | None, Column("p99 that nine volumes in ten do not exceed", "ms")]
    volume_p99_max_ms: Annotated[float | None, Column("p99 of the slowest volume", "ms")]
    overloaded: Annotated[int, Column("devices, or groups, whose queue kept growing")]
    meets: Annotated[
        bool | None, Column("whether all requests together meet the goal, and all volumes are placed")
    ]
    volumes_meet: Annotated[int | None, Column("volumes that meet the goal")]
    power_w: Annotated[
        float, Column("mean power over the time of the fleet, of an overloaded device until it is done", "W")
    ]
    devices_usd: Annotated[float | None, Column("price of the devices", "USD")]
    energy_usd: Annotated[float, Column("energy over the years, at the mean power", "USD")]
    total_usd: Annotated[float | None, Column("price of the devices and of energy", "USD")]


@dataclass(frozen=True)
class TriedRow:
    """A placement that was tried for the goal."""

    device: Annotated[str, Column("the kind of device")]
    fill: Annotated[float, Column("share of time and capacity to which shared devices were filled")]
    devices: Annotated[int, Column("devices")]
    left: Annotated[int, Column("volumes that are on no device")]
    value_ms: Annotated[float | None, Column("response time that the goal limits, over all requests", "ms")]
    meets: Annotated[bool, Column("whether the fleet meets the goal")]
    overloaded: Annotated[int, Column("devices, or groups, whose queue kept growing")]


@dataclass(frozen=True)
class FailedRow:
    """A volume that cannot be replayed."""

    volume: Annotated[str, Column("the volume")]
    why: Annotated[str, Column("what is wrong with the volume")]

"""Schedulers by their definitions: written in a few lines of Python, they choose as the built-in ones do."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest
import sledlab as sl

from validation.simulator import catalog


class DefinedScheduler(ABC):
    """The request with the smallest key; ties go to time, distance in x, arrival."""

    def __init__(self) -> None:
        self.queue: list[Any] = []

    def push(self, request: Any) -> None:
        self.queue.append(request)

    def pop(self, now_ns: int, device: Any) -> Any:
        choice = min(self.queue, key=self.sort_key(now_ns, device))
        self.queue.remove(choice)
        return choice

    def __len__(self) -> int:
        return len(self.queue)

    @abstractmethod
    def sort_key(self, now_ns: int, device: Any) -> Any:
        """A function that gives the key of a request."""


class Fcfs(DefinedScheduler):
    def sort_key(self, now_ns: int, device: Any) -> Any:
        return lambda request: request.id


class Sptf(DefinedScheduler):
    def sort_key(self, now_ns: int, device: Any) -> Any:
        return lambda request: (device.positioning_ns(request), *nearness(device, request))


class Sstf(DefinedScheduler):
    """The nearest in x (Lee 2009, section 2.2)."""

    def sort_key(self, now_ns: int, device: Any) -> Any:
        return lambda request: nearness(device, request)


class PSptf(DefinedScheduler):
    """Equation 2 of Lee 2009."""

    def worth(self, now_ns: int, request: Any) -> int:
        return 1

    def sort_key(self, now_ns: int, device: Any) -> Any:
        worth_by_location: dict[tuple[int, int], int] = defaultdict(int)
        for request in self.queue:
            worth_by_location[device.location(request.lbn)] += self.worth(now_ns, request)

        def key(request: Any) -> Any:
            time_ns = device.positioning_ns(request)
            priority = worth_by_location[device.location(request.lbn)] / max(time_ns, 1000)
            return (-priority, time_ns, *nearness(device, request))

        return key


class PaSptf(PSptf):
    """Equation 3 of Lee 2009."""

    def worth(self, now_ns: int, request: Any) -> int:
        return int(now_ns - request.queued_ns)


class PSstf(DefinedScheduler):
    """Requests at a position per distance along x."""

    def sort_key(self, now_ns: int, device: Any) -> Any:
        counts = Counter(device.location(request.lbn) for request in self.queue)
        first_ids = {device.location(request.lbn): request.id for request in reversed(self.queue)}

        def key(request: Any) -> Any:
            location = device.location(request.lbn)
            distance, _ = nearness(device, request)
            priority = Fraction(counts[location], distance) if distance else math.inf
            return (-priority, -counts[location], first_ids[location], request.id)

        return key


def nearness(device: Any, request: Any) -> tuple[int, int]:
    """Distance in x, and order of arrival."""
    cylinder, _ = device.location(request.lbn)
    return abs(cylinder - device.cylinders // 2 - device.state[0]), request.id


FEW_COLUMNS = {"travel_x_um": 4.0, "layout": "y-sequential"}
"""A hundred columns: many requests at one position."""


@pytest.mark.parametrize(
    ("name", "definition"),
    [
        ("fcfs", Fcfs),
        ("sledlab_papers.scheduling.x_distance:SstfByX", Sstf),
        ("sptf", Sptf),
        ("p-sptf:batch=none", PSptf),
        ("p-sstf:batch=none", PSstf),
        ("pa-sptf:batch=none", PaSptf),
    ],
    ids=["fcfs", "sstf", "sptf", "p-sptf", "p-sstf", "pa-sptf"],
)
def test_scheduler_chooses_as_defined(name: str, definition: type[DefinedScheduler]) -> None:
    plug_in = f"{definition.__module__}:{definition.__name__}"
    built_in, defined = (
        sl.simulate(
            sl.workload("exponential", mean_interarrival_ms=0.6),
            sl.device("mems-g2", **FEW_COLUMNS),
            scheduler=scheduler,
            limit=700,
        )
        for scheduler in (name, plug_in)
    )
    assert built_in.queue_length.max > 150
    assert built_in.requests.equals(defined.requests)


def test_equal_positions_are_crowded() -> None:
    workload = sl.workload("exponential", mean_interarrival_ms=0.6)
    device = sl.device("mems-g2", **FEW_COLUMNS)
    orders = [
        sl.simulate(workload, device, scheduler=name, limit=700).requests["id"].to_list()
        for name in ("sptf", "p-sptf:batch=none")
    ]
    assert orders[0] != orders[1]


def test_ageing_ranges_from_sptf_to_fcfs() -> None:
    workload = sl.workload("exponential", mean_interarrival_ms=0.5)

    def start_times(name: str) -> Any:
        return sl.simulate(workload, "mems-g2", scheduler=name, limit=3000).requests.sort("id")["start_ns"]

    assert start_times("asptf:weight=0").equals(start_times("sptf"))
    assert start_times("asptf:weight=1e9").equals(start_times("fcfs"))
    assert not start_times("asptf:weight=100").equals(start_times("sptf"))
    assert start_times("asptf:weight=1e9").is_sorted()


@pytest.mark.parametrize("direction", ["free", "parity", "up"])
@pytest.mark.parametrize("layout", ["row-first", "y-sequential"])
def test_positioning_is_the_larger_of_both_axes(layout: str, direction: str) -> None:
    device = sl.device("mems-g2", layout=layout, direction=direction)
    rows = sl.simulate(sl.workload("uniform"), device, limit=3000).requests
    x = rows["seek_x_ns"] + rows["settle_ns"]
    y = rows["seek_y_ns"] + rows["turnaround_ns"]
    assert (rows["positioning_ns"] == x.zip_with(x >= y, y)).all()
    assert (x > y).any()
    assert (y > x).any()


def test_row_first_columns_are_read_in_their_direction_by_parity() -> None:
    """A row takes 90 bits of 1.43 us. 40 blocks from the start of a column are two rows, up or down."""
    blocks_per_column, row_ms = 2700, 90 / 700
    offsets = [column * blocks_per_column * 512 for column in (10, 11)]
    trace = sl.trace(
        {"time_us": [0, 1e5], "op": ["R", "R"], "offset_bytes": offsets, "length_bytes": [40 * 512] * 2}
    )
    rows = sl.simulate(trace, sl.device("mems-g2", direction="parity"), requests=True).requests
    assert (rows["transfer_ns"] / 1e6).to_list() == pytest.approx([2 * row_ms] * 2, abs=1e-5)


@pytest.mark.parametrize("name", ["zscan-psptf", "zpsptf", "pzsptf"])
def test_parallel_schedulers_have_25_by_3_zones(name: str) -> None:
    grid = next(spec for spec in catalog.scheduler.show(name).parameters if spec.name == "grid")
    assert grid.default == "25x3"

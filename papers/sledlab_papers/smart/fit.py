"""Find the constants that are fitted to printed times of Chiu 2004: `python -m sledlab_papers.smart.fit`.

The software time of a request is fitted to the five ratios of table 4 at once, the block of the nested loop,
in whole pages, to the disk's time in table 3, and each of five counts of cycles to one printed time. All else
is as in the experiment files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import sledlab as sl

from ..simulator import PARKED_START, experiment
from .plan import JOB_EXPERIMENTS
from .published_times import (
    BLOCK,
    DISK,
    LOOP,
    PUBLISHED_TIMES,
    REQUEST,
    TABLE_4,
    PublishedTime,
    Stage,
    published_time,
)

MAX_REQUEST_US, REQUEST_STEP_US = 3000, 5
PAGE_KB = 8


@dataclass(frozen=True)
class StoreTime:
    """Time of a stage's store: that of the device, and the software of each request."""

    device_s: float
    requests: int

    def seconds(self, request_us: float) -> float:
        """The time with a software time of a request."""
        return self.device_s + self.requests * request_us * 1e-6


@dataclass(frozen=True)
class FittedRatio:
    """A printed ratio of the I/O times of two devices in a stage, and the two simulated times."""

    stage: Stage
    devices: tuple[str, str]
    times: tuple[StoreTime, StoreTime]

    def deviation(self, request_us: float) -> float:
        """The simulated ratio over the printed one, less 1."""
        seconds = [time.seconds(request_us) for time in self.times]
        published_s = [published_time(self.stage, device, "store").seconds for device in self.devices]
        return seconds[0] / seconds[1] / (published_s[0] / published_s[1]) - 1

    def requests_and_software(self) -> tuple[float, float]:
        """Requests over the simulated ones, and their software in us, that give both printed times."""
        device_s = [time.device_s / time.requests for time in self.times]
        published_s = [published_time(self.stage, device, "store").seconds for device in self.devices]
        requests = (published_s[0] - published_s[1]) / (device_s[0] - device_s[1])
        return requests / self.times[0].requests, 1e6 * (published_s[0] / requests - device_s[0])


def node_settings(job: str) -> dict[str, Any]:
    """Settings of the node in the experiment of a job."""
    node = dict(experiment(JOB_EXPERIMENTS[job])["node"])
    cycles = node.pop("cycles", {})
    return {
        f"node.{key}": value
        for key, value in (node | {f"cycles.{key}": cycles[key] for key in cycles}).items()
    }


def longest_node(stage: Stage, device: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Times in s and requests of the node that works longest in a stage."""
    study = experiment(JOB_EXPERIMENTS[stage.job])["study"]
    data: dict[str, Any] = {
        key: int(value) for key, value in (each.split("=") for each in study["job_settings"])
    }
    work = sl.record(stage.job, stage.nodes, **data)
    choice = next(each for each in study["device"] if each.split(":")[0] == device)
    all_settings = {**PARKED_START, **node_settings(stage.job), **settings}
    result = sl.replay(work, choice, what_if=False, settings=all_settings)
    nodes = result.phases.filter(result.phases["phase"] == stage.phase)
    return dict(nodes.row(int(nodes["waiting_s"].arg_min() or 0), named=True))


def store_time(stage: Stage, device: str, settings: Mapping[str, Any]) -> StoreTime:
    """The time of a stage's store as in the experiment; the software time of a request adds linearly."""
    row = longest_node(stage, device, settings)
    requests = int(row["requests"])
    return StoreTime(row["store_s"] - requests * node_settings(stage.job)[REQUEST] * 1e-6, requests)


def fit_request_us(ratios: Sequence[FittedRatio]) -> int:
    """The software time of a request in us: least squares of log(simulated ratio / printed ratio)."""
    return min(
        range(0, MAX_REQUEST_US, REQUEST_STEP_US),
        key=lambda us: sum(log(1 + each.deviation(us)) ** 2 for each in ratios),
    )


def fit_block_kb() -> int:
    """The block in KB, in whole pages, with which the disk's time, one pass a block, is nearest to print."""
    ratio: float = longest_node(LOOP, DISK, {})["store_s"] / published_time(LOOP, DISK, "store").seconds
    pages: float = node_settings("join")[BLOCK] / PAGE_KB
    return PAGE_KB * round(pages * ratio)


def fit_cycles(target: PublishedTime, key: str) -> float:
    """Cycles of an operation with which a stage takes the printed time; the time is linear in them."""
    cycles = node_settings(target.stage.job)[key]
    once_s, twice_s = (
        longest_node(target.stage, target.device, {key: cycles * factor})[f"{target.part}_s"]
        for factor in (1.0, 2.0)
    )
    return float(cycles * (1 + (target.seconds - once_s) / (twice_s - once_s)))


def fit_software() -> None:
    """Print the software time of a request, and how far each ratio of table 4 is from print."""
    ratios = [
        FittedRatio(stage, (DISK, device), (store_time(stage, DISK, {}), store_time(stage, device, {})))
        for stage, device in TABLE_4
    ]
    request_us = fit_request_us(ratios)
    print(f"{REQUEST} = {request_us}")
    for each in ratios:
        others_us = fit_request_us([other for other in ratios if other is not each])
        deviation, other_deviation = each.deviation(request_us), each.deviation(others_us)
        print(f"  {each.stage.phase}, {each.stage.nodes} nodes, {each.devices[1]}: {deviation:+.1%}")
        print(f"    with {others_us}, fitted to the others: {other_deviation:+.1%}")
        request_ratio, software_us = each.requests_and_software()
        print(f"    both times as printed: {request_ratio:.2f} as many requests, {software_us:.0f} each")


def main() -> None:
    """Print all fitted constants."""
    fit_software()
    print(f"{BLOCK} = {fit_block_kb()}")
    for target in PUBLISHED_TIMES:
        if target.part != "store" and target.fitted_constant:
            key = target.fitted_constant.split(" ")[0]
            print(f"{target.fitted_constant} = {fit_cycles(target, key):.0f}")


if __name__ == "__main__":
    main()

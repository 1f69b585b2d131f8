"""Find the constants that are fitted to printed times of Chiu 2004: `python -m sledlab_papers.smart.fit`.

Two constants of I/O, under each reading, fitted to table 3: the software time of a request to the ratio of G1
to G3, and then the block of the nested loop, in pages, to the disk's time. Five constants of cycles, each
fitted to one printed time.
"""

from __future__ import annotations

from typing import Any

import sledlab as sl

from ..simulator import PARKED_START
from .layouts import READINGS, SCATTERED_PAGES, FittedReading
from .published_times import DISK, G1, G3, LOOP, PUBLISHED_TIMES, PublishedTime, Stage, published_time

PAGE_KB = 8


def part_time_s(stage: Stage, device: str, part: str, **settings: Any) -> float:
    """A component of the node that works longest in a stage, in s."""
    work = sl.record(stage.job, stage.nodes, scale_factor=1.0)
    name, *parameters = device.split(":")
    device_settings = {f"device.{key}": value for key, value in (each.split("=") for each in parameters)}
    result = sl.replay(work, name, what_if=False, settings={**PARKED_START, **settings, **device_settings})
    nodes = result.phases.filter(result.phases["phase"] == stage.phase)
    return float(nodes.row(int(nodes["waiting_s"].arg_min() or 0), named=True)[f"{part}_s"])


def _settings(reading: FittedReading, block_kb: int, fit_request_us: float) -> dict[str, float]:
    return {"node.extent_kb": reading.extent_kb, "node.block_kb": block_kb, "node.request_us": fit_request_us}


def fit_request_us(reading: FittedReading, block_kb: int) -> float:
    """Software time of a request in us with which the ratio of G1's time to G3's is that of table 3."""
    published_ratio = published_time(LOOP, G1, "store").seconds / published_time(LOOP, G3, "store").seconds

    def ratio(us: float) -> float:
        node_settings = _settings(reading, block_kb, us)
        return part_time_s(LOOP, G1, "store", **node_settings) / part_time_s(
            LOOP, G3, "store", **node_settings
        )

    low, high = 0.0, 1500.0
    while high - low > 1:  # more software time makes devices more alike
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) > published_ratio else (low, middle)
    return (low + high) / 2


def fit_block(reading: FittedReading) -> tuple[float, int]:
    """The software time of a request, and the block in KB with which the disk's time is nearest to print."""
    published_s = published_time(LOOP, DISK, "store").seconds
    trials: list[tuple[float, float, int]] = []
    for pages in range(1, 9):
        kb = pages * PAGE_KB
        # Far from the printed time any software time will do: it is a small part of a disk's time.
        request_us = fit_request_us(reading, kb) if not trials or abs(trials[-1][0]) < 1.0 else trials[-1][1]
        deviation = (
            part_time_s(LOOP, reading.disk, "store", **_settings(reading, kb, request_us)) / published_s - 1
        )
        trials.append((deviation, request_us, kb))
        if deviation < 0:
            break
    _, request_us, kb = min(trials, key=lambda each: abs(each[0]))
    return request_us, kb


def fit_cycles(target: PublishedTime, key: str, first_cycles: float) -> float:
    """Cycles of an operation with which a stage takes the printed time; the time is linear in them."""
    node_settings = {"node.extent_kb": SCATTERED_PAGES.extent_kb, "node.block_kb": SCATTERED_PAGES.block_kb}
    once_s, twice_s = (
        part_time_s(target.stage, G3, target.part, **{**node_settings, key: first_cycles * factor})
        for factor in (1.0, 2.0)
    )
    return first_cycles * (1 + (target.seconds - once_s) / (twice_s - once_s))


def main() -> None:
    """Print all fitted constants."""
    for target in PUBLISHED_TIMES:
        if target.part != "store" and target.fitted_constant:
            key = target.fitted_constant.split(" ")[0]
            print(f"{target.fitted_constant} = {fit_cycles(target, key, 10_000.0):.0f}")
    for reading in READINGS:
        request_us, block_kb = fit_block(reading)
        print(f"{reading.name}: {request_us:.0f} us a request, blocks of {block_kb} KB")


if __name__ == "__main__":
    main()

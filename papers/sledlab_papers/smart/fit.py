"""Finds the constants that are fitted to printed times of Chiu 2004: `python -m sledlab_papers.smart.fit`.

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


def seconds(stage: Stage, device: str, part: str, **settings: Any) -> float:
    """A component of the node that works longest in a stage, in s."""
    work = sl.record(stage.job, stage.nodes, scale_factor=1.0)
    name, *details = device.split(":")
    own = {f"device.{key}": value for key, value in (each.split("=") for each in details)}
    result = sl.replay(work, name, what_if=False, settings={**PARKED_START, **settings, **own})
    nodes = result.phases.filter(result.phases["phase"] == stage.phase)
    return float(nodes.row(int(nodes["waiting_s"].arg_min() or 0), named=True)[f"{part}_s"])


def _settings(reading: FittedReading, block_kb: int, request_us: float) -> dict[str, float]:
    return {"node.extent_kb": reading.extent_kb, "node.block_kb": block_kb, "node.request_us": request_us}


def request_us(reading: FittedReading, block_kb: int) -> float:
    """Software time of a request in us with which the ratio of G1's time to G3's is that of table 3."""
    expected = published_time(LOOP, G1, "store").seconds / published_time(LOOP, G3, "store").seconds

    def ratio(us: float) -> float:
        details = _settings(reading, block_kb, us)
        return seconds(LOOP, G1, "store", **details) / seconds(LOOP, G3, "store", **details)

    low, high = 0.0, 1500.0
    while high - low > 1:  # more software time makes devices more alike
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) > expected else (low, middle)
    return (low + high) / 2


def block(reading: FittedReading) -> tuple[float, int]:
    """The software time of a request, and the block in KB with which the disk's time is nearest to print."""
    expected = published_time(LOOP, DISK, "store").seconds
    measured: list[tuple[float, float, int]] = []
    for pages in range(1, 9):
        kb = pages * PAGE_KB
        # Far from the printed time any software time will do: it is a small part of a disk's time.
        us = request_us(reading, kb) if not measured or abs(measured[-1][0]) < 1.0 else measured[-1][1]
        off = seconds(LOOP, reading.disk, "store", **_settings(reading, kb, us)) / expected - 1
        measured.append((off, us, kb))
        if off < 0:
            break
    _, us, kb = min(measured, key=lambda each: abs(each[0]))
    return us, kb


def cycles(target: PublishedTime, key: str, first: float) -> float:
    """Cycles of an operation with which a stage takes the printed time; the time is linear in them."""
    details = {"node.extent_kb": SCATTERED_PAGES.extent_kb, "node.block_kb": SCATTERED_PAGES.block_kb}
    one, two = (
        seconds(target.stage, G3, target.part, **{**details, key: first * factor}) for factor in (1.0, 2.0)
    )
    return first * (1 + (target.seconds - one) / (two - one))


def main() -> None:
    """Prints all fitted constants."""
    for target in PUBLISHED_TIMES:
        if target.part != "store" and target.fitted_constant:
            key = target.fitted_constant.split(" ")[0]
            print(f"{target.fitted_constant} = {cycles(target, key, 10_000.0):.0f}")
    for reading in READINGS:
        us, kb = block(reading)
        print(f"{reading.name}: {us:.0f} us a request, blocks of {kb} KB")


if __name__ == "__main__":
    main()

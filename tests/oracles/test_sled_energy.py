"""Energy of sleds by state, and what requests wait for start-ups, from docs/power.md and docs/device.md.

An idle sled moves back and forth over the row behind it, and its tips are on during the servo bits of that
row: the tips of the widest pass of the last request. Sleds that move together draw the power of each.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from tests.oracles.experiments import Request, generators, random_experiments, simulate
from tests.oracles.sled import Sled, seek_s, turnaround_s

GAP_US = 1_000_000
MW_NS_PER_J = 1e12
STARTUP_NS = 500_000


def random_sleds(generator: random.Random) -> dict[str, Any]:
    """Sleds that move together, each with its share of the addresses."""
    return {
        "device.sleds": generator.randint(1, 5),
        "device.sled_motion": "together",
        "device.sled_mw": generator.uniform(10, 300),
        "device.tip_mw": generator.uniform(0.1, 3),
        "device.tip_write_factor": generator.choice([1.0, 2.5]),
        "device.active_tips": generator.choice([640, 1280, 3200]),
        "device.servo_bits": generator.choice([0, 10]),
        "device.direction": generator.choice(["free", "parity", "up"]),
    }


def random_requests(generator: random.Random) -> list[Request]:
    return [
        Request(
            number * GAP_US,
            generator.choice("RW"),
            generator.randrange(3_000_000),
            generator.choice([1, 7, 20, 45, 300]),
        )
        for number in range(20)
    ]


def servo_share(sled: Sled) -> float:
    """Share of the loop over the row behind a sled during which it passes over servo bits."""
    if not sled.servo_bits:
        return 0.0
    ends = [sled.edge(row, sled.direction) + sled.direction * sled.row_bits for row in (0, sled.rows - 1)]
    end = min(max(sled.y, min(ends)), max(ends))
    start = end - sled.direction * sled.row_bits
    end_m, start_m, speed = end * sled.bit_m, start * sled.bit_m, sled.bit_rate * sled.bit_m
    servo_s = sled.servo_bits / sled.bit_rate
    turns_s = turnaround_s(sled.y_axis, end_m, speed, sled.direction) + turnaround_s(
        sled.y_axis, start_m, speed, -sled.direction
    )
    return servo_s / (turns_s + seek_s(sled.y_axis, end_m, start_m, speed) + servo_s)


def tip_time_ns(parameters: dict[str, Any], sled: Sled, request: Request) -> float:
    """Time of all tips that serve a request; writing ones count by their power."""
    factor = parameters["tip_write_factor"] if request.op == "W" else 1.0
    bits = sled.servo_bits + factor * (sled.row_bits - sled.servo_bits)
    return request.blocks * parameters["tips_per_block"] * bits / sled.bit_rate * 1e9


def widest_pass(sled: Sled, request: Request) -> int:
    """Most blocks of a request in one row."""
    row = sled.blocks_per_row
    ends = [request.lbn, *range((request.lbn // row + 1) * row, request.lbn + request.blocks, row)]
    return max(end - start for start, end in pairwise([*ends, request.lbn + request.blocks]))


@random_experiments(quick=100, slow=1000)
def test_energy_of_sleds_that_never_park(seeds):
    for generator in generators(seeds):
        requests, settings = random_requests(generator), random_sleds(generator)
        result = simulate(requests, "mems-g2", power="never", settings=settings | {"system.start": "ready"})
        parameters = result.summary["config"]["device"]
        sled, sleds_mw = Sled.from_parameters(parameters), parameters["sleds"] * parameters["sled_mw"]
        energy = dict.fromkeys(("seek", "access", "idle"), 0.0)
        rows = result.requests.sort("id").to_dicts()
        for number, (request, row) in enumerate(zip(requests, rows, strict=True)):
            seek_ns = row["positioning_ns"] + row["reposition_ns"]
            energy["seek"] += sleds_mw * seek_ns
            energy["access"] += sleds_mw * (row["transfer_ns"] - row["reposition_ns"])
            energy["access"] += parameters["tip_mw"] * tip_time_ns(parameters, sled, request)
            sled.serve(request.lbn, request.blocks)
            if number + 1 < len(rows):
                tips = widest_pass(sled, request) * parameters["tips_per_block"]
                idle_mw = sleds_mw + parameters["tip_mw"] * tips * servo_share(sled)
                energy["idle"] += idle_mw * (rows[number + 1]["arrival_ns"] - row["completion_ns"])
        expected_j = {state: energy_mw_ns / MW_NS_PER_J for state, energy_mw_ns in energy.items()}
        actual_j = {state: result.summary["energy_j"][state] for state in expected_j}
        assert actual_j == pytest.approx(expected_j, rel=1e-5), settings


@random_experiments(quick=100, slow=1000)
def test_requests_wait_for_their_part_of_a_startup(seeds):
    for generator in generators(seeds):
        time_us, requests = 0, []
        for _ in range(100):
            time_us += generator.choice([0, 100, 300, 20_000])
            requests.append(Request(time_us, "R", generator.randrange(6_000_000), 8))
        scheduler = generator.choice(["fcfs", "sptf", "c-look"])
        settings = {"system.start": "ready"}
        result = simulate(requests, "mems-g2", scheduler=scheduler, power="immediate", settings=settings)
        rows = result.requests.sort("start_ns").to_dicts()
        ready_ns = startup_end_ns = 0
        for number, row in enumerate(rows):
            first_arrival_ns = min(each["arrival_ns"] for each in rows[number:])
            if first_arrival_ns > ready_ns:
                startup_end_ns = first_arrival_ns + STARTUP_NS
            assert row["startup_ns"] == max(0, startup_end_ns - row["arrival_ns"]), (scheduler, row)
            ready_ns = row["completion_ns"]

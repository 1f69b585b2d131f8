"""Times of requests on a sled, from Hong 2006, section 3.2, docs/device.md and docs/decisions.md.

The sled of `sled.py` integrates the motion numerically. Requests cover rows, tracks and cylinders; devices
differ in springs, forces, bit cells, tips, settling and the directions in which rows may be read.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracles.experiments import Request, generators, random_experiments, simulate
from tests.oracles.sled import Sled

GAP_US = 1_000_000
PARTS = ("seek_x", "settle", "seek_y", "turnaround", "positioning", "reposition", "transfer")


def random_sled(generator: random.Random) -> dict[str, Any]:
    """Parameters of a sled, plausible or not."""
    drawn = {
        "direction": generator.choice(["free", "parity", "up"]),
        "spring_convention": generator.choice(["edge", "travel"]),
        "spring_factor": generator.choice([0.0, 0.5, 0.75, 0.95]),
        "acceleration_x_m_s2": generator.uniform(300, 1500),
        "acceleration_y_m_s2": generator.uniform(300, 1500),
        "bit_nm": generator.choice([25.0, 40.0, 50.0]),
        "tip_rate_kbit_s": generator.uniform(200, 1000),
        "active_tips": generator.choice([640, 1280, 3200]),
        "servo_bits": generator.choice([0, 10, 12]),
        "resonant_hz": generator.uniform(500, 1500),
        "settle_constants": generator.choice([0.0, 1.0, 2.0]),
    }
    return {f"device.{key}": value for key, value in drawn.items()}


def random_requests(generator: random.Random, capacity: int) -> list[Request]:
    """Requests anywhere, and near the previous one."""
    requests, lbn = [], 0
    for number in range(15):
        near = lbn + generator.choice([0, 1, 20, 540, 2700]) * generator.choice([-1, 0, 1])
        lbn = generator.choice([near, generator.randrange(capacity)])
        lbn = min(max(lbn, 0), capacity - 4000)
        blocks = generator.choice([1, 1, 8, 20, 60, 600])
        requests.append(Request(number * GAP_US, generator.choice("RW"), lbn, blocks))
    return requests


@pytest.mark.parametrize("is_drawn", [False, True], ids=["presets", "drawn"])
@random_experiments(quick=100, slow=1000)
def test_parts_of_times_equal_integrals_over_the_path(seeds, is_drawn):
    for generator in generators(seeds):
        preset = generator.choice(["mems-g1", "mems-g2", "mems-g3"])
        settings = random_sled(generator) if is_drawn else {}
        requests = random_requests(generator, 4_000_000)
        result = simulate(requests, preset, power="never", settings=settings)
        sled = Sled.from_parameters(result.summary["config"]["device"])
        for request, row in zip(requests, result.requests.sort("id").to_dicts(), strict=True):
            times = sled.serve(request.lbn, request.blocks)
            # Each row, seek, settling and turnaround is rounded to ns: at most four of them for a pass.
            rounding_ns = 2 * len(sled.passes(request.lbn, request.blocks)) + 2
            for part in PARTS:
                assert row[f"{part}_ns"] == pytest.approx(times[part] * 1e9, abs=rounding_ns), (part, request)
            assert row["completion_ns"] - row["start_ns"] == row["positioning_ns"] + row["transfer_ns"]

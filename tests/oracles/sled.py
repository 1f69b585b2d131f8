"""A MEMS sled whose times are integrals over its path: dt = dx / speed.

Hong 2006, section 3.2: an actuator force of constant size and a spring act on a mass. The fastest move
accelerates as long as it can and brakes the rest of the way, so its speed at x is the smaller of what
acceleration from the start and braking to the end allow, by conservation of energy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def integral(function, start: float, end: float) -> float:
    """Integral by Gauss's rule."""
    return float(
        (end - start) / 2 * np.sum(WEIGHTS * function((end - start) / 2 * NODES + (end + start) / 2))
    )


@dataclass(frozen=True)
class Axis:
    """A mass on a spring; lengths in m, times in s."""

    acceleration: float
    omega_squared: float

    def gain(self, start, end):
        """Gain of squared speed while the actuator pushes towards larger x."""
        return 2 * self.acceleration * (end - start) - self.omega_squared * (end**2 - start**2)

    def brake(self, start, end):
        """Gain of squared speed, below zero, while the actuator pushes towards smaller x."""
        return -2 * self.acceleration * (end - start) - self.omega_squared * (end**2 - start**2)


@cache
def seek_s(axis: Axis, start: float, end: float, speed: float = 0.0) -> float:
    """Time of a move that begins and ends with `speed` towards the end."""
    if start > end:
        start, end = -start, -end
    if start == end:
        return 0.0
    # Both speeds are equal at the point from which on the sled brakes.
    low, high = start, end
    for _ in range(60):
        middle = (low + high) / 2
        accelerated = axis.gain(start, middle)
        braked = -axis.brake(middle, end)
        low, high = (middle, high) if accelerated < braked else (low, middle)
    # The squares of the distances from the ends as variables remove the poles of 1 / speed.
    first = integral(
        lambda u: 2 * u / np.sqrt(speed**2 + axis.gain(start, start + u**2)), 0, math.sqrt(low - start)
    )
    second = integral(
        lambda u: 2 * u / np.sqrt(speed**2 - axis.brake(end - u**2, end)), 0, math.sqrt(end - low)
    )
    return first + second


@cache
def turnaround_s(axis: Axis, position: float, speed: float, direction: int) -> float:
    """Time in which a sled that moves in `direction` reverses its speed at `position`."""
    at = position * direction
    low, high = at, at + speed**2 / axis.acceleration * 100
    for _ in range(60):
        stop = (low + high) / 2
        low, high = (stop, high) if speed**2 + axis.brake(at, stop) > 0 else (low, stop)
    return 2 * integral(lambda u: 2 * u / np.sqrt(-axis.brake(low - u**2, low)), 0, math.sqrt(low - at))


@dataclass
class Sled:
    """A sled of one unit with the layout `row-first`; positions in bits from the center."""

    bit_m: float
    columns: int
    rows: int
    row_bits: int
    servo_bits: int
    blocks_per_row: int
    tracks: int
    x_axis: Axis
    y_axis: Axis
    settle_s: float
    bit_rate: float
    direction_rule: str
    x: int = 0
    y: int = 0
    direction: int = 1

    @classmethod
    def from_parameters(cls, p: dict) -> Sled:
        """A sled with the parameters of a device file."""
        bits = p["tip_sector_bits"] + p["servo_bits"]
        rows = int((p["travel_y_um"] * 1e3 / p["bit_nm"] - p["servo_bits"]) // bits)
        edge = {"edge": 2, "travel": 1}[p["spring_convention"]]

        def axis(name: str) -> Axis:
            acceleration, travel = p[f"acceleration_{name}_m_s2"], p[f"travel_{name}_um"] * 1e-6
            return Axis(acceleration, p["spring_factor"] * acceleration * edge / travel)

        return cls(
            bit_m=p["bit_nm"] * 1e-9,
            columns=int(p["travel_x_um"] * 1e3 / p["bit_nm"]),
            rows=rows,
            row_bits=bits,
            servo_bits=p["servo_bits"],
            blocks_per_row=p["active_tips"] // p["tips_per_block"],
            tracks=p["usable_tips"] // p["active_tips"],
            x_axis=axis("x"),
            y_axis=axis("y"),
            settle_s=p["settle_constants"] / (2 * math.pi * p["resonant_hz"]),
            bit_rate=p["tip_rate_kbit_s"] * 1e3,
            direction_rule=p["direction"],
        )

    def passes(self, lbn: int, blocks: int) -> list[tuple[int, int]]:
        """Column and row of each pass."""
        first, last = lbn // self.blocks_per_row, (lbn + blocks - 1) // self.blocks_per_row
        places = ((row // (self.rows * self.tracks), row % self.rows) for row in range(first, last + 1))
        return [(column, self.physical_row(column, row)) for column, row in places]

    def physical_row(self, column: int, row: int) -> int:
        """Row from the bottom; where parity decides the direction, odd columns are filled downwards."""
        return self.rows - 1 - row if self.direction_rule == "parity" and column % 2 else row

    def positioning_s(self, column: int, row: int, direction: int) -> dict[str, float]:
        """Times until a pass in `direction` can begin."""
        x, y, speed = column - self.columns // 2, self.edge(row, direction), self.bit_rate * self.bit_m
        here_m, there_m = self.y * self.bit_m, y * self.bit_m
        onward = math.copysign(1, y - self.y) if y != self.y else -self.direction
        turnaround = 0.0
        if y != self.y or x != self.x or direction != self.direction:
            if onward != self.direction:
                turnaround += turnaround_s(self.y_axis, here_m, speed, self.direction)
            if direction != onward:
                turnaround += turnaround_s(self.y_axis, there_m, speed, int(onward))
        return {
            "seek_x": seek_s(self.x_axis, self.x * self.bit_m, x * self.bit_m),
            "settle": self.settle_s if x != self.x else 0.0,
            "seek_y": seek_s(self.y_axis, here_m, there_m, speed),
            "turnaround": turnaround,
        }

    def edge(self, row: int, direction: int) -> int:
        """Where a pass over a row begins, upwards or downwards."""
        bottom = row * self.row_bits - (self.rows * self.row_bits + self.servo_bits) // 2
        return bottom if direction > 0 else bottom + self.row_bits + self.servo_bits

    def directions(self, column: int) -> list[int]:
        """Directions in which a row of the column may be read."""
        return {"up": [1], "parity": [1 - 2 * (column % 2)], "free": [1, -1]}[self.direction_rule]

    def serve(self, lbn: int, blocks: int) -> dict[str, float]:
        """Times of a request in s; of `reposition`, between its passes."""
        times: dict[str, float] = {}
        passes = self.passes(lbn, blocks)
        for number, (column, row) in enumerate(passes):
            choices = {each: self.positioning_s(column, row, each) for each in self.directions(column)}
            # Of equal directions, that of the next row of the request.
            is_next_below = number + 1 < len(passes) and passes[number + 1][1] < row
            ties = sorted(choices, reverse=not is_next_below)
            direction = min(ties, key=lambda each, choices=choices: positioning_s(choices[each]))
            if number == 0:
                times = choices[direction] | {
                    "positioning": positioning_s(choices[direction]),
                    "reposition": 0,
                }
            else:
                times["reposition"] += positioning_s(choices[direction])
            self.x, self.direction = column - self.columns // 2, direction
            self.y = self.edge(row, direction) + direction * self.row_bits
        return times | {"transfer": times["reposition"] + len(passes) * self.row_bits / self.bit_rate}


def positioning_s(times: dict[str, float]) -> float:
    """Both axes move at once."""
    return max(times["seek_x"] + times["settle"], times["seek_y"] + times["turnaround"])

"""Seeks and turnarounds in NumPy: exact, and with the reference simulator's errors in turnarounds.

Only for the study of defects: it separates parts of the simulator's motion that sledlab's models offer only
together. A test compares it with the reference tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Rule = Callable[[Array, float, Array], Array]


@dataclass(frozen=True)
class Axis:
    """One axis: acceleration in m/s2, travel in m, spring force at the edge over the actuator force."""

    acceleration: float
    travel: float
    spring_factor: float

    @property
    def omega_squared(self) -> float:
        """Squared angular frequency of the sled on its springs."""
        return self.spring_factor * self.acceleration / (self.travel / 2)

    def seek_s(self, start_m: Array, end_m: Array, speed: float = 0.0) -> Array:
        """The closed form with springs (DESIGN: Hong and Brandt), `speed` in m/s at both ends."""
        omega = np.sqrt(self.omega_squared)
        c = self.acceleration / self.omega_squared
        sign = np.where(end_m >= start_m, 1.0, -1.0)
        x0, x1 = start_m * sign, end_m * sign
        switch = (x0 + x1) / 2 + (x1**2 - x0**2) / (4 * c)
        u = speed / omega
        r0, r1 = np.hypot(c - x0, u), np.hypot(c + x1, u)
        first = np.arccos(np.minimum((c - switch) / r0, 1)) - np.arctan2(u, c - x0)
        second = np.arccos(np.minimum((c + switch) / r1, 1)) - np.arctan2(u, c + x1)
        return np.where(x0 == x1, 0.0, (first + second) / omega)

    def turnaround_s(self, at_m: Array, speed: float, direction: Array) -> Array:
        """Exact time of a turnaround in s; `direction` is that before the turn."""
        omega = np.sqrt(self.omega_squared)
        pull = self.acceleration + self.omega_squared * at_m * direction
        return np.asarray(2 * np.arctan2(speed * omega, pull) / omega)

    def constant_turnaround_s(self, at_m: Array, speed: float, direction: Array) -> Array:
        """Time of a turnaround in s with the acceleration at the turning place throughout.

        That is the reference simulator's rule, which at the end of a seek uses the direction after the turn.
        """
        return 2 * speed / (self.acceleration + self.omega_squared * at_m * direction)


@dataclass(frozen=True)
class Sled:
    """Parameters from which recorded passes are computed."""

    x: Axis
    y: Axis
    bit_m: float
    speed: float
    settle_s: float
    other_start_bits: int
    """Distance from the start of an upward pass to that of a downward pass over the same row, in bits."""
    is_bidirectional: bool

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Sled:
        """The parameters of a device, from those of a reference run."""
        p = parameters
        axis = {
            n: Axis(p[f"accel_{n}_m_s2"], p[f"sled_{n}_nm"] * 1e-9, p["spring_factor"]) for n in ("x", "y")
        }
        bit_m = p["bit_nm"] * 1e-9
        settle_s = p["settle_constants"] / (2 * np.pi * p["resonant_hz"])
        other_start_bits = 2 * p["servo_bits"] + p["tip_sector_bits"]
        speed = p["access_speed_bit_s"] * bit_m
        return cls(axis["x"], axis["y"], bit_m, speed, settle_s, other_start_bits, bool(p["bidirectional"]))


@dataclass(frozen=True)
class Passes:
    """Positioning times in ms of recorded passes of a sled, each from its recorded start.

    The sled takes the direction that is shorter by the physics in question.
    """

    exact: Array
    """With exact physics."""
    constant: Array
    """With turnarounds of constant acceleration, all else exact."""
    wrong_sign: Array
    """As before, with the wrong sign of the spring at the end: the reference simulator's turnarounds."""
    recorded: Array
    """As before, with its seeks: the recorded times."""
    max_rebuild_error_ms: float
    """Largest difference of its turnarounds, rebuilt by its rule, from the recorded ones."""


def passes(table: dict[str, Array], sled: Sled) -> Passes:
    """Add the defects of the reference simulator to exact physics, one after another."""
    start_bit, is_upward = table["y1_bit"], table["v1_sign"] > 0
    rebuilt = _turnarounds_s(
        table, sled, start_bit, table["v1_sign"], sled.y.constant_turnaround_s, uses_final_direction=True
    )

    def positioning_ms(rule: Rule, uses_final_direction: bool) -> Array:
        x_s = sled.x.seek_s(table["x0_bit"] * sled.bit_m, table["x1_bit"] * sled.bit_m)
        x_s += sled.settle_s * (table["x0_bit"] != table["x1_bit"])

        def y(y1_bit: Array, direction: Array) -> Array:
            seek_s = sled.y.seek_s(table["y0_bit"] * sled.bit_m, y1_bit * sled.bit_m, sled.speed)
            return seek_s + _turnarounds_s(
                table, sled, y1_bit, direction, rule, uses_final_direction=uses_final_direction
            )

        y_s = y(start_bit, table["v1_sign"])
        if sled.is_bidirectional:
            other_start_bit = start_bit + np.where(is_upward, sled.other_start_bits, -sled.other_start_bits)
            y_s = np.minimum(y_s, y(other_start_bit, -table["v1_sign"]))
        return np.maximum(x_s, y_s) * 1e3

    return Passes(
        exact=positioning_ms(sled.y.turnaround_s, uses_final_direction=False),
        constant=positioning_ms(sled.y.constant_turnaround_s, uses_final_direction=False),
        wrong_sign=positioning_ms(sled.y.constant_turnaround_s, uses_final_direction=True),
        recorded=table["seek_ms"],
        max_rebuild_error_ms=float(np.abs(rebuilt * 1e3 - table["turn_ms"]).max()),
    )


def _turnarounds_s(
    table: dict[str, Array], sled: Sled, y1_bit: Array, v1: Array, rule: Rule, *, uses_final_direction: bool
) -> Array:
    """Turnarounds before and after a move.

    With `uses_final_direction`, the rule gets the direction after the last turn.
    """
    y0_bit, v0 = table["y0_bit"], table["v0_sign"]
    is_in_place = (y0_bit == y1_bit) & (v0 == v1)
    travel = np.where(is_in_place, -v0, np.where(y1_bit > y0_bit, 1.0, -1.0))
    # A sled that returns to its place while x moves has to turn twice; downwards the simulator omits that.
    is_loop = is_in_place & (table["x0_bit"] != table["x1_bit"]) & ((v0 > 0) | (not uses_final_direction))
    has_turn = ~is_in_place | is_loop
    first_s = rule(y0_bit * sled.bit_m, sled.speed, v0) * (has_turn & (v0 * travel < 0))
    last_s = rule(y1_bit * sled.bit_m, sled.speed, -travel if uses_final_direction else travel) * (
        has_turn & (v1 * travel < 0)
    )
    return np.asarray(first_s + last_s)

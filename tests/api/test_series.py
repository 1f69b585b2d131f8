"""Distributions of interactive figures: thinned to the steps that a plot can tell apart."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from sledlab.show.series import MAX_POSITIONS, drawn_steps, log_positions


def heavy_tailed_times(seed: int, count: int) -> list[float]:
    """Distinct times over some decades, most of them near the least, and sometimes a zero."""
    times = {round(1e6 * math.exp(((seed + 7919 * n) % 10007 / 10007) ** 9 * 7)) for n in range(count)}
    return [0.0] * (seed % 2) + [float(time) for time in sorted(times)]


@given(st.integers(0, 1000), st.integers(1, 4000))
def test_every_quantile_is_within_a_pixel(seed, count):
    times = heavy_tailed_times(seed, count)
    drawn_indexes = drawn_steps(log_positions(times))
    assert drawn_indexes == sorted(set(drawn_indexes))
    assert len(drawn_indexes) <= MAX_POSITIONS
    assert {0, len(times) - 1} <= set(drawn_indexes)
    positive_times = [time for time in times if time > 0]
    pixel_log = math.log(positive_times[-1] / positive_times[0]) / (MAX_POSITIONS - 2)
    remaining_indexes = iter(drawn_indexes)
    next_drawn = next(remaining_indexes)
    for index, time in enumerate(times):
        while next_drawn < index:
            next_drawn = next(remaining_indexes)
        assert times[next_drawn] <= time * math.exp(pixel_log) * (1 + 1e-9)


def test_few_steps_are_all_drawn():
    times = heavy_tailed_times(1, 300)
    assert drawn_steps(times) == list(range(len(times)))
    assert drawn_steps([]) == []

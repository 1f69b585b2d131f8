"""Ticks of axes: Python and the page follow the same rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sledlab.show.ticks import linear_ticks, log_ticks, round_down, round_up

CASES = json.loads((Path(__file__).parents[2] / "web" / "test" / "ticks.json").read_text("utf-8"))
"""Cases that `web/test/charts.test.ts` checks too."""


@pytest.mark.parametrize("kind", CASES)
def test_ticks_equal_those_of_the_page(kind):
    ticks = {"linear": linear_ticks, "log": log_ticks}[kind]
    for case in CASES[kind]:
        assert ticks(case["low"], case["high"], case["count"]) == case["ticks"]


@given(st.floats(1e-6, 1e6), st.floats(1.0001, 1e9), st.integers(0, 12))
def test_any_range_has_three_ticks(low, ratio, count):
    for ticks in (linear_ticks(low, low * ratio, count), log_ticks(low, low * ratio, count)):
        assert len(ticks) >= 3
        assert ticks == sorted(set(ticks))
        assert ticks[0] >= low * (1 - 1e-6)
        assert ticks[-1] <= low * ratio * (1 + 1e-6)


@given(st.floats(1e-9, 1e12))
def test_rounding_encloses_the_value(value):
    assert round_down(value) <= value * (1 + 1e-8)
    assert value <= round_up(value) * (1 + 1e-8)
    assert round_up(value) / round_down(value) < 5.1

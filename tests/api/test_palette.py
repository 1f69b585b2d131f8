"""Colors of names: Python and the page follow the same rule."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sledlab.show.palette import PALETTE, color_places

CASES = json.loads((Path(__file__).parents[2] / "web" / "test" / "places.json").read_text("utf-8"))
"""Cases that `web/test/charts.test.ts` checks too."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: ",".join(case["names"]) or "none")
def test_color_places_equal_those_of_the_page(case):
    assert color_places(case["names"]) == case["places"]


def test_known_names_have_a_color():
    assert all(0 <= place < len(PALETTE["series"]) for place in PALETTE["places"].values())

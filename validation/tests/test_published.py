"""Published numbers and check values."""

import pytest

from validation import reference
from validation.sections.published import (
    CHECK_BAND,
    GENERATIONS,
    MIN_X_DOMINANCE,
    PUBLISHED_MS,
    check_value,
    quantities,
    x_dominance_share,
)


def test_published_quantities_hold() -> None:
    published = quantities()
    assert len(published) == 11
    assert [q for q in published if not q.holds] == []


@pytest.mark.parametrize("device", GENERATIONS)
def test_x_dominates_most_random_moves(device: str) -> None:
    assert x_dominance_share(device) > MIN_X_DOMINANCE


@pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)
@pytest.mark.parametrize(("device", "springs"), PUBLISHED_MS)
def test_check_values_are_met(device: str, springs: bool) -> None:
    assert abs(check_value(device, springs=springs).deviation) < CHECK_BAND

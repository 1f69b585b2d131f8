"""Published numbers and check values."""

import pytest

from . import reference
from .published import CHECK_BAND, CHECK_VALUES, GENERATIONS, X_DOMINATES, CheckValue, quantities, x_dominates


def test_published_quantities() -> None:
    found = quantities()
    assert len(found) == 11
    assert [q for q in found if not q.holds] == []


@pytest.mark.parametrize("device", GENERATIONS)
def test_x_dominates_most_random_moves(device: str) -> None:
    assert x_dominates(device) > X_DOMINATES


@pytest.mark.skipif(not reference.present(), reason=reference.MISSING)
@pytest.mark.parametrize("check", CHECK_VALUES, ids=lambda check: check.run)
def test_check_values(check: CheckValue) -> None:
    assert abs(check.off) < CHECK_BAND

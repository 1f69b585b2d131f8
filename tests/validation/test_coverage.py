"""All that papers 000 to 003 name is in sledlab, or the page says why it is not."""

from __future__ import annotations

import pytest

from lab import coverage
from lab.page import DOCUMENTS

COUNTS = {"DM": 18, "LY": 10, "SC": 25, "PW": 17, "HY": 20, "CA": 7, "MT": 12, "AN": 14}
"""Entries of each kind in the list of systems; the last metrics and one analysis belong to paper 004."""

OF_PAPER_004 = {"AN-07"}


def test_nothing_is_missing_and_nothing_twice() -> None:
    expected = {f"{kind}-{number:02}" for kind, count in COUNTS.items() for number in range(1, count + 1)}
    codes = [each.code for each in coverage.named()]
    assert sorted(codes) == sorted(expected - OF_PAPER_004)


@pytest.mark.parametrize("each", coverage.named(), ids=lambda each: each.code)
def test_it_is_in_sledlab_or_there_is_a_reason(each: coverage.Named) -> None:
    assert bool(each.where) != bool(each.why)
    assert bool(each.cited) >= bool(each.where)
    unknown = [name for name in each.cited if name not in coverage.known()]
    assert not unknown


def test_page_is_up_to_date() -> None:
    assert (DOCUMENTS / coverage.PAGE).read_text(encoding="utf-8") == coverage.page()

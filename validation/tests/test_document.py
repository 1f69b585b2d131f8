"""docs/validation.md has the results of the comparisons."""

import pytest

from validation import peers, reference
from validation.markdown import difference, section_difference
from validation.page import DOCUMENTS
from validation.sections.__main__ import PAGE, REPLAY_SECTIONS


@pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)
def test_page_is_up_to_date(everything: bool) -> None:
    page = (DOCUMENTS / PAGE).read_text(encoding="utf-8")
    # Sections from many replays are checked, and their results saved, only if a full run is requested.
    for section in REPLAY_SECTIONS if everything else REPLAY_SECTIONS[:2]:
        measurement = section.save() if everything else section.measure()
        page_difference = section_difference(page, section.text(measurement))
        assert page_difference is None, f"{page_difference}\nrun: python -m validation.sections"


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("mean 1.25 ms", "mean 1.26 ms", True),
        ("mean 1.25 ms", "mean 1.29 ms", False),
        ("12 runs", "13 runs", False),
        ("mean 1.25 ms", "median 1.25 ms", False),
        ("one", "one\ntwo", False),
    ],
)
def test_difference_ignores_the_last_digit_only(old: str, new: str, is_same: bool) -> None:
    assert (difference(old, new) is None) == is_same


def test_page_on_other_simulators_is_up_to_date() -> None:
    page = peers.page((DOCUMENTS / PAGE).read_text(encoding="utf-8"))
    assert (DOCUMENTS / peers.PAGE).read_text(encoding="utf-8") == page, "run: python -m validation.sections"

"""docs/validation.md says what the comparisons give."""

import pytest

from lab import reference
from lab.markdown import difference, section_difference
from lab.page import DOCUMENTS
from lab.validation.__main__ import PAGE, REPLAY_SECTIONS


@pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)
def test_page_is_up_to_date(everything: bool) -> None:
    page = (DOCUMENTS / PAGE).read_text(encoding="utf-8")
    # The cheap sections always; those from many replays, which leave what the page is written from, when
    # a full run is requested.
    for section in REPLAY_SECTIONS if everything else REPLAY_SECTIONS[:2]:
        result = section.save() if everything else section.measure()
        changed = section_difference(page, section.text(result))
        assert changed is None, f"{changed}\nrun: python -m lab.validation"


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("mean 1.25 ms", "mean 1.26 ms", True),
        ("mean 1.25 ms", "mean 1.29 ms", False),
        ("12 runs", "13 runs", False),
        ("mean 1.25 ms", "median 1.25 ms", False),
        ("one", "one\ntwo", False),
    ],
)
def test_difference_ignores_the_last_digit_only(old: str, new: str, same: bool) -> None:
    assert (difference(old, new) is None) == same

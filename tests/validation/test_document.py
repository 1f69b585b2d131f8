"""docs/validation.md says what the comparisons give."""

import re

import pytest

from . import reference, report
from .markdown import difference


@pytest.mark.skipif(not reference.present(), reason=reference.MISSING)
def test_page_is_up_to_date(everything: bool) -> None:
    # The cheap sections always; those from many replays when everything is asked for.
    sections = report.REPLAYED if everything else report.REPLAYED[:2]
    page = report.PAGE.read_text(encoding="utf-8")
    for section in sections:
        new = section()
        title = new.splitlines()[0]
        found = re.search(rf"^{re.escape(title)}\n.*?(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
        assert found, f"docs/validation.md lacks: {title}"
        changed = difference(found[0].rstrip(), new.rstrip())
        assert changed is None, f"{title}, {changed}\nrun: python -m tests.validation.report"


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

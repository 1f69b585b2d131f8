"""What measuring leaves is read as it was, and told when it is stale."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lab import results
from lab.reproduction.claims import IN_PART, REPRODUCED, Verdict
from lab.reproduction.topic import Judged, Sheet
from lab.validation import __main__ as page
from lab.validation.section import ValidationSection


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path)


@dataclass(frozen=True)
class Found:
    times_ms: tuple[float, ...]
    by_name: dict[str, float]
    note: str | None = None


def test_what_is_left_is_read_as_it_was() -> None:
    found = (Found((1.5, 2.0), {"a": 0.1}), Found((), {}, "none"))
    results.leave("some/found", found)
    left = results.read("some/found", tuple[Found, ...])
    assert left is not None
    assert left.found == found
    assert left.sources == results.sources()
    assert not left.stale
    assert results.read("nothing", Found) is None


def test_a_sheet_of_verdicts_comes_back() -> None:
    plain = Verdict(REPRODUCED, "1 ms.")
    sheet = Sheet(
        {"H-01": Judged(plain), "H-02": Judged(plain, Verdict(IN_PART, "2 ms.", "So."))}, {"a": "b"}
    )
    results.leave("sheet", sheet)
    left = results.read("sheet", Sheet)
    assert left is not None
    assert left.found == sheet


def test_stale_results_are_told_and_measured_again(capsys: pytest.CaptureFixture[str]) -> None:
    section = ValidationSection("some", Found, lambda: Found((2.0,), {}), lambda _: {})
    results.leave("validation/some", Found((1.0,), {}), sources_of="abc")
    assert page.found(section, as_left=True).found == Found((1.0,), {})
    assert "results of sources abc, which are" in capsys.readouterr().err
    assert page.found(section, as_left=False).found == Found((2.0,), {})
    assert page.found(section, as_left=False).sources == results.sources()

"""Results of measurements are written and read, and pages are written from them section by section."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from validation import results
from validation.page import DOCUMENTS
from validation.sections import __main__ as page
from validation.sections.section import ValidationSection


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path)


@dataclass(frozen=True)
class Measurement:
    times_ms: tuple[float, ...]
    by_name: dict[str, float]
    note: str | None = None


def test_results_are_read_as_they_were_written() -> None:
    measurements = (Measurement((1.5, 2.0), {"a": 0.1}), Measurement((), {}, "none"))
    results.write("some/found", measurements)
    assert results.read("some/found", tuple[Measurement, ...]) == measurements
    assert results.read("nothing", Measurement) is None


def test_section_is_measured_again_when_short_run_changes() -> None:
    speeds = [1.0]
    section = ValidationSection(
        "speed", Measurement, lambda: Measurement((speeds[0], 1.0), {}), lambda _: {}, lambda: speeds[0]
    )
    assert section.load_or_measure() == section.load_or_measure() == Measurement((1.0, 1.0), {})
    speeds[0] = 2.0
    assert section.load_or_measure() == Measurement((2.0, 1.0), {})


def test_sections_without_new_results_keep_their_text() -> None:
    existing = (DOCUMENTS / page.PAGE).read_text(encoding="utf-8")
    assert page.page(existing, ()) == existing


def test_missing_section_names_the_command_that_measures_it() -> None:
    with pytest.raises(
        LookupError, match=r"no section `## Kinematics`: python -m validation\.evidence kinematics"
    ):
        page.page("# Validation\n", ())

"""Growth of cost: fitted exponents, series that are measured or not yet, the page, and the figures."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sledlab_papers.scheduling import effort

from lab.evidence import benches
from lab.evidence.entry import publish_nothing
from lab.markdown import find_section, section_difference
from lab.page import DOCUMENTS
from lab.results import PROJECT
from lab.validation import growth, growth_figures
from lab.validation.__main__ import PAGE, SECTIONS
from lab.validation.growth import SERIES, Growth, GrowthRow
from lab.validation.power_law import PowerLaw, fit
from lab.validation.speed import Decision

SIZES = (10, 100, 1_000, 10_000)
NOT_MEASURED = "Not measured yet"


def rows(series: str, exponents: dict[str, float]) -> list[GrowthRow]:
    return [
        GrowthRow(series, curve, size, 2e-3 * size**exponent, "s", 1 if size == SIZES[-1] else 3)
        for curve, exponent in exponents.items()
        for size in SIZES
    ]


@pytest.fixture
def complete() -> Growth:
    """All series, with known exponents."""
    decisions = [
        Decision(name, size, 100 * size**exponent, 50.0 * size if name == "sptf" else None)
        for name, exponent in {"fcfs": 0, "scan": 0.1, "sptf": 0.2, "mst": 2}.items()
        for size in SIZES
    ]
    return Growth(
        (
            *rows("requests", {"fcfs": 1, "sptf": 1.1}),
            *rows("hybrids", {"caching disk": 0.05, "write buffer": 0, "write-back cache": 0.1}),
            *rows("studies", {"wall-clock time": 0.9, "processor time": 0.95}),
        ),
        "a processor, 2 logical cores",
        {"before": 0.25, "after": 1.5},
        (*decisions, Decision("optimal", 10, 1e6, None), Decision("optimal", 100, None, None)),
        "another processor",
    )


@given(
    st.floats(-3, 3),
    st.floats(1e-9, 1e9),
    st.lists(st.integers(1, 10**9), min_size=2, max_size=10, unique=True),
)
def test_fit_recovers_exponent_and_factor(exponent: float, factor: float, sizes: list[int]) -> None:
    law = PowerLaw(exponent, factor)
    fitted = fit([(size, law.cost(size)) for size in sizes])
    assert fitted is not None
    assert fitted.exponent == pytest.approx(exponent, abs=1e-4)
    assert fitted.cost(sizes[0]) == pytest.approx(law.cost(sizes[0]), rel=1e-4)


@given(st.floats(0.1, 2), st.lists(st.floats(0.9, 1.1), min_size=4, max_size=4))
def test_noise_of_a_tenth_moves_exponent_little(exponent: float, noise: list[float]) -> None:
    fitted = fit([(size, size**exponent * each) for size, each in zip(SIZES, noise, strict=True)])
    assert fitted is not None
    assert fitted.exponent == pytest.approx(
        exponent, abs=2 * math.log(1.1 / 0.9) / math.log(SIZES[-1] / SIZES[0])
    )


def test_single_size_has_no_exponent() -> None:
    assert fit([]) is None
    assert fit([(10, 1.0), (10, 2.0)]) is None


def test_farthest_point_counts_ratios_in_both_directions() -> None:
    law = PowerLaw(1, 1)
    assert law.farthest([(1, 1.5), (10, 5.0), (100, 100.0)]) == (10, 5.0)
    assert law.deviation((10, 5.0)) == pytest.approx(-0.5)


def test_scheduler_of_one_length_has_no_curve(complete: Growth) -> None:
    assert [curve.name for curve in complete.curves("decisions")] == ["fcfs", "scan", "sptf", "mst"]


def test_text_has_exponent_and_image_of_each_series(complete: Growth) -> None:
    text = growth.SECTION.text(complete)
    assert NOT_MEASURED not in text
    for series in SERIES.values():
        assert f"### {series.heading}\n" in text
        assert f"]({series.image})" in text
    for exponent in ("`fcfs` 1.00", "`sptf` 1.10", "caching disk 0.05", "wall-clock time 0.90", "`mst` 2.00"):
        assert exponent in text
    assert "a processor, 2 logical cores" in text
    assert "another processor" in text
    assert "0.25 before and 1.50 after" in text


@pytest.mark.parametrize("missing", list(SERIES))
def test_missing_series_is_reported_without_failure(complete: Growth, missing: str) -> None:
    others = tuple(row for row in complete.rows if row.series != missing)
    decisions = () if missing == "decisions" else complete.decisions
    text = growth.SECTION.text(replace(complete, rows=others, decisions=decisions))
    section = text.partition(f"### {SERIES[missing].heading}\n")[2].partition("\n### ")[0]
    assert section.strip().startswith(NOT_MEASURED)
    assert text.count(NOT_MEASURED) == 1
    assert SERIES[missing].image not in text


def test_absent_files_leave_all_series_unmeasured(tmp_path: Path) -> None:
    absent = growth.load(tmp_path / "growth.json", tmp_path / "decisions.json")
    assert growth.SECTION.text(absent).count(NOT_MEASURED) == len(SERIES)


def test_files_are_read_as_benchmarks_write_them(tmp_path: Path) -> None:
    file, decided = tmp_path / "growth.json", tmp_path / "decisions.json"
    point = {"series": "studies", "curve": "wall-clock time", "value": 0.5, "unit": "s", "runs": 3}
    file.write_text(
        json.dumps({"machine": "m", "rows": [{**point, "size": 100}, {**point, "size": 10}]}),
        encoding="utf-8",
    )
    decided.write_text(
        json.dumps(
            {"machine": "n", "rows": [{"scheduler": "fcfs", "queue": 4, "ns": 1500, "search_ns": None}]}
        ),
        encoding="utf-8",
    )
    result = growth.load(file, decided)
    assert [curve.points for curve in result.curves("studies")] == [((10, 0.5), (100, 0.5))]
    assert result.decisions == (Decision("fcfs", 4, 1500),)
    assert (result.machine, result.decisions_machine) == ("m", "n")


def test_every_measured_series_has_figure(complete: Growth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_figures, "load", lambda: complete)
    pictures = growth_figures.pictures()
    assert list(pictures) == [series.image for series in SERIES.values()]
    for svg in pictures.values():
        assert ET.fromstring(svg).tag.endswith("svg")
    texts = [each.text for each in ET.fromstring(pictures["images/growth/decisions.svg"]).iter()]
    assert {"fcfs", "scan", "sptf", "mst", "0.10", "0.20", "1.00", "2.00"} <= set(texts)


def test_page_is_written_from_present_benchmark_files() -> None:
    page = (DOCUMENTS / PAGE).read_text(encoding="utf-8")
    for section in (each for each in SECTIONS if each.benchmarks):
        changed = section_difference(page, section.text(section.measure()))
        assert changed is None, f"{changed}\nrun: python -m lab.validation"


def test_page_lists_each_series_with_figure_if_measured() -> None:
    page = find_section((DOCUMENTS / PAGE).read_text(encoding="utf-8"), growth.SECTION.title)
    assert page is not None
    pictures = growth_figures.pictures()
    for series in SERIES.values():
        assert f"### {series.heading}\n" in page
        assert (series.image in pictures) == (f"]({series.image})" in page)


def test_benchmark_measures_queue_lengths_of_claims() -> None:
    source = (PROJECT / "crates/sledlab-sim/benches/decisions.rs").read_text(encoding="utf-8")
    lengths = re.search(r"const DEPTHS: .*= \[(.*)\];", source)
    assert lengths is not None
    assert set(effort.DEPTHS) <= {int(each.replace("_", "")) for each in lengths[1].split(",")}


def test_page_is_written_again_after_its_benchmarks() -> None:
    quoted = {file.stem for section in SECTIONS for file in section.benchmarks}
    assert {"results", "decisions", "first_use", "growth"} <= quoted
    rewriting = {output.path for output in benches.outputs() if output.publish is not publish_nothing}
    measured = {bench.path for bench in benches.BENCHMARKS}
    assert rewriting == measured & {f"benches/{name}.json" for name in quoted}

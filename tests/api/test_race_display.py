"""Answers and figures of `sl.compare`: verdicts, rankings, curves, labels, the page."""

import re
from itertools import pairwise

import numpy as np
import pytest
import sledlab as sl
from sledlab.model import choices
from sledlab.show import curves, line_names, load_curves
from sledlab.show.model_names import label
from sledlab.studies.compare import summary
from sledlab.studies.races import parts as race_parts
from sledlab.studies.races.race import MAX_HIGHLIGHTED

from tests.races import NAMES, race, synthetic_comparison


def test_verdict_names_the_winner_at_each_load():
    result = synthetic_comparison()
    group = result.groups[0]
    assert group.ranking_speedup == 4
    assert [curve.highest_steady_speedup for curve in group.curves[:2]] == [4, 4]
    ranking_rows = summary.ranking(group).rows
    assert len(ranking_rows) == len(result.schedulers)
    assert ranking_rows[0][0] == "PZSPTF"
    assert "positioning takes" in ranking_rows[0][-1]
    verdict = summary.verdict(result, group)
    assert verdict.startswith("As recorded, PZSPTF answers in ")
    assert "At 4 times the original rate, PZSPTF" in verdict
    assert "where FCFS takes" in verdict
    assert "SCV" not in verdict
    winner_rows = race_parts.winners(group)[1].rows
    assert winner_rows[0][-1] == "none"
    assert winner_rows[-1][2] == "–"
    assert winner_rows[-1][-1].startswith("all. PZSPTF completed the most")


def test_answer_covers_single_and_overloaded_schedulers():
    single = synthetic_comparison(names=["sptf"], speedups=[1], seeds=[1])
    assert summary.answer(single).startswith("As recorded, SPTF answers in ")
    overloaded = synthetic_comparison(names=["fcfs", "sptf"], speedups=[8], seeds=[1])
    assert summary.answer(overloaded).startswith("No scheduler kept up")
    assert overloaded.plot().axes
    assert single.plot("scv").axes


def test_labels_of_schedulers_include_parameters():
    assert label("p-alpha:alpha=0.25") == "P-ALPHA alpha=0.25"
    assert label("zsptf:grid=40x4:parity=false") == "ZSPTF grid=40x4 parity=false"
    choice = choices.models("scheduler", [sl.scheduler("sptf"), "fcfs", "sptf"])
    assert choice == ("sptf", "fcfs")


@pytest.mark.parametrize("count", [2, MAX_HIGHLIGHTED + 1])
def test_figures_suit_few_and_many_lines(refused, count):
    result = synthetic_comparison(names=NAMES[:count])
    group = result.groups[0]
    assert len(group.highlighted_curves) == min(count, MAX_HIGHLIGHTED)
    for measure in ("mean_ms", "scv", "total_energy_per_request_mj"):
        assert result.plot(measure).axes
    assert len(load_curves.draw_small_multiples(race_parts.curves(group, "mean_ms")).axes) >= count
    with refused("unknown measure"):
        result.plot("mean")


def test_coinciding_curves_are_merged_and_labeled():
    def dots(*values, is_overloaded=False):
        return [
            curves.LoadDot(100.0 * 2**place, value, None, 1, is_overloaded)
            for place, value in enumerate(values)
        ]

    def draw(measure, *dot_lists):
        lines = [curves.Line(f"S{place}", dots) for place, dots in enumerate(dot_lists)]
        return curves.Curves(measure, lines, lines, lines[:6], {1.0: 100.0, 2.0: 200.0})

    coincident = draw("mean_ms", *(dots(5.0 + 0.002 * place, 9.0) for place in range(19)))
    assert coincident.is_coincident
    axes = load_curves.draw(coincident).axes[0]
    assert "all 19 within 1 %" in {text.get_text() for text in axes.texts}
    assert not any("gray" in text.get_text() for text in axes.texts)
    assert draw(
        "total_energy_per_request_mj", dots(1.0, 1.0), dots(1.009, 1.0, is_overloaded=True)
    ).is_coincident
    assert draw("mean_ms", dots(1.0, 1.0), dots(1.0, 1.0)).as_single_line.lines[0].label == "both within 1 %"
    for other in (dots(5.0, 9.2), dots(5.0, 9.0, is_overloaded=True)):
        assert not draw("mean_ms", dots(5.0, 9.0), other).is_coincident
    assert not draw("mean_ms", dots(5.0, 9.0)).is_coincident
    assert not draw(
        "mean_ms", dots(5.0, 9.0, is_overloaded=True), dots(5.0, 9.0, is_overloaded=True)
    ).is_coincident


def test_schedulers_with_equal_results_are_grouped():
    result = race(scheduler=["fcfs", "sptf", "look"], speedup=[1e-4, 2e-4])
    assert summary.answer(result).endswith("they are within 1 % of each other at each of the loads.")
    assert summary.answer(result).startswith("At 0.0001 times the original rate, all 3 schedulers answer in ")
    assert list(race_parts.single_figures(result.groups[0])) == []
    assert "One line stands for all schedulers" in race_parts.figures(result.groups[0])[1].text


def test_labels_do_not_collide():
    rng = np.random.default_rng(1)
    for _ in range(200):
        heights = rng.uniform(-20, 220, rng.integers(1, 15)).tolist()
        positions = sorted(line_names.spread_heights(heights, 10, 200))
        assert -1e-9 <= positions[0] <= positions[-1] <= 200 + 1e-9
        assert all(after - before >= 10 - 1e-9 for before, after in pairwise(positions))


@pytest.mark.slow("draws a page on all schedulers")
def test_report_and_displays(tmp_path):
    result = synthetic_comparison()
    page = result.report(tmp_path / "race.html").read_text()
    assert f"{len(NAMES)} schedulers" in page
    assert not re.search(r"(src|href)=.https?:", page)
    assert page.count("<figure") == 7
    assert "Wall-clock time of a decision" in page
    assert result._repr_html_().startswith(f"<h4>cello on mems-g2: {len(NAMES)} schedulers</h4>")
    assert "FCFS against C-SCAN" in repr(synthetic_comparison(names=NAMES[:2]))
    assert f"{len(NAMES)} schedulers" in repr(result)

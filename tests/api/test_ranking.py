"""Rankings and the clauses made of them: no sentence names a slower row as the fastest."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sledlab as sl
from hypothesis import given, settings
from hypothesis import strategies as st
from sledlab.show.emulation import advice
from sledlab.show.ranking import Ranking, compare_times
from sledlab.show.wording import figure
from sledlab.studies.costs.cost import UNKNOWN_COST
from sledlab.studies.smart import money, summary

TIMES = st.floats(1e-9, 1e9)
ROWS = st.lists(st.tuples(st.none() | TIMES, st.booleans(), st.sampled_from("abc")), min_size=1, max_size=12)


@given(ROWS)
def test_first_row_has_the_lowest_value(rows: list[tuple[float | None, bool, str]]) -> None:
    rows_with_value = [row for row in rows if row[0] is not None]
    ranking = Ranking.of(rows, lambda row: row[0], lambda row: row[1])
    assert sorted(ranking, key=repr) == sorted(rows_with_value, key=repr)
    if not rows_with_value:
        return
    competitors = [row for row in rows_with_value if not row[1]] or rows_with_value
    assert ranking.first[0] == min(row[0] for row in competitors if row[0] is not None)
    level_rows = ranking.within(0.02)
    assert level_rows[0] is ranking.first
    assert level_rows == [row for row in ranking if row in competitors and row[0] <= ranking.first[0] * 1.02]
    first_of_each = ranking.first_of_each(lambda row: row[2])
    assert first_of_each.first is ranking.first
    assert [row[2] for row in first_of_each] == list(dict.fromkeys(row[2] for row in ranking))
    assert list(first_of_each.values) == [row[0] for row in first_of_each]
    assert first_of_each.steady == sum(not row[1] for row in first_of_each)


@given(TIMES, TIMES)
def test_clauses_have_no_factor_below_one(time: float, other_time: float) -> None:
    clause = compare_times(time, other_time)
    if factor := re.match(r"([\d,.e+]+) times as (fast|long)", clause):
        assert float(factor[1].replace(",", "")) >= 1
        assert (factor[2] == "fast") == (time < other_time)
    if "less" in clause or "more" in clause:
        assert ("less" in clause) == (time < other_time)


@pytest.fixture(scope="module")
def study() -> sl.SmartStudy:
    return sl.smart_study("sample:scan", ["mems-g2", "atlas-10k", "ram"], at=["nodes", "host"], parallel=1)


@given(st.lists(TIMES, min_size=6, max_size=6))
@settings(deadline=None)
def test_smart_answer_names_the_fastest_row(study: sl.SmartStudy, times_s: list[float]) -> None:
    runs = [
        replace(each, run=replace(each.run, elapsed_s=time_s))
        for each, time_s in zip(study.runs, times_s, strict=True)
    ]
    verdict = summary.verdict(replace(study, rows={**study.rows, "runs": runs}), "scan")
    fastest = min(runs, key=lambda each: each.run.elapsed_s)
    assert f"is fastest with {fastest.where.device}" in verdict
    assert f"worked on at the {fastest.where.at}" in verdict
    assert "times as long" not in verdict
    for device in {each.where.device for each in runs} - {fastest.where.device}:
        best_s = min(each.run.elapsed_s for each in runs if each.where.device == device)
        clause = summary.compare(fastest.run.elapsed_s, best_s)
        assert f"{clause} {device}" in verdict
        assert clause == compare_times(fastest.run.elapsed_s, best_s) or best_s < 1.03 * fastest.run.elapsed_s


def test_emulated_devices_of_equal_results_are_named_together() -> None:
    def run(elapsed_s: float, mean_ms: float) -> Any:
        return SimpleNamespace(
            elapsed_s=elapsed_s,
            response_time=SimpleNamespace(mean=mean_ms),
            energy=SimpleNamespace(total=1.0),
            emulation=None,
        )

    sentence = advice({"sled": run(2.0, 1.0), "disk": run(1.0, 1.0), "flash": run(1.0, 0.5)})
    assert sentence == (
        "disk and flash finished first, flash had the shortest mean response, and sled, disk and flash used "
        "the least energy."
    )


def test_sentence_on_money_names_omitted_replays(study: sl.SmartStudy) -> None:
    runs = [replace(each, cost=UNKNOWN_COST) if each.where.device == "ram" else each for each in study.runs]
    assert money.choices(study).startswith("`scan` is ")
    partly_priced = replace(study, rows={**study.rows, "runs": runs})
    assert money.choices(partly_priced).startswith("Of the replays with a price, `scan` is ")


def test_smart_answer_is_that_of_the_table() -> None:
    devices = ["mems-g2", "atlas-10k"]
    study = sl.smart_study("sample:scan", devices, at=["nodes", "host"], parallel=1)
    best_s, other_s = sorted(
        min(each.run.elapsed_s for each in study.runs if each.where.device == device) for device in devices
    )
    fastest = next(each for each in study.runs if each.run.elapsed_s == best_s).where.device
    assert f"is fastest with {fastest}" in study.answer
    assert f", {figure(best_s)} s: {summary.compare(best_s, other_s)} " in study.answer

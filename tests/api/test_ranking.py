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
from sledlab.studies.smart import money, summary
from sledlab.study.cost import UNKNOWN_COST

TIMES = st.floats(1e-9, 1e9)
ROWS = st.lists(st.tuples(st.none() | TIMES, st.booleans(), st.sampled_from("abc")), min_size=1, max_size=12)


@given(ROWS)
def test_first_row_has_the_lowest_value(rows: list[tuple[float | None, bool, str]]) -> None:
    known = [row for row in rows if row[0] is not None]
    ranking = Ranking.of(rows, lambda row: row[0], lambda row: row[1])
    assert sorted(ranking, key=repr) == sorted(known, key=repr)
    if not known:
        return
    competitors = [row for row in known if not row[1]] or known
    assert ranking.first[0] == min(row[0] for row in competitors if row[0] is not None)
    level = ranking.level(0.02)
    assert level[0] is ranking.first
    assert level == [row for row in ranking if row in competitors and row[0] <= ranking.first[0] * 1.02]
    each = ranking.first_of_each(lambda row: row[2])
    assert each.first is ranking.first
    assert [row[2] for row in each] == list(dict.fromkeys(row[2] for row in ranking))
    assert list(each.values) == [row[0] for row in each]
    assert each.steady == sum(not row[1] for row in each)


@given(TIMES, TIMES)
def test_clauses_have_no_factor_below_one(own: float, other: float) -> None:
    clause = compare_times(own, other)
    if factor := re.match(r"([\d,.e+]+) times as (fast|long)", clause):
        assert float(factor[1].replace(",", "")) >= 1
        assert (factor[2] == "fast") == (own < other)
    if "less" in clause or "more" in clause:
        assert ("less" in clause) == (own < other)


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
    text = summary.verdict(replace(study, rows={**study.rows, "runs": runs}), "scan")
    fastest = min(runs, key=lambda each: each.run.elapsed_s)
    assert f"is fastest with {fastest.where.device}" in text
    assert f"worked on at the {fastest.where.at}" in text
    assert "times as long" not in text
    for device in {each.where.device for each in runs} - {fastest.where.device}:
        own = min(each.run.elapsed_s for each in runs if each.where.device == device)
        assert f"{compare_times(fastest.run.elapsed_s, own)} {device}" in text


def test_emulated_devices_of_equal_results_are_named_together() -> None:
    def run(elapsed_s: float, mean_ms: float) -> Any:
        return SimpleNamespace(
            elapsed_s=elapsed_s,
            response_time=SimpleNamespace(mean=mean_ms),
            energy=SimpleNamespace(total=1.0),
            emulation=None,
        )

    text = advice({"sled": run(2.0, 1.0), "disk": run(1.0, 1.0), "flash": run(1.0, 0.5)})
    assert text == (
        "disk and flash finished first, flash had the shortest mean response, and sled, disk and flash used "
        "the least energy."
    )


def test_sentence_on_money_names_omitted_replays(study: sl.SmartStudy) -> None:
    unpriced = [
        replace(each, cost=UNKNOWN_COST) if each.where.device == "ram" else each for each in study.runs
    ]
    assert money.choices(study).startswith("`scan` is ")
    some = replace(study, rows={**study.rows, "runs": unpriced})
    assert money.choices(some).startswith("Of the replays with a price, `scan` is ")


def test_smart_answer_is_that_of_the_table() -> None:
    devices = ["mems-g2", "atlas-10k"]
    two = sl.smart_study("sample:scan", devices, at=["nodes", "host"], parallel=1)
    best, other = sorted(
        min(each.run.elapsed_s for each in two.runs if each.where.device == device) for device in devices
    )
    fastest = next(each for each in two.runs if each.run.elapsed_s == best).where.device
    assert f"is fastest with {fastest}" in two.answer
    assert f", {figure(best)} s: {compare_times(best, other)} " in two.answer

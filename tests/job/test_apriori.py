"""Association rules: count and hybrid distribution against mlxtend, their costs, and the transactions."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import sledlab as sl
from mlxtend.frequent_patterns import association_rules, fpgrowth
from sledlab.job.data.baskets import MarketBaskets
from sledlab.job.files import Transactions
from sledlab.job.record import record

ExpectedError = Callable[[str], AbstractContextManager[pytest.ExceptionInfo[sl.Error]]]

CONFIDENCE = 0.2017
"""No ratio of two counts: mlxtend divides shares, and rounding might drop a rule of this confidence."""


def transactions(data: MarketBaskets, seed: int, nodes: int = 1) -> Transactions:
    data.prepare(nodes, seed, lambda what, share: None)
    baskets = data.files(nodes, seed)["transactions"]
    return baskets.span(0, baskets.rows, ())


@lru_cache(maxsize=1)
def expected_answer(
    data: MarketBaskets, seed: int, support: float, confidence: float = CONFIDENCE
) -> tuple[dict[Any, int], dict[Any, float]]:
    """Frequent sets with their counts, and rules with their confidence, by mlxtend."""
    baskets = transactions(data, seed)
    is_in_basket = np.zeros((len(baskets), data.universe), bool)
    is_in_basket[np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets.astype(int))), baskets.items] = (
        True
    )
    frequent = fpgrowth(pandas.DataFrame(is_in_basket), min_support=support)
    sets = {
        tuple(sorted(items)): round(share * len(baskets))
        for items, share in zip(frequent["itemsets"], frequent["support"], strict=True)
    }
    table = association_rules(frequent, metric="confidence", min_threshold=confidence)
    rules = {
        (tuple(sorted(antecedent)), tuple(sorted(consequent))): confidence
        for antecedent, consequent, confidence in zip(
            table["antecedents"], table["consequents"], table["confidence"], strict=True
        )
    }
    return sets, rules


def mine(directory: Path, job: str, data: MarketBaskets, nodes: int = 8, **settings: Any) -> Any:
    """Run a job, and return its answer and its record."""
    options = {"min_confidence": CONFIDENCE, "transactions": data.transactions, "universe": data.universe}
    answer = directory / f"{job}.json"
    work = record(job, node_count=nodes, answer=answer, **{**options, **settings})
    return json.loads(answer.read_text()), work


def answer_hash(work: sl.Work) -> str:
    return str(work.description["answer"])


def assert_expected_answer(answer: Any, *arguments: Any) -> None:
    sets, rules = expected_answer(*arguments)
    assert len(answer["sets"]) == len(sets)
    assert {tuple(items): count for items, count in answer["sets"]} == sets
    rules_by_sides = {
        (tuple(antecedent), tuple(consequent)): (count, share)
        for antecedent, consequent, count, share in answer["rules"]
    }
    assert len(answer["rules"]) == len(rules_by_sides)
    assert rules_by_sides.keys() == rules.keys()
    for (antecedent, consequent), (count, confidence) in rules_by_sides.items():
        assert count == sets[tuple(sorted(antecedent + consequent))]
        assert confidence == pytest.approx(rules[antecedent, consequent], abs=1e-12)


SMALL_BASKETS = MarketBaskets(transactions=20_000, universe=200)
SUPPORT = 0.02


@pytest.mark.slow("mlxtend takes most of it")
@pytest.mark.parametrize("seed", [1, 2])
def test_both_algorithms_equal_mlxtend(tmp_path: Path, seed: int) -> None:
    answer, by_counts = mine(tmp_path, "apriori-cd", SMALL_BASKETS, min_support=SUPPORT, seed=seed)
    assert_expected_answer(answer, SMALL_BASKETS, seed, SUPPORT)
    assert max(len(items) for items, _ in answer["sets"]) > 2
    assert answer["rules"]
    for sections in (1, 2, 4):
        settings = {"min_support": SUPPORT, "seed": seed, "sections": sections}
        hybrid_answer, hybrid = mine(tmp_path, "apriori-hd", SMALL_BASKETS, **settings)
        assert hybrid_answer == answer
        assert answer_hash(hybrid) == answer_hash(by_counts)


def test_rules_have_antecedents_and_consequents_of_several_items(tmp_path: Path) -> None:
    data = MarketBaskets(transactions=2000, universe=10, length=7, longest=9)
    settings: dict[str, Any] = {"length": 7, "longest": 9, "min_support": 0.1, "min_confidence": 0.4007}
    answer, _ = mine(tmp_path, "apriori-hd", data, sections=4, **settings)
    assert_expected_answer(answer, data, 1, 0.1, 0.4007)
    shapes = {(len(antecedent), len(consequent)) for antecedent, consequent, _, _ in answer["rules"]}
    assert {(1, 1), (1, 2), (2, 2), (3, 1), (3, 2)} <= shapes


@pytest.mark.everything
@pytest.mark.slow("100,000 transactions of ten seeds")
@pytest.mark.parametrize("seed", range(1, 11))
@pytest.mark.parametrize(("universe", "support"), [(1000, 0.05), (1000, 0.015), (100, 0.05)])
def test_both_algorithms_equal_mlxtend_on_many_transactions(
    tmp_path: Path, seed: int, universe: int, support: float
) -> None:
    data = MarketBaskets(transactions=100_000, universe=universe)
    for nodes in (8, 32):
        answer, by_counts = mine(tmp_path, "apriori-cd", data, nodes, min_support=support, seed=seed)
        assert_expected_answer(answer, data, seed, support)
        for sections in (1, 2, 4):
            settings = {"min_support": support, "seed": seed, "sections": sections}
            hybrid_answer, hybrid = mine(tmp_path, "apriori-hd", data, nodes, **settings)
            assert hybrid_answer == answer
            assert answer_hash(hybrid) == answer_hash(by_counts)


@pytest.mark.parametrize("sections", [1, 2, 4, 8])
def test_transactions_go_round_their_columns(tmp_path: Path, sections: int) -> None:
    settings: dict[str, Any] = {"min_support": SUPPORT, "sections": sections}
    answer, work = mine(tmp_path, "apriori-hd", SMALL_BASKETS, **settings)
    stored_bytes = sum(work.files["transactions"])
    assert stored_bytes == transactions(SMALL_BASKETS, 1).nbytes
    passes = [phase for phase in work.description["phases"] if phase["name"].startswith("pass")]
    assert len(passes) == len(answer["candidates"]) > 2
    assert [phase["sent_bytes"] for phase in passes] == [0] + [(sections - 1) * stored_bytes] * (
        len(passes) - 1
    )
    assert {phase["read_bytes"] for phase in passes} == {stored_bytes}


def steps(work: sl.Work, phase: str) -> list[Any]:
    lines = (json.loads(line) for line in Path(work.name).read_text().splitlines()[1:])
    return [line for line in lines if line["phase"] == phase and "collective" not in line]


@pytest.mark.parametrize("sections", [2, 4, 8])
def test_each_row_holds_its_share_of_the_candidates(tmp_path: Path, sections: int) -> None:
    settings: dict[str, Any] = {"min_support": SUPPORT, "sections": sections}
    answer, work = mine(tmp_path, "apriori-hd", SMALL_BASKETS, **settings)
    candidate_counts = [step["memory"] // 16 for step in steps(work, "pass 2")]
    assert len(candidate_counts) == 8
    assert sum(candidate_counts) == answer["candidates"][1] * 8 // sections
    assert max(candidate_counts) <= 1.01 * answer["candidates"][1] / sections


@pytest.mark.slow("counts many candidates several times")
@pytest.mark.parametrize(("job", "sections"), [("apriori-cd", 1), ("apriori-hd", 2)])
def test_excess_candidates_are_counted_in_sweeps(tmp_path: Path, job: str, sections: int) -> None:
    settings: dict[str, Any] = {"min_support": 0.001, "largest": 2, "transactions": 4000, "universe": 1000}
    if sections > 1:
        settings["sections"] = sections
    answer, roomy = mine(tmp_path, job, SMALL_BASKETS, **settings)
    memory_bytes = 2**20
    sweeps = -(-answer["candidates"][1] * 16 // (sections * memory_bytes // 2))
    assert sweeps > 2
    tight_answer, tight = mine(tmp_path, job, SMALL_BASKETS, memory_mb=1, **settings)
    assert tight_answer == answer
    assert answer_hash(tight) == answer_hash(roomy)
    for work, sweep_count in ((roomy, 1), (tight, sweeps)):
        stored_bytes = sum(work.files["transactions"])
        second_pass = next(phase for phase in work.description["phases"] if phase["name"] == "pass 2")
        assert second_pass["read_bytes"] == sweep_count * stored_bytes
        assert second_pass["sent_bytes"] == sweep_count * (sections - 1) * stored_bytes
        assert all(step["memory"] <= memory_bytes for step in steps(tight, "pass 2"))
    if job == "apriori-cd":
        assert [len(step["reads"]) for step in steps(tight, "pass 2")] == [sweeps] * 8


def test_small_memory_sends_blocks_in_several_rounds(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"min_support": 0.05, "sections": 4, "transactions": 2000, "universe": 100}
    answer, roomy = mine(tmp_path, "apriori-hd", SMALL_BASKETS, **settings)
    tight_answer, tight = mine(tmp_path, "apriori-hd", SMALL_BASKETS, memory_mb=0.008, **settings)
    assert tight_answer == answer
    sent_bytes = [work.description["phases"][2]["sent_bytes"] for work in (roomy, tight)]
    assert sent_bytes[0] == 3 * sum(roomy.files["transactions"])
    assert sent_bytes[1] % sent_bytes[0] == 0


def test_section_count_follows_candidate_count(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"min_support": 0.001, "largest": 2, "transactions": 4000, "universe": 1000}
    answer, work = mine(tmp_path, "apriori-hd", SMALL_BASKETS, **settings)
    assert answer["candidates"][1] > 200_000
    assert work.description["phases"][1]["sent_bytes"] == 7 * sum(work.files["transactions"])
    answer, work = mine(tmp_path, "apriori-hd", SMALL_BASKETS, nodes=6, **{**settings, "min_support": 0.0117})
    rows = max(each for each in (1, 2, 3, 6) if each <= -(-answer["candidates"][1] // 50_000))
    assert rows in (2, 3)
    assert work.description["phases"][1]["sent_bytes"] == (rows - 1) * sum(work.files["transactions"])


def test_grid_not_filled_by_nodes_is_refused(tmp_path: Path, refused: ExpectedError) -> None:
    for sections in (3, 16, -1):
        with refused("choose a number that divides 8: 1, 2, 4, 8"):
            mine(tmp_path, "apriori-hd", SMALL_BASKETS, sections=sections)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("min_support", 0.0), ("min_support", 1.5), ("min_confidence", 2.0), ("largest", -1)],
)
def test_parameters_that_make_no_sense_are_refused(
    tmp_path: Path, refused: ExpectedError, setting: str, value: float
) -> None:
    with refused("help: use "):
        mine(tmp_path, "apriori-cd", SMALL_BASKETS, **{setting: value})


def test_transactions_are_those_of_the_paper() -> None:
    baskets = transactions(MarketBaskets(), 1)
    assert len(baskets) == 100_000
    lengths = np.diff(baskets.offsets.astype(int))
    assert lengths.mean() == pytest.approx(20, rel=0.005)
    assert lengths.max() == 25
    assert lengths.min() >= 1
    assert baskets.items.max() < 1000
    follows_in_basket = np.ones(len(baskets.items), bool)
    follows_in_basket[baskets.offsets[:-1].astype(int)] = False
    assert (np.diff(baskets.items.astype(int))[follows_in_basket[1:]] > 0).all()
    assert len(transactions(MarketBaskets(transactions_per_node=100), 1, nodes=7)) == 700


def test_transactions_are_the_same_on_any_nodes() -> None:
    data = MarketBaskets(transactions=10_000)
    all_baskets = transactions(data, 1)
    for nodes in (1, 3, 8):
        data.prepare(nodes, 1, lambda what, share: None)
        shared = data.files(nodes, 1)["transactions"]
        parts = [shared.part(number, nodes) for number in range(nodes)]
        assert [part.rows for part in parts] == [
            10_000 * (number + 1) // nodes - 10_000 * number // nodes for number in range(nodes)
        ]
        items = np.concatenate([part.span(0, part.rows, ()).items for part in parts])
        assert np.array_equal(items, all_baskets.items)
    assert not np.array_equal(transactions(data, 2).items[:1000], all_baskets.items[:1000])


def test_universe_of_25_items_fills_transactions() -> None:
    baskets = transactions(MarketBaskets(transactions=10_000, universe=25), 1)
    assert np.diff(baskets.offsets.astype(int)).mean() == pytest.approx(20, rel=0.005)
    assert set(np.unique(baskets.items).tolist()) == set(range(25))


def test_transactions_that_cannot_be_made_are_refused(tmp_path: Path, refused: ExpectedError) -> None:
    with refused("`transactions` cannot be -1"):
        mine(tmp_path, "apriori-cd", MarketBaskets(transactions=-1))

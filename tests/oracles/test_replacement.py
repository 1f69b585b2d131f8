"""Replacement policies, from the papers that introduce them and docs/cache.md.

CLOCK: Corbató 1969; SLRU: Karedla, Love and Wherry 1994; 2Q: Johnson and Shasha 1994, full version; LIRS:
Jiang and Zhang 2002, section 3.3; ARC: Megiddo and Modha 2003, Figure 4; S3-FIFO: Yang et al. 2023,
Algorithm 1; SIEVE: Zhang et al. 2024, Algorithm 1; W-TinyLFU: Einziger, Friedman and Manes 2017; LFU with
dynamic aging: Arlitt et al. 1999, and literally as in Wang 2005, section 4; Belady 1966. Of ACME only
abstracts are public: each policy has its own cache, and the entry with the fewest votes is evicted.
"""

from __future__ import annotations

import random
from itertools import pairwise
from statistics import fmean, stdev

import pytest
import sledlab as sl

from tests.oracles.experiments import Request, generators, random_experiments, trace
from tests.oracles.policies import POLICIES, Acme, Random, belady_hits, count_hits

SEGMENT_BYTES = 4096
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def random_uses(generator: random.Random) -> list[int]:
    """Uses of few keys, some of them popular, with scans and shifts of popularity."""
    keys, uses = generator.randint(2, 60), []
    for _ in range(generator.randint(1, 12)):
        first, length = generator.randrange(keys), generator.randint(1, 60)
        popular = [first + int(generator.paretovariate(0.8)) for _ in range(length)]
        uniform = [generator.randrange(keys) for _ in range(length)]
        scan = [first + step for step in range(length)]
        repeated = [first] * generator.randint(1, 4)
        uses += generator.choice([popular, popular, uniform, scan, repeated])
    return [key % keys for key in uses]


def sledlab_hits(uses: list[int], policies: list[str], room: int) -> dict[str, int]:
    requests = [Request(time, "R", key * 8, 8) for time, key in enumerate(uses)]
    rows = sl.hit_ratios(
        trace(requests), replacement=policies, cache_mb=room * SEGMENT_BYTES / 1e6, segment_kb=4
    ).rows
    assert all((row.uses, row.room) == (len(uses), room) for row in rows)
    return {row.policy: round(row.hit_ratio * row.uses) for row in rows}


@random_experiments(quick=100, slow=1000)
def test_hits_equal_those_of_the_definitions(seeds):
    for generator in generators(seeds):
        uses, share = random_uses(generator), generator.choice(SHARES)
        # A multiple of four entries, so that every share is a whole number of them.
        room = 4 * generator.randint(1, 8)
        expected = {name: count_hits(policy(room), uses) for name, policy in POLICIES.items()}
        slru = f"slru:protected_share={share}"
        expected[slru] = count_hits(POLICIES["slru"](room, [min(int(room * share), room - 1)]), uses)
        four_segments = "slru:segments=4:protected_share=0.75"
        expected[four_segments] = count_hits(POLICIES["slru"](room, [room // 4] * 3), uses)
        expected["belady"] = belady_hits(room, uses)
        assert sledlab_hits(uses, [*expected], room) == expected


@random_experiments(quick=100, slow=1000)
def test_hits_are_equal_for_any_room(seeds):
    for generator in generators(seeds):
        uses, room = random_uses(generator), generator.randint(1, 70)
        expected = {
            name: count_hits(policy(room), uses) for name, policy in POLICIES.items() if name != "slru"
        }
        assert sledlab_hits(uses, [*expected], room) == expected


@random_experiments(quick=20, slow=200)
def test_mean_hits_of_random_policies_equal_definitions(seeds):
    differences: dict[str, list[float]] = {"random": [], "acme": []}
    for generator in generators(seeds):
        uses, room = random_uses(generator), generator.randint(2, 16)
        names = [f"random:seed={seed}" for seed in range(10)]
        hits = sledlab_hits(uses, [*names, "acme"], room)
        for name, policy in (("random", Random), ("acme", Acme)):
            expected = fmean(count_hits(policy(room, seed), uses) for seed in range(10))
            actual = fmean(count for name_of, count in hits.items() if name_of.startswith(name))
            differences[name].append((actual - expected) / len(uses))
    for values in differences.values():
        assert abs(fmean(values)) < 4 * stdev(values) / len(values) ** 0.5


@random_experiments(quick=100, slow=1000)
def test_no_policy_has_more_hits_than_belady(seeds):
    for generator in generators(seeds):
        uses = random_uses(generator)
        room = generator.randint(1, 40)
        hits = sledlab_hits(uses, list(sl.replacement), room)
        repeats = len(uses) - len(set(uses))
        assert max(hits.values()) == hits["belady"] <= repeats
        if room >= len(set(uses)):
            assert set(hits.values()) == {repeats}


@random_experiments(quick=20, slow=200)
def test_stack_policies_gain_hits_with_room(seeds):
    for generator in generators(seeds):
        uses = random_uses(generator)
        by_room = [sledlab_hits(uses, ["lru", "belady"], room) for room in range(1, 12)]
        for smaller, larger in pairwise(by_room):
            assert all(smaller[policy] <= larger[policy] for policy in smaller)


def test_every_policy_is_compared():
    assert {*POLICIES, "random", "acme", "belady"} == set(sl.replacement)


@pytest.mark.parametrize("uses", [[], [1], [1, 1]])
def test_shortest_traces_have_compulsory_misses_only(uses):
    expected = dict.fromkeys(sl.replacement, max(len(uses) - 1, 0))
    if uses:
        assert sledlab_hits(uses, list(sl.replacement), 1) == expected

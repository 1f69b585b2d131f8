"""Ten verdicts from scratch: the commit date selects them, so they cannot be known before the commit.

Claims are those whose experiments simulate at most 6 million requests in all; jobs, which take longer to run
than to replay, are none of them, nor is what tells the time of a decision on a machine. Of these the ten come
whose hash with the day of the last commit is least. Claims wait whose experiments `make evidence-check` found
changed since they were measured: their saved tables are known to be old, until `make reproduce` renews them.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import polars
import pytest

from sledlab_papers import results
from sledlab_papers.claims import ClaimEntry, claims, verdict
from sledlab_papers.paths import PROJECT, SEAGATE_TRACE
from sledlab_papers.runs import PlannedExperiment, TableReads, run
from sledlab_papers.topic import Topic
from sledlab_papers.topics import TOPICS

MAX_REQUESTS = 6_000_000
COUNT = 10

WALL_CLOCK_CLAIMS = ("L-21",)
"""Claims with wall-clock time among their numbers."""


@cache
def request_count(place: str) -> int:
    """Number of requests of the saved runs of an experiment; above `MAX_REQUESTS` if unknown."""
    for name in ("runs", "curves"):
        file = results.directory() / place / f"{name}.csv"
        if file.is_file() and "requests" in (rows := polars.read_csv(file, infer_schema_length=None)).columns:
            return int(rows["requests"].sum())
    return MAX_REQUESTS + 1


def claim_experiments(topic: Topic, claim: ClaimEntry) -> list[PlannedExperiment]:
    """The experiments whose tables the judge of a claim reads."""
    with TableReads.record() as reads:
        verdict(claim, topic.runs(results.directory(), ()))
    return [each for each in topic.plan if each.place in reads.places]


def cheap_claims(stale_places: set[str]) -> Iterator[tuple[Topic, ClaimEntry, list[PlannedExperiment]]]:
    for topic in TOPICS.values():
        if topic.missing_data or topic.name == "smart":
            continue
        for claim in claims(topic.name).values():
            experiments = claim_experiments(topic, claim)
            if (
                experiments
                and not any(each.place in stale_places for each in experiments)
                and claim.id not in WALL_CLOCK_CLAIMS
                and sum(request_count(each.place) for each in experiments) <= MAX_REQUESTS
            ):
                yield topic, claim, experiments


def commit_day() -> str:
    """Return the day of the last commit, such as 2030-01-31."""
    command = ["git", "-C", str(PROJECT), "log", "-1", "--format=%cs"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow("runs the experiments of ten claims from scratch")
def test_recomputed_verdicts_equal_saved_ones(tmp_path: Path, stale_places: set[str]) -> None:
    if not SEAGATE_TRACE.is_file():
        pytest.skip(f"no trace {SEAGATE_TRACE} (set SLEDLAB_REFERENCE)")
    if not (PROJECT / ".git").exists():
        pytest.skip("no commits here, so no day")
    day = commit_day()
    candidates = sorted(
        cheap_claims(stale_places),
        key=lambda each: hashlib.sha256(f"{day} {each[1].id}".encode()).hexdigest(),
    )
    chosen_claims = candidates[:COUNT]
    assert len(chosen_claims) == COUNT, (
        "too many experiments are stale: measure a topic again (`make reproduce`)"
    )
    for topic, claim, experiments in chosen_claims:
        run([each for each in experiments if not (tmp_path / each.place).exists()], tmp_path)
        with results.overlay_directory(
            topic.plan, {each.place: tmp_path / each.place for each in experiments}
        ) as directory:
            recomputed_verdict = verdict(claim, topic.runs(directory, ()))
        assert recomputed_verdict == verdict(claim, topic.runs(results.directory(), ())), (
            f"{claim.id} on {day}"
        )

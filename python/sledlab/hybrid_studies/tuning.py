"""Segments, replacement policy and size of a caching disk for a workload and a budget, by successive halving.

Every segment replays a part of the requests, under the policy that would find most of what they touch;
the better half replays more. The last two replay all of them, under every policy that would find nearly as
much. The best one is then given less and less MEMS, as long as that makes no difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from sledlab.comparison.run import measure_all
from sledlab.errors import Error
from sledlab.hits import hit_ratios
from sledlab.hybrid_studies.configurations import ALL, DISK, MEMS
from sledlab.hybrid_studies.measuring import measure
from sledlab.hybrid_studies.plan import SEGMENTS_KB, Point
from sledlab.hybrid_studies.requests import Requests
from sledlab.hybrid_studies.tables import room
from sledlab.hybrid_studies.tuned import SAME, TunedHybrid, experiment
from sledlab.recording import make_directory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab import _native
    from sledlab.hybrid_studies.plan import Plan
    from sledlab.hybrid_studies.tables import Row
    from sledlab.traces import Trace

POLICIES = ("lru", "slru", "arc", "lfuda")
"""Tried unless others are named."""

PARTS = (16, 4)
"""Parts of the requests that candidates replay before all of them."""

FINALISTS = 2
"""Segments that replay all requests, unless there are too few requests for parts."""

FEWEST = 2000
"""A part of fewer requests says nothing."""

CLOSE = 0.01
"""Policies that find so much less than the best, as a share of all uses, are not tried."""

HALVINGS = 3
"""How often the MEMS of the best is halved."""


@dataclass(frozen=True)
class Candidate:
    """One caching disk.

    Attributes:
        mb: Its MEMS, in 2^20 bytes.
        segment_kb: Its segments, in 1024 bytes.
        policy: What makes room.
        hit_ratio: Share of all uses of segments that the policy would find, by the trace alone.
    """

    mb: float
    segment_kb: int
    policy: str
    hit_ratio: float

    def point(self, plan: Plan) -> Point:
        """Its run."""
        own = plan.settings(ALL, self.mb, self.segment_kb, self.policy)
        return Point(DISK, own, plan.seeds[0])


@dataclass(frozen=True)
class Rung:
    """Some runs on the first requests of a plan; 0 for all of them."""

    plan: Plan
    points: Sequence[Point]
    requests: int

    @property
    def base(self) -> _native.Experiment:
        """The disk."""
        return self.plan.base

    @property
    def trace(self) -> Trace:
        """The requests."""
        whole = self.plan.trace
        assert isinstance(whole.opener, Requests)
        return replace(whole, opener=replace(whole.opener, limit=self.requests)) if self.requests else whole

    def text(self, point: Point) -> str:
        """The complete experiment of a run."""
        return self.plan.text(point)


def tune(
    plan: Plan,
    segments_kb: Sequence[int] | None = None,
    *,
    price_per_mb: float | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
) -> TunedHybrid:
    """Finds the caching disk for the requests of a plan, with `at_mb` of MEMS at most.

    Args:
        plan: The disk, the MEMS device, the requests, the policies to try and the budget.
        segments_kb: Segments to try, in 1024 bytes; from 4 to 256 unless given.
        price_per_mb: What 2^20 bytes of MEMS cost, in any currency; for the words only.
        jobs: Runs at the same time.
        out: A directory for the runs and the experiment, in which tuning that was stopped goes on.

    Raises:
        Error: A run failed, named in the message; what was done before is kept.
        KeyboardInterrupt: The user stopped it; what was done is kept.
    """
    directory = make_directory(Path(out)) if out is not None else None
    runs: list[Row] = []

    def race(candidates: Sequence[Candidate], requests: int, stage: str) -> list[Candidate]:
        """The candidates, best first."""
        points = {candidate: candidate.point(plan) for candidate in candidates}
        rung = Rung(plan, list(points.values()), requests)
        found = measure_all(rung, measure, jobs=jobs, directory=directory, doing=stage)
        rows = {candidate: found[point]["row"] for candidate, point in points.items()}
        runs.extend(_run(stage, candidate, rows[candidate]) for candidate in candidates)
        return sorted(candidates, key=lambda each: _rank(each, rows[each]))

    every = candidates_of(plan, [int(kb) for kb in SEGMENTS_KB] if segments_kb is None else segments_kb)
    left = [max(mine, key=lambda each: each.hit_ratio) for mine in every.values()]
    for part in PARTS:
        requests = plan.facts.requests // part
        if requests >= FEWEST and len(left) > FINALISTS:
            left = race(left, requests, f"first 1/{part}")[: max(FINALISTS, ceil(len(left) / 2))]
    best = race([each for kept in left for each in every[kept.segment_kb]], 0, "all")[0]
    smaller = [replace(best, mb=best.mb / 2**halving) for halving in range(1, HALVINGS + 1)]
    race([each for each in smaller if room(plan, each.mb, each.segment_kb) > 0], 0, "less MEMS")
    chosen = _chosen(runs)
    baselines = _baselines(plan, jobs, directory)
    point = Candidate(chosen["mems_mb"], chosen["segment_kb"], chosen["policy"], 0.0).point(plan)
    tuned = TunedHybrid.of(plan, chosen, runs, baselines, experiment(plan, point), price_per_mb)
    if directory is not None:
        tuned.write(directory)
    return tuned


def candidates_of(plan: Plan, segments_kb: Sequence[int]) -> dict[int, list[Candidate]]:
    """For every segment the policies that would find most, or nearly; one where all find the same.

    Raises:
        Error: There is no room for any segment.
    """
    out: dict[int, list[Candidate]] = {}
    for segment_kb in segments_kb:
        slots = room(plan, plan.at_mb, segment_kb)
        if slots == 0:
            continue
        size_mb = (slots + 0.5) * segment_kb * 1024 / 1e6
        found = hit_ratios(
            plan.trace, policies=plan.replacement, cache_mb=[size_mb], segment_kb=segment_kb
        ).frame.to_dicts()
        most = max(row["hit_ratio"] for row in found)
        if most - min(row["hit_ratio"] for row in found) == 0:
            found = found[:1]
        out[segment_kb] = [
            Candidate(plan.at_mb, segment_kb, row["policy"], row["hit_ratio"])
            for row in found
            if row["hit_ratio"] >= most - CLOSE
        ]
    if not out:
        raise Error(f"{plan.at_mb:g} MB of MEMS have no room for a segment", remedy="raise the budget")
    return out


def _rank(candidate: Candidate, row: Row) -> tuple[float, float]:
    """What comes first is better: the shorter mean response, then the more hits."""
    return float(row["mean_ms"]), -candidate.hit_ratio


def _run(stage: str, candidate: Candidate, row: Row) -> Row:
    """A run as people see it."""
    own = {"stage": stage, "requests": row["requests"], "mems_mb": candidate.mb}
    said = {"segment_kb": candidate.segment_kb, "policy": candidate.policy, "hit_ratio": candidate.hit_ratio}
    return own | said | {name: row[name] for name in ("mean_ms", "p99_ms", "saturated")}


def _chosen(runs: Sequence[Row]) -> Row:
    """The run with the least MEMS among those on all requests that are practically as fast as the best."""
    full = [run for run in runs if run["stage"] in ("all", "less MEMS")]
    best = min(float(run["mean_ms"]) for run in full)
    level = [run for run in full if run["mean_ms"] <= best * (1 + SAME)]
    return min(level, key=lambda run: (run["mems_mb"], run["mean_ms"]))


def _baselines(plan: Plan, jobs: int | None, directory: Path | None) -> dict[str, Row]:
    """The disk alone, and MEMS alone."""
    points = {name: Point(name, (), plan.seeds[0]) for name in (DISK, MEMS)}
    rung = Rung(plan, list(points.values()), 0)
    found = measure_all(rung, measure, jobs=jobs, directory=directory, doing="baselines")
    return {name: found[point]["row"] for name, point in points.items()}

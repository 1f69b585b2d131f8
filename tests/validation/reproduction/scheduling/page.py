"""The page on scheduling: every claim with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...markdown import table
from ..claims import NOT, Claim, Verdict, claims
from ..sheet import counts, section
from . import (
    definitions,
    disk_schedulers,
    effort,
    mechanics,
    parallelism,
    positioning,
    requirements,
    traces,
    zones,
)
from .runs import NAMES, READ_BOTH_WAYS, Runs, tables

SUBJECT = "scheduling"

Evaluator = Callable[[Runs], Verdict]

EVALUATORS: Mapping[str, Evaluator] = {
    **mechanics.CLAIMS,
    **definitions.CLAIMS,
    **traces.CLAIMS,
    **zones.CLAIMS,
    **disk_schedulers.CLAIMS,
    **positioning.CLAIMS,
    **effort.CLAIMS,
    **parallelism.CLAIMS,
    **requirements.CLAIMS,
}

READINGS = (zones, disk_schedulers, positioning)
"""Whose claims are judged in both readings of paper 000."""

TITLES = {
    "000": "Paper 000: MEMS storage devices and ZSPTF",
    "002": "Paper 002: parallelism-aware scheduling",
}

INTRODUCTION = """\
# Scheduling

What papers 000 and 002 claim about scheduling, claim by claim: what they print, what sledlab gives, and
whether that is the same. `make reproduce` runs the experiments and writes this page from what they leave
behind; no number on it is typed by hand. [Papers](../papers.md) has the titles; the experiments are in
`presets/experiments`.

A claim is *reproduced* if it meets the criterion that stands with it and was set before any run;
*reproduced in part* if some of it does. Grades say how much that is worth: **E** follows from arithmetic;
**P** rests on a workload that the paper specifies; **S** on a stand-in for a trace that is not public, so
that signs and ranges are all there is to compare; **H** on a machine of its time; **C** is another work's
result that the paper cites. Priority 1 is load-bearing.

- *cello* and *hplajw* are [stand-ins](../calibration.md), calibrated on what was published of the traces
  and on nothing else. Nothing here was tuned until a claim came true.
- *Loads* are light, moderate or heavy: mean response under SPTF below 2 ms, up to 10 ms, above. A load at
  which one of the schedulers compared is overloaded does not count, unless overload is the subject.
- *Throughput at equal response* is the arrival rate at which the mean response reaches 2, 5, 10 ms
  (moderate), 20, 50, 100 ms (heavy), read off the load curve. Levels reached only in overload are left out.
- *Two readings.* Paper 000 gives even and odd columns opposite directions, and ZSPTF's zones follow from
  that; but it simulated with DiskSim, whose model reads every column both ways. Its claims are judged with
  columns by parity; what columns read both ways give stands beside it and does not count.
"""


AFTERWARDS = """\
## Decided after a first look

The criteria are older than any run. These choices are not, and a reader may want to discount them:

- what counts as moderate and heavy, and the levels of mean response that go with them, after a first run
  of cello;
- the factors: 35 and 45 were added where curves were coarse near saturation, and those of
  `paper-000-random` moved below saturation;
- the second reading of paper 000, after zone sizes and pyramiding had come out the other way round under
  parity. It changes no verdict; not reproduced by parity, but at least in part with columns read both ways,
  are: {other_way};
- the runs of several lengths and at constant depth for paper 002, and the more sequential hplajw, to
  explain what had not been reproduced. They change no verdict;
- the cost of decisions in H-60 is that of the benchmark. First it was timed in runs of its own, which on a
  busy machine were too noisy to show a cost that is linear in the queue: reproduced in part;
- tolerances where a criterion says "within noise" or "monotone" and no number: 2 % of a step in H-34, 0.5
  % of the SCV in H-42, 1 % of a step in L-19; 2 % for H-58 to count as a difference; and the lines of the
  matrix of L-23.
"""


def judged(name: str, runs: Runs) -> tuple[Verdict, Verdict | None]:
    """The verdict on a claim, and what it would be in the other reading where there is one."""
    evaluate = EVALUATORS[name]
    if not any(name in module.CLAIMS for module in READINGS):
        return evaluate(runs), None
    return evaluate(runs), evaluate(Runs(runs.directory, both_ways=True))


def holds_the_other_way(found: Verdict, other: Verdict | None) -> bool:
    """Whether a claim is reproduced, at least in part, in the second reading alone."""
    return found.outcome == NOT and other is not None and other.outcome != NOT


def page(runs: Runs) -> str:
    """The whole page."""
    mine = claims(SUBJECT)
    verdicts = {name: judged(name, runs) for name in mine}
    parts = [
        INTRODUCTION,
        counts(mine, {name: found.outcome for name, (found, _) in verdicts.items()}),
        experiments(runs),
    ]
    other_way = ", ".join(name for name, both in verdicts.items() if holds_the_other_way(*both)) or "none"
    parts.append(AFTERWARDS.format(other_way=other_way))
    for paper, title in TITLES.items():
        of_paper = [claim for claim in mine.values() if claim.paper == paper]
        parts += [f"## {title}\n", *(_section(claim, *verdicts[claim.id]) for claim in of_paper)]
    return "\n".join(parts)


def experiments(runs: Runs) -> str:
    """What was run, how long, and how deep the queues were."""
    rows = []
    for name in NAMES:
        curves = tables(runs.directory / name)
        waiting = [row["queue_mean"] for row in curves]
        rows.append(
            [
                f"`{name}`" + (", both readings" if name in READ_BOTH_WAYS else ""),
                str(len(curves)),
                str(max(row["seeds"] for row in curves)),
                f"{min(row['requests'] / row['seeds'] for row in curves):,.0f}",
                f"{max(waiting):,.0f}",
            ]
        )
    head = ["experiment", "points", "seeds", "requests a point, at least", "longest mean queue"]
    return f"""\
## Experiments

Run length and queue depth matter where the load is more than the device can serve: there the mean response is
that of so many requests and no more. Figures 3 to 7 of paper 002 show points of its figure 2.

{table(head, rows)}"""


def _section(claim: Claim, found: Verdict, other: Verdict | None) -> str:
    if other is None or other.ours == found.ours:
        return section(claim, found)
    return section(claim, found, f"**Columns read both ways** ({other.outcome}). {other.ours}")

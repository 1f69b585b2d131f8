"""The page on power: every claim with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...markdown import table
from ..claims import Verdict, claims
from ..experiments import read_rows
from ..sheet import counts
from ..sheet import section as sheet_section
from . import (
    breakdown,
    breakeven,
    definitions,
    merging,
    parameters,
    parts,
    policies,
    savings,
    sums,
    timeouts,
    together,
    workloads,
)
from .runs import DISK, NAMES, ON_SEAGATE, SEAGATE, SNAKE, Runs

SUBJECT = "power"

Evaluator = Callable[[Runs], Verdict]

EVALUATORS: Mapping[str, Evaluator] = {
    **parameters.CLAIMS,
    **definitions.CLAIMS,
    **workloads.CLAIMS,
    **breakdown.CLAIMS,
    **timeouts.CLAIMS,
    **policies.CLAIMS,
    **merging.CLAIMS,
    **parts.CLAIMS,
    **together.CLAIMS,
}

TITLES = {
    "000": "Paper 000: conserving power",
    "003": "Paper 003: power of a MEMS device",
}

INTRODUCTION = """\
# Power

What papers 000 and 003 claim about power, claim by claim: what they print, what sledlab gives, and whether
that is the same. `make reproduce` runs the experiments and writes this page from what they leave behind; no
number of ours on it is typed by hand. [Papers](../papers.md) has the titles; the experiments are in
`presets/experiments`.

A claim is *reproduced* if it meets the criterion that stands with it and was set before any run;
*reproduced in part* if some of it does. Grades say how much that is worth: **E** follows from arithmetic;
**P** rests on a workload that is public or that the paper specifies; **S** on a stand-in for a trace that
is not public, so that signs and ranges are all there is to compare; **P/S** on one of each; **C** is
another work's result that the paper cites. Priority 1 is load-bearing.

- *Seagate* is the validation trace of the Seagate ST41601N: 9,999 requests in 139 s. It is public, but not
  part of sledlab; the tests look for it in `$SLEDLAB_REFERENCE`, and without it this page stays as it is.
- *Snake* is a [stand-in](../calibration.md) for a day of one disk of a file server. It is fitted to the
  start-ups and response times that paper 003 prints for 10 and 100 times its speed, so meeting those proves
  nothing. Speeds are factors: 10 is a scaling factor of ten in paper 000 and one of 0.1 in paper 003.
- *G1*, *G2*, *G3* are the generations of the device; paper 000 gives G2 3200 active tips where it merges.
  Requests are served in order of arrival (FCFS) unless said; the papers name no scheduler.
- *Servicing* is seeking and accessing. *Parking at once* is the papers' aggressive spin-down.
- Points at which queues kept growing have no response time, and do not count for a range over all speeds.
"""

AFTERWARDS = """\
## Decided after a first look

The criteria are older than any run. These choices are not, and a reader may want to discount them:

- the timeouts of `paper-000-figure-11` next to the longest rest, to see where the plateau begins. A
  rest is shorter than the gap between two arrivals by the time it takes to serve the first, so it begins
  below the longest gap;
- speeds above 100 in `paper-000-figure-12` and `paper-003-figure-9`, to reach overload, and their five
  seeds instead of three;
- Y-20 is judged up to the start-up time that more than 99 % of requests still pay, for the claim is about a
  sparse workload; the line through all times is given too;
- Snake is judged at 10 times its speed where a criterion names none (Y-01, Y-08), the speed that paper 000
  states;
- hplajw, slowed down, for the disk. Snake came first; its rests are exponential, and at its own speed
  parking at once is best for a disk as well (H-67, Y-14);
- H-71 in two readings, and Y-03 as half of the tips dark; the papers do not say which accesses and which
  estimate;
- H-76 counts every delay and both schedulers for what merging gives back; Y-35 every speed and both
  schedulers;
- Y-18 and Y-19 only ask for a record; they are judged by whether the number is so;
- an order of magnitude in H-19 is a factor of ten;
- `paper-000-idle-share`, the reads of `paper-003-figure-9` and twice the tips in `paper-000-figure-12` were
  run to explain what had not been reproduced. They change no verdict but that of Y-08, which is reproduced
  in part for the speeds below 10 that only the first has.
"""


def page(runs: Runs) -> str:
    """The whole page."""
    mine = claims(SUBJECT)
    verdicts = {name: EVALUATORS[name](runs) for name in mine}
    parts_of_page = [
        INTRODUCTION,
        counts(mine, {name: found.outcome for name, found in verdicts.items()}),
        experiments(runs),
        sums.section(),
        sums.timeouts(),
        breakeven.section(runs),
        savings.strategies(runs),
        savings.beyond(runs),
        AFTERWARDS,
    ]
    for paper, title in TITLES.items():
        of_paper = [claim for claim in mine.values() if claim.paper == paper]
        parts_of_page += [
            f"## {title}\n",
            *(sheet_section(claim, verdicts[claim.id]) for claim in of_paper),
        ]
    return "\n".join(parts_of_page)


def experiments(runs: Runs) -> str:
    """What was run, how long, and how deep the queues were."""
    generated = {name: name for name in NAMES} | {f"{DISK}{SNAKE}": f"{DISK}`, on `snake"}
    names = generated | {f"{name}{SEAGATE}": f"{name}`, on `Seagate" for name in ON_SEAGATE}
    rows = []
    for directory, name in names.items():
        points = read_rows(runs.directory / directory / "points.csv")
        rows.append(
            [
                f"`{name}`",
                str(len(points)),
                str(len({row["seed"] for row in points})),
                f"{min(row['requests'] for row in points):,}",
                f"{max(row['queue_mean'] for row in points):,.0f}",
            ]
        )
    head = ["experiment", "runs", "seeds", "requests a run, at least", "longest mean queue"]
    return f"""\
## Experiments

{table(head, rows)}"""

"""The page on hybrids: every claim with its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sledlab import catalogue
from sledlab.calibration import CALIBRATIONS

from ...markdown import table
from ..claims import Verdict, claims
from ..experiments import read_rows
from ..sheet import counts, section
from . import (
    baselines,
    cost,
    definitions,
    future,
    mechanics,
    parameters,
    recorded,
    singles,
    sizes,
    techniques,
    workloads,
)
from .runs import CELLO, HPLAJW, TITLES, WORKLOADS, Runs, directories

SUBJECT = "hybrid"

Evaluator = Callable[[Runs], Verdict]

EVALUATORS: Mapping[str, Evaluator] = {
    **parameters.CLAIMS,
    **definitions.CLAIMS,
    **workloads.CLAIMS,
    **mechanics.CLAIMS,
    **techniques.CLAIMS,
    **sizes.CLAIMS,
    **baselines.CLAIMS,
    **cost.CLAIMS,
    **future.CLAIMS,
}

INTRODUCTION = """\
# Hybrids

What paper 001 claims about MEMS in front of disks, claim by claim: what it prints, what sledlab gives, and
whether that is the same. `make reproduce` runs the experiments and writes this page from what they leave
behind; no number of ours on it is typed by hand. [Papers](../papers.md) has the titles; the experiments are
in `presets/experiments`.

A claim is *reproduced* if it meets the criterion that stands with it and was set before any run;
*reproduced in part* if some of it does. Grades say how much that is worth: **E** follows from arithmetic;
**S** rests on a stand-in for a trace that is not public, so that signs and ranges are all there is to
compare; **C** is another work's result that the paper cites. Priority 1 is load-bearing.

- *TPCD*, *TPCC*, *cello* and *hplajw* are [stand-ins](../calibration.md), calibrated on what was published
  of the traces. One number of paper 001 more was used, and only one; see *What was fitted*.
- *DISK* is a Quantum Atlas 10K at 50 MB/s, spinning from the beginning; *MEMS* a G2 sled that holds all
  data; *DISK-RAM* the disk with 256 MB of non-volatile RAM. *MCD* is the caching disk, *MWB* the write
  buffer, each with 256 MB of MEMS and a buffer of 2 MB in front of the disk. *NONE* is MCD without Shortcut
  (*SHORTCUT*), Immediate Report (*IREPORT*) and Partial Write (*PWRITE*), *ALL* with all three.
- All have a controller cache of 4 MB before them and serve in order of arrival (FCFS). Segments of MCD have
  256, 8, 8 and 64 KB for TPCD, TPCC, cello and hplajw unless said; logs of MWB 128 KB.
- Figures 4 and 6 have the means of three seeds for cello and hplajw. Everything else, and ratios to it, is
  of one. *Overload* is a queue that kept growing: there is no response time.
"""

FITTED = """\
## What was fitted

How the requests of cello come in bursts is not published, beyond that they do so less than those of hplajw.
The share of the time that bursts last was chosen so that MCD ALL is {published} times as fast as DISK, the
number that the paper gives: {share:g} instead of the {usual:g} that the stand-in has otherwise; ratios by
seed are {ratios}. Published of servers of that time and maker are mean queues of 1.7 to 8.9 as requests
see them, up to 89 in 95 of 100 cases, and more than a thousand at times; a request to DISK sees
{queue.mean:.1f} others on average, at most {queue.p95:,.0f} in 95 of 100 cases, and {queue.most:,} at most.
The dispersion of arrivals in windows of one second is {cello_1:.1f}, and {hplajw_1:.1f} for hplajw; in
windows of ten seconds {cello_10:.1f} and {hplajw_10:.1f}. So this ratio is no result. All else on cello is
one: the fit makes DISK slow, and hardly touches what keeps up with the bursts.
"""

DESTAGING = """\
## When the controller cache writes

The paper gives its size and says that it writes back, not when. All claims are judged with a cache that
writes only to make room: then writes wait for what is behind it, and figures 4 to 6 have the shapes of the
paper. With one that also writes when the devices have been idle for 20 ms, which is what `cache.destage`
does by default, nearly every write ends in the cache, and neither Partial Write nor Immediate Report has
much left to do. That table stands below for comparison (one seed); no verdict rests on it.

Writes to make room only:

{demand}
Writes in idle times, too:

{idle}"""

AFTERWARDS = """\
## Decided after a first look

The criteria are older than any run. These choices are not, and a reader may want to discount them:

- the bursts of cello, see above;
- a controller cache that writes only to make room, see above;
- addresses of TPCC all over the 8.6 GB of the disk, as its array had more to fill than that; the others keep
  the 3.2 GB that fit a sled. On 3.2 GB a disk is nearer to keeping up with TPCC;
- W-16 asks that the gain vanish: it counts as gone at a tenth of what it is with a full buffer;
- W-19 is read as: Immediate Report helps both, and for one of them no other technique helps more;
- W-12 takes 1 % for lower, and LAZY of `paper-001-figure-6`, a write buffer that is cleaned only when 90 %
  of its logs are in use, was run to explain it;
- W-24 and W-51 count every size of segment, and W-51 both 256 MB and 3 GB;
- W-35 is judged with the segments of section 6.4, and `paper-001-density` was run to explain it;
- W-48 takes half of the performance of MEMS for most of it, and MEMS at its dearest, ten times the price of
  disk for a byte;
- TPCC and cello were run with fewer sizes of MEMS in figure 5 than the paper has, to save time.
"""


def page(runs: Runs) -> str:
    """The whole page."""
    mine = claims(SUBJECT)
    workloads.calibrate_all()
    verdicts = {name: EVALUATORS[name](runs) for name in mine}
    parts = [
        INTRODUCTION,
        counts(mine, {name: found.outcome for name, found in verdicts.items()}),
        experiments(runs),
        fitted(runs),
        DESTAGING.format(demand=baselines.means(runs), idle=baselines.means(Runs(runs.directory, idle=True))),
        figures(runs),
        recorded.means(runs),
        AFTERWARDS,
        "## Paper 001: MEMS in front of disks\n",
        *(section(claim, verdicts[name]) for name, claim in mine.items()),
    ]
    return "\n".join(parts)


def fitted(runs: Runs) -> str:
    """What was fitted, and to what."""
    rows = {
        name: {row.statistic.name: row.achieved for row in workloads.calibrated(name).rows}
        for name in (CELLO, HPLAJW)
    }
    dispersions = {
        f"{name}_{seconds}": found[f"dispersion at {seconds} s"]
        for name, found in rows.items()
        for seconds in (1, 10)
    }
    return FITTED.format(
        published=baselines.FITTED,
        share=CALIBRATIONS[workloads.STAND_INS[CELLO]].parameters["burst_share"],
        usual=next(s.default for s in catalogue.workload.show(CELLO).parameters if s.name == "burst_share"),
        ratios=baselines.factors(runs),
        queue=singles.queue_seen(workloads.STAND_INS[CELLO]),
        **dispersions,
    )


def figures(runs: Runs) -> str:
    """The figures of the paper as tables."""
    names = [TITLES[workload] for workload in WORKLOADS]
    return f"""\
## The figures as tables

**Figure 4.** Mean response against NONE, %.

{table(["techniques", *names], techniques.figure(runs))}
**Figure 5.** Mean response in ms of MCD ALL, by MEMS and segment.

{sizes.tables(runs)}
**Figure 6** is above. What stands behind it, first seed:

{baselines.behind(runs)}
**Figure 7.** Mean response of a disk with NVRAM over that of MCD ALL, where the NVRAM costs as much as the
256 MB of MEMS.

{cost.curves(runs)}"""


def experiments(runs: Runs) -> str:
    """What was run, how long, and how deep the queues were."""
    rows = []
    for directory, name in directories():
        points = read_rows(runs.directory / directory / "points.csv")
        rows.append(
            [
                name,
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

"""Writes docs/calibration.md: `python -m tests.validation.calibration`.

Every number in it comes from stand-ins generated and characterised here.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from sledlab import catalogue
from sledlab.calibration import CALIBRATIONS, DEVICE, OPEN, TOLERANCE, Calibrated, calibrate
from sledlab.cli.calibrate import cells

from .markdown import span, table

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"

SEEDS = (1, 2, 3, 4, 5)

HOURS = ("cello", "hplajw")

DAY = "snake"

DATABASES = ("tpcd", "tpcc")

GENERATORS = (*HOURS, DAY, *DATABASES)

INTRODUCTION = f"""\
# Calibration

The traces cello, hplajw, snake, TPCD and TPCC, on which papers 000, 001 and 003 rest, are not public. The
[workloads](workload.md) `cello`, `hplajw`, `snake`, `tpcd` and `tpcc` stand in for them: seeded generators,
calibrated on what the papers say about the traces and on nothing else. A result on a stand-in is a result on
a stand-in, not on the trace. `python -m tests.validation.calibration` writes this page from scratch;
`sledlab workload calibrate NAME` prints one of its tables.

Published numbers must be met within {100 * TOLERANCE:.0f} %. Of cello and hplajw, the papers differ: 000 has
an hour of each and gives rates and words, 001 has longer traces of the same systems and gives a table.
Shares, sizes and sequentiality of the hours are those of the table, for want of better. The working set
belongs to the longer traces; the hours touch less, as hours do.

- *Sequential*: paper 001 counts requests at adjacent addresses and those one interleave of the file system
  further, but not which interleave. The stand-ins leave no gaps unless told to, so that both ways of counting
  agree; `interleave_kb` of `hplajw` changes that, and `sequential_share` then counts gaps in.
- *Data touched*: distinct blocks of 512 bytes, in MB of 2^20 bytes. The disk of 17.9 million sectors that
  paper 001 calls 8.6 GB shows that its units are binary.
- *Highly sequential*, says paper 000 of hplajw, with 14.3 % sequential requests. Several files read at once
  explain both: two thirds of the requests belong to files that are read or written from end to end, but
  seldom follow their predecessor in the file directly. *Goes on with one of 32 streams* counts them, but for
  the first of each file.
- *Dispersion*: the variance of the arrivals per window over their mean, 1 for a Poisson process.
- *cello-12h* has fewer and heavier bursts than the hour. Paper 001 has a MEMS caching disk 24 times as fast
  as a disk on it, which takes bursts that a disk cannot keep up with. The share of the time that bursts last
  was fitted to that number, and to nothing else: see [hybrids](reproduction/hybrid.md). Its dispersion stays
  as it was chosen at 1 s, and below that of hplajw-2h at 10 s as well.

Of snake, the papers say next to nothing but what a sled made of it. So it is held to that: a G3 sled that
parks at once, first come first served, without overheads, at 10 and 100 times the speed of the trace.

- *Start-ups*: the energy they took, over the 5e-5 J of each. They are the busy periods of the day. The *span*
  follows from the energy of inactive times, the number of *requests* from what was saved where parts of the
  last blocks were accessed.
- *Fitted* were the span, the start-ups and, within 10 %, the response times, by the lengths of clumps,
  clusters and copies and the times between them. Nearly all of the response at 100 times the speed comes from
  copies.
- *Seeks and accesses* came out by themselves, of sizes and places. The tips alone need 8.0 J for requests of
  8 KB, at any speed; the paper has less at 100 times the speed than at 10. The 25 % and 35 % to which they
  are held allow for another model of the sled.
- *Idle share*: of the energy, on a G2 sled that parks after 1 s. It was not fitted and is not met: papers 000
  and 003 have 55 % and almost 50 %. The times between clusters are more alike than those of the trace.

Of the databases TPCD and TPCC, paper 001 has its table and what a sled in front of a disk made of them.

- *No gain up to 512 MB*, says it of TPCD, until all data fits. Tables are scanned in turn, so that a page
  comes back when nearly all others were read, and a cache that replaces the least recently used has lost it.
- *Sequential* requests of TPCD go on with the scan before. Several scans take turns; each turn begins
  somewhere else, and index probes go anywhere. No request of TPCC is sequential.
- *LRU hits, 256 MB*, of TPCC: with a sled of that size before it a disk keeps up, without one it does not.
  One request in ten is the first to touch its page, so no cache can hit more than 90 %. To come near that,
  the hot pages must fit: they are 5 % of the data to choose from, 10 % of what is touched, and get 75 % of
  the reads.
- *Writes* of TPCC put back pages that were read, each once, a minute later on average.

All are made for the capacity of {DEVICE}. Deviations are those of seed {SEEDS[0]}, then the range over seeds
{SEEDS[0]} to {SEEDS[-1]}.
"""


@cache
def calibrated(name: str) -> tuple[Calibrated, ...]:
    """The stand-in with every seed."""
    return tuple(calibrate(name, seed) for seed in SEEDS)


def section(name: str) -> str:
    """The comparison of one stand-in."""
    runs = calibrated(name)
    chosen = CALIBRATIONS[name]
    head = ("statistic", "source", "target", "achieved", "deviation", "all seeds", "verdict")
    rows = []
    for number, row in enumerate(runs[0].rows):
        what, target, achieved, deviation, verdict, source = cells(row)
        alike = [run.rows[number] for run in runs]
        deviations = [other.deviation for other in alike if other.deviation is not None]
        all_seeds = span(deviations) if deviations else ""
        if any(other.verdict == "fail" for other in alike):
            verdict = "fail"
        rows.append((what, source, target, achieved, deviation, all_seeds, verdict))
    settings = ", ".join(f"`{key} = {value}`" for key, value in chosen.parameters.items())
    made = f"the workload `{chosen.workload}` with {settings}" if settings else f"the workload `{name}`"
    return f"## {name}\n\nStands in for {chosen.about}: {made}.\n\n" + table(head, rows, words=2)


def choices(name: str) -> str:
    """What had to be chosen for one generator."""
    specs = [spec for spec in catalogue.workload.show(name).parameters if spec.meaning.startswith(OPEN)]
    rows = []
    for spec in specs:
        meaning = spec.meaning.removeprefix(OPEN)
        rows.append(
            (f"`{spec.name}`", meaning[0].upper() + meaning[1:], f"{spec.default:g} {spec.unit}".strip())
        )
    return f"## Choices in {name}\n\n" + table(("parameter", "meaning", "value"), rows, words=2)


def page() -> str:
    """The whole page."""
    sections = [section(name) for name in CALIBRATIONS]
    return "\n".join([INTRODUCTION, *sections, *(choices(name) for name in GENERATORS)])


def main() -> int:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Published numbers, check values, and agreement with the reference runs."""

from __future__ import annotations

from collections import defaultdict

from .agreement import Agreement, Band, agreement, band, compared
from .markdown import percent, table
from .published import CHECK_BAND, CHECK_VALUES, PAIRS, X_DOMINATES, quantities, x_dominates

TITLES = {
    "mech": "mechanism alone",
    "base": "and overheads, interleaved bus",
    "sched": "as `base`, up to 1200 outstanding",
    "sweep": "and idle timeouts, drift rule",
    "hp": "as `sweep`, HP `ajw` trace",
    "excl": "as `base`, exclusive bus",
    "stock": "as shipped, exclusive bus",
    "memsvalid": "validation workload, exclusive bus",
}


def published() -> str:
    """Numbers in print."""
    rows = [
        [
            q.name,
            f"{q.published:.{q.digits if q.band is None else 2}f} {q.unit}",
            f"{q.ours:.{q.digits}f} {q.unit}",
            percent(q.off),
            "as printed" if q.band is None else f"{100 * q.band:g}",
        ]
        for q in quantities()
    ]
    shares = [
        [d, f"{100 * x_dominates(f'mems-{d.lower()}'):.1f}", f"> {100 * X_DOMINATES:g}"]
        for d in ("G1", "G2", "G3")
    ]
    return f"""\
## Published numbers

Of papers 000 (Table I) and 004 (Table 1). Seek times are positioning times, settling and turnarounds
included, of {PAIRS:,} one-block requests at random places, one after another. The papers do not say at
which displacement the springs reach their 75 %; both readings are within the band.

{table(["quantity", "published", "sledlab", "off by, %", "band, %"], rows)}
x, which alone has to settle, takes longer than y for most of these moves (paper 002, section 2.1):

{table(["device", "x dominates, % of moves", "band"], shares)}"""


def check_values() -> str:
    """The mean response times that were published with the reference simulator."""
    rows = [
        [
            c.device,
            "with" if c.springs else "without",
            f"{c.published_ms:.2f}",
            f"{c.ours_ms:.4f}",
            percent(c.off),
        ]
        for c in CHECK_VALUES
    ]
    return f"""\
## Check values

The reference simulator comes with mean response times that its validation workload should give. The
`memsvalid` traces are that workload, request by request; sledlab replays them on the `-disksim` profiles.
The band is {100 * CHECK_BAND:g} %.

{table(["device", "springs", "published, ms", "sledlab, ms", "off by, %"], rows, words=2)}"""


def families() -> str:
    """Agreement with every reference run, by family."""
    found: dict[tuple[str, str], list[Agreement]] = defaultdict(list)
    for run in compared():
        found[run.family, run.row["scheduler"]].append(agreement(run.name))
    rows = [_family(*key, found[key]) for key in sorted(found, key=lambda key: list(TITLES).index(key[0]))]
    everything = [one for group in found.values() for one in group]
    requests = sum(one.requests for one in everything)
    header = ["family", "what", "scheduler", "runs", "requests", "within 1 us, %", "band", "mean, %", "band"]
    return f"""\
## Agreement with the reference simulator, request by request

{len(everything)} recorded runs with {requests:,} requests, replayed through the `-disksim` profiles of
G1, G2 and G3, and V1 as `sledlab device import` reads it. *Within 1 us* is the share of requests whose
response time is that of the record to 1 us; *mean* and *energy* are the largest deviations of a run's
mean response time and energy.

{table([*header, "energy, %", "band"], rows, words=3)}
What is left, and why:

- sledlab keeps time in whole nanoseconds, the reference simulator in floating-point milliseconds. Each
  pass is off by up to half a nanosecond, which adds up while the sled never pauses.
- The reference simulator's drift rule (below) amplifies: a nanosecond of idle time moves the sled by
  dozens of bits. Single requests of `sweep`, `hp` and `memsvalid` therefore differ; means do not.
- The exclusive bus is not rebuilt; the last three families are replayed over the interleaved one. Where
  the scheduler looks at positions (SPTF), one different completion changes all later choices.
- Energy: the reference simulator never charges the idle time before a spin-down. Here it is added to the
  record, less that of one spin-down: its runs go on until an extra request 100 s after the last, a replay
  ends with its last completion.
- Under `sched` the reference simulator's rules are options of sledlab's schedulers where they differ from
  those of the literature: `sstf:distance=blocks`, `sdf:rule=disksim-exact` and `disksim-approx`. Its
  schedulers by cylinders are not described well enough to be rebuilt, and its buffer is not part of
  sledlab; their runs are left out.
"""


def _family(family: str, scheduler: str, group: list[Agreement]) -> list[str]:
    allowed = band(group[0].run) or Band(mean=0.0)
    requests = sum(one.requests for one in group)
    within = sum(one.within_1us * one.requests for one in group) / requests
    return [
        f"`{family}`",
        TITLES[family],
        scheduler,
        str(len(group)),
        f"{requests:,}",
        f"{100 * within:.2f}",
        f">= {100 * allowed.within_1us:g}" if allowed.within_1us else "",
        f"{100 * max(abs(one.mean) for one in group):.4f}",
        f"{100 * allowed.mean:g}",
        f"{100 * max(abs(one.energy) for one in group):.4f}",
        f"{100 * allowed.energy:g}" if allowed.energy else "",
    ]

"""What the strategies save, as printed and here, and what lies beyond the papers."""

from __future__ import annotations

from ...markdown import percent, span, table
from ..points import Points
from . import merging, parts
from .policies import SLED
from .runs import Runs
from .singles import snake

TEN = 10.0
"""The speed at which paper 000 replays Snake."""


FIGURE, PAIRS = merging.CHAINS, merging.PAIRS
ALL_ENERGY, SERVICING, ACCESSES, RESPONSE = "all energy", "seeks and accesses", "accesses", "response"
MEASURES = {ALL_ENERGY: "energy_j", SERVICING: "servicing_j", ACCESSES: "access_j", RESPONSE: "mean_ms"}

ROWS = (
    ("parking at once, Snake, G2", ALL_ENERGY, "-50 %", SLED, "immediate", "fixed:timeout_ms=1000"),
    ("chains, Snake, 3200 tips", SERVICING, "-18 to -10 %", FIGURE, merging.MERGED, merging.NONE),
    ("", RESPONSE, "up to -43 %", FIGURE, merging.MERGED, merging.NONE),
    ("pairs, Snake, G3", SERVICING, "-18 %", PAIRS, "neighbours", "none"),
    ("", RESPONSE, "-20 %", PAIRS, "neighbours", "none"),
    ("128 bytes of metadata, Snake, G2", ACCESSES, "-29 %", parts.METADATA, "128 bytes", "sectors"),
    ("4 bytes of metadata, Snake, G2", ACCESSES, "-45 %", parts.METADATA, "4 bytes", "sectors"),
    ("part of the last block, Snake, G3", SERVICING, "-2.5 to -2.3 %", parts.TABLE, parts.PART, parts.WHOLE),
    ("all three, Snake, 3200 tips", ALL_ENERGY, "-50 %", FIGURE, "small: all", "small: none"),
    ("", RESPONSE, "up to -43 %", FIGURE, "small: all", "small: none"),
)
"""Strategy, what it saves of, published, experiment, what is compared with what."""


def strategies(runs: Runs) -> str:
    """Published ranges beside ours."""
    seagate = runs.on_seagate("paper-000-figure-11")
    parked = percent(seagate.change(0, 1000, 1.0, "energy_j"), 1)
    result = snake("mems-g3", ("power.kind", "immediate"))
    dark = -result.summary["tip_time_s"] * 1e-3 / 2 / (result.energy.seek + result.energy.access)
    rows = [
        ["parking at once, Seagate, G2", ALL_ENERGY, "-50 % and more", f"{parked} %", ""],
        *(_row(runs, *row) for row in ROWS),
        ["half of the tips dark, Snake, G3", SERVICING, "-30 % (estimate)", f"{percent(dark, 1)} %", ""],
    ]
    head = [
        "strategy",
        "saves of",
        "published",
        "here, Snake at 10 times its speed",
        "over all speeds kept up with",
    ]
    return f"""\
## What the strategies save

The published ranges beside ours, FCFS. Parking, chains and all three are against a timeout of one second.
Overloaded speeds are left out.

{table(head, rows, words=3)}"""


def _row(runs: Runs, name: str, of: str, published: str, experiment: str, value: str, base: str) -> list[str]:
    points, measure = runs.points(experiment), MEASURES[of]
    along = [points.change(value, base, speedup, measure) for speedup in points.stable(value, base)]
    return [name, of, published, f"{percent(points.change(value, base, TEN, measure), 1)} %", span(along)]


def beyond(runs: Runs) -> str:
    """Smarter merging, delayed starts, start-up times."""
    return f"""\
## Beyond the papers

**Smarter merging.** Each limit of merging pairs of neighbouring reads lifted alone, then all; against no
merging, Snake on G3 at {merging.DEEP:g} times its speed, FCFS, a device that parks at once. *Same position*
serves waiting requests at one place of the sled in one pass, whatever their order on the medium.

{_relaxations(runs.points(merging.SMARTER))}
**Starting later.** A parked sled with 3200 tips starts when so many requests wait or the first of them has
waited so long; Snake at {TEN:g} times its speed, FCFS. Against starting at once:

{_delays(runs.points("paper-000-delayed-spinup"))}
**Start-up time.** Seagate on G2, parked at once; a start-up takes the power of the moving sled however long
it is.

{_startups(runs.on_seagate("paper-003-figure-7"))}"""


def _relaxations(points: Points) -> str:
    speedup = merging.DEEP
    rows = [
        [
            name,
            percent(points.change(name, "none", speedup, "servicing_j"), 1),
            percent(points.change(name, "none", speedup, "mean_ms"), 1),
            f"{100 * points.at(name, speedup, 'merged') / points.at(name, speedup, 'requests'):.1f}",
        ]
        for name in ("pairs", *merging.RELAXED)
    ]
    return table(["merged", "seeks and accesses, %", "response, %", "requests merged, %"], rows)


def _delays(points: Points) -> str:
    delays = sorted(
        (v for v in points.varied if "merging" not in v and v != "at once"),
        key=lambda v: points.at(v, TEN, "mean_ms"),
    )
    rows = [
        [
            name,
            percent(points.change(name, "at once", TEN, "energy_j"), 2),
            percent(points.at(name, TEN, "startups") / points.at("at once", TEN, "startups") - 1, 1),
            f"{points.at(name, TEN, 'mean_ms') - points.at('at once', TEN, 'mean_ms'):+.2f}",
            f"{points.at(f'{name}, merging', TEN, 'mean_ms') - points.at('at once', TEN, 'mean_ms'):+.2f}",
        ]
        for name in delays
    ]
    head = ["start", "energy, %", "start-ups, %", "response, ms", "with merging, ms"]
    return table(head, rows)


def _startups(points: Points) -> str:
    rows = [
        [
            f"{float(time):g}",
            f"{points.at(time, 1.0, 'energy_j'):.3f}",
            f"{points.at(time, 1.0, 'mean_ms'):.3f}",
            f"{points.at(time, 1.0, 'startups'):,.0f}",
        ]
        for time in sorted(points.varied, key=float)
    ]
    return table(["start-up, ms", "energy, J", "response, ms", "start-ups"], rows, words=0)

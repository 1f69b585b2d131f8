"""What the strategies save, as printed and here, and what lies beyond the papers."""

from __future__ import annotations

from ...markdown import percent, span, table
from . import merging, parts
from .runs import Points, Runs
from .singles import snake

TEN = 10.0
"""The speed at which paper 000 replays Snake."""


def _change(runs: Runs, name: str, value: str, base: str, measure: str, speedup: float = TEN) -> str:
    return f"{percent(runs.points(name).change(value, base, speedup, measure), 1)} %"


def _range(runs: Runs, name: str, value: str, base: str, measure: str) -> str:
    points = runs.points(name)
    speedups = points.stable(value, base)
    return span([points.change(value, base, speedup, measure) for speedup in speedups])


def strategies(runs: Runs) -> str:
    """Published ranges beside ours."""
    figure, seagate = "paper-000-figure-12", runs.on_seagate("paper-000-figure-11")
    saved = percent(seagate.at(0, 1.0, "energy_j") / seagate.at(1000, 1.0, "energy_j") - 1, 1)
    energy = snake("mems-g3", ("power.kind", "immediate")).energy
    tips = snake("mems-g3", ("power.kind", "immediate")).summary["tip_time_s"] * 1e-3
    rows = [
        ["parking at once, Seagate, G2", "all energy", "-50 % and more", f"{saved} %", ""],
        _row(
            "parking at once, Snake, G2",
            "all energy",
            "-50 %",
            runs,
            "paper-003-policies",
            "immediate",
            "fixed:timeout_ms=1000",
            "energy_j",
        ),
        _row(
            "chains, Snake, 3200 tips",
            "seeks and accesses",
            "-18 to -10 %",
            runs,
            figure,
            "whole: merging",
            "whole: none",
            "servicing_j",
        ),
        _row("", "response", "up to -43 %", runs, figure, "whole: merging", "whole: none", "mean_ms"),
        _row(
            "pairs, Snake, G3",
            "seeks and accesses",
            "-18 %",
            runs,
            "paper-003-figure-9",
            "neighbours",
            "none",
            "servicing_j",
        ),
        _row("", "response", "-20 %", runs, "paper-003-figure-9", "neighbours", "none", "mean_ms"),
        _row(
            "128 bytes of metadata, Snake, G2",
            "accesses",
            "-29 %",
            runs,
            parts.METADATA,
            "128 bytes",
            "sectors",
            "access_j",
        ),
        _row(
            "4 bytes of metadata, Snake, G2",
            "accesses",
            "-45 %",
            runs,
            parts.METADATA,
            "4 bytes",
            "sectors",
            "access_j",
        ),
        _row(
            "part of the last block, Snake, G3",
            "seeks and accesses",
            "-2.5 to -2.3 %",
            runs,
            parts.TABLE,
            parts.PART,
            parts.WHOLE,
            "servicing_j",
        ),
        [
            "half of the tips dark, Snake, G3",
            "seeks and accesses",
            "-30 % (estimate)",
            percent(-tips / 2 / (energy.seek + energy.access), 1) + " %",
            "",
        ],
        _row(
            "all three, Snake, 3200 tips",
            "all energy",
            "-50 %",
            runs,
            figure,
            "small: all",
            "small: none",
            "energy_j",
        ),
        _row("", "response", "up to -43 %", runs, figure, "small: all", "small: none", "mean_ms"),
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


def _row(
    name: str, of: str, published: str, runs: Runs, experiment: str, value: str, base: str, measure: str
) -> list[str]:
    return [
        name,
        of,
        published,
        _change(runs, experiment, value, base, measure),
        _range(runs, experiment, value, base, measure),
    ]


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

"""Savings of the strategies, printed and ours, and experiments beyond the papers."""

from __future__ import annotations

from ..markdown import table
from ..runs import ExperimentRuns
from ..wording import cells, percent, span
from . import merging, parts
from .plan import PowerRuns
from .policies import SLED_EXPERIMENT
from .singles import simulate_snake

SNAKE_SPEEDUP = 10.0
"""The speed-up at which Hong 2006 replays Snake."""


FIGURE, PAIRS = merging.CHAINS, merging.PAIRS
ALL_ENERGY, SERVICING, ACCESSES, RESPONSE = "all energy", "seeks and accesses", "accesses", "response"
MEASURES = {ALL_ENERGY: "energy_j", SERVICING: "servicing_j", ACCESSES: "access_j", RESPONSE: "mean_ms"}

ROWS = (
    (
        "parking at once, Snake, G2",
        ALL_ENERGY,
        "-50 %",
        SLED_EXPERIMENT,
        "immediate",
        "fixed:timeout_ms=1000",
    ),
    ("chains, Snake, 3200 tips", SERVICING, "-18 to -10 %", FIGURE, merging.MERGING, merging.NONE),
    ("", RESPONSE, "up to -43 %", FIGURE, merging.MERGING, merging.NONE),
    ("pairs, Snake, G3", SERVICING, "-18 %", PAIRS, "neighbors", "none"),
    ("", RESPONSE, "-20 %", PAIRS, "neighbors", "none"),
    ("128 bytes of metadata, Snake, G2", ACCESSES, "-29 %", parts.METADATA, "128 bytes", "sectors"),
    ("4 bytes of metadata, Snake, G2", ACCESSES, "-45 %", parts.METADATA, "4 bytes", "sectors"),
    ("part of the last block, Snake, G3", SERVICING, "-2.5 to -2.3 %", parts.TABLE, parts.PART, parts.WHOLE),
    ("all three, Snake, 3200 tips", ALL_ENERGY, "-50 %", FIGURE, "small: all", "small: none"),
    ("", RESPONSE, "up to -43 %", FIGURE, "small: all", "small: none"),
)
"""Strategy, the energy that it saves a share of, published range, experiment, and the two cases compared."""


def strategies(runs: PowerRuns) -> str:
    """Published ranges and our results."""
    seagate = runs.seagate_runs("hong2006-figure-11")
    parked = percent(seagate.change(0, 1000, 1.0, "energy_j"), 1)
    result = simulate_snake("mems-g3", ("power.kind", "immediate"))
    dark = -result.summary["tip_time_s"] * 1e-3 / 2 / (result.energy.seek + result.energy.access)
    rows = [
        ["parking at once, Seagate, G2", ALL_ENERGY, "-50 % and more", f"{parked} %", ""],
        *(_row(runs, *row) for row in ROWS),
        ["half of the tips dark, Snake, G3", SERVICING, "-30 % (estimate)", f"{percent(dark, 1)} %", ""],
    ]
    here = "here, Snake at 10 times its speed | over all speeds kept up with"
    return table(f"strategy | saves of | published | {here}", rows, words=3)


def _row(
    runs: PowerRuns, name: str, of: str, published: str, experiment: str, value: str, base: str
) -> list[str]:
    points, measure = runs.experiment(experiment), MEASURES[of]
    along = [points.change(value, base, speedup, measure) for speedup in points.stable_speedups(value, base)]
    return [
        name,
        of,
        published,
        f"{percent(points.change(value, base, SNAKE_SPEEDUP, measure), 1)} %",
        span(along),
    ]


def places(runs: PowerRuns) -> dict[str, str]:
    """Savings of the strategies, smarter merging, delayed starts, start-up times."""
    return {
        "strategies": strategies(runs),
        "deep": f"{merging.DEEP_QUEUE_SPEEDUP:g}",
        "ten": f"{SNAKE_SPEEDUP:g}",
        "relaxations": _relaxations(runs.experiment(merging.SMARTER_MERGING)),
        "delays": _delays(runs.experiment("hong2006-delayed-spinup")),
        "startups": _startups(runs.seagate_runs("lin-figure-7")),
    }


def _relaxations(points: ExperimentRuns) -> str:
    speedup = merging.DEEP_QUEUE_SPEEDUP

    def row(name: str) -> list[str]:
        changes = [points.change(name, "none", speedup, measure) for measure in ("servicing_j", "mean_ms")]
        merged = points.mean(name, speedup, "merged") / points.mean(name, speedup, "requests")
        return cells("{} | {:+%1} | {:+%1} | {:%1}", name, *changes, merged)

    head = "merged | seeks and accesses, % | response, % | requests merged, %"
    return table(head, map(row, ("pairs", *merging.RELAXATIONS)))


def _delays(points: ExperimentRuns) -> str:
    delays = sorted(
        (v for v in points.axis_values if "merging" not in v and v != "at once"),
        key=lambda v: points.mean(v, SNAKE_SPEEDUP, "mean_ms"),
    )

    def row(name: str) -> list[str]:
        energy = points.change(name, "at once", SNAKE_SPEEDUP, "energy_j")
        startups = (
            points.mean(name, SNAKE_SPEEDUP, "startups") / points.mean("at once", SNAKE_SPEEDUP, "startups")
            - 1
        )
        later = [
            points.mean(each, SNAKE_SPEEDUP, "mean_ms") - points.mean("at once", SNAKE_SPEEDUP, "mean_ms")
            for each in (name, f"{name}, merging")
        ]
        return cells("{} | {:+%2} | {:+%1} | {:+.2f} | {:+.2f}", name, energy, startups, *later)

    return table("start | energy, % | start-ups, % | response, ms | with merging, ms", map(row, delays))


def _startups(points: ExperimentRuns) -> str:
    measures = ("energy_j", "mean_ms", "startups")
    rows = [
        cells("{:g} | {:.3f} | {:.3f} | {:,.0f}", float(time), *(points.mean(time, 1.0, m) for m in measures))
        for time in sorted(points.axis_values, key=float)
    ]
    return table("start-up, ms | energy, J | response, ms | start-ups", rows, words=0)

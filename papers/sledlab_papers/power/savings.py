"""Savings of the strategies, printed and ours, and experiments beyond the papers."""

from __future__ import annotations

from ..markdown import table
from ..runs import ExperimentRuns
from ..wording import cells, percent, spread
from . import merging, parts
from .breakdown import SNAKE
from .plan import PowerRuns
from .policies import SLED_EXPERIMENT
from .singles import CENTER_PARKING, simulate_snake

FIGURE, PAIRS = merging.CHAINS, merging.PAIRS
ALL_ENERGY, SERVICING, RESPONSE = "all energy", "seeks and accesses", "response"
MEASURES = {ALL_ENERGY: "energy_j", SERVICING: "servicing_j", RESPONSE: "mean_ms"}

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
    ("128 bytes of metadata, Snake, G2", SERVICING, "-29 %", parts.METADATA, "128 bytes", "sectors"),
    ("4 bytes of metadata, Snake, G2", SERVICING, "-45 %", parts.METADATA, "4 bytes", "sectors"),
    ("part of the last block, Snake, G3", SERVICING, "-2.5 to -2.3 %", parts.TABLE, parts.PART, parts.WHOLE),
    ("all three, Snake, 3200 tips", ALL_ENERGY, "-50 %", FIGURE, "all", "none"),
    ("", RESPONSE, "up to -43 %", FIGURE, "all", "none"),
)
"""Strategy, the energy that it saves a share of, published range, experiment, and the two cases compared."""


def strategy_table(runs: PowerRuns) -> str:
    """Published ranges and our results."""
    seagate = runs.seagate_runs("lin-figure-4")
    parking_change = percent(seagate.change(0, 1000, 1.0, "energy_j"), 1)
    result = simulate_snake("mems-g3", *CENTER_PARKING)
    dark_change = -result.summary["tip_time_s"] * 1e-3 / 2 / (result.energy.seek + result.energy.access)
    rows = [
        ["parking at once, Seagate, G2", ALL_ENERGY, "-50 % and more", f"{parking_change} %", ""],
        *(_row(runs, *row) for row in ROWS),
        [
            "half of the tips dark, Snake, G3",
            SERVICING,
            "-30 % (estimate)",
            f"{percent(dark_change, 1)} %",
            "",
        ],
    ]
    our_columns = "here, Snake at 10 times its speed | over all speeds kept up with"
    return table(f"strategy | saves of | published | {our_columns}", rows, word_columns=3)


def _row(
    runs: PowerRuns, name: str, quantity: str, published: str, place: str, compared_case: str, base_case: str
) -> list[str]:
    experiment, measure = runs.experiment(place), MEASURES[quantity]
    changes = [
        experiment.change(compared_case, base_case, speedup, measure)
        for speedup in experiment.stable_speedups(compared_case, base_case)
    ]
    return [
        name,
        quantity,
        published,
        f"{percent(experiment.change(compared_case, base_case, SNAKE, measure), 1)} %",
        spread(changes),
    ]


def page_texts(runs: PowerRuns) -> dict[str, str]:
    """Savings of the strategies, smarter merging, delayed starts, start-up times."""
    return {
        "strategies": strategy_table(runs),
        "deep": f"{merging.DEEP_QUEUE_SPEEDUP:g}",
        "ten": f"{SNAKE:g}",
        "relaxations": _relaxation_table(runs.experiment(merging.SMARTER_MERGING)),
        "delays": _delay_table(runs.experiment("hong2006-delayed-spinup")),
        "startups": _startup_table(runs.seagate_runs("lin-figure-7")),
    }


def _relaxation_table(experiment: ExperimentRuns) -> str:
    speedup = merging.DEEP_QUEUE_SPEEDUP

    def row(name: str) -> list[str]:
        changes = [
            experiment.change(name, "none", speedup, measure) for measure in ("servicing_j", "mean_ms")
        ]
        merged_share = experiment.mean(name, speedup, "merged") / experiment.mean(name, speedup, "requests")
        return cells("{} | {:+%1} | {:+%1} | {:%1}", name, *changes, merged_share)

    head = "merged | seeks and accesses, % | response, % | requests merged, %"
    return table(head, map(row, ("pairs", *merging.RELAXATIONS)))


def _delay_table(experiment: ExperimentRuns) -> str:
    delays = sorted(
        (delay for delay in experiment.axis_values if "merging" not in delay and delay != "at once"),
        key=lambda delay: experiment.mean(delay, SNAKE, "mean_ms"),
    )

    def row(name: str) -> list[str]:
        energy_change = experiment.change(name, "at once", SNAKE, "energy_j")
        startup_change = (
            experiment.mean(name, SNAKE, "startups") / experiment.mean("at once", SNAKE, "startups") - 1
        )
        added_ms = [
            experiment.mean(each, SNAKE, "mean_ms") - experiment.mean("at once", SNAKE, "mean_ms")
            for each in (name, f"{name}, merging")
        ]
        return cells(
            "{} | {:+%2} | {:+%1} | {:+.2f} | {:+.2f}", name, energy_change, startup_change, *added_ms
        )

    return table("start | energy, % | start-ups, % | response, ms | with merging, ms", map(row, delays))


def _startup_table(experiment: ExperimentRuns) -> str:
    measures = ("energy_j", "mean_ms", "startups")
    rows = [
        cells(
            "{:g} | {:.3f} | {:.3f} | {:,.0f}",
            float(time),
            *(experiment.mean(time, 1.0, m) for m in measures),
        )
        for time in sorted(experiment.axis_values, key=float)
    ]
    return table("start-up, ms | energy, J | response, ms | start-ups", rows, word_columns=0)

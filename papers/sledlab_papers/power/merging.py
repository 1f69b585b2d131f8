"""Claims on merging (Hong 2006, section 5.3.2; Lin, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sledlab.reproduction.verdicts import NumberTable

from ..claims import Judgment, judge_criterion, judge_printed
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..wording import cells, format_rows, majority_above, number_table, spread
from .plan import PowerRuns
from .singles import CENTER_PARKING, simulate_snake
from .tables import speed_table

CHAINS, PAIRS, SMARTER_MERGING = "hong2006-figure-12", "lin-figure-9", "lin-smarter-merging"
SCHEDULERS = ("fcfs", "sptf")
NONE, MERGING, MERGING_NEIGHBORS = "none", "merging", "merging of neighbors"
RELAXATIONS = (
    "more than two",
    "anywhere in the queue",
    "writes too",
    "reads with writes",
    "two rows",
    "same position",
    "all",
)
"""Conditions of merging that `lin-smarter-merging` lifts."""

NOISE = 0.02
DEEP_QUEUE_SPEEDUP = 100.0
"""A speed-up at which queues are long and the sled is not overloaded."""

PRINTED_CUT = PrintedNumber("up to 43 %")
"""Reduction of the mean response by merging (Hong 2006)."""


def _changes(experiment: ExperimentRuns, merging: str, base: str, measure: str) -> dict[float, float]:
    """Relative changes by speed-up, where neither run is overloaded."""
    return {
        speedup: experiment.change(merging, base, speedup, measure)
        for speedup in experiment.stable_speedups(merging, base)
    }


def _changes_by_scheduler(
    runs: PowerRuns, name: str, merging: str, base: str, measure: str
) -> dict[str, dict[float, float]]:
    return {
        scheduler: _changes(runs.experiment(name, scheduler), merging, base, measure)
        for scheduler in SCHEDULERS
    }


def _sled_share(device: str, *settings: tuple[str, Any]) -> float:
    """The sled's share of the energy of seeks and accesses, at 10 times the speed."""
    result = simulate_snake(device, *settings)
    return 1 - float(result.summary["tip_time_s"]) * 1e-3 / (result.energy.seek + result.energy.access)


def _merged_saving(experiment: ExperimentRuns, merging: str, base: str, speedup: float) -> float:
    """The share of the energy of merged requests that merging saves: all that it could save."""
    merged_share = experiment.mean(merging, speedup, "merged") / experiment.mean(base, speedup, "requests")
    return -experiment.change(merging, base, speedup, "servicing_j") / merged_share


def _saving_table(
    runs: PowerRuns, changes_by_merging: Mapping[str, Mapping[str, Mapping[float, float]]]
) -> NumberTable:
    """Changes of the energy by scheduler, and those with nothing but reads, so twice as many to merge."""
    read_changes = _changes_by_scheduler(runs, PAIRS, "reads: neighbors", "reads: none", "servicing_j")
    return number_table(
        "Change of the energy of seeks and accesses, over all speeds that the sled keeps up with",
        " | ".join(("merged", *map(str.upper, SCHEDULERS))),
        (
            [merging, *(spread(changes[scheduler]) for scheduler in SCHEDULERS)]
            for merging, changes in {**changes_by_merging, "pairs on G3, reads only": read_changes}.items()
        ),
    )


def h_69(runs: PowerRuns) -> Judgment:
    """Chains on the sled with 3200 tips: energy."""
    changes_by_scheduler = _changes_by_scheduler(runs, CHAINS, MERGING, NONE, "servicing_j")
    neighbor_changes = _changes_by_scheduler(runs, CHAINS, MERGING_NEIGHBORS, NONE, "servicing_j")
    savings = [-change for changes in changes_by_scheduler.values() for change in changes.values()]
    merged_savings = [
        _merged_saving(PowerRuns(runs.directory).experiment(CHAINS, scheduler), MERGING, NONE, speedup)
        for scheduler, changes in changes_by_scheduler.items()
        for speedup in changes
    ]
    return (
        judge_printed(savings, direction_holds=majority_above(savings))
        .with_numbers(
            saved=savings,
            sled=_sled_share("mems-g2-3200", ("power.kind", "fixed:timeout_ms=1000")),
            merged=merged_savings,
        )
        .with_tables(
            _saving_table(runs, {"sequential": changes_by_scheduler, "neighbors only": neighbor_changes})
        )
    )


def h_70(runs: PowerRuns) -> Judgment:
    """Chains on the sled with 3200 tips: response."""
    changes_by_scheduler = _changes_by_scheduler(runs, CHAINS, MERGING, NONE, "mean_ms")
    best_speedups = {
        scheduler: min(changes, key=changes.__getitem__)
        for scheduler, changes in changes_by_scheduler.items()
    }
    details = format_rows(
        "{:upper} {:spread}, most at {:g}",
        (
            (scheduler, changes, best_speedups[scheduler])
            for scheduler, changes in changes_by_scheduler.items()
        ),
    )
    max_cuts = {scheduler: -min(changes.values()) for scheduler, changes in changes_by_scheduler.items()}
    cuts = [-change for changes in changes_by_scheduler.values() for change in changes.values()]
    outside_schedulers = [scheduler for scheduler, cut in max_cuts.items() if not PRINTED_CUT.is_met([cut])]
    return judge_printed(max_cuts.values(), direction_holds=majority_above(cuts)).with_numbers(
        details=details,
        names=" and ".join(map(str.upper, outside_schedulers)),
        minimum=min(max_cuts.values()),
        maximum=max(max_cuts.values()),
    )


def h_73(runs: PowerRuns) -> Judgment:
    """Merged requests with twice the tips, which stand for those that parts of sectors leave dark."""
    experiment, twice = runs.experiment(CHAINS), "merging with twice the tips"
    speedups = experiment.stable_speedups(MERGING, twice)
    merged_changes, response_changes = (
        {speedup: experiment.change(twice, MERGING, speedup, measure) for speedup in speedups}
        for measure in ("merged", "mean_ms")
    )
    return (
        judge_criterion(min(merged_changes.values()) > 0, max(response_changes.values()) < 0)
        .with_numbers(
            more=sum(change > 0 for change in merged_changes.values()),
            speeds=len(speedups),
            merged=merged_changes,
            response=response_changes,
        )
        .with_tables(
            speed_table(
                "Change with twice the tips, by speed",
                ("requests merged, %", "{:+%1}", merged_changes),
                ("response, %", "{:+%1}", response_changes),
            )
        )
    )


def _pair_case(runs: PowerRuns, merging: str) -> str:
    """The case of merging on G3: with requests of Snake or, in a sweep, with nothing but reads."""
    return f"{kind}: {merging}" if (kind := runs.mark_value("only")) else merging


def _pair_changes(runs: PowerRuns, measure: str) -> dict[str, dict[float, float]]:
    """Changes by merging pairs on G3."""
    return _changes_by_scheduler(
        runs, PAIRS, _pair_case(runs, "neighbors"), _pair_case(runs, "none"), measure
    )


def y_02(runs: PowerRuns) -> Judgment:
    """Pairs of neighbors on G3: energy."""
    changes_by_scheduler = _pair_changes(runs, "servicing_j")
    savings = [-change for changes in changes_by_scheduler.values() for change in changes.values()]
    return (
        judge_printed(savings, direction_holds=majority_above(savings))
        .with_numbers(
            saved=savings,
            sled=_sled_share("mems-g3", *CENTER_PARKING),
            pair=_merged_saving(runs.experiment(PAIRS), "neighbors", "none", DEEP_QUEUE_SPEEDUP),
        )
        .with_tables(_saving_table(runs, {"pairs on G3": changes_by_scheduler}))
    )


def y_25(runs: PowerRuns) -> Judgment:
    """Pairs of neighbors on G3: response."""
    cuts_by_scheduler = {
        scheduler: {speedup: -change for speedup, change in changes.items()}
        for scheduler, changes in _pair_changes(runs, "mean_ms").items()
    }
    queue_lengths = {
        scheduler: {
            speedup: runs.experiment(PAIRS, scheduler).mean(_pair_case(runs, "none"), speedup, "queue_mean")
            for speedup in cuts
        }
        for scheduler, cuts in cuts_by_scheduler.items()
    }
    cuts = [cut for cuts_by_speedup in cuts_by_scheduler.values() for cut in cuts_by_speedup.values()]
    fcfs_cuts, sptf_cuts = (
        [cut for speedup, cut in cuts_by_scheduler[scheduler].items() if speedup > DEEP_QUEUE_SPEEDUP]
        for scheduler in SCHEDULERS
    )
    return (
        judge_printed(cuts, direction_holds=majority_above(cuts))
        .with_numbers(
            cuts=cuts,
            speed=DEEP_QUEUE_SPEEDUP,
            fcfs=fcfs_cuts,
            sptf=sptf_cuts,
        )
        .with_tables(
            speed_table(
                "Reduction of the mean response, and requests that wait without merging, by speed",
                *((f"{name.upper()}, %", "{:%1}", each) for name, each in cuts_by_scheduler.items()),
                *((f"{name.upper()}, wait", "{:figure}", each) for name, each in queue_lengths.items()),
            )
        )
    )


def y_35(runs: PowerRuns) -> Judgment:
    """Each relaxation against pairs of neighboring reads."""
    changes_by_relaxation: dict[str, dict[str, list[float]]] = {}
    for name in RELAXATIONS:
        changes_by_relaxation[name] = {
            measure: [
                runs.experiment(SMARTER_MERGING, scheduler).change(name, "pairs", speedup, measure)
                for scheduler in SCHEDULERS
                for speedup in runs.experiment(SMARTER_MERGING, scheduler).stable_speedups(name, "pairs")
            ]
            for measure in ("energy_j", "mean_ms")
        }
    max_change = max(
        change
        for changes_by_measure in changes_by_relaxation.values()
        for changes in changes_by_measure.values()
        for change in changes
    )
    return (
        judge_criterion(max_change <= NOISE)
        .with_numbers(maximum=max_change)
        .with_tables(
            number_table(
                "Change against pairs of neighboring reads, over all speeds, FCFS and SPTF",
                "merged | energy | mean response",
                (
                    cells("{0} | {1[energy_j]:spread} | {1[mean_ms]:spread}", *row)
                    for row in changes_by_relaxation.items()
                ),
            )
        )
    )

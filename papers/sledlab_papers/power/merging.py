"""Claims on merging (Hong 2006, section 5.3.2; Lin, section 4)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..wording import format_rows
from .plan import PowerRuns
from .singles import CENTER_PARKING, simulate_snake

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
MIN_QUEUE_LENGTH = 0.1
"""Mean number of waiting requests from which on a queue counts as formed."""

DEEP_QUEUE_SPEEDUP = 100.0
"""A speed-up at which queues are long and the sled is not overloaded."""

MAX_CUT = 0.60
"""Reduction of the mean response from which on the lengths of queues explain it."""

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


def _spread_text(changes_by_scheduler: dict[str, dict[float, float]]) -> str:
    return format_rows("{:upper} {:spread}", changes_by_scheduler.items())


def _sled_share() -> float:
    """The sled's share of the energy of seeks and accesses, on G3."""
    result = simulate_snake("mems-g3", *CENTER_PARKING)
    return 1 - float(result.summary["tip_time_s"]) * 1e-3 / (result.energy.seek + result.energy.access)


def _small_saving_text(runs: PowerRuns) -> str:
    """An upper bound on what merging could save, in words."""
    experiment = runs.experiment(PAIRS)
    pair_uj = (
        2e6
        * experiment.mean("none", DEEP_QUEUE_SPEEDUP, "servicing_j")
        / experiment.mean("none", DEEP_QUEUE_SPEEDUP, "requests")
    )
    saved_j = experiment.mean("none", DEEP_QUEUE_SPEEDUP, "servicing_j") - experiment.mean(
        "neighbors", DEEP_QUEUE_SPEEDUP, "servicing_j"
    )
    saved_uj = 2e6 * saved_j / experiment.mean("neighbors", DEEP_QUEUE_SPEEDUP, "merged")
    read_changes = _changes_by_scheduler(runs, PAIRS, "reads: neighbors", "reads: none", "servicing_j")
    return (
        f"Merging saves energy of the sled alone, which takes {100 * _sled_share():.0f} % of servicing "
        "on G3; tips take the other part, and they are on equally long with merging and without. "
        f"A pair takes {saved_uj:.0f} uJ less than its two requests ({pair_uj:.0f} uJ on average), "
        f"{100 * saved_uj / pair_uj:.1f} %: for the second the sled need only turn back and pass over its "
        "row again. That would be the saving if every request were merged. With nothing but reads, so twice "
        f"as many to merge, pairs on G3 save {_spread_text(read_changes)}."
    )


def h_69(runs: PowerRuns) -> Judgment:
    """Chains on the sled with 3200 tips: energy."""
    changes_by_scheduler = _changes_by_scheduler(runs, CHAINS, MERGING, NONE, "servicing_j")
    neighbor_changes = _changes_by_scheduler(runs, CHAINS, MERGING_NEIGHBORS, NONE, "servicing_j")
    savings = [-change for changes in changes_by_scheduler.values() for change in changes.values()]
    always_saves = min(savings) > 0
    return judge_printed(savings, direction_holds=always_saves).with_numbers(
        measured=_spread_text(changes_by_scheduler),
        saved=savings,
        by_scheduler=_spread_text(neighbor_changes),
        why_little=_small_saving_text(runs),
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
    always_falls = all(change < 0 for changes in changes_by_scheduler.values() for change in changes.values())
    outside_schedulers = [scheduler for scheduler, cut in max_cuts.items() if not PRINTED_CUT.is_met([cut])]
    outside_names = " and ".join(map(str.upper, outside_schedulers))
    far_schedulers = [scheduler for scheduler, cut in max_cuts.items() if cut > MAX_CUT]
    much_text = (
        _large_saving_text(runs, far_schedulers[0], best_speedups[far_schedulers[0]])
        if far_schedulers
        else ""
    )
    return judge_printed(max_cuts.values(), direction_holds=always_falls).with_numbers(
        details=details,
        names=outside_names,
        much=much_text,
        minimum=min(max_cuts.values()),
        maximum=max(max_cuts.values()),
    )


def _large_saving_text(runs: PowerRuns, scheduler: str, best_speedup: float) -> str:
    """Why merging saves so much at one speed-up: lengths of queues at it and at the next ones."""
    experiment = runs.experiment(CHAINS, scheduler)
    index = experiment.speedups.index(best_speedup)
    queue_texts = "; ".join(
        f"{experiment.mean(NONE, speedup, 'queue_max'):,.0f} and "
        f"{experiment.mean(MERGING, speedup, 'queue_max'):,.0f} at {speedup:g}"
        for speedup in experiment.speedups[max(index - 1, 0) : index + 2]
    )
    return (
        f"At {best_speedup:g} times the speed the copies of the stand-in begin to pile up, and a little more "
        f"or less decides how far they do. Longest queue without and with merging: {queue_texts}."
    )


def h_73(runs: PowerRuns) -> Judgment:
    """Merged requests with subsector access, compared with those without."""
    experiment = runs.experiment(CHAINS)
    part, twice = "merging and parts", "merging with twice the tips"
    speedups = experiment.stable_speedups(MERGING, part, twice)
    merged_changes = [experiment.change(part, MERGING, speedup, "merged") for speedup in speedups]
    bound_changes = [experiment.change(twice, MERGING, speedup, "merged") for speedup in speedups]
    return judge_criterion(min(merged_changes) > 0).with_numbers(more=merged_changes, bound=bound_changes)


def y_02(runs: PowerRuns) -> Judgment:
    """Pairs of neighbors on G3: energy."""
    changes_by_scheduler = _changes_by_scheduler(runs, PAIRS, "neighbors", "none", "servicing_j")
    savings = [-change for changes in changes_by_scheduler.values() for change in changes.values()]
    return judge_printed(savings, direction_holds=min(savings) > 0).with_numbers(
        measured=_spread_text(changes_by_scheduler),
        saved=savings,
        why_little=_small_saving_text(runs),
    )


def y_25(runs: PowerRuns) -> Judgment:
    """Pairs of neighbors on G3: response."""
    changes_by_scheduler = _changes_by_scheduler(runs, PAIRS, "neighbors", "none", "mean_ms")
    cuts_by_scheduler = {
        scheduler: {
            speedup: -change
            for speedup, change in changes.items()
            if runs.experiment(PAIRS, scheduler).mean("none", speedup, "queue_mean") > MIN_QUEUE_LENGTH
        }
        for scheduler, changes in changes_by_scheduler.items()
    }
    cuts = [cut for cuts in cuts_by_scheduler.values() for cut in cuts.values()]
    always_falls = all(change < 0 for changes in changes_by_scheduler.values() for change in changes.values())
    return judge_printed(cuts, direction_holds=always_falls, rest_holds=always_falls).with_numbers(
        measured=_spread_text(changes_by_scheduler),
        queued=MIN_QUEUE_LENGTH,
        cuts=cuts,
        fcfs=format_rows("{1:-1%} at {0:g}", cuts_by_scheduler["fcfs"].items()),
        sptf=format_rows("{1:-1%} at {0:g}", cuts_by_scheduler["sptf"].items()),
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
    return judge_criterion(max_change <= NOISE).with_numbers(
        worst=format_rows(
            "{0} {1[energy_j]:spread} and {1[mean_ms]:spread}", changes_by_relaxation.items(), "; "
        ),
        maximum=max_change,
    )

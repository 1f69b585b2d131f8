"""Claims on merging (Hong 2006, section 5.3.2; Lin, section 4)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..wording import format_rows
from .plan import PowerRuns
from .singles import simulate_snake

CHAINS, PAIRS, SMARTER_MERGING = "hong2006-figure-12", "lin-figure-9", "lin-smarter-merging"
SCHEDULERS = ("fcfs", "sptf")
NONE, MERGING, MERGING_NEIGHBORS = "whole: none", "whole: merging", "whole: merging of neighbors"
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

PUBLISHED_PAIRS = 0.18
PRINTED_CUT = PrintedNumber("up to 43 %")
"""Reduction of the mean response by merging (Hong 2006)."""


def _changes(points: ExperimentRuns, merged: str, none: str, measure: str) -> dict[float, float]:
    """Relative changes by speed-up, where neither run is overloaded."""
    return {
        speedup: points.change(merged, none, speedup, measure)
        for speedup in points.stable_speedups(merged, none)
    }


def _changes_by_scheduler(
    runs: PowerRuns, name: str, merged: str, none: str, measure: str
) -> dict[str, dict[float, float]]:
    return {
        scheduler: _changes(runs.experiment(name, scheduler), merged, none, measure)
        for scheduler in SCHEDULERS
    }


def _details(measured: dict[str, dict[float, float]]) -> str:
    return format_rows("{:upper} {:spread}", measured.items())


def _sled_share(device: str) -> float:
    """The sled's share of the energy of seeks and accesses."""
    result = simulate_snake(device, ("power.kind", "immediate"))
    return 1 - float(result.summary["tip_time_s"]) * 1e-3 / (result.energy.seek + result.energy.access)


def _small_saving_text(runs: PowerRuns, device: str) -> str:
    """An upper bound on what merging could save, in words."""
    points = runs.experiment(PAIRS)
    pair_uj = (
        2e6
        * points.mean("none", DEEP_QUEUE_SPEEDUP, "servicing_j")
        / points.mean("none", DEEP_QUEUE_SPEEDUP, "requests")
    )
    saved_j = points.mean("none", DEEP_QUEUE_SPEEDUP, "servicing_j") - points.mean(
        "neighbors", DEEP_QUEUE_SPEEDUP, "servicing_j"
    )
    saved_uj = 2e6 * saved_j / points.mean("neighbors", DEEP_QUEUE_SPEEDUP, "merged")
    reads = _changes_by_scheduler(runs, PAIRS, "reads: neighbors", "reads: none", "servicing_j")
    return (
        f"Merging saves energy of the sled alone, which takes {100 * _sled_share(device):.0f} % of servicing "
        f"here; the rest are tips, on as long either way. A pair on G3 takes {saved_uj:.0f} uJ less than its "
        f"two requests ({pair_uj:.0f} uJ on average), {100 * saved_uj / pair_uj:.1f} %: for the second the "
        "sled need only turn back and pass over its row again. That would be the saving if every request "
        f"were merged. With nothing but reads, so twice as many to merge, pairs on G3 save {_details(reads)}."
    )


def h_69(runs: PowerRuns) -> Judgment:
    """Chains on the sled with 3200 tips: energy."""
    measured = _changes_by_scheduler(runs, CHAINS, MERGING, NONE, "servicing_j")
    by_scheduler = _changes_by_scheduler(runs, CHAINS, MERGING_NEIGHBORS, NONE, "servicing_j")
    saved = [-change for changes in measured.values() for change in changes.values()]
    sign = min(saved) > 0
    return judge_printed(saved, direction=sign).with_numbers(
        measured=_details(measured),
        saved=saved,
        by_scheduler=_details(by_scheduler),
        why_little=_small_saving_text(runs, "mems-g2-3200"),
    )


def h_70(runs: PowerRuns) -> Judgment:
    """Chains on the sled with 3200 tips: response."""
    measured = _changes_by_scheduler(runs, CHAINS, MERGING, NONE, "mean_ms")
    best = {scheduler: min(changes, key=changes.__getitem__) for scheduler, changes in measured.items()}
    details = format_rows(
        "{:upper} {:spread}, most at {:g}",
        ((scheduler, changes, best[scheduler]) for scheduler, changes in measured.items()),
    )
    maximum = {scheduler: -min(changes.values()) for scheduler, changes in measured.items()}
    sign = all(change < 0 for changes in measured.values() for change in changes.values())
    outside = [scheduler for scheduler, cut in maximum.items() if not PRINTED_CUT.is_met([cut])]
    names = " and ".join(map(str.upper, outside))
    far = [scheduler for scheduler, cut in maximum.items() if cut > MAX_CUT]
    much = _large_saving_text(runs, far[0], best[far[0]]) if far else ""
    return judge_printed(maximum.values(), direction=sign).with_numbers(
        details=details, names=names, much=much, minimum=min(maximum.values()), maximum=max(maximum.values())
    )


def _large_saving_text(runs: PowerRuns, scheduler: str, at: float) -> str:
    """Why merging saves so much at one speed-up: lengths of queues at it and at the next ones."""
    points = runs.experiment(CHAINS, scheduler)
    place = points.speedups.index(at)
    longest = "; ".join(
        f"{points.mean(NONE, speedup, 'queue_max'):,.0f} and "
        f"{points.mean(MERGING, speedup, 'queue_max'):,.0f} at {speedup:g}"
        for speedup in points.speedups[max(place - 1, 0) : place + 2]
    )
    return (
        f"At {at:g} times the speed the copies of the stand-in begin to pile up, and a little more or less "
        f"decides how far they do. Longest queue without and with merging: {longest}."
    )


def h_73(runs: PowerRuns) -> Judgment:
    """Merged requests with subsector access, compared with those without."""
    points = runs.experiment(CHAINS)
    full, parts, twice = ("small: merging", "small: merging and parts", "small: merging with twice the tips")
    speedups = points.stable_speedups(full, parts, twice)
    more = [points.change(parts, full, speedup, "merged") for speedup in speedups]
    bound = [points.change(twice, full, speedup, "merged") for speedup in speedups]
    return judge_criterion(min(more) > 0).with_numbers(more=more, bound=bound)


def y_02(runs: PowerRuns) -> Judgment:
    """Pairs of neighbors on G3: energy."""
    measured = _changes_by_scheduler(runs, PAIRS, "neighbors", "none", "servicing_j")
    saved = [-change for changes in measured.values() for change in changes.values()]
    table_uj = 10.817354 / 87_000 * 1e6
    tips_uj = 16 * 64 * 0.09
    return judge_printed(saved, direction=min(saved) > 0).with_numbers(
        measured=_details(measured),
        saved=saved,
        why_little=_small_saving_text(runs, "mems-g3"),
        published=100 * PUBLISHED_PAIRS,
        table_uj=table_uj,
        tips_uj=tips_uj,
        half=100 * (table_uj - tips_uj) / 2 / table_uj,
    )


def y_25(runs: PowerRuns) -> Judgment:
    """Pairs of neighbors on G3: response."""
    measured = _changes_by_scheduler(runs, PAIRS, "neighbors", "none", "mean_ms")
    points = runs.experiment(PAIRS)
    queued = [s for s in measured["fcfs"] if points.mean("none", s, "queue_mean") > MIN_QUEUE_LENGTH]
    cuts = {speedup: -measured["fcfs"][speedup] for speedup in queued}
    sign = all(change < 0 for changes in measured.values() for change in changes.values())
    return judge_printed(cuts.values(), direction=sign, holds=sign).with_numbers(
        measured=_details(measured),
        queued=MIN_QUEUE_LENGTH,
        cuts=format_rows("{1:-1%} at {0:g}", cuts.items()),
    )


def y_35(runs: PowerRuns) -> Judgment:
    """Each relaxation against pairs of neighboring reads."""
    worst: dict[str, dict[str, list[float]]] = {}
    for name in RELAXATIONS:
        worst[name] = {
            measure: [
                runs.experiment(SMARTER_MERGING, scheduler).change(name, "pairs", speedup, measure)
                for scheduler in SCHEDULERS
                for speedup in runs.experiment(SMARTER_MERGING, scheduler).stable_speedups(name, "pairs")
            ]
            for measure in ("energy_j", "mean_ms")
        }
    maximum = max(
        change for measured in worst.values() for changes in measured.values() for change in changes
    )
    return judge_criterion(maximum <= NOISE).with_numbers(
        worst=format_rows("{0} {1[energy_j]:spread} and {1[mean_ms]:spread}", worst.items(), "; "),
        maximum=maximum,
    )

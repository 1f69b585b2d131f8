"""Claims on merging (Hong 2006, section 5.3.2; Lin, section 4)."""

from __future__ import annotations

from ..claims import Judgement, judged
from ..runs import Points
from ..wording import each, overlaps
from .plan import PowerRuns
from .singles import snake

CHAINS, PAIRS, SMARTER = "hong2006-figure-12", "lin-figure-9", "lin-smarter-merging"
SCHEDULERS = ("fcfs", "sptf")
NONE, MERGED, NEIGHBOURS = "whole: none", "whole: merging", "whole: merging of neighbours"
RELAXED = (
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
QUEUED = 0.1
"""Mean number of waiting requests from which on a queue counts as formed."""

DEEP = 100.0
"""A speed-up at which queues are long and the sled is not overloaded."""

PUBLISHED_PAIRS = 0.18


def _changes(points: Points, merged: str, none: str, measure: str) -> dict[float, float]:
    """Relative changes by speed-up, where neither run is overloaded."""
    return {speedup: points.change(merged, none, speedup, measure) for speedup in points.stable(merged, none)}


def _by_scheduler(
    runs: PowerRuns, name: str, merged: str, none: str, measure: str
) -> dict[str, dict[float, float]]:
    return {
        scheduler: _changes(runs.points(name, scheduler), merged, none, measure) for scheduler in SCHEDULERS
    }


def _details(measured: dict[str, dict[float, float]]) -> str:
    return each("{:upper} {:spread}", measured.items())


def _sled_share(device: str) -> float:
    """The sled's share of the energy of seeks and accesses."""
    result = snake(device, ("power.kind", "immediate"))
    return 1 - float(result.summary["tip_time_s"]) * 1e-3 / (result.energy.seek + result.energy.access)


def _why_little(runs: PowerRuns, device: str) -> str:
    """An upper bound on what merging could save, in words."""
    points = runs.points(PAIRS)
    pair_uj = 2e6 * points.at("none", DEEP, "servicing_j") / points.at("none", DEEP, "requests")
    saved_j = points.at("none", DEEP, "servicing_j") - points.at("neighbours", DEEP, "servicing_j")
    saved_uj = 2e6 * saved_j / points.at("neighbours", DEEP, "merged")
    reads = _by_scheduler(runs, PAIRS, "reads: neighbours", "reads: none", "servicing_j")
    return (
        f"Merging saves energy of the sled alone, which takes {100 * _sled_share(device):.0f} % of servicing "
        f"here; the rest are tips, on as long either way. A pair on G3 takes {saved_uj:.0f} uJ less than its "
        f"two requests ({pair_uj:.0f} uJ on average), {100 * saved_uj / pair_uj:.1f} %: for the second the "
        "sled need only turn back and pass over its row again. That would be the saving if every request "
        f"were merged. With nothing but reads, so twice as many to merge, pairs on G3 save {_details(reads)}."
    )


def h_69(runs: PowerRuns) -> Judgement:
    """Chains on the sled with 3200 tips: energy."""
    measured = _by_scheduler(runs, CHAINS, MERGED, NONE, "servicing_j")
    by_scheduler = _by_scheduler(runs, CHAINS, NEIGHBOURS, NONE, "servicing_j")
    saved = [-change for changes in measured.values() for change in changes.values()]
    sign = min(saved) > 0
    return judged(sign and overlaps(saved, 0.05, 0.25), sign).saying(
        measured=_details(measured),
        saved=saved,
        by_scheduler=_details(by_scheduler),
        why_little=_why_little(runs, "mems-g2-3200"),
    )


def h_70(runs: PowerRuns) -> Judgement:
    """Chains on the sled with 3200 tips: response."""
    measured = _by_scheduler(runs, CHAINS, MERGED, NONE, "mean_ms")
    best = {scheduler: min(changes, key=changes.__getitem__) for scheduler, changes in measured.items()}
    details = each(
        "{:upper} {:spread}, most at {:g}",
        ((scheduler, changes, best[scheduler]) for scheduler, changes in measured.items()),
    )
    maximum = {scheduler: -min(changes.values()) for scheduler, changes in measured.items()}
    sign = all(change < 0 for changes in measured.values() for change in changes.values())
    outside = [scheduler for scheduler, cut in maximum.items() if not 0.25 <= cut <= 0.60]
    names = " and ".join(map(str.upper, outside))
    much = _why_much(runs, outside[0], best[outside[0]]) if outside else ""
    return judged(sign and (not outside), sign).saying(
        details=details, names=names, much=much, minimum=min(maximum.values()), maximum=max(maximum.values())
    )


def _why_much(runs: PowerRuns, scheduler: str, at: float) -> str:
    """Why merging saves so much at one speed-up: lengths of queues at it and at the next ones."""
    points = runs.points(CHAINS, scheduler)
    place = points.speedups.index(at)
    longest = "; ".join(
        f"{points.at(NONE, speedup, 'queue_max'):,.0f} and {points.at(MERGED, speedup, 'queue_max'):,.0f} at "
        f"{speedup:g}"
        for speedup in points.speedups[max(place - 1, 0) : place + 2]
    )
    return (
        f"At {at:g} times the speed the copies of the stand-in begin to pile up, and a little more or less "
        f"decides how far they do. Longest queue without and with merging: {longest}."
    )


def h_73(runs: PowerRuns) -> Judgement:
    """Merged requests with subsector access, compared with those without."""
    points = runs.points(CHAINS)
    full, parts, twice = ("small: merging", "small: merging and parts", "small: merging with twice the tips")
    speedups = points.stable(full, parts, twice)
    more = [points.change(parts, full, speedup, "merged") for speedup in speedups]
    bound = [points.change(twice, full, speedup, "merged") for speedup in speedups]
    return judged(min(more) > 0).saying(more=more, bound=bound)


def y_02(runs: PowerRuns) -> Judgement:
    """Pairs of neighbours on G3: energy."""
    measured = _by_scheduler(runs, PAIRS, "neighbours", "none", "servicing_j")
    saved = [-change for changes in measured.values() for change in changes.values()]
    table_uj = 10.817354 / 87_000 * 1e6
    tips_uj = 16 * 64 * 0.09
    return judged(min(saved) > 0 and overlaps(saved, 0.08, 0.28), min(saved) > 0).saying(
        measured=_details(measured),
        saved=saved,
        why_little=_why_little(runs, "mems-g3"),
        published=100 * PUBLISHED_PAIRS,
        table_uj=table_uj,
        tips_uj=tips_uj,
        half=100 * (table_uj - tips_uj) / 2 / table_uj,
    )


def y_25(runs: PowerRuns) -> Judgement:
    """Pairs of neighbours on G3: response."""
    measured = _by_scheduler(runs, PAIRS, "neighbours", "none", "mean_ms")
    points = runs.points(PAIRS)
    queued = [s for s in measured["fcfs"] if points.at("none", s, "queue_mean") > QUEUED]
    cuts = {speedup: -measured["fcfs"][speedup] for speedup in queued}
    sign = all(change < 0 for changes in measured.values() for change in changes.values())
    return judged(sign and any(0.1 <= cut <= 0.3 for cut in cuts.values()), sign).saying(
        measured=_details(measured), queued=QUEUED, cuts=each("{1:-1%} at {0:g}", cuts.items())
    )


def y_35(runs: PowerRuns) -> Judgement:
    """Each relaxation against pairs of neighbouring reads."""
    worst: dict[str, dict[str, list[float]]] = {}
    for name in RELAXED:
        worst[name] = {
            measure: [
                runs.points(SMARTER, scheduler).change(name, "pairs", speedup, measure)
                for scheduler in SCHEDULERS
                for speedup in runs.points(SMARTER, scheduler).stable(name, "pairs")
            ]
            for measure in ("energy_j", "mean_ms")
        }
    maximum = max(
        change for measured in worst.values() for changes in measured.values() for change in changes
    )
    return judged(maximum <= NOISE).saying(
        worst=each("{0} {1[energy_j]:spread} and {1[mean_ms]:spread}", worst.items(), "; "), maximum=maximum
    )

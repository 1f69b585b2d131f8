"""Claims on merging (paper 000, section 5.3.2; paper 003, section 4)."""

from __future__ import annotations

from ...markdown import percent
from ..claims import Verdict, verdict
from ..points import Points
from ..words import overlaps, spread
from .runs import Runs
from .singles import snake

CHAINS, PAIRS, SMARTER = "paper-000-figure-12", "paper-003-figure-9", "paper-003-smarter-merging"
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
"""What `paper-003-smarter-merging` lifts."""

NOISE = 0.02
QUEUED = 0.1
"""Mean number of waiting requests from which on queues form."""

DEEP = 100.0
"""A speed at which queues are long and the sled keeps up."""

PUBLISHED_PAIRS = 0.18


def _changes(points: Points, merged: str, none: str, measure: str) -> dict[float, float]:
    """By speed, where both keep up."""
    return {speedup: points.change(merged, none, speedup, measure) for speedup in points.stable(merged, none)}


def _by_scheduler(
    runs: Runs, name: str, merged: str, none: str, measure: str
) -> dict[str, dict[float, float]]:
    return {
        scheduler: _changes(runs.points(name, scheduler), merged, none, measure) for scheduler in SCHEDULERS
    }


def _said(found: dict[str, dict[float, float]]) -> str:
    return ", ".join(f"{scheduler.upper()} {spread(changes)}" for scheduler, changes in found.items())


def _sled_share(device: str) -> float:
    """What the sled takes of the energy of seeks and accesses."""
    result = snake(device, ("power.kind", "immediate"))
    return 1 - result.summary["tip_time_s"] * 1e-3 / (result.energy.seek + result.energy.access)


def _why_little(runs: Runs, device: str) -> str:
    """How much merging could save."""
    points = runs.points(PAIRS)
    pair_uj = 2e6 * points.at("none", DEEP, "servicing_j") / points.at("none", DEEP, "requests")
    saved_j = points.at("none", DEEP, "servicing_j") - points.at("neighbours", DEEP, "servicing_j")
    saved_uj = 2e6 * saved_j / points.at("neighbours", DEEP, "merged")
    reads = _by_scheduler(runs, PAIRS, "reads: neighbours", "reads: none", "servicing_j")
    return (
        f"Merging saves energy of the sled alone, which takes {100 * _sled_share(device):.0f} % of "
        "servicing here; "
        "the rest are tips, on as long either way. A pair on G3 takes "
        f"{saved_uj:.0f} uJ less than its two requests ({pair_uj:.0f} uJ on average), "
        f"{100 * saved_uj / pair_uj:.1f} %: for the second the sled need only turn back and pass over its "
        "row "
        "again. That would be the saving if every request were merged. With nothing but reads, so twice as "
        "many to "
        f"merge, pairs on G3 save {_said(reads)}."
    )


def h_69(runs: Runs) -> Verdict:
    """Chains on the sled with 3200 tips: energy."""
    found = _by_scheduler(runs, CHAINS, MERGED, NONE, "servicing_j")
    beside = _by_scheduler(runs, CHAINS, NEIGHBOURS, NONE, "servicing_j")
    saved = [-change for changes in found.values() for change in changes.values()]
    ours = (
        f"Seek and access energy over all speeds that the sled keeps up with: {_said(found)}; if only "
        "neighbours "
        f"in the queue are merged, {_said(beside)}."
    )
    sign = min(saved) > 0
    return verdict(
        ours, holds=sign and overlaps(saved, 0.05, 0.25), partly=sign, why=_why_little(runs, "mems-g2-3200")
    )


def h_70(runs: Runs) -> Verdict:
    """Chains on the sled with 3200 tips: response."""
    found = _by_scheduler(runs, CHAINS, MERGED, NONE, "mean_ms")
    best = {scheduler: min(changes, key=changes.__getitem__) for scheduler, changes in found.items()}
    ours = "Mean response over all speeds that the sled keeps up with: " + ", ".join(
        f"{scheduler.upper()} {spread(changes)}, most at {best[scheduler]:g}"
        for scheduler, changes in found.items()
    )
    ours += " times the speed."
    most = {scheduler: -min(changes.values()) for scheduler, changes in found.items()}
    sign = all(change < 0 for changes in found.values() for change in changes.values())
    outside = [scheduler for scheduler, cut in most.items() if not 0.25 <= cut <= 0.60]
    names = " and ".join(map(str.upper, outside))
    why = f"The paper does not say which scheduler; {names} lies outside the band. "
    if outside:
        why += _why_much(runs, outside[0], best[outside[0]])
    return verdict(ours, holds=sign and not outside, partly=sign, why=why)


def _why_much(runs: Runs, scheduler: str, at: float) -> str:
    """Why merging does so much at one speed: how long queues get there and next to it."""
    points = runs.points(CHAINS, scheduler)
    place = points.speedups.index(at)
    longest = "; ".join(
        f"{points.at(NONE, speedup, 'queue_max'):,.0f} and {points.at(MERGED, speedup, 'queue_max'):,.0f} "
        f"at {speedup:g}"
        for speedup in points.speedups[max(place - 1, 0) : place + 2]
    )
    return (
        f"At {at:g} times the speed the copies of the stand-in begin to pile up, and a little more or less "
        "decides "
        f"how far they do. Longest queue without and with merging: {longest}."
    )


def h_73(runs: Runs) -> Verdict:
    """Whether more is merged with parts of sectors."""
    points = runs.points(CHAINS)
    whole, parts, twice = (
        "small: merging",
        "small: merging and parts",
        "small: merging with twice the tips",
    )
    speedups = points.stable(whole, parts, twice)
    more = [points.change(parts, whole, speedup, "merged") for speedup in speedups]
    bound = [points.change(twice, whole, speedup, "merged") for speedup in speedups]
    ours = f"Merged requests with parts of sectors against without: {spread(more)}."
    why = (
        "sledlab limits a merged request by its blocks, dark tips or not. There would be hardly anything to "
        "gain: with "
        f"twice as many tips the number of merged requests changes by {spread(bound)}. Requests that are "
        "shrunk "
        "to their block of metadata leave gaps, and what has gaps between is not merged."
    )
    return verdict(ours, holds=min(more) > 0, why=why)


def y_02(runs: Runs) -> Verdict:
    """Pairs of neighbours on G3: energy."""
    found = _by_scheduler(runs, PAIRS, "neighbours", "none", "servicing_j")
    saved = [-change for changes in found.values() for change in changes.values()]
    ours = f"Servicing energy over all speeds that the sled keeps up with: {_said(found)}."
    table_uj = 10.817354 / 87_000 * 1e6
    tips_uj = 16 * 64 * 0.09
    why = (
        f"{_why_little(runs, 'mems-g3')} The paper's own table leaves no room for its "
        f"{100 * PUBLISHED_PAIRS:g} %: "
        f"10.817354 J for some 87,000 requests are {table_uj:.0f} uJ each, of which the tips for 8 KB take "
        f"{tips_uj:.0f}, so that halving the rest for every request would save "
        f"{100 * (table_uj - tips_uj) / 2 / table_uj:.0f} %."
    )
    return verdict(ours, holds=min(saved) > 0 and overlaps(saved, 0.08, 0.28), partly=min(saved) > 0, why=why)


def y_25(runs: Runs) -> Verdict:
    """Pairs of neighbours on G3: response."""
    found = _by_scheduler(runs, PAIRS, "neighbours", "none", "mean_ms")
    points = runs.points(PAIRS)
    queued = [s for s in found["fcfs"] if points.at("none", s, "queue_mean") > QUEUED]
    cuts = {speedup: -found["fcfs"][speedup] for speedup in queued}
    ours = (
        f"Mean response over all speeds that the sled keeps up with: {_said(found)}. FCFS where more than "
        f"{QUEUED:g} "
        "requests wait on average: "
        + ", ".join(f"{percent(-cut, 1)} % at {speedup:g}" for speedup, cut in cuts.items())
        + "."
    )
    sign = all(change < 0 for changes in found.values() for change in changes.values())
    return verdict(ours, holds=sign and any(0.1 <= cut <= 0.3 for cut in cuts.values()), partly=sign)


def y_35(runs: Runs) -> Verdict:
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
    most = max(change for found in worst.values() for changes in found.values() for change in changes)
    ours = (
        "Against pairs of neighbouring reads, energy and mean response over all speeds, FCFS and SPTF: "
        + "; ".join(
            f"{name} {spread(found['energy_j'])} and {spread(found['mean_ms'])}"
            for name, found in worst.items()
        )
        + f". None is above {percent(most, 2)} %."
    )
    return verdict(ours, holds=most <= NOISE)


CLAIMS = {
    "H-69": h_69,
    "H-70": h_70,
    "H-73": h_73,
    "Y-02": y_02,
    "Y-25": y_25,
    "Y-35": y_35,
}

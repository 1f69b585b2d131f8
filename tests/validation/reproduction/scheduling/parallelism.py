"""Claims on the parallelism-aware schedulers (paper 002, section 4)."""

from __future__ import annotations

from itertools import pairwise

from ...markdown import percent
from ..claims import Verdict, verdict
from ..words import figure, spread
from .runs import Race, Runs

FIGURE = "paper-002-figure-2"
SLEDS = (1, 4, 10)
FOUR = ("p-sptf", "pa-sptf", "zpsptf", "zscan-psptf")
FIVE = ("sptf", *FOUR)
LIGHT, HEAVY, HEAVIEST = (1.0, 2.0, 3.0), (10.0, 20.0, 30.0), 30.0
DEPTHS = (100, 1000, 10000)
LENGTHS = (6000, 21000, 84000, 168000)
JOINT_SPTF = "sptf:batch=same-position"


def _races(runs: Runs) -> dict[int, Race]:
    return {sleds: runs.race(FIGURE, sleds) for sleds in SLEDS}


def _against_sptf(race: Race, speedup: float, measure: str = "mean_ms") -> dict[str, float]:
    sptf = race.at("sptf", speedup, measure)
    return {name: race.at(name, speedup, measure) / sptf - 1 for name in FOUR}


def _at_depth(runs: Runs, name: str, depth: int) -> float:
    """Throughput with so many outstanding, as a difference from SPTF's."""
    race = runs.race("paper-002-saturation", f"closed:{depth}")
    return race.at(name, 1.0, "throughput_iops") / race.at("sptf", 1.0, "throughput_iops") - 1


def _depths(runs: Runs, names: tuple[str, ...]) -> str:
    return "; ".join(
        f"{depth:,} outstanding: "
        + ", ".join(f"{_label(name)} {percent(_at_depth(runs, name, depth), 1)} %" for name in names)
        for depth in DEPTHS
    )


def _label(name: str) -> str:
    return "SPTF with joint service" if name == JOINT_SPTF else name.upper()


def _lengths(runs: Runs) -> str:
    """Means against SPTF's in overload, by the length of the run."""
    parts = []
    for requests in LENGTHS:
        race = runs.race("paper-002-run-length", requests)
        waiting = race.at("sptf", HEAVIEST, "queue_mean")
        changes = ", ".join(
            f"{_label(name)} {percent(race.at(name, HEAVIEST) / race.at('sptf', HEAVIEST) - 1, 1)} %"
            for name in (*FOUR, JOINT_SPTF)
        )
        parts.append(f"{requests:,} requests ({waiting:,.0f} waiting on average): {changes}")
    return "; ".join(parts)


def l_14(runs: Runs) -> Verdict:
    """The margin over SPTF in overload."""
    said: list[str] = []
    found: dict[str, list[float]] = {name: [] for name in FOUR}
    for sleds, race in _races(runs).items():
        changes = _against_sptf(race, HEAVIEST)
        for name, change in changes.items():
            found[name].append(change)
        parts = ", ".join(f"{name.upper()} {percent(change, 1)} %" for name, change in changes.items())
        said.append(f"{sleds} sled{'s' if sleds > 1 else ''}: {parts}")
    waiting = runs.race(FIGURE, 1).at("sptf", HEAVIEST, "queue_mean")
    ours = (
        f"Mean response at factor 30 against SPTF's, {'; '.join(said)}. {figure(waiting)} requests wait on "
        "average in a run of 21,000."
    )
    why = (
        "It is a matter of how many wait over the 67,500 positions: few share one before there are "
        "thousands. In overload that is a matter of the length of the run, which the paper does not "
        f"print. At factor 30, {_lengths(runs)}. The longer, the better for all four; a part of the gain "
        "is that of joint service alone. Throughput against SPTF's with a constant queue: "
        f"{_depths(runs, (*FOUR, JOINT_SPTF))}."
    )
    best = min(change for changes in found.values() for change in changes)
    signs = all(change < 0 for changes in found.values() for change in changes)
    return verdict(ours, holds=signs and best <= -0.10, partly=best < 0, why=why)


def _spread(race: Race, speedup: float) -> float:
    means = [race.at(name, speedup) for name in FOUR]
    return max(means) / min(means) - 1


def l_15(runs: Runs) -> Verdict:
    """The four among themselves."""
    found = {speedup: [_spread(race, speedup) for race in _races(runs).values()] for speedup in HEAVY}
    parts = ", ".join(f"{spread(values)} at factor {speedup:g}" for speedup, values in found.items())
    why = (
        "At factors 20 and 30 they are near each other. Factor 10 is right at saturation, where the small "
        "differences in capacity that a constant queue shows make large ones in the queue."
    )
    near = [max(values) <= 0.20 for values in found.values()]
    ours = f"The slowest of the four is above the fastest by {parts}, over 1, 4 and 10 sleds."
    return verdict(ours, holds=all(near), partly=any(near), why=why)


def l_16(runs: Runs) -> Verdict:
    """Light load."""
    changes = {
        name: [_against_sptf(race, speedup)[name] for race in _races(runs).values() for speedup in LIGHT]
        for name in FOUR
    }
    parts = ", ".join(f"{name.upper()} {spread(found)}" for name, found in changes.items())
    near = all(
        abs(change) <= (0.15 if name == "pa-sptf" else 0.10)
        for name, found in changes.items()
        for change in found
    )
    return verdict(f"Mean response at factors 1 to 3 against SPTF's: {parts}.", holds=near)


def l_17(runs: Runs) -> Verdict:
    """PA-SPTF's fairness."""
    ratios: dict[float, list[float]] = {}
    for race in _races(runs).values():
        for speedup in race.speedups:
            others = min(race.at(name, speedup, "scv") for name in FIVE if name != "pa-sptf")
            ratios.setdefault(speedup, []).append(race.at("pa-sptf", speedup, "scv") / others - 1)
    found = [ratio for values in ratios.values() for ratio in values]
    ours = (
        f"PA-SPTF's SCV against the lowest of the other four: {spread(found)} over all factors and sleds, "
        f"{spread(ratios[HEAVIEST])} at factor 30."
    )
    return verdict(ours, holds=max(found) <= 0.2, partly=max(ratios[HEAVIEST]) <= 0.2)


def l_18(runs: Runs) -> Verdict:
    """Fairness of the zones."""
    parts, signs = [], []
    for name in ("zpsptf", "zscan-psptf"):
        over = {}
        for other in ("pa-sptf", "p-sptf"):
            over[other] = [
                race.at(name, speedup, "scv") / race.at(other, speedup, "scv") - 1
                for race in _races(runs).values()
                for speedup in HEAVY
            ]
        signs += over["pa-sptf"]
        parts.append(
            f"{name.upper()} {spread(over['pa-sptf'])} against PA-SPTF and {spread(over['p-sptf'])} "
            "against P-SPTF"
        )
    ours = f"SCV at factors 10 to 30: {'; '.join(parts)}."
    return verdict(ours, holds=min(signs) > 0, partly=max(signs) > 0)


GRIDS = ("5x1", "10x1", "25x3", "50x6", "125x9")
LEVEL = 0.01
"""Steps smaller than this count as none."""


def l_19(runs: Runs) -> Verdict:
    """Finer zones."""
    race = runs.race("paper-002-zone-sizes")
    names = [f"zscan-psptf:grid={grid}" for grid in GRIDS]
    said, scv_falls, mean_rises = [], True, True
    for speedup in race.speedups:
        means, scvs = ([race.at(name, speedup, m) for name in names] for m in ("mean_ms", "scv"))
        scv_falls &= all(b <= a * (1 + LEVEL) for a, b in pairwise(scvs))
        mean_rises &= all(b >= a * (1 - LEVEL) for a, b in pairwise(means))
        scv_text = ", ".join(f"{scv:.3f}" for scv in scvs)
        mean_text = ", ".join(f"{figure(mean)}" for mean in means)
        said.append(f"factor {speedup:g}: SCV {scv_text}, mean {mean_text} ms")
    at_once, positioning = (
        [race.at(name, HEAVIEST, measure) for name in names]
        for measure in ("served_at_once", "positioning_ms")
    )
    ours = (
        f"With {', '.join(GRIDS[:-1])} and {GRIDS[-1]} zones, {'; '.join(said)}. The cause is not "
        f"parallelism: {min(at_once):.3f} to {max(at_once):.3f} requests are in service at a time, but "
        f"positioning takes {positioning[0]:.3f} to {positioning[-1]:.3f} ms."
    )
    return verdict(ours, holds=scv_falls and mean_rises, partly=scv_falls or mean_rises)


def _kept_up(runs: Runs) -> float:
    """The heaviest load that all five keep up with on one sled."""
    return max(runs.race(FIGURE, 1).loads(("light", "moderate", "heavy"), *FIVE), default=0.0)


def l_20(runs: Runs) -> Verdict:
    """Where they saturate."""
    gains = {depth: [_at_depth(runs, name, depth) for name in FOUR] for depth in DEPTHS}
    ours = f"Throughput against SPTF's with a constant queue: {_depths(runs, FOUR)}."
    why = (
        f"In figure 2 all keep up with factor {_kept_up(runs):g} and none with more, as SPTF. The four "
        "complete more than it where thousands wait and share positions; before, zones and waiting times "
        "cost positioning."
    )
    return verdict(
        ours,
        holds=all(gain > 0 for values in gains.values() for gain in values),
        partly=all(gain > 0 for gain in gains[DEPTHS[-1]]),
        why=why,
    )


def l_22(runs: Runs) -> Verdict:
    """ZSPTF against SPTF."""
    mean, scv = [], []
    for race in _races(runs).values():
        steady = race.loads(("moderate", "heavy"), "sptf", "zsptf")
        mean += [race.at("zsptf", at) / race.at("sptf", at) - 1 for at in steady]
        scv += [race.at("zsptf", at, "scv") / race.at("sptf", at, "scv") - 1 for at in (9.0, *HEAVY)]
    ours = (
        f"ZSPTF against SPTF: mean {spread(mean)} at factors 2 to 9, below saturation; SCV {spread(scv)} "
        "at factors 9 to 30."
    )
    return verdict(
        ours, holds=max(mean, default=1.0) <= 0.20 and max(scv) < 0, partly=max(scv) < 0 or min(mean) <= 0.20
    )


def l_24(runs: Runs) -> Verdict:
    """Nothing to gain at light load."""
    apart, loads = [], set()
    for race in _races(runs).values():
        for speedup in race.speedups:
            if race.at("sptf", speedup, "utilization") < 0.5:
                loads.add(speedup)
                for name in FOUR:
                    gap = race.at(name, speedup) - race.at("sptf", speedup)
                    width = max(race.at(each, speedup, "mean_ci95_ms") for each in (name, "sptf"))
                    apart.append(abs(gap) / width)
    factors = ", ".join(f"{load:g}" for load in sorted(loads))
    ours = (
        f"At factors {factors}, below 50 % utilisation, the four differ from SPTF by at most "
        f"{max(apart):.2f} half widths of the 95 % interval."
    )
    return verdict(ours, holds=max(apart) <= 1, partly=min(apart) <= 1)


CLAIMS = {
    "L-14": l_14,
    "L-15": l_15,
    "L-16": l_16,
    "L-17": l_17,
    "L-18": l_18,
    "L-19": l_19,
    "L-20": l_20,
    "L-22": l_22,
    "L-24": l_24,
}

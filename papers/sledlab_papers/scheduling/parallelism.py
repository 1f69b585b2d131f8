"""Claims on the parallelism-aware schedulers (Lee 2009, section 4)."""

from __future__ import annotations

from itertools import pairwise

from ..claims import Judgement, judged
from ..runs import LoadCurves
from ..wording import each, percent
from .plan import Reading

FIGURE = "lee2009-figure-2"
SLEDS = (1, 4, 10)
FOUR = ("p-sptf", "pa-sptf", "zpsptf", "zscan-psptf")
FIVE = ("sptf", *FOUR)
LIGHT, HEAVY, HEAVIEST = (1.0, 2.0, 3.0), (10.0, 20.0, 30.0), 30.0
DEPTHS = (100, 1000, 10000)
LENGTHS = (6000, 21000, 84000, 168000)
JOINT_SPTF = "sptf:batch=same-position"


def _races(runs: Reading) -> dict[int, LoadCurves]:
    """Races by number of sleds, as far as they were run: sleds move together, so one stands for all."""
    measured = {sleds: runs.race(FIGURE, sleds) for sleds in SLEDS}
    return {sleds: race for sleds, race in measured.items() if race.curves}


def _depths_of(runs: Reading) -> tuple[int, ...]:
    """Numbers of requests outstanding that were run."""
    return (int(depth),) if (depth := runs.marked("depth")) else DEPTHS


def _against_sptf(race: LoadCurves, speedup: float, measure: str = "mean_ms") -> dict[str, float]:
    return {name: race.against(name, "sptf", speedup, measure) for name in FOUR}


def _at_depth(runs: Reading, name: str, depth: int) -> float:
    """Throughput with `depth` requests outstanding, as a relative difference from SPTF's."""
    race = runs.race("lee2009-saturation", f"closed:{depth}")
    return race.against(name, "sptf", 1.0, "throughput_iops")


def _depths(runs: Reading, names: tuple[str, ...]) -> str:
    return "; ".join(
        f"{depth:,} outstanding: "
        + ", ".join(f"{_label(name)} {percent(_at_depth(runs, name, depth), 1)} %" for name in names)
        for depth in _depths_of(runs)
    )


def _label(name: str) -> str:
    return "SPTF with joint service" if name == JOINT_SPTF else name.upper()


def _lengths(runs: Reading) -> str:
    """A sentence: mean response times relative to SPTF's in overload, by the length of the run."""
    parts = []
    for requests in LENGTHS:
        race = runs.race("lee2009-run-length", requests)
        waiting = race.at("sptf", HEAVIEST, "queue_mean")
        changes = ", ".join(
            f"{_label(name)} {percent(race.against(name, 'sptf', HEAVIEST), 1)} %"
            for name in (*FOUR, JOINT_SPTF)
        )
        parts.append(f"{requests:,} requests ({waiting:,.0f} waiting on average): {changes}")
    return "; ".join(parts)


def l_14(runs: Reading) -> Judgement:
    """The margin over SPTF in overload."""
    details: list[str] = []
    measured: dict[str, list[float]] = {name: [] for name in FOUR}
    for sleds, race in _races(runs).items():
        changes = _against_sptf(race, HEAVIEST)
        for name, change in changes.items():
            measured[name].append(change)
        parts = each("{:upper} {:+1%}", changes.items())
        details.append(f"{sleds} sled{'s' if sleds > 1 else ''}: {parts}")
    waiting = runs.race(FIGURE, 1).at("sptf", HEAVIEST, "queue_mean")
    best = min(change for changes in measured.values() for change in changes)
    signs = all(change < 0 for changes in measured.values() for change in changes)
    return judged(signs and best <= -0.1, best < 0).saying(
        details=details,
        measured=[change for changes in measured.values() for change in changes],
        waiting=waiting,
        lengths=_lengths(runs),
        depths=_depths(runs, (*FOUR, JOINT_SPTF)),
    )


def _spread(race: LoadCurves, speedup: float) -> float:
    means = [race.at(name, speedup) for name in FOUR]
    return max(means) / min(means) - 1


def l_15(runs: Reading) -> Judgement:
    """The four parallelism-aware schedulers, compared with each other."""
    measured = {speedup: [_spread(race, speedup) for race in _races(runs).values()] for speedup in HEAVY}
    parts = each("{1:spread} at factor {0:g}", measured.items())
    near = [max(values) <= 0.20 for values in measured.values()]
    return judged(all(near), any(near)).saying(
        parts=parts, maximum=max(max(values) for values in measured.values())
    )


def l_16(runs: Reading) -> Judgement:
    """Differences at light load."""
    changes = {
        name: [_against_sptf(race, speedup)[name] for race in _races(runs).values() for speedup in LIGHT]
        for name in FOUR
    }
    parts = each("{:upper} {:spread}", changes.items())
    near = all(
        abs(change) <= (0.15 if name == "pa-sptf" else 0.10)
        for name, measured in changes.items()
        for change in measured
    )
    return judged(near).saying(parts=parts)


def l_17(runs: Reading) -> Judgement:
    """PA-SPTF's fairness."""
    ratios: dict[float, list[float]] = {}
    for race in _races(runs).values():
        for speedup in race.speedups:
            others = min(race.at(name, speedup, "scv") for name in FIVE if name != "pa-sptf")
            ratios.setdefault(speedup, []).append(race.at("pa-sptf", speedup, "scv") / others - 1)
    measured = [ratio for values in ratios.values() for ratio in values]
    return judged(max(measured) <= 0.2, max(ratios[HEAVIEST]) <= 0.2).saying(
        measured=measured, heaviest=ratios[HEAVIEST]
    )


def l_18(runs: Reading) -> Judgement:
    """Fairness of the schedulers with zones, compared with all without."""
    parts, signs = [], {}
    for name in ("zpsptf", "zscan-psptf"):
        over = {}
        for other in ("pa-sptf", "p-sptf", "sptf"):
            over[other] = [
                race.against(name, other, speedup, "scv")
                for race in _races(runs).values()
                for speedup in HEAVY
            ]
        signs[name] = {other: min(measured) > 0 for other, measured in over.items()}
        parts.append(f"{name.upper()} {each('{1:spread} against {0:upper}', over.items())}")
    worse = [checked for measured in signs.values() for checked in measured.values()]
    return judged(all(worse), any(worse)).saying(parts=parts)


GRIDS = ("5x1", "10x1", "25x3", "50x6", "125x9")
LEVEL = 0.01
"""Relative changes smaller than this count as none."""


def l_19(runs: Reading) -> Judgement:
    """Finer zones."""
    race = runs.race("lee2009-zone-sizes")
    names = [f"zscan-psptf:grid={grid}" for grid in GRIDS]
    details, scv_falls, mean_rises = [], True, True
    for speedup in race.speedups:
        means, scvs = ([race.at(name, speedup, m) for name in names] for m in ("mean_ms", "scv"))
        scv_falls &= all(b <= a * (1 + LEVEL) for a, b in pairwise(scvs))
        mean_rises &= all(b >= a * (1 - LEVEL) for a, b in pairwise(means))
        scv_text = each("{:.3f}", scvs)
        mean_text = each("{:figure}", means)
        details.append(f"factor {speedup:g}: SCV {scv_text}, mean {mean_text} ms")
    at_once, positioning = (
        [race.at(name, HEAVIEST, measure) for name in names]
        for measure in ("served_at_once", "positioning_ms")
    )
    return judged(scv_falls and mean_rises, scv_falls or mean_rises).saying(
        grids=", ".join(GRIDS[:-1]),
        last=GRIDS[-1],
        details=details,
        minimum=min(at_once),
        maximum=max(at_once),
        positioning=positioning,
        finest=positioning[-1],
    )


def _kept_up(runs: Reading) -> float:
    """The heaviest load at which none of the five is overloaded on one sled."""
    return max(runs.race(FIGURE, 1).loads(("light", "moderate", "heavy"), *FIVE), default=0.0)


def l_20(runs: Reading) -> Judgement:
    """The load at which each saturates."""
    gains = {depth: [_at_depth(runs, name, depth) for name in FOUR] for depth in _depths_of(runs)}
    return judged(
        all(gain > 0 for values in gains.values() for gain in values),
        all(gain > 0 for gain in gains[max(gains)]),
    ).saying(
        depths=_depths(runs, FOUR),
        kept_up=_kept_up(runs),
        measured=[gain for values in gains.values() for gain in values],
    )


def l_22(runs: Reading) -> Judgement:
    """ZSPTF compared with SPTF."""
    mean, scv = [], []
    for race in _races(runs).values():
        steady = race.loads(("moderate", "heavy"), "sptf", "zsptf")
        mean += [race.against("zsptf", "sptf", at) for at in steady]
        scv += [race.against("zsptf", "sptf", at, "scv") for at in (9.0, *HEAVY)]
    return judged(max(mean, default=1.0) <= 0.2 and max(scv) < 0, max(scv) < 0 or min(mean) <= 0.2).saying(
        mean=mean, scv=scv
    )


def l_24(runs: Reading) -> Judgement:
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
    factors = each("{:g}", sorted(loads))
    return judged(max(apart) <= 1, min(apart) <= 1).saying(factors=factors, maximum=max(apart))

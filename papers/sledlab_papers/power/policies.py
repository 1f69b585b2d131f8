"""Claims on adaptive timeouts and on disks (Lin, section 3.2; Hong 2006, section 5.3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from ..claims import Judgement, judged
from ..runs import Points
from ..wording import percent, span
from .plan import DISK, PowerRuns

SLED = "lin-policies"
IMMEDIATE, NEVER, SHARE, ADAPTIVE, ORACLE = "immediate", "never", "share", "adaptive", "oracle"
LEARNING = (SHARE, ADAPTIVE)

TOLERANCE = 0.15
"""Excess of the share algorithm over the best fixed timeout on a disk that is still allowed."""


def fixed(points: Points) -> list[str]:
    """The fixed timeouts of an experiment, ascending, without the extremes."""
    return sorted((v for v in points.varied if v.startswith("fixed")), key=lambda v: float(v.split("=")[1]))


def _seconds(policy: str) -> str:
    return f"{float(policy.split('=')[1]) / 1e3:g} s" if "=" in policy else policy


@dataclass(frozen=True)
class EnergyCurve:
    """Energy of a device at one speed-up, relative to that of parking at once."""

    best: str
    best_change: float
    never_change: float
    share_to_best: float

    @property
    def u_shaped(self) -> bool:
        """Whether a timeout between the extremes takes less energy than both."""
        return self.best_change < 0 and self.best_change < self.never_change


def curve(points: Points, speedup: float) -> EnergyCurve:
    """The best fixed timeout compared with the extremes, and the share algorithm with the best of these."""
    changes = {name: points.change(name, IMMEDIATE, speedup, "energy_j") for name in points.varied}
    best = min(fixed(points), key=lambda name: changes[name])
    minimum = min(changes[name] for name in (best, IMMEDIATE, NEVER))
    return EnergyCurve(best, changes[best], changes[NEVER], (1 + changes[SHARE]) / (1 + minimum) - 1)


def _disk(runs: PowerRuns) -> dict[str, tuple[Points, list[float]]]:
    bursts, snake = runs.points(DISK), runs.disk_on_snake()
    return {"hplajw": (bursts, bursts.speedups), "Snake": (snake, snake.speedups)}


def h_67(runs: PowerRuns) -> Judgement:
    """Energy of a disk over its timeout."""
    details, shaped = [], {}
    for name, (points, speedups) in _disk(runs).items():
        curves = {speedup: curve(points, speedup) for speedup in speedups}
        shaped[name] = {speedup: measured.u_shaped for speedup, measured in curves.items()}
        details.append(
            f"{name}: "
            + ", ".join(
                f"{_seconds(measured.best)} takes {percent(measured.best_change, 1)} %, never parking "
                f"{percent(measured.never_change, 1)} % at {speedup:g}"
                for speedup, measured in curves.items()
            )
        )
    flat = [f"{speedup:g}" for speedup, shape in shaped["Snake"].items() if not shape]
    no_u = (
        f" On Snake at {' and '.join(flat)} it is no U: rests between clusters are exponential there, and "
        "how long one has lasted says nothing about how long it will."
        if flat
        else ""
    )
    return judged(
        all(shaped["hplajw"].values()) and any(shaped["Snake"].values()), any(shaped["hplajw"].values())
    ).saying(details=details, no_u=no_u)


def _on_sleds(runs: PowerRuns) -> dict[str, Points]:
    return {"Seagate": runs.on_seagate(SLED), "Snake": runs.points(SLED)}


def _above_oracle(points: Points, policy: str) -> list[float]:
    """Energy of a policy relative to that of parking at once, at every speed-up."""
    return [points.change(policy, IMMEDIATE, speedup, "energy_j") for speedup in points.speedups]


def y_13(runs: PowerRuns) -> Judgement:
    """The share algorithm on sleds and on a disk."""
    sleds = {
        name: {policy: _above_oracle(points, policy) for policy in LEARNING}
        for name, points in _on_sleds(runs).items()
    }
    details = "; ".join(
        f"{name} {', '.join(f'{policy} {span(changes, 3)}' for policy, changes in measured.items())}"
        for name, measured in sleds.items()
    )
    gaps = [
        curve(points, speedup).share_to_best
        for points, speedups in _disk(runs).values()
        for speedup in speedups
    ]
    oracle = min(change for points in _on_sleds(runs).values() for change in _above_oracle(points, ORACLE))
    above = all(
        change >= 0 for measured in sleds.values() for changes in measured.values() for change in changes
    )
    return judged(above and max(gaps) <= TOLERANCE, above or max(gaps) <= TOLERANCE).saying(
        details=details, gaps=gaps, maximum=100 * max(-oracle, 0.0)
    )

"""Break-even times, and policies compared on sleds and on a disk."""

from __future__ import annotations

from ..markdown import table
from ..runs import ExperimentRuns
from ..simulator import half_width, parameters
from ..wording import format_rows, format_small, percent
from .plan import DISK, PowerRuns
from .policies import ADAPTIVE, IMMEDIATE, LEARNING_POLICIES, NEVER, ORACLE, SHARE, fixed_timeouts
from .singles import idle_mw

SLEDS = ("mems-g1", "mems-g2", "mems-g3")


def _row(device: str, idle_mw: float, parked_mw: float, startup_ms: float, startup_mw: float) -> list[str]:
    startup_uj = startup_ms * startup_mw
    even_ms = startup_uj / (idle_mw - parked_mw)
    return [f"`{device}`", f"{idle_mw:.0f}", f"{parked_mw:g}", f"{startup_uj:,.0f}", f"{even_ms:,.2f}"]


def break_even() -> str:
    """A table: the length of rests from which parking pays."""
    rows = []
    for name in SLEDS:
        p = parameters(name)
        rows.append(_row(name, idle_mw(name), p["inactive_mw"], p["startup_ms"], p["startup_mw"]))
    disk = parameters("mobile-disk")
    rows.append(
        _row("mobile-disk", *(disk[key] for key in ("idle_mw", "sleep_mw", "startup_ms", "startup_mw")))
    )
    return table(["device", "idle, mW", "parked, mW", "start-up, uJ", "break-even, ms"], rows)


def _policies(points: ExperimentRuns, names: list[str]) -> str:
    rows = [
        [
            _name(policy),
            *(percent(points.change(policy, IMMEDIATE, s, "energy_j"), 2) for s in points.speedups),
        ]
        for policy in names
    ]
    return table(["policy", *(f"at {speedup:g}" for speedup in points.speedups)], rows)


def _name(policy: str) -> str:
    if "=" not in policy:
        return policy
    ms = float(policy.split("=")[1])
    return f"{ms:g} ms" if ms < 1000 else f"{ms / 1000:g} s"


def noise(points: ExperimentRuns) -> float:
    """The widest 95 % interval, over seeds, of the excess of a learning policy over parking at once."""
    widest = 0.0
    for policy in LEARNING_POLICIES:
        for speedup in points.speedups:
            pairs = zip(
                points.seed_values(policy, speedup, "energy_j"),
                points.seed_values(IMMEDIATE, speedup, "energy_j"),
                strict=True,
            )
            widest = max(widest, half_width([mine / other - 1 for mine, other in pairs]) or 0.0)
    return widest


def places(runs: PowerRuns) -> dict[str, str]:
    """Break-even times and policies."""
    sled, seagate = runs.experiment("lin-policies"), runs.seagate_runs("lin-policies")
    bursts, on_snake = runs.experiment(DISK), runs.snake_disk_runs()
    names = [ORACLE, SHARE, ADAPTIVE, *fixed_timeouts(sled), NEVER]
    on_disk = [ORACLE, SHARE, ADAPTIVE, *fixed_timeouts(bursts), NEVER]
    above = [
        speedup
        for speedup in seagate.speedups
        if seagate.change(ORACLE, IMMEDIATE, speedup, "energy_j") > 1e-3
    ]
    return {
        "break_even": break_even(),
        "noise": format_small(100 * noise(sled)),
        "above": format_rows("{:g}", above),
        "seagate": _policies(seagate, names),
        "snake": _policies(sled, names),
        "hplajw_disk": _policies(bursts, on_disk),
        "snake_disk": _policies(on_snake, on_disk),
    }

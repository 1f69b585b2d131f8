"""Break-even times, and policies beside each other on sleds and on a disk."""

from __future__ import annotations

from sledlab.comparison.statistics import half_width

from ...markdown import percent, table, tiny
from ...replays import parameters
from ..points import Points
from .policies import ADAPTIVE, IMMEDIATE, LEARNING, NEVER, ORACLE, SHARE, fixed
from .runs import DISK, Runs
from .singles import snake

SLEDS = ("mems-g1", "mems-g2", "mems-g3")


def _idle_mw(device: str) -> float:
    """What a device draws while idle, on average over the stand-in for Snake."""
    summary = snake(device, ("power.kind", "fixed:timeout_ms=1000")).summary
    return float(summary["energy_j"]["idle"] / summary["state_time_s"]["idle"]) * 1e3


def _row(device: str, idle_mw: float, parked_mw: float, startup_ms: float, startup_mw: float) -> list[str]:
    startup_uj = startup_ms * startup_mw
    even_ms = startup_uj / (idle_mw - parked_mw)
    return [f"`{device}`", f"{idle_mw:.0f}", f"{parked_mw:g}", f"{startup_uj:,.0f}", f"{even_ms:,.2f}"]


def break_even() -> str:
    """How long a rest must last for parking to pay."""
    rows = []
    for name in SLEDS:
        p = parameters(name)
        rows.append(_row(name, _idle_mw(name), p["inactive_mw"], p["startup_ms"], p["startup_mw"]))
    disk = parameters("mobile-disk")
    rows.append(
        _row("mobile-disk", *(disk[key] for key in ("idle_mw", "sleep_mw", "startup_ms", "startup_mw")))
    )
    return table(["device", "idle, mW", "parked, mW", "start-up, uJ", "break-even, ms"], rows)


def _policies(points: Points, names: list[str]) -> str:
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


def noise(points: Points) -> float:
    """The widest 95 % interval of how far a learning policy is from parking at once, over seeds."""
    widest = 0.0
    for policy in LEARNING:
        for speedup in points.speedups:
            pairs = zip(
                points.each(policy, speedup, "energy_j"),
                points.each(IMMEDIATE, speedup, "energy_j"),
                strict=True,
            )
            widest = max(widest, half_width([mine / other - 1 for mine, other in pairs]) or 0.0)
    return widest


def section(runs: Runs) -> str:
    """Break-even times and policies."""
    sled, seagate = runs.points("paper-003-policies"), runs.on_seagate("paper-003-policies")
    bursts, on_snake = runs.points(DISK), runs.disk_on_snake()
    names = [ORACLE, SHARE, ADAPTIVE, *fixed(sled), NEVER]
    on_disk = [ORACLE, SHARE, ADAPTIVE, *fixed(bursts), NEVER]
    above = [
        speedup
        for speedup in seagate.speedups
        if seagate.change(ORACLE, IMMEDIATE, speedup, "energy_j") > 1e-3
    ]
    return f"""\
## Break-even times and policies

Parking pays in a rest that is longer than the energy of a start-up divided by what parking saves. Idle
power of sleds is the mean over Snake; it depends on where the sled stopped and on how many tips the last
request had.

{break_even()}
The tables have the energy against parking at once, in %. On the sled (G2) no policy that learns or waits
gets below it, on the Seagate trace and on Snake at any speed; 95 % intervals over the seeds of Snake reach at
most {tiny(100 * noise(sled))} % to either side. A start-up takes its 0.5 ms out of a later rest, which would
have cost something too, so parking pays even earlier than the break-even time says; that is why the oracle,
which goes by that time, takes more than parking at once where rests are short (Seagate at
{", ".join(f"{speedup:g}" for speedup in above)} times the speed). In a queue that is fed from outside it is
the best of those who go by the length of a rest, not a lower bound.

Seagate, G2, by speed:

{_policies(seagate, names)}
Snake, G2, by speed:

{_policies(sled, names)}
On the disk it is otherwise: spinning down at once and never are both worse than a timeout of some seconds
where rests are of all lengths (hplajw, slowed down), and the share algorithm finds about the best one.

hplajw, `mobile-disk`, by speed:

{_policies(bursts, on_disk)}
Snake, `mobile-disk`, by speed:

{_policies(on_snake, on_disk)}"""

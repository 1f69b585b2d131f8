"""Claims on where the energy goes with a timeout of one second (paper 000, 5.1; paper 003, 1.2)."""

from __future__ import annotations

from ...replays import parameters
from ..claims import Verdict, verdict
from ..points import Points
from .runs import Runs
from .singles import parts_of_states, snake

FIGURE = "paper-000-figure-10"
STATES = ("idle_j", "inactive_j", "servicing_j")
LOOP, SLED, FULL = "servo-loop", "sled-only", "full"
"""What an idle sled draws: the model, the sled alone, as much as while transferring."""

SNAKE = 10.0
"""Its speed in paper 000; paper 003 does not say, and its tables are for this one and 100."""

CLUSTERS = ("19 clumps", "30 clumps", "60 clumps", "100 clumps")
"""Of `paper-000-idle-share`; the first is what the stand-in has."""


def _shares(points: Points, power: str, speedup: float) -> tuple[float, float, float]:
    """Idle, inactive, seek and access."""
    idle, inactive, servicing = (points.share(power, speedup, part) for part in STATES)
    return idle, inactive, servicing


def _within(value: float, middle: float, band: float) -> bool:
    return abs(value - middle) <= band


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _why_idle(runs: Runs) -> str:
    """What the idle share of the stand-in hangs on."""
    points = runs.points("paper-000-idle-share")
    idle = ", ".join(_percent(points.share(name, SNAKE, "idle_j")) for name in CLUSTERS)
    starts = ", ".join(f"{points.at(f'{name}, parks at once', SNAKE, 'startups'):,.0f}" for name in CLUSTERS)
    return (
        "It is a matter of how the rests of the trace are spread over its day. What is published (start-ups "
        "and response times at 10 and 100 times the speed) says little about rests of a second and longer; "
        "the stand-in is fitted to that and not to this share. With 19 (as fitted), 30, 60 and 100 clumps of "
        f"requests a cluster, so fewer and longer rests, it is {idle} at 10 times the speed, where a sled "
        f"that parks at once starts {starts} times."
    )


def h_15(runs: Runs) -> Verdict:
    """Three readings of idle power on the Seagate trace."""
    found = {power: _shares(runs.on_seagate(FIGURE), power, 1.0) for power in (LOOP, SLED, FULL)}
    names = {
        LOOP: "the servo loop with the last request's tips",
        SLED: "the sled alone",
        FULL: "a full transfer",
    }
    ours = "Seagate, idle and seek with access: " + "; ".join(
        f"{_percent(idle)} and {_percent(servicing)} if idle costs {names[power]}"
        for power, (idle, _, servicing) in found.items()
    )
    fits = {power: _within(i, 0.91, 0.03) and _within(s, 0.09, 0.02) for power, (i, _, s) in found.items()}
    return verdict(
        f"{ours}. The first is the model of sledlab.", holds=fits[LOOP] and sum(fits.values()) == 1
    )


def h_61(runs: Runs) -> Verdict:
    """Idle share, both workloads."""
    seagate = _shares(runs.on_seagate(FIGURE), LOOP, 1.0)[0]
    ten = _shares(runs.points(FIGURE), LOOP, SNAKE)[0]
    near = [_within(seagate, 0.91, 0.03), _within(ten, 0.55, 0.10)]
    ours = f"Seagate {_percent(seagate)}; Snake at 10 times its speed {_percent(ten)} (stand-in)."
    return verdict(ours, holds=all(near), partly=any(near), why=_why_idle(runs))


def h_62(runs: Runs) -> Verdict:
    """Share of seeks and accesses, both workloads."""
    seagate = _shares(runs.on_seagate(FIGURE), LOOP, 1.0)[2]
    ten = _shares(runs.points(FIGURE), LOOP, SNAKE)[2]
    near = [_within(seagate, 0.09, 0.02), 0.03 <= ten <= 0.09]
    ours = f"Seagate {_percent(seagate)}; Snake at 10 times its speed {_percent(ten)} (stand-in)."
    return verdict(ours, holds=all(near), partly=any(near))


def h_63(_: Runs) -> Verdict:
    """Inactive energy is its power times its time."""
    joule, time_s = parts_of_states(snake("mems-g2", ("power.kind", "immediate")))["inactive"]
    mw = parameters("mems-g2")["inactive_mw"]
    ours = (
        f"Snake at 10 times its speed, parked at once: {joule:.3f} J in {time_s:,.1f} s, "
        f"{1e3 * joule / time_s:.3f} "
        f"mW of the {mw:g} mW that the device draws at least."
    )
    return verdict(ours, holds=joule >= mw * 1e-3 * time_s * (1 - 1e-9))


def y_07(runs: Runs) -> Verdict:
    """Idle share on the Seagate trace."""
    idle = _shares(runs.on_seagate(FIGURE), LOOP, 1.0)[0]
    return verdict(f"{_percent(idle)}.", holds=0.87 <= idle <= 0.94)


def y_08(runs: Runs) -> Verdict:
    """Idle share on Snake, whose speed is not said."""
    points = runs.points("paper-000-idle-share")
    found = {speedup: points.share(CLUSTERS[0], speedup, "idle_j") for speedup in points.speedups}
    ours = "Stand-in: " + ", ".join(f"{_percent(idle)} at {speedup:g}" for speedup, idle in found.items())
    inside = {speedup: 0.40 <= idle <= 0.65 for speedup, idle in found.items()}
    slower = any(held for speedup, held in inside.items() if speedup < SNAKE)
    why = f"The paper does not say at which speed; judged at 10. {_why_idle(runs)}"
    return verdict(f"{ours} times its speed.", holds=inside[SNAKE], partly=slower, why=why)


def y_09(runs: Runs) -> Verdict:
    """The order of idle and servicing."""
    seagate = _shares(runs.on_seagate(FIGURE), LOOP, 1.0)
    ten, hundred = (_shares(runs.points(FIGURE), LOOP, speedup) for speedup in (SNAKE, 100.0))
    said = "; ".join(
        f"{name} {', '.join(map(_percent, shares))}"
        for name, shares in (("Seagate", seagate), ("Snake at 10", ten), ("at 100 times its speed", hundred))
    )
    ordered = [idle > servicing > inactive for idle, inactive, servicing in (seagate, ten)]
    why = (
        "On Snake at 10 times its speed a timeout of one second leaves long rests in which the sled is "
        "parked, which take more than servicing; so they do in the paper's own table, without idling, by "
        f"{211.532886 / 10.817354:.0f} times. At 100 times its speed the order holds."
    )
    return verdict(f"Idle, inactive, servicing: {said}.", holds=all(ordered), partly=any(ordered), why=why)


CLAIMS = {
    "H-15": h_15,
    "H-61": h_61,
    "H-62": h_62,
    "H-63": h_63,
    "Y-07": y_07,
    "Y-08": y_08,
    "Y-09": y_09,
}

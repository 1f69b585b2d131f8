"""Claims on the shares of energy with a timeout of one second (Hong 2006, 5.1; Lin, 1.2)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed, judge_range
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..simulator import parameters
from .plan import IDLE_POWERS, PowerRuns
from .singles import idle_mw, parts_of_states, simulate_snake

FIGURE = "hong2006-figure-10"
STATES = ("idle_j", "inactive_j", "servicing_j")
LOOP, SLED, FULL = IDLE_POWERS

SNAKE = 10.0
"""Speed-up of Snake in Hong 2006; Lin names none, and its tables are for this one and 100."""

PRINTED_IDLE = PrintedNumber("almost 50 %")
"""Idle share of the energy on Snake in Lin, which does not print the speed-up."""

CLUSTERS = ("19 clumps", "30 clumps", "60 clumps", "100 clumps")
"""Values of `hong2006-idle-share`; the first is that of the stand-in."""


def _shares(points: ExperimentRuns, power: str, speedup: float) -> tuple[float, float, float]:
    """Shares of the energy: idle, inactive, and seek with access."""
    idle, inactive, servicing = (points.share(power, speedup, part) for part in STATES)
    return idle, inactive, servicing


READINGS = {
    LOOP: "the servo loop with the last request's tips",
    SLED: "the sled alone",
    FULL: "a full transfer",
}
"""Words for the readings of an idle sled's power."""

MAX_SMALL_SHARE = 0.18
"""Twice the greatest printed share of seeks and accesses, up to which the share is small."""

PUBLISHED_IDLE = 0.55
"""Idle share of the energy on Snake at 10 times its speed, printed in Hong 2006."""


def saving_at_published_idle(runs: PowerRuns) -> tuple[float, float]:
    """The idle share nearest to the printed one, and the saving of parking at once with that share."""
    points = runs.experiment("hong2006-idle-share")
    shares = {name: points.share(name, SNAKE, "idle_j") for name in CLUSTERS}
    name = min(CLUSTERS, key=lambda each: abs(shares[each] - PUBLISHED_IDLE))
    return shares[name], -points.change(f"{name}, parks at once", name, SNAKE, "energy_j")


def inconsistency_text(runs: PowerRuns) -> str:
    """Why the printed share of idle energy and the printed saving exclude each other."""
    drawn_mw, parked_mw = idle_mw("mems-g2"), parameters("mems-g2")["inactive_mw"]
    saved = 1 - parked_mw / drawn_mw
    share, measured = saving_at_published_idle(runs)
    full = _shares(runs.seagate_runs(FIGURE), FULL, 1.0)[0]
    return (
        f"The papers' numbers do not fit together. Parking puts {parked_mw:g} mW in the place of "
        f"{drawn_mw:.0f} mW of an idle sled, so that where {100 * PUBLISHED_IDLE:.0f} % of the energy is "
        f"idle (H-61) it saves {100 * PUBLISHED_IDLE * saved:.0f} % at most; the stand-in with "
        f"{_percent(share)} idle saves {_percent(measured)}. Half takes {50 / saved:.0f} % idle, or a sled "
        f"that idles at the power of a transfer; but then the Seagate trace would have {_percent(full)} idle "
        "instead of 91 % (H-15)."
    )


def _is_within(value: float, middle: float, band: float) -> bool:
    return abs(value - middle) <= band


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _idle_share_text(runs: PowerRuns) -> str:
    """The causes of the stand-in's idle share."""
    points = runs.experiment("hong2006-idle-share")
    idle = ", ".join(_percent(points.share(name, SNAKE, "idle_j")) for name in CLUSTERS)
    starts = ", ".join(
        f"{points.mean(f'{name}, parks at once', SNAKE, 'startups'):,.0f}" for name in CLUSTERS
    )
    return (
        "It is a matter of how the rests of the trace are spread over its day. What is published (start-ups "
        "and response times at 10 and 100 times the speed) says little about rests of a second and longer; "
        "the stand-in is fitted to that and not to this share. With 19 (as fitted), 30, 60 and 100 clumps of "
        f"requests a cluster, so fewer and longer rests, it is {idle} at 10 times the speed, where a sled "
        f"that parks at once starts {starts} times."
    )


def h_15(runs: PowerRuns) -> Judgment:
    """Three readings of idle power on the Seagate trace."""
    measured = {power: _shares(runs.seagate_runs(FIGURE), power, 1.0) for power in (LOOP, SLED, FULL)}
    fits = {
        power: _is_within(i, 0.91, 0.03) and _is_within(s, 0.09, 0.02)
        for power, (i, _, s) in measured.items()
    }
    return judge_criterion(fits[LOOP] and sum(fits.values()) == 1).with_numbers(
        measured="; ".join(
            (
                f"{_percent(idle)} and {_percent(servicing)} if idle costs {READINGS[power]}"
                for power, (idle, _, servicing) in measured.items()
            )
        )
    )


def h_61(runs: PowerRuns) -> Judgment:
    """Idle share, both workloads."""
    seagate = _shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)[0]
    ten = _shares(runs.experiment(FIGURE), runs.idle_power, SNAKE)[0]
    # Seagate does not count: the reading of idle power was chosen for its shares (H-15).
    return judge_printed([ten], direction=ten > 0.5).with_numbers(
        seagate=_percent(seagate), ten=_percent(ten), why_idle=_idle_share_text(runs)
    )


def h_62(runs: PowerRuns) -> Judgment:
    """Share of seeks and accesses, both workloads."""
    power = runs.idle_power
    seagate, ten = (
        _shares(points, power, speedup)[2]
        for points, speedup in ((runs.seagate_runs(FIGURE), 1.0), (runs.experiment(FIGURE), SNAKE))
    )
    # Seagate does not count: the reading of idle power was chosen for its shares (H-15).
    return judge_printed([ten], direction=ten <= MAX_SMALL_SHARE).with_numbers(
        seagate=seagate, ten=ten, power=READINGS[power]
    )


def h_63(_: PowerRuns) -> Judgment:
    """Inactive energy is its power times its time."""
    joule, time_s = parts_of_states(simulate_snake("mems-g2", ("power.kind", "immediate")))["inactive"]
    mw = parameters("mems-g2")["inactive_mw"]
    return judge_criterion(joule >= mw * 0.001 * time_s * (1 - 1e-09)).with_numbers(
        joule=joule, time_s=time_s, measured_mw=1000.0 * joule / time_s, mw=mw
    )


def y_07(runs: PowerRuns) -> Judgment:
    """Idle share on the Seagate trace."""
    idle = _shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)[0]
    return judge_printed([idle], direction=idle > 0.5).with_numbers(
        idle=idle, power=READINGS[runs.idle_power]
    )


def y_08(runs: PowerRuns) -> Judgment:
    """Idle share on Snake, whose speed-up the paper does not name."""
    points = runs.experiment("hong2006-idle-share")
    measured = {speedup: points.share(CLUSTERS[0], speedup, "idle_j") for speedup in points.speedups}
    inside = [PRINTED_IDLE.is_met([idle]) for idle in measured.values()]
    return (
        judge_range(all(inside), any(inside))
        .with_values(measured.values())
        .with_numbers(
            measured=", ".join((f"{_percent(idle)} at {speedup:g}" for speedup, idle in measured.items())),
            why_idle=_idle_share_text(runs),
        )
    )


def y_09(runs: PowerRuns) -> Judgment:
    """The order of idle and servicing."""
    seagate = _shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)
    ten, hundred = (_shares(runs.experiment(FIGURE), runs.idle_power, speedup) for speedup in (SNAKE, 100.0))
    details = "; ".join(
        f"{name} {', '.join(map(_percent, shares))}"
        for name, shares in (("Seagate", seagate), ("Snake at 10", ten), ("at 100 times its speed", hundred))
    )
    ordered = [idle > servicing > inactive for idle, inactive, servicing in (seagate, ten)]
    return judge_criterion(all(ordered), any(ordered)).with_numbers(
        details=details, printed=211.532886 / 10.817354
    )

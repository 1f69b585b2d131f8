"""Claims on the shares of energy with a timeout of one second (Hong 2006, 5.1; Lin, 1.2)."""

from __future__ import annotations

from ..claims import Judgment, judge_criterion, judge_printed, judge_range
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..simulator import parameters
from .plan import IDLE_POWERS, PowerRuns
from .singles import energy_and_time_by_state, idle_mw, simulate_snake

FIGURE = "hong2006-figure-10"
STATES = ("idle_j", "inactive_j", "servicing_j")
LOOP, SLED, FULL = IDLE_POWERS

SNAKE = 10.0
"""Speed-up of Snake in Hong 2006; Lin names none, and its tables are for this one and 100."""

PRINTED_IDLE = PrintedNumber("almost 50 %")
"""Idle share of the energy on Snake in Lin, which does not print the speed-up."""

CLUSTERS = ("19 clumps", "30 clumps", "60 clumps", "100 clumps")
"""Values of `hong2006-idle-share`; the first is that of the stand-in."""


def _energy_shares(experiment: ExperimentRuns, power: str, speedup: float) -> tuple[float, float, float]:
    """Shares of the energy: idle, inactive, and seek with access."""
    idle, inactive, servicing = (experiment.share(power, speedup, part) for part in STATES)
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
    experiment = runs.experiment("hong2006-idle-share")
    shares = {name: experiment.share(name, SNAKE, "idle_j") for name in CLUSTERS}
    name = min(CLUSTERS, key=lambda each: abs(shares[each] - PUBLISHED_IDLE))
    return shares[name], -experiment.change(f"{name}, parks at once", name, SNAKE, "energy_j")


def inconsistency_text(runs: PowerRuns) -> str:
    """Why the printed share of idle energy and the printed saving exclude each other."""
    sled_mw, parked_mw = idle_mw("mems-g2"), parameters("mems-g2")["inactive_mw"]
    max_saving = 1 - parked_mw / sled_mw
    idle_share, saving = saving_at_published_idle(runs)
    full_idle_share = _energy_shares(runs.seagate_runs(FIGURE), FULL, 1.0)[0]
    return (
        f"The papers' numbers do not fit together. Parking puts {parked_mw:g} mW in the place of "
        f"{sled_mw:.0f} mW of an idle sled, so that where {100 * PUBLISHED_IDLE:.0f} % of the energy is "
        f"idle (H-61) it saves {100 * PUBLISHED_IDLE * max_saving:.0f} % at most; the stand-in with "
        f"{_percent(idle_share)} idle saves {_percent(saving)}. Half takes {50 / max_saving:.0f} % idle, or "
        "a sled that idles at the power of a transfer; but then the Seagate trace would have "
        f"{_percent(full_idle_share)} idle instead of 91 % (H-15)."
    )


def _is_within(value: float, middle: float, band: float) -> bool:
    return abs(value - middle) <= band


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _idle_share_text(runs: PowerRuns) -> str:
    """The causes of the stand-in's idle share."""
    experiment = runs.experiment("hong2006-idle-share")
    idle_texts = ", ".join(_percent(experiment.share(name, SNAKE, "idle_j")) for name in CLUSTERS)
    startup_texts = ", ".join(
        f"{experiment.mean(f'{name}, parks at once', SNAKE, 'startups'):,.0f}" for name in CLUSTERS
    )
    return (
        "The share depends on how the idle periods of the trace are spread over its day. What is published "
        "(start-ups and response times at 10 and 100 times the speed) says little about idle periods of a "
        "second and longer; the stand-in is fitted to that and not to this share. With 19 (as fitted), 30, "
        "60 and 100 clumps of requests per cluster, so fewer and longer idle periods, it is "
        f"{idle_texts} at 10 times the speed, where a sled that parks at once starts {startup_texts} times."
    )


def h_15(runs: PowerRuns) -> Judgment:
    """Three readings of idle power on the Seagate trace."""
    shares_by_power = {
        power: _energy_shares(runs.seagate_runs(FIGURE), power, 1.0) for power in (LOOP, SLED, FULL)
    }
    fits_published = {
        power: _is_within(i, 0.91, 0.03) and _is_within(s, 0.09, 0.02)
        for power, (i, _, s) in shares_by_power.items()
    }
    return judge_criterion(fits_published[LOOP] and sum(fits_published.values()) == 1).with_numbers(
        measured="; ".join(
            (
                f"{_percent(idle)} and {_percent(servicing)} if idle costs {READINGS[power]}"
                for power, (idle, _, servicing) in shares_by_power.items()
            )
        )
    )


def h_61(runs: PowerRuns) -> Judgment:
    """Idle share, both workloads."""
    seagate_idle = _energy_shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)[0]
    snake_idle = _energy_shares(runs.experiment(FIGURE), runs.idle_power, SNAKE)[0]
    # Seagate does not count: the reading of idle power was chosen for its shares (H-15).
    return judge_printed([snake_idle], direction_holds=snake_idle > 0.5).with_numbers(
        seagate=_percent(seagate_idle), ten=_percent(snake_idle), why_idle=_idle_share_text(runs)
    )


def h_62(runs: PowerRuns) -> Judgment:
    """Share of seeks and accesses, both workloads."""
    power = runs.idle_power
    seagate_share, snake_share = (
        _energy_shares(experiment, power, speedup)[2]
        for experiment, speedup in ((runs.seagate_runs(FIGURE), 1.0), (runs.experiment(FIGURE), SNAKE))
    )
    # Seagate does not count: the reading of idle power was chosen for its shares (H-15).
    return judge_printed([snake_share], direction_holds=snake_share <= MAX_SMALL_SHARE).with_numbers(
        seagate=seagate_share, ten=snake_share, power=READINGS[power]
    )


def h_63(_: PowerRuns) -> Judgment:
    """Inactive energy is its power times its time."""
    energy_j, time_s = energy_and_time_by_state(simulate_snake("mems-g2", ("power.kind", "immediate")))[
        "inactive"
    ]
    inactive_mw = parameters("mems-g2")["inactive_mw"]
    return judge_criterion(energy_j >= inactive_mw * 0.001 * time_s * (1 - 1e-09)).with_numbers(
        joule=energy_j, time_s=time_s, measured_mw=1000.0 * energy_j / time_s, mw=inactive_mw
    )


def y_07(runs: PowerRuns) -> Judgment:
    """Idle share on the Seagate trace."""
    idle_share = _energy_shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)[0]
    return judge_printed([idle_share], direction_holds=idle_share > 0.5).with_numbers(
        idle=idle_share, power=READINGS[runs.idle_power]
    )


def y_08(runs: PowerRuns) -> Judgment:
    """Idle share on Snake, whose speed-up the paper does not name."""
    experiment = runs.experiment("hong2006-idle-share")
    idle_shares = {
        speedup: experiment.share(CLUSTERS[0], speedup, "idle_j") for speedup in experiment.speedups
    }
    are_inside = [PRINTED_IDLE.is_met([idle_share]) for idle_share in idle_shares.values()]
    return (
        judge_range(all(are_inside), any(are_inside))
        .with_values(idle_shares.values())
        .with_numbers(
            measured=", ".join(
                (f"{_percent(idle_share)} at {speedup:g}" for speedup, idle_share in idle_shares.items())
            ),
            why_idle=_idle_share_text(runs),
        )
    )


def y_09(runs: PowerRuns) -> Judgment:
    """The order of idle and servicing."""
    seagate_shares = _energy_shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)
    shares_at_10, shares_at_100 = (
        _energy_shares(runs.experiment(FIGURE), runs.idle_power, speedup) for speedup in (SNAKE, 100.0)
    )
    details = "; ".join(
        f"{name} {', '.join(map(_percent, shares))}"
        for name, shares in (
            ("Seagate", seagate_shares),
            ("Snake at 10", shares_at_10),
            ("at 100 times its speed", shares_at_100),
        )
    )
    are_ordered = [
        idle > servicing > inactive for idle, inactive, servicing in (seagate_shares, shares_at_10)
    ]
    return judge_criterion(all(are_ordered), any(are_ordered)).with_numbers(
        details=details, printed=211.532886 / 10.817354
    )

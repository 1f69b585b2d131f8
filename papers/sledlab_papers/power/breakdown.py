"""Claims on the shares of energy with a timeout of one second (Hong 2006, 5.1; Lin, 1.2)."""

from __future__ import annotations

from dataclasses import dataclass

from ..claims import Judgment, judge_comparisons, judge_criterion, judge_printed
from ..printed import PrintedNumber
from ..runs import ExperimentRuns
from ..simulator import parameters
from ..wording import cells, number_table
from .plan import IDLE_POWERS, PowerRuns
from .singles import energy_and_time_by_state, idle_mw, simulate_snake
from .tables import speed_table

FIGURE, LIN_FIGURE = "hong2006-figure-10", "lin-figure-2"
STATES = ("idle_j", "inactive_j", "servicing_j")
LOOP, SLED, FULL = IDLE_POWERS

SNAKE = 10.0
"""Speed-up of Snake in Hong 2006; Lin names none, and its tables are for this one and 100."""


def _energy_shares(experiment: ExperimentRuns, power: str, speedup: float) -> tuple[float, float, float]:
    """Shares of the energy: idle, inactive, and seek with access."""
    idle, inactive, servicing = (experiment.share(power, speedup, part) for part in STATES)
    return idle, inactive, servicing


READINGS = {
    LOOP: "the servo loop with the last request's tips",
    SLED: "the sled alone",
    FULL: "an access with the last request's tips",
}
"""Words for the readings of an idle sled's power."""

LAST_SECTOR = "an access to the last sector"
"""Another reading, of which the energies follow from those of the sled alone."""

PRINTED_IDLE, PRINTED_SERVICING = PrintedNumber("91 %"), PrintedNumber("9 %")
"""Shares on Seagate: the greatest of the ranges that Hong 2006 prints for both traces."""


def max_parking_saving() -> float:
    """The share of idle energy that parking saves at most: a parked sled draws power, too."""
    return 1 - float(parameters("mems-g2")["inactive_mw"]) / idle_mw("mems-g2")


def idle_share_of_full_transfer(runs: PowerRuns) -> float:
    """The idle share of the energy on Seagate, if an idle sled drew the power of a full transfer."""
    return _energy_shares(runs.seagate_runs(FIGURE), FULL, 1.0)[0]


@dataclass(frozen=True)
class IdleReading:
    """Energies on Seagate with one reading of what an idle sled draws."""

    idle_mw: float
    idle_j: float
    servicing_j: float
    total_j: float

    @property
    def shares(self) -> tuple[float, float]:
        """Shares of the energy: idle, and seek with access."""
        return self.idle_j / self.total_j, self.servicing_j / self.total_j

    @property
    def fits_print(self) -> bool:
        """Whether both shares round to the printed ones."""
        idle, servicing = self.shares
        return PRINTED_IDLE.is_met([idle]) and PRINTED_SERVICING.is_met([servicing])


def _idle_readings(runs: PowerRuns) -> dict[str, IdleReading]:
    """The readings of an idle sled's power by their words; the sled is idle equally long in all."""
    experiment, p = runs.seagate_runs(FIGURE), parameters("mems-g2")

    def joules(power: str, share: int) -> float:
        return _energy_shares(experiment, power, 1.0)[share] * experiment.mean(power, 1.0, "energy_j")

    idle_s = joules(SLED, 0) / (1e-3 * p["sled_mw"])
    readings = {
        READINGS[power]: IdleReading(
            1e3 * joules(power, 0) / idle_s,
            joules(power, 0),
            joules(power, 2),
            experiment.mean(power, 1.0, "energy_j"),
        )
        for power in (LOOP, SLED, FULL)
    }
    sector_mw = p["sled_mw"] + p["tips_per_block"] * p["tip_mw"]
    sector_j, sled = 1e-3 * sector_mw * idle_s, readings[READINGS[SLED]]
    sector = IdleReading(sector_mw, sector_j, sled.servicing_j, sled.total_j - sled.idle_j + sector_j)
    return {**readings, LAST_SECTOR: sector}


def h_15(runs: PowerRuns) -> Judgment:
    """Readings of idle power on the Seagate trace, of which one alone has the printed shares."""
    readings = _idle_readings(runs)
    idle, servicing = readings[READINGS[LOOP]].shares
    rows = [
        cells("{} | {:.0f} | {:%1} | {:%1}", words, reading.idle_mw, *reading.shares)
        for words, reading in readings.items()
    ]
    fitting = [words for words, reading in readings.items() if reading.fits_print]
    return (
        judge_criterion(fitting == [READINGS[LOOP]])
        .with_numbers(idle=idle, servicing=servicing, readings=len(readings))
        .with_tables(
            number_table(
                "Mean idle power, mW, and shares of the energy on Seagate, %",
                "an idle sled draws | mW | idle | seek and access",
                [*rows, ["published", "", "91", "9"]],
            )
        )
    )


def h_61(runs: PowerRuns) -> Judgment:
    """Idle share, both workloads."""
    seagate_idle = _energy_shares(runs.seagate_runs(FIGURE), runs.idle_power, 1.0)[0]
    snake_idle = _energy_shares(runs.experiment(FIGURE), runs.idle_power, SNAKE)[0]
    # Seagate does not count: the reading of idle power was chosen for its shares (H-15).
    return judge_printed([snake_idle], direction_holds=snake_idle > 0.5).with_numbers(
        seagate=seagate_idle, ten=snake_idle
    )


def h_62(runs: PowerRuns) -> Judgment:
    """Share of seeks and accesses, both workloads."""
    power = runs.idle_power
    seagate_share = _energy_shares(runs.seagate_runs(FIGURE), power, 1.0)[2]
    snake_idle, _, snake_share = _energy_shares(runs.experiment(FIGURE), power, SNAKE)
    # Seagate does not count: the reading of idle power was chosen for its shares (H-15).
    return judge_printed([snake_share], direction_holds=snake_share < snake_idle).with_numbers(
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
    idle_share = _energy_shares(runs.seagate_runs(LIN_FIGURE), runs.idle_power, 1.0)[0]
    return judge_printed([idle_share], direction_holds=idle_share > 0.5).with_numbers(
        idle=idle_share, power=READINGS[runs.idle_power]
    )


def y_08(runs: PowerRuns) -> Judgment:
    """Idle share on Snake, whose speed-up the paper does not name."""
    experiment = runs.experiment(LIN_FIGURE)
    idle_shares = {
        speedup: experiment.share(runs.idle_power, speedup, "idle_j") for speedup in experiment.speedups
    }
    idle, inactive, servicing = _energy_shares(experiment, runs.idle_power, SNAKE)
    return (
        judge_printed([idle], direction_holds=idle > max(inactive, servicing))
        .with_numbers(idle=idle)
        .with_tables(speed_table("Idle share of the energy, by speed", ("idle, %", "{:%1}", idle_shares)))
    )


def y_09(runs: PowerRuns) -> Judgment:
    """The order of servicing and inactive; that idle comes first was fitted (Y-07, Y-08)."""
    snake_runs = runs.experiment(LIN_FIGURE)
    shares_by_load = {
        "Seagate": _energy_shares(runs.seagate_runs(LIN_FIGURE), runs.idle_power, 1.0),
        "Snake at 10": _energy_shares(snake_runs, runs.idle_power, SNAKE),
        "Snake at 100": _energy_shares(snake_runs, runs.idle_power, 100.0),
    }
    snake_load = f"Snake at {runs.mark_value('snake') or '10'}"
    _, snake_inactive, snake_servicing = shares_by_load[snake_load]
    return (
        judge_comparisons(
            servicing > inactive
            for _, inactive, servicing in (shares_by_load["Seagate"], shares_by_load[snake_load])
        )
        .with_numbers(
            load=snake_load,
            inactive=snake_inactive,
            servicing=snake_servicing,
            times=snake_inactive / snake_servicing,
            idle=shares_by_load["Snake at 100"][0],
        )
        .with_tables(
            number_table(
                "Shares of the energy, %",
                "load | idle | inactive | servicing",
                (
                    cells("{} | {:%1} | {:%1} | {:%1}", load, *shares)
                    for load, shares in shares_by_load.items()
                ),
            )
        )
    )

"""Effects of the reference simulator's defects on its results.

Every replay starts from the `-disksim` profile of a device and removes one defect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells, percent, span

from .. import reference
from ..simulator import parameters, replay
from .agreement import agreement
from .motion import Sled, passes
from .section import ValidationSection

if TYPE_CHECKING:
    import sledlab as sl

DEVICES = ("G1", "G2", "G3")


@dataclass(frozen=True)
class DefectWorkload:
    """A trace that is replayed on every device for which it exists."""

    name: str
    trace: str
    scheduler: str = "fcfs"

    def exists_for(self, device: str) -> bool:
        """Return whether the trace exists for a device."""
        return reference.trace(self.trace.format(device)).is_file()


WORKLOADS = (
    DefectWorkload("rw8_mod", "{}_rw8_mod"),
    DefectWorkload("mixed", "{}_mixed"),
    DefectWorkload("memsvalid", "memsvalid_{}"),
    DefectWorkload("idlegap", "{}_idlegap"),
    DefectWorkload("st41601n", "st41601n"),
    DefectWorkload("hp_ajw_x10", "hp_ajw_x10"),
    DefectWorkload("sat, SPTF", "{}_sat", "sptf"),
)


@dataclass(frozen=True)
class Defect:
    """A defect, given by the changes of a profile that remove it.

    `common_changes` are made on both sides of the comparison.
    """

    name: str
    fix: dict[str, str]
    common_changes: dict[str, Any] = field(default_factory=dict)


MOTION = Defect("motion", {"kinematics": "exact"})
TIES = Defect("ties go down", {"direction_tie": "onward"})
DRIFT = Defect("idle drift", {"idle_motion": "hold"})
RECENTERING = Defect("free recentring", {"parking": "stay"})
PHYSICS = Defect("all physics", {**MOTION.fix, **TIES.fix, **DRIFT.fix, "selection": "exact"})
NO_BUS = {"command_overhead_ms": 0.0, "block_transfer_us": 0.0}
FIRST_PASS = Defect("one-block passes", {"pipeline": "serial"}, NO_BUS)
CLOSED_FORM = Defect("closed function", MOTION.fix, {"kinematics": "disksim-closed"})
PIPELINE = Defect("pipeline", {"pipeline": "serial"})

DEFECTS = (MOTION, TIES, DRIFT, RECENTERING, PHYSICS, FIRST_PASS, CLOSED_FORM, PIPELINE)
ENERGY_DEFECTS = (MOTION, TIES, DRIFT, RECENTERING, FIRST_PASS, PHYSICS)
"""The defects of the default profile, one by one and all together."""

SWEEPS = ("idlegap", "st41601n")


@dataclass(frozen=True)
class Effect:
    """Effects of a defect: results with it over results without it, less 1."""

    defect: str
    response: float
    energy: float


@dataclass(frozen=True)
class DefectReplay:
    """A trace on a device, with the effects of every defect."""

    workload: str
    scheduler: str
    device: str
    mean_ms: float
    uncharged: float
    """Share of the energy that the reference simulator would not charge."""
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Motion:
    """Mean positioning times in ms of the recorded passes of a run; each value includes one more defect."""

    run: str
    passes: int
    exact: float
    constant: float
    wrong_sign: float
    recorded: float


@dataclass(frozen=True)
class TimeoutEnergy:
    """Energy in J of a run of a sweep over idle timeouts."""

    sweep: str
    timeout_ms: float
    reported: float
    complete: float
    ours: float


@dataclass(frozen=True)
class DefectResults:
    """All results of the section."""

    replayed: tuple[DefectReplay, ...]
    motion: tuple[Motion, ...]
    turnarounds_ms: dict[str, tuple[float, ...]]
    timeouts: tuple[TimeoutEnergy, ...]

    def effects(self, defect: Defect, scheduler: str) -> list[Effect]:
        """Return the effects of a defect on all traces replayed with a scheduler, on all devices."""
        replay_effects = (
            defect_replay.effects for defect_replay in self.replayed if defect_replay.scheduler == scheduler
        )
        return [effect for effects in replay_effects for effect in effects if effect.defect == defect.name]


def measure() -> DefectResults:
    """Replay traces, and recompute recorded passes."""
    cases = [
        (workload, device) for device in DEVICES for workload in WORKLOADS if workload.exists_for(device)
    ]
    return DefectResults(
        tuple(_replay_with_defects(*each) for each in cases),
        tuple(_motion()),
        _turnarounds_ms(),
        tuple(_timeouts()),
    )


def _replay_with_defects(workload: DefectWorkload, device: str) -> DefectReplay:
    profile = f"mems-{device.lower()}-disksim"
    trace = reference.trace(workload.trace.format(device))

    @cache
    def simulate(*changes: tuple[str, Any]) -> sl.Result:
        return replay(trace, profile, scheduler=workload.scheduler, **dict(changes))

    def effect(defect: Defect) -> Effect:
        with_defect = simulate(*defect.common_changes.items())
        without_defect = simulate(*{**defect.common_changes, **defect.fix}.items())
        return Effect(
            defect.name,
            with_defect.response_time.mean / without_defect.response_time.mean - 1,
            with_defect.energy.total / without_defect.energy.total - 1,
        )

    # Idle time before every spin-down; the first start-up was not preceded by one.
    device_parameters, result = parameters(profile), simulate()
    uncharged_j = (
        (int(result.summary["startups"]) - 1)
        * float(device_parameters["idle_timeout_ms"])
        * device_parameters["sled_mw"]
        / 1e6
    )
    return DefectReplay(
        workload.name,
        workload.scheduler,
        device,
        result.response_time.mean,
        uncharged_j / result.energy.total,
        tuple(effect(defect) for defect in DEFECTS),
    )


def _motion() -> Iterator[Motion]:
    for path in sorted((reference.MEMS / "access").glob("*_f0_*.csv.gz")):
        run = reference.runs()[path.name.removesuffix(".csv.gz")]
        if run.device in DEVICES:
            pass_times = passes(reference.table(path), Sled.from_parameters(run.parameters))
            steps = (pass_times.exact, pass_times.constant, pass_times.wrong_sign, pass_times.recorded)
            yield Motion(run.name, len(pass_times.exact), *(float(step.mean()) for step in steps))


def _turnarounds_ms() -> dict[str, tuple[float, ...]]:
    """Return turnaround times of a G2 in ms, by the position at which a sled that moves upwards turns."""
    sled = Sled.from_parameters(reference.runs()["mech_G2_f0_r8_light"].parameters)
    relative_positions = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    at_m, upward = relative_positions * sled.y.travel / 2, np.ones(len(relative_positions))
    times_by_rule = {
        "exact": sled.y.turnaround_s(at_m, sled.speed, upward),
        "simulator, start of a seek": sled.y.constant_turnaround_s(at_m, sled.speed, upward),
        "simulator, end of a seek": sled.y.constant_turnaround_s(at_m, sled.speed, -upward),
    }
    return {name: tuple((1e3 * times).tolist()) for name, times in times_by_rule.items()}


def _timeouts() -> Iterator[TimeoutEnergy]:
    """Yield the sweeps over idle timeouts on a G2, each in the order of timeouts."""
    for sweep in SWEEPS:
        runs = [run for run in reference.runs().values() if run.name.startswith(f"sweep_G2_{sweep}_")]
        for run in sorted(runs, key=lambda run: float(run.parameters["inactive_after_ms"])):
            timeout_ms, ours = float(run.parameters["inactive_after_ms"]), agreement(run.name).energy_j
            yield TimeoutEnergy(sweep, timeout_ms, run.charged_energy_j, run.energy_j, ours)


def _template_values(defect_results: DefectResults) -> dict[str, object]:
    head = ["recorded passes of", "passes", "exact, ms", "constant acceleration", "+ wrong sign"]
    max_energy_effects = {
        scheduler: max(
            abs(effect.energy)
            for defect in ENERGY_DEFECTS
            for effect in defect_results.effects(defect, scheduler)
        )
        for scheduler in ("fcfs", "sptf")
    }

    def responses(defect: Defect, scheduler: str = "fcfs") -> str:
        return span([effect.response for effect in defect_results.effects(defect, scheduler)])

    names = ("physics", "motion", "closed", "first_pass", "drift", "recentring", "pipeline")
    defects = (PHYSICS, MOTION, CLOSED_FORM, FIRST_PASS, DRIFT, RECENTERING, PIPELINE)
    turnarounds = [
        [rule, *(f"{ms:.4f}" for ms in times)] for rule, times in defect_results.turnarounds_ms.items()
    ]
    position_names = ["lower edge", "halfway", "center", "halfway", "upper edge"]
    return {
        "traces": "".join(_device_table(defect_results, device) + "\n" for device in DEVICES),
        "energy": {scheduler: f"{100 * maximum:.2f}" for scheduler, maximum in max_energy_effects.items()},
        "passes": table([*head, "+ seek function"], map(_motion_row, defect_results.motion)),
        "turnarounds": table(["turnaround", *position_names], turnarounds),
        "idle": _idle_table(defect_results),
        "best": " ".join(_best_timeouts(sweep, defect_results) for sweep in SWEEPS),
        "fcfs": {name: responses(defect) for name, defect in zip(names, defects, strict=True)},
        "sptf": responses(PHYSICS, "sptf"),
        "lost": f"{100 * max(effect.uncharged for effect in defect_results.replayed):.1f}",
    }


def _device_table(defect_results: DefectResults, device: str) -> str:
    rows = [
        [
            *cells("{0.workload} | {0.mean_ms:.3f}", defect_replay),
            *(percent(effect.response) for effect in defect_replay.effects),
            f"{100 * defect_replay.uncharged:.1f}",
        ]
        for defect_replay in defect_results.replayed
        if defect_replay.device == device
    ]
    return table([device, "mean, ms", *(defect.name for defect in DEFECTS), "uncharged energy"], rows)


def _motion_row(motion: Motion) -> list[str]:
    steps = (motion.constant, motion.wrong_sign, motion.recorded)
    changes = [percent(step / motion.exact - 1) for step in steps]
    return [*cells("`{0.run}` | {0.passes:,} | {0.exact:.4f}", motion), *changes]


def _idle_table(defect_results: DefectResults) -> str:
    energies_by_timeout: dict[float, list[str]] = {}
    for energy_row in defect_results.timeouts:
        energies = (energy_row.reported, energy_row.complete, energy_row.ours)
        energies_by_timeout.setdefault(energy_row.timeout_ms, []).extend(
            f"{energy:.3f}" for energy in energies
        )
    head = [f"{sweep}, {part}" for sweep in SWEEPS for part in ("reported", "complete", "sledlab")]
    return table(
        ["timeout, ms", *head], [[f"{timeout:g}", *cells] for timeout, cells in energies_by_timeout.items()]
    )


def _best_timeouts(sweep: str, defect_results: DefectResults) -> str:
    sweep_energies = [energy_row for energy_row in defect_results.timeouts if energy_row.sweep == sweep]
    least_reported, least_complete = (
        min(sweep_energies, key=lambda energy_row: energy_row.reported),
        min(sweep_energies, key=lambda energy_row: energy_row.complete),
    )
    if least_reported == least_complete:
        return f"On {sweep} both are least at {least_complete.timeout_ms:g} ms."
    return (
        f"On {sweep} the reported energy is least at {least_reported.timeout_ms:g} ms, the complete one at "
        f"{least_complete.timeout_ms:g} ms; choosing by the reported energy costs "
        f"{100 * (least_reported.complete / least_complete.complete - 1):.1f} % more."
    )


def _short_measurement() -> DefectResults:
    """Return the results of the section for the first trace and device."""
    device = DEVICES[0]
    workload = next(workload for workload in WORKLOADS if workload.exists_for(device))
    return DefectResults((_replay_with_defects(workload, device),), (), _turnarounds_ms(), ())


SECTION = ValidationSection("defects", DefectResults, measure, _template_values, _short_measurement)

"""How far the defects of the reference simulator move its results.

Every replay starts from the `-disksim` profile of a device and takes one defect out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from . import reference
from .replays import parameters, replay

if TYPE_CHECKING:
    import sledlab as sl

DEVICES = ("G1", "G2", "G3")


@dataclass(frozen=True)
class Workload:
    """A trace that is replayed on every device that has it."""

    name: str
    trace: str
    scheduler: str = "fcfs"

    def on(self, device: str) -> bool:
        """Whether there is such a trace for a device."""
        return reference.trace(self.trace.format(device)).is_file()


WORKLOADS = (
    Workload("rw8_mod", "{}_rw8_mod"),
    Workload("mixed", "{}_mixed"),
    Workload("memsvalid", "memsvalid_{}"),
    Workload("idlegap", "{}_idlegap"),
    Workload("st41601n", "st41601n"),
    Workload("hp_ajw_x10", "hp_ajw_x10"),
    Workload("sat, SPTF", "{}_sat", "sptf"),
)


@dataclass(frozen=True)
class Defect:
    """A defect, as the change that takes it out of the profile.

    `also` is changed on both sides of the comparison.
    """

    name: str
    out: dict[str, Any]
    also: dict[str, Any] = field(default_factory=dict)


NO_BUS = {"command_overhead_ms": 0.0, "block_transfer_us": 0.0}

MOTION = Defect("motion", {"kinematics": "exact"})
CLOSED = Defect("closed function", {"kinematics": "exact"}, {"kinematics": "disksim-closed"})
TIES = Defect("ties go down", {"direction_tie": "onward"})
DRIFT = Defect("idle drift", {"idle_motion": "hold"})
RECENTRING = Defect("free recentring", {"parking": "stay"})
FIRST_PASS = Defect("one-block passes", {"pipeline": "serial"}, NO_BUS)
PHYSICS = Defect(
    "all physics",
    {"kinematics": "exact", "direction_tie": "onward", "idle_motion": "hold", "selection": "exact"},
)
PIPELINE = Defect("pipeline", {"pipeline": "serial"})

SINGLE = (MOTION, TIES, DRIFT, RECENTRING, FIRST_PASS)
"""The defects of the default profile, one by one."""


@dataclass(frozen=True)
class Effect:
    """What a defect does: results with it over results without it, less 1."""

    response: float
    energy: float


@cache
def effect(defect_name: str, workload: Workload, device: str) -> Effect:
    """The effect of one defect on one trace and device."""
    defect = next(d for d in (*SINGLE, CLOSED, PHYSICS, PIPELINE) if d.name == defect_name)
    present = simulated(workload, device, tuple(defect.also.items()))
    removed = simulated(workload, device, tuple({**defect.also, **defect.out}.items()))
    return Effect(
        present.response_time.mean / removed.response_time.mean - 1,
        present.energy.total / removed.energy.total - 1,
    )


def effects(defect: Defect, scheduler: str) -> list[Effect]:
    """Its effects on every trace replayed with a scheduler, on every device."""
    works = [work for work in WORKLOADS if work.scheduler == scheduler]
    return [effect(defect.name, work, device) for device in DEVICES for work in works if work.on(device)]


@cache
def simulated(workload: Workload, device: str, changes: tuple[tuple[str, Any], ...] = ()) -> sl.Result:
    """A replay through the `-disksim` profile of a device, with changes."""
    trace = reference.trace(workload.trace.format(device))
    return replay(trace, profile(device), scheduler=workload.scheduler, **dict(changes))


def profile(device: str) -> str:
    """The name of the profile of a generation."""
    return f"mems-{device.lower()}-disksim"


def uncharged(workload: Workload, device: str) -> float:
    """Share of the energy that the reference simulator would not charge.

    That is the idle time before every spin-down; the first start-up had none before it.
    """
    p = parameters(profile(device))
    result = simulated(workload, device)
    spindowns = int(result.summary["startups"]) - 1
    joules = spindowns * float(p["idle_timeout_ms"]) * float(p["sled_mw"]) / 1e6
    return joules / result.energy.total

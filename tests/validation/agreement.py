"""How well replays agree with the reference runs, and how well they have to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from . import reference
from .reference import MEMS, Run
from .replays import imported, replay


@dataclass(frozen=True)
class Band:
    """What has to hold for every run of a family. All but the shares are relative deviations."""

    mean: float
    """Of the mean response time."""
    within_1us: float | None = None
    """Least share of requests whose response time is within 1 us."""
    energy: float | None = None
    """Of the energy, uncharged idle energy added."""


BANDS = {
    "mech": Band(mean=1e-4, within_1us=0.999),
    "base": Band(mean=1e-4, within_1us=0.999),
    "sched": Band(mean=1e-4, within_1us=0.95),
    "hp": Band(mean=1e-3, energy=5e-3),
    "sweep": Band(mean=1e-3, energy=5e-3),
    "excl": Band(mean=0.015),
    "stock": Band(mean=0.015),
    "memsvalid": Band(mean=0.015),
}
"""By family. In `sched` the sled never pauses, and roundings add up to a microsecond towards the end of some
runs. The last three use the exclusive bus, which sledlab does not rebuild."""

SPTF_EXCLUSIVE = Band(mean=0.05)
"""SPTF on the exclusive bus: another completion time is another choice, from there on."""


@dataclass(frozen=True)
class Agreement:
    """A replay beside the reference run."""

    run: Run
    requests: int
    within_1us: float
    worst_ns: int
    mean: float
    energy: float


def band(run: Run) -> Band | None:
    """What has to hold for a run; `None` where nothing is compared."""
    if run.scheduler is None:
        return None
    if run.family == "stock" and run.scheduler == "sptf":
        return SPTF_EXCLUSIVE
    return BANDS.get(run.family)


def compared() -> list[Run]:
    """Every run that is compared."""
    return [run for run in reference.runs().values() if band(run)]


@cache
def agreement(name: str) -> Agreement:
    """Replays a run through the `-disksim` profile of its device."""
    run = reference.runs()[name]
    device = (
        imported(MEMS / "params" / "V1.specs") if run.device == "V1" else f"mems-{run.device.lower()}-disksim"
    )
    result = replay(run.trace, device, scheduler=str(run.scheduler), requests=True, **run.changes)
    rows = result.requests.sort("id")
    ours = rows["response_ns"].to_numpy().astype(np.int64)
    off = np.abs(ours - run.responses_ns())
    return Agreement(
        run=run,
        requests=len(off),
        within_1us=float((off <= 1_000).mean()),
        worst_ns=int(off.max()),
        mean=result.response_time.mean / run.mean_response_ms - 1,
        energy=result.energy.total / run.energy_j - 1,
    )

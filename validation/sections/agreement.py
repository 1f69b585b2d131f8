"""Agreement of replays with the reference runs, and its limits."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache

import numpy as np
from sledlab_papers.markdown import table
from sledlab_papers.wording import cells

from .. import reference
from ..reference import MEMS, REFERENCE, Collection, RecordedRun
from ..simulator import convert_specs, replay
from .section import ValidationSection


@dataclass(frozen=True)
class Band:
    """Limits for every run of a family: relative deviations, except for the share."""

    mean: float
    """Largest deviation of the mean response time."""
    within_1us: float | None = None
    """Minimum share of requests whose response time is within 1 us."""
    energy: float | None = None
    """Largest deviation of the energy, uncharged idle energy added."""


BANDS = {
    "mech": Band(mean=1e-4, within_1us=0.999),
    "base": Band(mean=1e-4, within_1us=0.999),
    "sched": Band(mean=1e-4, within_1us=0.95),
    "sweep": Band(mean=1e-3, energy=5e-3),
    "hp": Band(mean=1e-3, energy=5e-3),
    "excl": Band(mean=0.015),
    "stock": Band(mean=0.015),
    "memsvalid": Band(mean=0.015),
}
"""Limits by family. In `sched` the sled never pauses, and roundings add up to a microsecond towards the end
of some runs. The last three families use the exclusive bus, which sledlab does not model."""

SPTF_EXCLUSIVE = Band(mean=0.05)
"""Limits for SPTF on the exclusive bus: another completion time leads to other choices from there on."""

TITLES = {
    "mech": "mechanism only",
    "base": "as `mech`, with overheads, interleaved bus",
    "sched": "as `base`, up to 1200 outstanding",
    "sweep": "as `base`, with idle timeouts, drift rule",
    "hp": "as `sweep`, HP `ajw` trace",
    "excl": "as `base`, exclusive bus",
    "stock": "as distributed, exclusive bus",
    "memsvalid": "validation workload, exclusive bus",
}


@dataclass(frozen=True)
class Agreement:
    """Results of a replay and of its reference run."""

    run: str
    family: str
    scheduler: str
    """The scheduler's name in the reference simulator."""
    requests: int
    within_1us: float
    worst_ns: int
    mean_ms: float
    mean: float
    energy_j: float
    energy: float

    @property
    def band(self) -> Band:
        """The limits for this run."""
        return (
            SPTF_EXCLUSIVE if (self.family, self.scheduler) == ("stock", "SPTF_OPT") else BANDS[self.family]
        )

    @property
    def exceeded_limits(self) -> list[str]:
        """Names of the values that exceed their limits."""
        band = self.band
        within_limits = {
            "mean": abs(self.mean) <= band.mean,
            "within_1us": band.within_1us is None or self.within_1us >= band.within_1us,
            "energy": band.energy is None or abs(self.energy) <= band.energy,
        }
        return [field for field, holds in within_limits.items() if not holds]


def compared_runs() -> list[RecordedRun]:
    """Return the runs that are compared."""
    return [run for run in reference.runs().values() if run.scheduler and run.family in BANDS]


@cache
def agreement(name: str, collection: Collection = REFERENCE) -> Agreement:
    """Replay a run on the `-disksim` profile of its device."""
    run = reference.runs(collection)[name]
    device = (
        convert_specs(MEMS / "params" / "V1.specs")
        if run.device == "V1"
        else f"mems-{run.device.lower()}-disksim"
    )
    result = replay(run.trace, device, scheduler=str(run.scheduler), requests=True, **run.changes)
    ours_ns = result.requests.sort("id")["response_ns"].to_numpy().astype(np.int64)
    errors_ns = np.abs(ours_ns - run.responses_ns())
    return Agreement(
        run=name,
        family=run.family,
        scheduler=run.row["scheduler"],
        requests=len(errors_ns),
        within_1us=float((errors_ns <= 1_000).mean()),
        worst_ns=int(errors_ns.max()),
        mean_ms=result.response_time.mean,
        mean=result.response_time.mean / run.mean_response_ms - 1,
        energy_j=result.energy.total,
        energy=result.energy.total / run.energy_j - 1,
    )


def measure() -> tuple[Agreement, ...]:
    """Return the agreement of each compared run."""
    return tuple(agreement(run.name) for run in compared_runs())


def _template_values(agreements: tuple[Agreement, ...]) -> dict[str, object]:
    rows_by_group: dict[tuple[str, str], list[Agreement]] = defaultdict(list)
    for row in agreements:
        rows_by_group[row.family, row.scheduler].append(row)
    rows = [
        _row(*key, rows_by_group[key])
        for key in sorted(rows_by_group, key=lambda key: list(TITLES).index(key[0]))
    ]
    header = (
        "family | what | scheduler | runs | requests | within 1 us, % | required | mean, % | tolerance | "
    )
    return {
        "runs": len(agreements),
        "requests": f"{sum(row.requests for row in agreements):,}",
        "families": table(f"{header}energy, % | tolerance", rows, word_columns=3),
    }


def _row(family: str, scheduler: str, group: list[Agreement]) -> list[str]:
    band = group[0].band
    requests = sum(row.requests for row in group)
    within_share = sum(row.within_1us * row.requests for row in group) / requests
    mean, energy = (max(abs(getattr(row, field)) for row in group) for field in ("mean", "energy"))
    return [
        *cells("`{}` | {} | {} | {} | {:,}", family, TITLES[family], scheduler, len(group), requests),
        *cells("{:%2} | {}", within_share, f">= {100 * band.within_1us:g}" if band.within_1us else ""),
        *cells("{:%4} | {:g} | {:%4}", mean, 100 * band.mean, energy),
        f"{100 * band.energy:g}" if band.energy else "",
    ]


def _short_measurement() -> tuple[Agreement, ...]:
    """Return the agreement of one run of each family under each scheduler."""
    run_by_family = {(run.family, run.scheduler): run.name for run in compared_runs()}
    return tuple(map(agreement, run_by_family.values()))


SECTION = ValidationSection("agreement", tuple[Agreement, ...], measure, _template_values, _short_measurement)

"""Rows of studies of energy: runs by state, by request and by what was swept, break-even times, batteries."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from sledlab.show.device_states import STATES
from sledlab.show.ranking import Ranking
from sledlab.study.columns import Column, ColumnSelection
from sledlab.study.idle_periods import IdlePeriodSummary
from sledlab.study.statistics import SeedMeans, average, half_width

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sledlab.study.measure import RunFigures

DeviceColumn = Annotated[str, Column("the device")]
PolicyColumn = Annotated[str, Column("the power policy, with its parameters")]
LoadColumn = Annotated[float, Column("what the times between arrivals were divided by")]


@dataclass(frozen=True)
class EnergyMeans(SeedMeans):
    """Means over the seeds, with total energy and that of each state divided by the number of requests."""

    total_energy_per_request_mj: Annotated[
        float, Column("energy of the devices over the number of requests", "mJ")
    ] = 0
    merged_requests: Annotated[float, Column("requests that were served together with others")] = 0
    service_j: Annotated[float, Column("energy of seeks and accesses", "J")] = 0
    seek_energy_per_request_mj: Annotated[float, Column("energy of seeks for each request", "mJ")] = 0
    access_energy_per_request_mj: Annotated[float, Column("energy of accesses for each request", "mJ")] = 0
    idle_energy_per_request_mj: Annotated[float, Column("energy while idle for each request", "mJ")] = 0
    inactive_energy_per_request_mj: Annotated[float, Column("energy while parked for each request", "mJ")] = 0
    startup_energy_per_request_mj: Annotated[float, Column("energy of start-ups for each request", "mJ")] = 0
    seek_share: Annotated[float, Column("share of seeks in the energy")] = 0
    access_share: Annotated[float, Column("share of accesses in the energy")] = 0
    idle_share: Annotated[float, Column("share of idling in the energy")] = 0
    inactive_share: Annotated[float, Column("share of being parked in the energy")] = 0
    startup_share: Annotated[float, Column("share of start-ups in the energy")] = 0

    @property
    def service_energy_per_request_mj(self) -> float:
        """Energy of seeks and accesses over the number of requests."""
        return self.service_j / self.requests * 1e3

    def state_values(self, unit: str) -> dict[str, float]:
        """Return a column of each state: `j`, `energy_per_request_mj`, `time_s` or `share` of the energy."""
        return {state: getattr(self, f"{state}_{unit}") for state in STATES}


def mean_energy(runs: Sequence[RunFigures]) -> EnergyMeans:
    """The mean of the runs of a row, one for each seed."""
    means = vars(average(runs))
    counts = {name: float(value) for name, value in means.items() if type(value) is int}
    values = {**means, **counts, "seeds": len(runs)}
    state_j, requests = {state: values[f"{state}_j"] for state in STATES}, values["requests"]
    total_j = values["energy_j"]
    derived = {
        "total_energy_per_request_mj": total_j / requests * 1e3,
        "merged_requests": values["merged"],
        "service_j": values["seek_j"] + values["access_j"],
        **{f"{state}_energy_per_request_mj": each / requests * 1e3 for state, each in state_j.items()},
        **{f"{state}_share": each / total_j for state, each in state_j.items()},
    }
    return EnergyMeans(**{**values, **derived})


ENERGY_COLUMNS = (
    *("seeds", "requests", "energy_j", *(f"{state}_j" for state in STATES)),
    *(f"{state}_time_s" for state in STATES),
    *("elapsed_s", "arrival_rate_iops", "mean_ms", "p95_ms", "p99_ms", "startups"),
    *("merged_requests", "merged_groups", "tip_time_s", "dark_tip_time_s"),
    *("energy_ci95_j", "mean_ci95_ms", "total_energy_per_request_mj", "service_j"),
    *("read_energy_uj", "write_energy_uj", "saturated"),
)
"""Columns of a run that all tables of energy have."""

RunColumn = Annotated[EnergyMeans, ColumnSelection(*ENERGY_COLUMNS)]


@dataclass(frozen=True)
class State:
    """A state of a device under a policy."""

    device: DeviceColumn
    policy: PolicyColumn
    state: Annotated[str, Column("the state")]
    energy_j: Annotated[float, Column("energy in the state", "J")]
    energy_share: Annotated[float, Column("share of the state in all energy")]
    time_s: Annotated[float, Column("time in the state", "s")]
    time_share: Annotated[float, Column("share of the state in all time")]


def state_row(device: str, policy: str, run: EnergyMeans, state: str) -> State:
    """The row of a state in a run."""
    joules, seconds = run.state_values("j")[state], run.state_values("time_s")
    shares = joules / run.energy_j, seconds[state] / math.fsum(seconds.values())
    return State(device, policy, state, joules, shares[0], seconds[state], shares[1])


@dataclass(frozen=True)
class BreakEven:
    """Costs and savings of parking a device, and idle periods relative to the break-even time.

    Times and energies are those of one device of an array. In a hybrid, whose devices differ, they are none.
    """

    device: DeviceColumn
    idle_mw: Annotated[float | None, Column("power while idle", "mW")]
    inactive_mw: Annotated[float | None, Column("power while parked", "mW")]
    time_per_startup_ms: Annotated[float | None, Column("time of a start-up", "ms")]
    energy_per_startup_uj: Annotated[float | None, Column("energy of a start-up", "uJ")]
    break_even_ms: Annotated[
        float | None, Column("shortest idle period for which parking pays; none if parking never pays", "ms")
    ]
    idle_periods: Annotated[
        float | None, Column("idle periods of all devices, without parking; none where addresses do not tell")
    ]
    longest_idle_ms: Annotated[
        float | None, Column("longest idle period of a device; none without idle periods", "ms")
    ]
    median_idle_ms: Annotated[float | None, Column("median idle period of a device, within 2.3 %", "ms")]
    longer_share: Annotated[float | None, Column("share of the idle periods longer than the break-even time")]
    longer_time_share: Annotated[float | None, Column("share of these longer idle periods in all idle time")]


def break_even(
    device: str,
    awake: EnergyMeans,
    parked: EnergyMeans,
    idle_periods_by_seed: Sequence[Mapping[str, Any] | None],
    *,
    is_hybrid: bool = False,
) -> BreakEven:
    """Return the row of a device.

    Args:
        device: Name of the device.
        awake: The run in which it never parks.
        parked: The run in which it parks at once.
        idle_periods_by_seed: Idle periods of `awake`, for each seed; None where they are not counted.
        is_hybrid: Whether the times and energies are those of different devices together.
    """
    if is_hybrid:
        return BreakEven(device, *[None] * (len(fields(BreakEven)) - 1))
    counted_periods = [each for each in idle_periods_by_seed if each is not None]
    idle_periods = IdlePeriodSummary.combine(counted_periods)
    idle_mw = _ratio(awake.idle_j, awake.idle_time_s, 1e3)
    inactive_mw = _ratio(parked.inactive_j, parked.inactive_time_s, 1e3)
    startup_uj = _ratio(parked.startup_j, parked.startups, 1e6)
    break_even_ms = None
    if idle_mw is not None and inactive_mw is not None and startup_uj is not None and idle_mw > inactive_mw:
        break_even_ms = startup_uj / (idle_mw - inactive_mw)
    longer_share, longer_time_share = idle_periods.longer(break_even_ms)
    return BreakEven(
        device=device,
        idle_mw=idle_mw,
        inactive_mw=inactive_mw,
        time_per_startup_ms=_ratio(parked.startup_time_s, parked.startups, 1e3),
        energy_per_startup_uj=startup_uj,
        break_even_ms=break_even_ms,
        idle_periods=idle_periods.count / idle_periods.runs if counted_periods else None,
        longest_idle_ms=idle_periods.longest_ms,
        median_idle_ms=idle_periods.median_ms,
        longer_share=longer_share,
        longer_time_share=longer_time_share,
    )


def _ratio(part: float, total: float, scale: float) -> float | None:
    return part / total * scale if total > 0 else None


@dataclass(frozen=True)
class Battery:
    """Time that a charge lasts under a policy, and power per capacity."""

    device: DeviceColumn
    policy: PolicyColumn
    power_w: Annotated[float, Column("mean power of the device", "W")]
    battery_wh: Annotated[float, Column("charge of the battery", "Wh")]
    battery_life_h: Annotated[float, Column("time that the battery lasts", "h")]
    capacity_gb: Annotated[float, Column("capacity of the device", "10^9 bytes")]
    mw_per_gb: Annotated[float, Column("power over capacity, in 10^9 bytes", "mW/GB")]
    saturated: Annotated[bool, Column("whether the queue kept growing")]


def battery(device: str, policy: str, run: EnergyMeans, charge_wh: float, gigabytes: float) -> Battery:
    """The row of a policy: a battery of `charge_wh` drained at the mean power of a run."""
    power_w = run.energy_j / run.elapsed_s
    life_h, mw_per_gb = charge_wh / power_w, power_w * 1e3 / gigabytes
    identity = (device, policy)
    return Battery(*identity, power_w, charge_wh, life_h, gigabytes, mw_per_gb, run.saturated)


@dataclass(frozen=True)
class Request:
    """A policy, with the energy per request by state."""

    device: DeviceColumn
    policy: PolicyColumn
    run: Annotated[
        EnergyMeans, ColumnSelection(*ENERGY_COLUMNS, *(f"{state}_energy_per_request_mj" for state in STATES))
    ]


@dataclass(frozen=True)
class Timeout:
    """A run with an idle timeout."""

    device: DeviceColumn
    timeout_ms: Annotated[float, Column("the idle timeout", "ms")]
    run: RunColumn


@dataclass(frozen=True)
class Startup:
    """A run with a start-up time, of a device that parks at once."""

    device: DeviceColumn
    time_per_startup_ms: Annotated[float, Column("time of a start-up", "ms")]
    run: RunColumn


@dataclass(frozen=True)
class Load:
    """A run at a load under a policy."""

    device: DeviceColumn
    policy: PolicyColumn
    load: LoadColumn
    run: Annotated[EnergyMeans, ColumnSelection(*ENERGY_COLUMNS, *(f"{state}_share" for state in STATES))]


@dataclass(frozen=True)
class Policy:
    """A power policy compared with the oracle and, seed by seed, with the best policy that can be built."""

    device: DeviceColumn
    policy: PolicyColumn
    run: RunColumn
    above_oracle: Annotated[
        float | None, Column("energy above that of the oracle, as a share of the oracle's")
    ]
    above_best_j: Annotated[float, Column("energy above that of the best policy, seed by seed", "J")]
    above_best_ci95_j: Annotated[
        float | None, Column("half the 95 % confidence interval of above_best_j over seeds", "J")
    ]


def can_be_built(policy: str) -> bool:
    """Whether a policy can be built: all but the oracle, which knows the future."""
    return policy.partition(":")[0] != "oracle"


def excess_over_oracle(
    policy: str, joules_by_policy: Mapping[str, list[float]], overloaded: Collection[str] = ()
) -> Mapping[str, Any]:
    """Return the excess of a policy's energy over the oracle's and, seed by seed, over the best policy's.

    Args:
        policy: The policy.
        joules_by_policy: The energies of all policies, for each seed.
        overloaded: Policies under which the queue kept growing.
    """
    policy_j, oracle_j = joules_by_policy[policy], joules_by_policy.get("oracle")
    buildable = [name for name in joules_by_policy if can_be_built(name)] or [policy]
    best_j = joules_by_policy[
        Ranking.of(buildable, lambda name: fmean(joules_by_policy[name]), overloaded.__contains__).first
    ]
    excess_j = [value_j - best_value_j for value_j, best_value_j in zip(policy_j, best_j, strict=True)]
    return {
        "above_oracle": fmean(policy_j) / fmean(oracle_j) - 1 if oracle_j else None,
        "above_best_j": fmean(excess_j),
        "above_best_ci95_j": half_width(excess_j),
    }


@dataclass(frozen=True)
class Strategy:
    """A strategy for saving energy, compared with the base at the same load."""

    device: DeviceColumn
    strategy: Annotated[str, Column("the way to save energy")]
    load: LoadColumn
    run: RunColumn
    energy_saved: Annotated[float, Column("energy saved, as a share of the base's")]
    service_saved: Annotated[float, Column("energy of seeks and accesses saved, as a share")]
    access_saved: Annotated[float, Column("energy of accesses saved, as a share")]
    response_change: Annotated[float, Column("change of the mean response time, as a share")]


def savings_over_base(run: EnergyMeans, base: EnergyMeans) -> Mapping[str, Any]:
    """Savings of a strategy over the base at the same load."""
    return {
        "energy_saved": 1 - run.energy_j / base.energy_j,
        "service_saved": 1 - run.service_j / base.service_j,
        "access_saved": 1 - run.access_j / base.access_j,
        "response_change": run.mean_ms / base.mean_ms - 1,
    }

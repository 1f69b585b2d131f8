"""The outcome of a power study: energy by state, break-even times, slopes, batteries."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.model.device import host_blocks
from sledlab.show.device_states import STATES, state_name
from sledlab.show.model_names import is_hybrid
from sledlab.show.ranking import Ranking
from sledlab.show.wording import seconds
from sledlab.studies.power import energy
from sledlab.studies.power.devices import DeviceOutcome
from sledlab.studies.power.options import IMMEDIATE, OWN
from sledlab.study.plan import plain
from sledlab.study.statistics import case_runs, straight_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sledlab.studies.power.energy import EnergyMeans, Policy, Request, Startup
    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Case, Plan, RunSpec


class PowerStudy(DeviceOutcome):
    """The outcome of a power study: energy of devices by state, and savings of policies and strategies.

    Energies are in J, times in ms and states in s unless a name states another unit. Displays itself in a
    notebook, and prints as the text of `sledlab power`. `plot` draws `states`, `timeouts`, `startup`,
    `loads`, `policies`, `strategies` or `battery`.

    Examples:
        >>> import sledlab as sl
        >>> sparse = sl.workload("uniform", mean_interarrival_ms=20)
        >>> study = sl.power_study(sparse, "mems-g2", limit=300, load=[1], parallel=1)
        >>> [round(fit["slope"], 1) for fit in study.fits]  # ms of response per ms of start-up
        [1.0]
        >>> study.plot("policies").axes[0].get_xlabel()
        'energy (J)'
    """

    kinds: ClassVar[Mapping[str, type]] = {
        "states": energy.State,
        "request_energy": energy.Request,
        "break_even": energy.BreakEven,
        "timeouts": energy.Timeout,
        "startup": energy.Startup,
        "loads": energy.Load,
        "policies": energy.Policy,
        "strategies": energy.Strategy,
        "battery": energy.Battery,
    }

    @cached_property
    def fits(self) -> list[dict[str, Any]]:
        """For each device, `slope`, `intercept_ms` and `r2` of the mean response over the start-up time."""
        return [fit for device in self.devices if (fit := self.fit(device))]

    def fit(self, device: str) -> dict[str, Any] | None:
        """The fit of one device, as in `fits`; None with a single start-up time."""
        rows: list[Startup] = self.device_rows("startup", device)
        line = straight_line([row.time_per_startup_ms for row in rows], [row.run.mean_ms for row in rows])
        return line and {"device": device, "slope": line[0], "intercept_ms": line[1], "r2": line[2]}

    def extras(self) -> Mapping[str, Any]:
        """The fits."""
        return {"startup_fits": self.fits}

    def state_names(self, device: str) -> Mapping[str, str]:
        """The names of a device's states on pages: a parked disk sleeps or is off."""
        names: Mapping[str, str] = self.axes["state_names"][device]
        return names

    def own_timeout(self, device: str) -> str:
        """A device's own timeout, in words."""
        return seconds(self.axes["own_timeout_ms"][device])

    def find_run(self, device: str, policy: str) -> EnergyMeans:
        """The run of a device at the study's pace under `fixed`, its own timeout, or `immediate`."""
        rows: list[Request] = self.device_rows("request_energy", device)
        return next(row.run for row in rows if row.policy == policy)

    def policies_by_energy(self, device: str) -> list[Policy]:
        """The policies of a device, the least energy first, overloaded ones last."""
        return list(_by_energy(self.device_rows("policies", device)))

    def buildable_policies(self, device: str) -> Ranking[Policy]:
        """The policies of a device that can be built, by energy."""
        return _by_energy(
            row for row in self.device_rows("policies", device) if energy.can_be_built(row.policy)
        )


def _by_energy(rows: Iterable[Policy]) -> Ranking[Policy]:
    """Rank policies by energy."""
    return Ranking.of(rows, lambda row: row.run.energy_j, lambda row: row.run.saturated)


def conclude(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> PowerStudy:
    """The outcome, made of the results of all runs."""
    runs = case_runs(plan, results)
    means = {case: energy.mean_energy(each) for case, each in runs.items()}
    parked_means = {case.base: means[case] for case in plan.select_cases("request_energy", policy=IMMEDIATE)}
    base_means = {
        (case.base, case["load"]): means[case] for case in plan.select_cases("strategies", strategy="base")
    }
    joules_by_device: dict[str, dict[str, list[float]]] = {name: {} for name in plan.bases}
    overloaded: dict[str, set[str]] = {name: set() for name in plan.bases}
    for case in plan.select_cases("policies"):
        joules_by_device[case.base][case["policy"]] = [run.energy_j for run in runs[case]]
        overloaded[case.base] |= {case["policy"]} if means[case].saturated else set()
    gigabytes = {name: host_blocks(base) * 512 / 1e9 for name, base in plan.bases.items()}

    def rows(
        section: str, columns_of_case: Callable[[Case], Mapping[str, Any]] = lambda case: {}
    ) -> list[Any]:
        kind = PowerStudy.kinds[section]
        return [
            kind(device=case.base, **dict(case.labels), run=means[case], **columns_of_case(case))
            for case in plan.select_cases(section)
        ]

    requests: list[Request] = rows("request_energy")
    policies: list[Policy] = rows(
        "policies",
        lambda case: energy.excess_over_oracle(
            case["policy"], joules_by_device[case.base], overloaded[case.base]
        ),
    )
    tables: dict[str, list[Any]] = {
        "states": [
            energy.state_row(row.device, row.policy, row.run, state) for row in requests for state in STATES
        ],
        "request_energy": requests,
        "break_even": [
            energy.break_even(
                case.base,
                means[case],
                parked_means[case.base],
                [run.idle_periods for run in runs[case]],
                is_hybrid=is_hybrid(plain(plan.bases[case.base].to_toml())),
            )
            for case in plan.select_cases("idle_periods")
        ],
        **{section: rows(section) for section in ("timeouts", "startup", "loads")},
        "policies": policies,
        "strategies": rows(
            "strategies",
            lambda case: energy.savings_over_base(means[case], base_means[case.base, case["load"]]),
        ),
        "battery": [
            energy.battery(row.device, row.policy, row.run, plan.axes["battery_wh"], gigabytes[row.device])
            for row in policies
        ],
    }
    configs = {
        case.base: plain(plan.texts[plan.specs_of(case)[0]])
        for case in plan.select_cases("request_energy", policy=OWN)
    }
    return PowerStudy(tables, {}, next(iter(configs.values())), _axes(plan, configs), plan.toml)


def _axes(plan: Plan, configs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The values of the axes, by device where devices differ in them."""

    def distinct_labels(section: str, label: str) -> dict[str, list[Any]]:
        return {
            name: list(dict.fromkeys(case[label] for case in plan.select_cases(section) if case.base == name))
            for name in plan.bases
        }

    first_config = next(iter(configs.values()))
    return {
        "device": list(plan.bases),
        **{name: list(plan.axes[name]) for name in ("power", "timeout_ms", "load")},
        "startup_ms": distinct_labels("startup", "time_per_startup_ms"),
        "pace": float(first_config["replay"]["speedup"]),
        "strategy": distinct_labels("strategies", "strategy"),
        "battery_wh": plan.axes["battery_wh"],
        "seed": list(plan.seeds),
        "scheduler": str(first_config["scheduler"]["kind"]),
        # The timeout of a hybrid is that of the device behind; the front has its own.
        "own_timeout_ms": {
            name: float(config["power"].get("timeout_ms", config["device"]["idle_timeout_ms"]))
            for name, config in configs.items()
        },
        "hybrids": [name for name, config in configs.items() if is_hybrid(config)],
        "state_names": {
            name: {state: state_name(state, config) for state in STATES} for name, config in configs.items()
        },
    }

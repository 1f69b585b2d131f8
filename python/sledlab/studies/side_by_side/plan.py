"""The plan of devices side by side: every device with every trace or workload, all with the same requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass, field
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING

from sledlab import _native
from sledlab.errors import Error
from sledlab.model.choices import spell
from sledlab.model.device import host_blocks
from sledlab.runs.systems import system_label
from sledlab.studies.costs.cost import MEMORY, PricedPart, device_names, optional_store_parts
from sledlab.studies.costs.goal import ResponseGoal  # noqa: TC001 - annotations are read at run time
from sledlab.studies.costs.prices import Prices, prices
from sledlab.studies.side_by_side.rows import MaxLoad  # noqa: TC001 - annotations are read at run time
from sledlab.study.plan import Case, Plan, check_source, plain, with_model
from sledlab.study.systems import with_system
from sledlab.traces.fitted_requests import fit_trace
from sledlab.traces.read import File, ParquetFile, Trace
from sledlab.traces.samples import trace_label

if TYPE_CHECKING:
    from sledlab._native import Experiment
    from sledlab.runs.compose import Source
    from sledlab.study.plan import Question


@dataclass(frozen=True)
class SideBySidePlan(Plan):
    """Runs of devices side by side.

    Attributes:
        prices: Prices of devices and energy.
        parts: The parts of each device or system with their prices, by name; `None` where one has no price.
        goal: The goal for response times, if any.
        finds_max_load: Whether the highest load that each device sustains is searched.
        max_loads: The highest loads, once they are found.
    """

    prices: Prices = field(default_factory=prices)
    parts: Mapping[str, Sequence[PricedPart] | None] = field(default_factory=dict)
    goal: ResponseGoal | None = None
    finds_max_load: bool = False
    max_loads: Sequence[MaxLoad] = ()

    def adaptive_part(self, study: str) -> str:
        """Return the option that searches a load, where it was given; see `Plan.adaptive_part`."""
        return "--find-max-load" if self.finds_max_load else ""


def case_at(device: str, column: str, source: str, speedup: float) -> Case:
    """Return the row of a device at a load, given as a speed-up.

    Args:
        device: Name of the device.
        column: Kind of the source: `trace` or `workload`.
        source: Name of the source.
        speedup: The load.
    """
    return Case(
        "runs",
        (("device", device), ("speedup", speedup), (column, source)),
        f"{device} on {source}",
        (("replay.speedup", repr(speedup)),),
        speedup,
        f"{device} on {source} at speed-up {speedup:g}",
    )


@dataclass(frozen=True)
class NamedExperiment:
    """A device, a trace or a workload by its name in tables, and an experiment with it."""

    name: str
    experiment: Experiment


def trace_file(source: Source) -> str:
    """The file of a trace.

    Raises:
        Error: The trace is in no file.
    """
    if isinstance(source, Trace) and isinstance(source.opener, (File, ParquetFile)):
        return source.name
    if not isinstance(source, (str, PurePath)):
        raise Error("several traces must be files", remedy="write them with Trace.write, or give one alone")
    return str(source)


def plan_runs(question: Question) -> SideBySidePlan:
    """Check all that can be checked before the first run.

    Raises:
        Error: A device or trace is missing, or a trace does not fit on a device.
    """
    column, sources = _sources(question)
    price, response_goal = question.axis("price", ()), question.axis("goal")
    price_list = prices(price)
    bases: dict[str, Experiment] = {}
    traces: dict[str, Trace] = {}
    pairs: list[tuple[str, str]] = []
    for source in sources:
        devices = _devices(question, source.experiment)
        trace = _requests(question, source.name, devices)
        for device in devices:
            key = f"{device.name} on {source.name}"
            bases[key] = device.experiment.with_setting("replay.outside", "reject")
            traces[key] = trace
            pairs.append((device.name, source.name))
    configs = {name: plain(bases[f"{name} on {source}"].to_toml()) for name, source in pairs}
    names = {MEMORY}.union(*map(device_names, configs.values()))
    price_list.check({"node": set(), "device": names, "network": set()})
    speedups = question.axis("speedup", (1.0,))
    seeds = question.seeds(plain(next(iter(bases.values())).to_toml()))
    finds_max_load = question.axis("find_max_load", False)
    if finds_max_load and (question.base.setting("replay.mode") or "open") != "open":
        raise Error(
            "no load is too high in a closed replay, which waits for the device",
            remedy="omit --find-max-load, or use --replay open",
        )
    plan = SideBySidePlan(
        bases=bases,
        trace=question.trace,
        traces=traces,
        cases=[
            case_at(device, column, source, speedup)
            for speedup, (device, source) in product(reversed(speedups), pairs)
        ],
        seeds=seeds,
        axes={
            "device": list(question.axis("device", {}).values()) or None,
            "trace": question.axis("trace"),
            "workload": list(question.axis("workload", {}).values()) or None,
            "speedup": speedups,
            "find_max_load": finds_max_load or None,
            "seed": seeds,
            "goal": None if response_goal is None else str(response_goal),
            "price": price or None,
        },
        prices=price_list,
        parts={name: optional_store_parts(config, price_list) for name, config in configs.items()},
        goal=response_goal,
        finds_max_load=finds_max_load,
    )
    plan.check()
    return plan


def _devices(question: Question, experiment: Experiment) -> list[NamedExperiment]:
    """The devices, each in the experiment of a source."""
    devices = question.axis("device")
    if devices is None:
        return [NamedExperiment(str(plain(experiment.to_toml())["device"]["name"]), experiment)]
    return [NamedExperiment(system_label(each), with_system(experiment, each)) for each in devices.values()]


def _sources(question: Question) -> tuple[str, list[NamedExperiment]]:
    """The kind of the sources, `trace` or `workload`, and each source in the shared experiment."""
    traces, workloads = question.axis("trace"), question.axis("workload")
    has_base_source = question.trace is not None or any(
        map(question.base.setting, ("trace.file", "workload.kind"))
    )
    if sum(map(bool, (traces, workloads, has_base_source))) > 1:
        raise Error(
            "several sources of requests were given",
            remedy="use either --trace or --workload",
        )
    if workloads:
        return "workload", [
            NamedExperiment(spell(each), with_model(question.base, each)) for each in workloads.values()
        ]
    if traces:
        labels = tuple(trace_label(file) for file in traces)
        names = labels if len(set(labels)) == len(traces) else traces
        return "trace", [
            NamedExperiment(name, with_model(question.base, file))
            for name, file in zip(names, traces, strict=True)
        ]
    kind, file = question.base.setting("workload.kind"), question.base.setting("trace.file")
    name = trace_label(file) if file else "requests from Python"
    if question.trace is None:
        check_source(question.base, None)
    return (
        ("workload", [NamedExperiment(kind, question.base)])
        if kind
        else ("trace", [NamedExperiment(name, question.base)])
    )


def _requests(question: Question, source: str, devices: Sequence[NamedExperiment]) -> Trace:
    """The requests of a source, the same for all devices: those that the smallest device or array can hold.

    Raises:
        Error: The trace does not fit on a device, and `outside` is not set.
    """
    capacities = [(host_blocks(device.experiment), device) for device in devices]
    capacity, smallest = min(capacities, key=lambda pair: pair[0])
    if question.trace is None:
        check_source(smallest.experiment, None)
    config = plain(smallest.experiment.to_toml())
    trace = fit_trace(config, question.trace, capacity, question.plugins)
    is_recorded = question.trace is not None or "trace" in config
    if is_recorded and config["replay"]["outside"] == "reject":
        end_block = max(_native.survey(trace.open())[1], default=0)
        if end_block > capacity:
            raise Error(
                f"`{source}` does not fit on {smallest.name}: it reaches block {end_block:,} of {capacity:,}",
                remedy="omit the device, or use --outside wrap, clip or scale: requests are then fitted "
                "to the smallest device, the same for all",
            )
    return trace

"""The outcome of a fleet's study, in tables."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from sledlab.show.ranking import Ranking
from sledlab.studies.costs.cost import energy_usd
from sledlab.studies.costs.goal import ResponseGoal, goal
from sledlab.studies.fleet.histogram import Histogram
from sledlab.studies.fleet.plan import FleetPlan
from sledlab.studies.fleet.power import power_w
from sledlab.studies.fleet.recommendation import recommend
from sledlab.studies.fleet.rows import (
    MIX,
    DeviceRow,
    FailedRow,
    FleetRow,
    PlacementRow,
    TriedRow,
    VolumeRow,
)
from sledlab.studies.fleet.steps import StepRunner
from sledlab.study.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from sledlab.studies.fleet.choice import SingleVolumeRun
    from sledlab.studies.fleet.histogram import ResponseStatistics
    from sledlab.studies.fleet.measurement import FleetRun
    from sledlab.studies.fleet.steps import FleetSteps, PlacementResult
    from sledlab.study.measure import MeasuredRun
    from sledlab.study.plan import Plan, RunSpec

BLOCK_BYTES = 512

MINUTE_S = 60.0


@dataclass(frozen=True, repr=False)
class Fleet(Outcome):
    """Many volumes on many devices: which kind serves which volume best, and how many devices that takes.

    Times are in ms. Displays itself as a table in a notebook, and prints as one.

    Attributes:
        rows: The tables: `fleet`, a row for all devices of a kind and for the mix; `volumes`, a row for each
            volume on each kind; `devices`; `placement`; `tried`, placements tried for the goal; `failed`.
        costs: Empty.
        config: The kinds of devices, complete, by name, and prices.
        axes: Place, devices, placement and further options.
        toml: The study as a file that `sledlab fleet` takes.

    Examples:
        >>> import sledlab as sl
        >>> fleet = sl.fleet("cloud:volumes=3,requests=3000,footprint_gb=0.1", ["mems-g2", "ram"], parallel=1)
        >>> fleet.best
        {'volume-0': 'ram', 'volume-1': 'ram', 'volume-2': 'ram'}
        >>> [row.volume for row in fleet.table_rows("volumes") if row.device == "ram" and row.cheapest]
        []
    """

    kinds: ClassVar[Mapping[str, type]] = {
        "fleet": FleetRow,
        "volumes": VolumeRow,
        "devices": DeviceRow,
        "placement": PlacementRow,
        "tried": TriedRow,
        "failed": FailedRow,
    }

    @property
    def devices(self) -> list[str]:
        """Names of the kinds of devices, in the order in which the user gave them."""
        return list(self.config["devices"])

    @property
    def goal(self) -> ResponseGoal | None:
        """The goal for response times, if any."""
        return goal(self.axes.get("goal"))

    @property
    def best(self) -> dict[str, str]:
        """The kind of device that serves each volume best, by the name of the volume."""
        return {row.volume: row.device for row in self.table_rows("volumes") if row.best}

    def table_rows(self, table: str) -> list[Any]:
        """Return the rows of a table."""
        return list(self.rows[table])

    def fleet(self, name: str) -> FleetRow:
        """Return the row of a fleet, by the name of its kind, or `mix`."""
        fleet_row: FleetRow = next(row for row in self.table_rows("fleet") if row.fleet == name)
        return fleet_row

    @property
    def mix(self) -> FleetRow | None:
        """The row of the mix, if there is one."""
        return next((row for row in self.table_rows("fleet") if row.fleet == MIX), None)

    @property
    def recommendation(self) -> FleetRow | None:
        """The fleet to buy for the goal: the cheapest that meets it, or the nearest; None without a goal.

        The mix is recommended only if it is worse in nothing than the best fleet of one kind.
        """
        return recommend(self.table_rows("fleet")) if self.goal else None

    def extras(self) -> Mapping[str, Any]:
        """Return the name of the recommended fleet, for `to_dict`."""
        return {"recommended": self.recommendation.fleet if self.recommendation else None}

    def plot(self, kind: str = "volumes", *, width: str | None = None) -> Figure:
        """Draw the fleet.

        Args:
            kind: `volumes`, sorted by p99 on each kind of device; or `goals`, the devices that goals need.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such kind, or no placement search.
        """
        return self._draw(kind, width=width)


def conclude(plan: Plan, results: Mapping[RunSpec, MeasuredRun[FleetRun]]) -> Fleet:
    """Return the outcome, made of the results of all runs."""
    assert isinstance(plan, FleetPlan)
    steps = StepRunner(
        plan, lambda batch, _: {spec: results[spec] for spec in batch.specs if spec in results}
    ).steps()
    table_rows = _Tables(plan, steps)
    rows: dict[str, list[Any]] = {
        "fleet": list(table_rows.fleets()),
        "volumes": list(table_rows.volumes()),
        "devices": list(table_rows.devices()),
        "placement": list(table_rows.placement()),
        "tried": [
            TriedRow(kind, **asdict(each))
            for kind, placements in steps.tried_placements.items()
            for each in placements
        ],
        "failed": [FailedRow(name, reason) for name, reason in sorted(steps.failed.items())],
    }
    names = {name for kind in plan.kinds.values() for name in kind.device_names}
    config = {
        "devices": {name: kind.config for name, kind in plan.kinds.items()},
        "prices": plan.prices.select({"node": set(), "device": names, "network": set()}),
        "span_s": steps.span_s,
    }
    return Fleet(rows, {}, config, plan.axes, plan.toml)


class _Tables:
    """The rows of all tables, from the results of all steps."""

    def __init__(self, plan: FleetPlan, steps: FleetSteps) -> None:
        self._plan, self._steps, self._goal = plan, steps, plan.goal

    def fleets(self) -> Iterator[FleetRow]:
        """Yield a row for all volumes on one kind, for each kind, and one for the mix."""
        for name, placement in self._steps.placements.items():
            yield self._fleet(name, [placement])
        if self._steps.mix:
            yield self._fleet(MIX, list(self._steps.mix.values()))

    def _fleet(self, name: str, parts: Sequence[PlacementResult]) -> FleetRow:
        steps, response_goal = self._steps, self._goal
        volumes = {volume: times for each in parts for volume, (_, times) in each.volumes.items()}
        times = Histogram.merge(each.times for each in parts)
        runs = [(run.device_row, each.kind) for each in parts for run in each.devices.values()]
        watts = sum(power_w(run, kind, steps.span_s) for run, kind in runs)
        prices = [each.kind.usd for each in parts]
        devices_usd = (
            None
            if None in prices
            else sum((usd or 0.0) * len(each.devices) for usd, each in zip(prices, parts, strict=True))
        )
        electricity_usd = energy_usd(watts, self._plan.prices)
        p99s = sorted(each.measure_ms("p99") for each in volumes.values() if each is not None)
        unplaced_count = len(steps.surveys) - len(volumes)
        fills = {each.fill for each in parts}
        return FleetRow(
            fleet=name,
            devices=sum(each.count for each in parts),
            volumes=len(volumes),
            left=unplaced_count,
            fill=fills.pop() if len(fills) == 1 else None,
            requests=times.requests,
            **{f"{each}_ms": times.measure_ms(each) for each in REQUEST_MEASURES},
            volume_p99_p50_ms=_quantile(p99s, 0.5),
            volume_p99_p90_ms=_quantile(p99s, 0.9),
            volume_p99_max_ms=_quantile(p99s, 1.0),
            overloaded=sum(run.saturated for run, _ in runs),
            meets=None
            if response_goal is None
            else unplaced_count == 0 and bool(_meets(times, response_goal)),
            volumes_meet=None
            if response_goal is None
            else sum(bool(_meets(each, response_goal)) for each in volumes.values()),
            power_w=watts,
            devices_usd=devices_usd,
            energy_usd=electricity_usd,
            total_usd=None if devices_usd is None else devices_usd + electricity_usd,
        )

    def volumes(self) -> Iterator[VolumeRow]:
        """Yield each volume on each kind."""
        steps = self._steps
        for volume in steps.surveys:
            runs = [runs_by_volume[volume] for runs_by_volume in steps.alone.values()]
            ranked_runs = {
                "fastest": Ranking.of(
                    runs, lambda run: _time_ms(run.times, "p99"), lambda run: run.is_overloaded
                ).rows,
                "lowest_energy": Ranking.of(runs, lambda run: run.energy_j).rows,
                "cheapest": Ranking.of(runs, self._usd).rows,
            }
            for run in runs:
                flags = {name: any(run is row for row in rows[:1]) for name, rows in ranked_runs.items()}
                yield self._volume(run, flags)

    def _usd(self, single_run: SingleVolumeRun) -> float | None:
        return single_run.usd(self._plan.prices, self._steps.placements[single_run.kind.name].fill)

    def _volume(self, single_run: SingleVolumeRun, flags: Mapping[str, bool]) -> VolumeRow:
        survey, run, times, span_s = single_run.survey, single_run.run, single_run.times, single_run.span_s
        moved_bytes = survey.read_bytes + survey.written_bytes
        number, placed = self._steps.placements[single_run.kind.name].volumes.get(
            single_run.volume, (None, None)
        )
        return VolumeRow(
            volume=single_run.volume,
            device=single_run.kind.name,
            requests=survey.requests,
            rate_iops=survey.requests / span_s if span_s > 0 else 0.0,
            busiest_minute_iops=survey.busiest_minute_iops * max(MINUTE_S / span_s, 1.0)
            if span_s > 0
            else 0.0,
            read_share=survey.reads / survey.requests,
            mean_kb=moved_bytes / survey.requests / 1024,
            reach_gb=survey.end_blocks * BLOCK_BYTES / 1e9,
            fits=run is not None,
            load=None if run is None else single_run.load,
            mean_ms=_time_ms(times, "mean"),
            p50_ms=_time_ms(times, "p50"),
            p99_ms=_time_ms(times, "p99"),
            max_ms=_time_ms(times, "max"),
            saturated=None if run is None else run.saturated,
            meets=single_run.meets(self._goal),
            energy_j=single_run.energy_j,
            usd=self._usd(single_run),
            **flags,
            best=self._steps.best[single_run.volume] == single_run.kind.name,
            number=number,
            placed_mean_ms=_time_ms(placed, "mean"),
            placed_p99_ms=_time_ms(placed, "p99"),
            placed_meets=None if self._goal is None else _meets(placed, self._goal),
        )

    def devices(self) -> Iterator[DeviceRow]:
        """Yield the devices of each fleet."""
        for fleet, placement in self._parts():
            runs_by_volume = self._steps.alone[placement.kind.name]
            for number, (device, run) in enumerate(placement.devices.items()):
                blocks = sum(runs_by_volume[volume].survey.end_blocks for volume in device.volumes)
                yield DeviceRow(
                    fleet=fleet,
                    device=placement.kind.name,
                    number=number,
                    volumes=len(device.volumes),
                    load=sum(runs_by_volume[volume].load for volume in device.volumes),
                    used=blocks / placement.kind.blocks,
                    run=run.device_row,
                    energy_j=power_w(run.device_row, placement.kind, self._steps.span_s) * self._steps.span_s,
                )

    def placement(self) -> Iterator[PlacementRow]:
        """Yield the device and first block of each volume in each fleet."""
        for fleet, placement_result in self._parts():
            runs_by_volume, kind = self._steps.alone[placement_result.kind.name], placement_result.kind.name
            for number, device in enumerate(placement_result.devices):
                for volume, offset in zip(device.volumes, device.offsets, strict=True):
                    blocks, load = runs_by_volume[volume].survey.end_blocks, runs_by_volume[volume].load
                    yield PlacementRow(fleet, kind, volume, number, offset, blocks, load, "")
            for volume, reason in placement_result.unplaced.items():
                blocks, load = runs_by_volume[volume].survey.end_blocks, runs_by_volume[volume].load
                yield PlacementRow(fleet, kind, volume, None, None, blocks, load, reason)

    def _parts(self) -> Iterator[tuple[str, PlacementResult]]:
        yield from self._steps.placements.items()
        yield from ((MIX, placement) for placement in self._steps.mix.values())


REQUEST_MEASURES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
"""Measures of the response times of all requests of a fleet."""


def _time_ms(times: ResponseStatistics | None, measure: str) -> float | None:
    """Return a measure of response times, in ms; None where there are none."""
    return None if times is None else times.measure_ms(measure)


def _meets(times: Histogram | ResponseStatistics | None, response_goal: ResponseGoal) -> bool | None:
    """Return whether response times meet a goal; None without requests."""
    value_ms = None if times is None else times.measure_ms(response_goal.measure)
    return None if value_ms is None else value_ms <= response_goal.limit_ms


def _quantile(values: Sequence[float], share: float) -> float | None:
    """Return the value that a share of the values does not exceed; None without values."""
    return values[max(ceil(share * len(values)), 1) - 1] if values else None

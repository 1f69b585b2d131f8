"""The plan of a fleet: its volumes, kinds of devices, placement and goal."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.choices import no_model
from sledlab.studies.costs.cost import MEMORY
from sledlab.studies.costs.prices import Prices, prices
from sledlab.studies.fleet.kinds import Kind, kinds
from sledlab.studies.fleet.measurement import SurveyExperiment
from sledlab.studies.fleet.options import FILL, GROUP, PLACEMENT
from sledlab.studies.fleet.placement import LIST, Placement, placement
from sledlab.study.plan import Case, Plan, explicit_tables
from sledlab.traces.volumes import Volume, bulk, merge_volumes, read_volumes

if TYPE_CHECKING:
    from sledlab.studies.costs.goal import ResponseGoal
    from sledlab.study.plan import Question, RunSpec


@dataclass(frozen=True)
class FleetPlan(Plan):
    """Runs of a study of a fleet.

    Attributes:
        volumes: All volumes, by name.
        kinds: Kinds of devices, by name.
        placement: The placement of volumes on devices.
        fill: Share of time and capacity up to which devices are filled.
        goal: The goal for response times, if any.
        prices: Prices of devices and energy.
    """

    volumes: Mapping[str, Volume] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    placement: Placement = LIST[0]
    fill: float = FILL
    goal: ResponseGoal | None = None
    prices: Prices = field(default_factory=prices)
    _texts: dict[int, str] = field(default_factory=dict, repr=False, compare=False)

    def _text(self, spec: RunSpec) -> str:
        """The text of a run: thousands of devices are of a few kinds, so each kind's is resolved once."""
        base = id(self.bases[spec.base])
        if base not in self._texts:
            self._texts[base] = super()._text(spec)
        return self._texts[base]


def survey_name(volume: str) -> str:
    """Name of the base of a volume's survey."""
    return f"survey of {volume}"


def plan_runs(question: Question) -> FleetPlan:
    """Check all that can be checked before the first run; the first plan surveys every volume.

    Raises:
        Error: A volume or kind is missing, or options contradict each other.
    """
    method = question.axis("placement") or placement(PLACEMENT)
    fill, group = question.axis("fill", FILL), _group_size(question.axis("group"), method)
    years, price = question.axis("years"), question.axis("price", ())
    price_list = prices([*price, *([f"years={years}"] if years is not None else [])])
    target = question.axis("goal")
    place = question.axis("place")
    if place is None:
        raise Error("no volumes were given", remedy="name a directory with a trace for each volume")
    devices = question.axis("device")
    if devices is None:
        raise no_model("device")
    kinds_by_name = kinds(question, devices, group, price_list)
    price_list.check(
        {
            "node": set(),
            "device": {MEMORY}.union(*(each.device_names for each in kinds_by_name.values())),
            "network": set(),
        }
    )
    volumes = {each.name: each for each in read_volumes(place, format=question.axis("format"))}
    bases: dict[str, Any] = {survey_name(name): SURVEY_EXPERIMENT for name in volumes}
    return FleetPlan(
        bases=bases,
        trace=None,
        traces={survey_name(name): merge_volumes([volume], [0]) for name, volume in volumes.items()},
        cases=[
            Case("surveys", (("volume", name),), survey_name(name), (), bulk(volume), survey_name(name))
            for name, volume in volumes.items()
        ],
        seeds=(int(explicit_tables(question.base).get("seed", 1)),),
        axes={
            "place": str(place),
            "format": question.axis("format"),
            "device": list(devices.values()),
            "placement": method.name,
            "fill": fill,
            "group": group if method.is_grouped else None,
            "goal": None if target is None else str(target),
            "years": years,
            "price": price or None,
        },
        volumes=volumes,
        kinds=kinds_by_name,
        placement=method,
        fill=fill,
        goal=target,
        prices=price_list,
    )


SURVEY_EXPERIMENT = SurveyExperiment()


def _group_size(count: int | None, method: Placement) -> int:
    """Return the number of devices over which volumes are striped; 1 for devices alone.

    Raises:
        Error: The placement has no groups, and a number was given.
    """
    if method.is_grouped:
        return GROUP if count is None else count
    if count is not None:
        striped = next(each.name for each in LIST if each.is_grouped)
        raise Error(f"groups of devices require --placement {striped}", remedy="omit --group")
    return 1

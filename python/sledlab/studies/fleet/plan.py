"""What is asked of a fleet: which volumes, on which kinds of devices, laid how, for which goal."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - annotations are read at run time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.studies.fleet.goal import ResponseGoal, goal
from sledlab.studies.fleet.kinds import Kind, kinds
from sledlab.studies.fleet.measuring import Surveying
from sledlab.studies.fleet.options import FILL, GROUP, PLACEMENT
from sledlab.studies.fleet.placement import LIST, Placement, placement
from sledlab.study.plan import Case, Plan, said_of, several
from sledlab.study.prices import Prices, prices
from sledlab.traces.volumes import Volume, bulk, merged, read_volumes

if TYPE_CHECKING:
    from sledlab.study.plan import Point, Question


@dataclass(frozen=True)
class FleetPlan(Plan):
    """Runs of a study of a fleet.

    Attributes:
        volumes: All volumes, by name.
        kinds: Kinds of devices, by name.
        placement: How volumes are laid.
        fill: Up to which share of time and capacity devices are filled.
        goal: What response times have to keep to.
        prices: What devices and energy cost.
    """

    volumes: Mapping[str, Volume] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    placement: Placement = LIST[0]
    fill: float = FILL
    goal: ResponseGoal | None = None
    prices: Prices = field(default_factory=prices)
    _known: dict[int, str] = field(default_factory=dict, repr=False, compare=False)

    def _text(self, point: Point) -> str:
        """Thousands of devices are of a few kinds: the experiment of a kind is resolved once."""
        base = id(self.bases[point.base])
        if base not in self._known:
            self._known[base] = super()._text(point)
        return self._known[base]


def survey_name(volume: str) -> str:
    """What the survey of a volume is called."""
    return f"survey of {volume}"


def planned(given: Question) -> FleetPlan:
    """Checks everything that can be checked before the work starts; the first plan surveys every volume.

    Raises:
        Error: Something is named twice or not at all, or makes no sense.
    """
    way = placement(given.axis("placement", PLACEMENT))
    fill, group = _share(given.axis("fill", FILL)), _group(given.axis("group"), way)
    years, price = given.axis("years"), several(given.axis("price"))
    costs = prices(given.axis("prices"), [*price, *([f"years={years}"] if years is not None else [])])
    wanted = goal(given.axis("goal"))
    place = given.axis("place")
    if place is None:
        raise Error("no volumes were given", remedy="name a directory with a trace for each volume")
    devices = several(given.axis("devices"))
    known = kinds(given, devices, group if way.grouped else 1, costs)
    costs.check(
        {"node": set(), "device": {"ram"}.union(*(each.named for each in known.values())), "network": set()}
    )
    volumes = {each.name: each for each in read_volumes(place, format=given.axis("format"))}
    bases: dict[str, Any] = {survey_name(name): SURVEYING for name in volumes}
    return FleetPlan(
        bases=bases,
        trace=None,
        traces={survey_name(name): merged([volume], [0]) for name, volume in volumes.items()},
        cases=[
            Case("surveys", (("volume", name),), survey_name(name), (), bulk(volume), survey_name(name))
            for name, volume in volumes.items()
        ],
        seeds=(int(said_of(given.base).get("seed", 1)),),
        axes={
            "place": str(place),
            "format": given.axis("format"),
            "devices": devices,
            "placement": way.name,
            "fill": fill,
            "group": group if way.grouped else None,
            "goal": None if wanted is None else str(wanted),
            "years": years,
            "price": price or None,
            "prices": None if given.axis("prices") is None else str(given.axis("prices")),
        },
        volumes=volumes,
        kinds=known,
        placement=way,
        fill=fill,
        goal=wanted,
        prices=costs,
    )


SURVEYING = Surveying()


def _share(said: Any) -> float:
    """A share of time and capacity.

    Raises:
        Error: It is none.
    """
    if not isinstance(said, (int, float)) or isinstance(said, bool) or not 0 < said <= 1:
        raise Error(
            f"devices cannot be filled to a share of {said}", remedy="give a number above 0, at most 1"
        )
    return float(said)


def _group(said: Any, way: Placement) -> int:
    """Devices of a group.

    Raises:
        Error: It is no number of devices, or volumes are not striped.
    """
    if said is not None and not way.grouped:
        striped = next(each.name for each in LIST if each.grouped)
        raise Error(f"groups of devices go only with --placement {striped}", remedy="leave --group out")
    found = GROUP if said is None else said
    if not isinstance(found, int) or isinstance(found, bool) or not 1 < found <= 1000:
        raise Error(f"a group of {found} devices cannot be", remedy="give a whole number from 2 to 1,000")
    return found

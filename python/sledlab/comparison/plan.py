"""What a comparison runs: every scheduler at every speed-up with every seed, and maybe one key more."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab import _native, settings, swept
from sledlab.errors import Error, unknown

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sledlab.catalogue import Chosen
    from sledlab.traces import Trace

SPEEDUPS = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Speed-ups of an open replay unless others are given."""

KEYS = ("schedulers", "speedups", "seeds", "vary")
"""Keys of the table `[compare]`."""

UNRACED = ("sptf-scan", "mst", "optimal")
"""Left out of `all` where the catalogue does not say: one doubles another, two refuse long queues."""


@dataclass(frozen=True)
class Point:
    """One run of a comparison.

    Attributes:
        scheduler: The scheduler as it was named.
        speedup: Divides the times between arrivals.
        seed: Root of all random numbers.
        varied: The key that varies and its value, where one does.
    """

    scheduler: str
    speedup: float
    seed: int
    varied: tuple[str, Any] | None = None

    def keys(self) -> dict[str, Any]:
        """What tells the point from others, as columns."""
        vary = {self.varied[0]: self.varied[1]} if self.varied else {}
        return {"scheduler": self.scheduler, "speedup": self.speedup, **vary, "seed": self.seed}

    def __str__(self) -> str:
        """The point as messages name it."""
        vary = f", {self.varied[0]} = {self.varied[1]}" if self.varied else ""
        return f"{self.scheduler} at speed-up {self.speedup:g}, seed {self.seed}{vary}"


@dataclass(frozen=True)
class Plan:
    """All points of a comparison, checked.

    Attributes:
        base: What all have in common; its scheduler table holds parameters for all of them.
        trace: Replayed instead of what `base` names.
        schedulers: Names, with parameters where they have some.
        speedups: Rising.
        seeds: Roots of random numbers.
        vary: A key and its values, or a word for named sets of settings and their names; none when nothing
            else varies.
        sets: The settings by the names of the sets.
    """

    base: _native.Experiment
    trace: Trace | None
    schedulers: tuple[str, ...]
    speedups: tuple[float, ...]
    seeds: tuple[int, ...]
    vary: tuple[str, tuple[Any, ...]] | None = None
    sets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def made(
        cls,
        base: _native.Experiment,
        trace: Trace | None = None,
        *,
        schedulers: Sequence[Chosen | str] | str | None = None,
        speedups: Sequence[float] | None = None,
        seeds: int | None = None,
        vary: Mapping[str, Sequence[Any] | Mapping[str, Any]] | None = None,
    ) -> Plan:
        """Checks everything that can be checked before the work starts, and fills in what was not said.

        Raises:
            Error: A scheduler is unknown, a number makes no sense, or a trace has several seeds.
        """
        chosen = "all" if schedulers is None else schedulers
        names = swept.models("scheduler", "schedulers", chosen, racing())
        first = _read(base.with_setting("scheduler.kind", names[0]))
        roots = swept.seeds(first, 1 if seeds is None else seeds)
        closed = str(first["replay"]["mode"]).startswith("closed")
        if speedups is None:
            speedups = (1.0,) if closed else SPEEDUPS
        rising = swept.numbers("speed-up", speedups, above=True)
        varied, sets = _vary(vary)
        plan = cls(base, trace, names, rising, roots, varied, sets)
        check_trace(first.get("trace"))
        for point in plan.points:
            plan.text(point)
        return plan

    @cached_property
    def points(self) -> list[Point]:
        """All points, those that take longest first: the more load, the longer the queue."""
        varied = [(self.vary[0], value) for value in self.vary[1]] if self.vary else [None]
        combined = product(reversed(self.speedups), varied, self.schedulers, self.seeds)
        return [Point(scheduler, speedup, seed, vary) for speedup, vary, scheduler, seed in combined]

    def text(self, point: Point) -> str:
        """The complete experiment of a point.

        Raises:
            Error: It makes no sense; the message names the point.
        """
        try:
            experiment = self.base.with_setting("scheduler.kind", point.scheduler)
            for key, setting in self._varied(point).items():
                experiment = experiment.with_setting(key, settings.word(setting))
            experiment = experiment.with_setting("replay.speedup", repr(point.speedup))
            return experiment.with_setting("seed", str(point.seed)).to_toml()
        except Error as error:
            raise named(error, point) from error

    def _varied(self, point: Point) -> Mapping[str, Any]:
        """The settings of what varies at a point."""
        if point.varied is None:
            return {}
        return self.sets[point.varied[1]] if self.sets else dict([point.varied])

    def to_toml(self) -> str:
        """The comparison as a file that `sledlab compare` takes."""
        common = _read(self.base.with_setting("scheduler.kind", self.schedulers[0]))
        common["replay"].pop("speedup", None)
        parameters = {name: self.base.setting(f"scheduler.{name}") for name in _scheduler_parameters()}
        said = {name: value(text) for name, text in parameters.items() if text is not None}
        table: dict[str, Any] = {
            "seed": self.seeds[0],
            "compare": {
                "schedulers": list(self.schedulers),
                "speedups": list(self.speedups),
                "seeds": len(self.seeds),
                **({"vary": {self.vary[0]: self.sets or list(self.vary[1])}} if self.vary else {}),
            },
            **{name: values for name, values in common.items() if name not in ("seed", "scheduler")},
            **({"scheduler": said} if said else {}),
        }
        return settings.document(table)


def named(error: Error, point: object) -> Error:
    """An error with the point that met it."""
    return Error(f"{point}: {error.message}", error.place, error.remedy)


def read(path: str | Path) -> tuple[_native.Experiment, dict[str, Any]]:
    """An experiment file, and what its table `[compare]` says.

    A scheduler that it names gives way to those that are compared, with its parameters.

    Raises:
        Error: It cannot be read, is not an experiment, or `[compare]` has an unknown key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read the experiment `{path}`: {error}") from error
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _native.Experiment(text, str(path))
        raise Error(f"cannot read the experiment `{path}`: {error}") from error
    compare = tables.pop("compare", {})
    if not isinstance(compare, dict):
        raise Error(f"compare: expected a table, found `{compare}`")
    for key in compare:
        if key not in KEYS:
            raise unknown("key of [compare]", key, KEYS)
    scheduler = tables.get("scheduler")
    if isinstance(scheduler, str) or (isinstance(scheduler, dict) and "kind" in scheduler):
        del tables["scheduler"]
    return _native.Experiment(settings.document(tables), str(path)), compare


def racing() -> tuple[str, ...]:
    """The schedulers that `all` stands for."""
    from sledlab.catalogue import everything

    listed = everything()["schedulers"]
    return tuple(item["name"] for item in listed if item.get("in_race", item["name"] not in UNRACED))


def _vary(given: Any) -> tuple[tuple[str, tuple[Any, ...]] | None, Mapping[str, Mapping[str, Any]]]:
    """The one key that varies besides, with its values, or sets of settings by their names."""
    if not given:
        return None, {}
    if not hasattr(given, "items") or len(given) != 1:
        raise Error("vary takes exactly one key", remedy='write it as {"device.sleds" = [1, 4]}')
    ((key, values),) = given.items()
    if hasattr(values, "items"):
        return _sets(key, values)
    if not isinstance(values, (list, tuple)) or not values:
        raise Error(f"vary: `{key}` has no list of values", remedy=f"write it as {{{key!r}: [1, 4]}}")
    if key in ("scheduler.kind", "replay.speedup", "seed"):
        raise Error(f"vary: `{key}` varies already", remedy="give schedulers, speed-ups or seeds instead")
    values = tuple(dict.fromkeys(values))
    if not all(isinstance(value, (int, float)) for value in values):
        values = tuple(str(value) for value in values)
    return (key, values), {}


def _sets(
    key: str, sets: Mapping[str, Any]
) -> tuple[tuple[str, tuple[Any, ...]], Mapping[str, Mapping[str, Any]]]:
    """A word for what varies, and named sets of settings."""
    form = 'write it as {"saving": {"none": {"merge.kind": "none"}, "merging": {"merge.kind": "chains"}}}'
    if not key.isidentifier():
        raise Error(f"vary: `{key}` is not a word for sets of settings", remedy=form)
    if not sets or not all(hasattr(settings, "items") for settings in sets.values()):
        raise Error(f"vary: `{key}` needs a set of settings for each name", remedy=form)
    return (key, tuple(sets)), sets


def value(text: str) -> Any:
    """A value out of its text; text where it is nothing else."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _read(experiment: _native.Experiment) -> dict[str, Any]:
    """The complete experiment as plain data."""
    return plain(experiment.to_toml())


def check_trace(said: Mapping[str, Any] | None) -> None:
    """Opens the trace, to find now what else every point would stumble over."""
    from sledlab.traces import read_trace

    if said is None:
        return
    if said["file"] == "-":
        raise Error("standard input can be read only once", remedy="save the trace to a file first")
    read_trace(said["file"], said.get("format") or None)


def _scheduler_parameters() -> Iterator[str]:
    """Every parameter of any scheduler, once."""
    from sledlab.catalogue import entries

    found = (spec.name for entry in entries("schedulers") for spec in entry.parameters)
    yield from dict.fromkeys(found)


def plain(text: str) -> dict[str, Any]:
    """An experiment as plain data."""
    found: dict[str, Any] = tomllib.loads(text)
    return found

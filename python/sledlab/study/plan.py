"""What a study runs: for each row of its tables, which device under which settings, once for each seed."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error
from sledlab.model.catalogue import Chosen, apply, require
from sledlab.model.settings import document, word
from sledlab.traces.read import read_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sledlab._native import Experiment
    from sledlab.runs.compose import Device
    from sledlab.traces.read import Trace

    Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Point:
    """One run of a study.

    Attributes:
        base: The name of what it starts from, a key of `Plan.bases`.
        settings: What differs from that, as keys and values of an experiment.
        seed: Root of all random numbers.
        weight: The more the longer it takes; those that take longest run first.
    """

    base: str
    settings: Settings
    seed: int
    weight: float = field(default=0.0, compare=False)

    def keys(self) -> dict[str, Any]:
        """What tells the point from others, for the file of kept points."""
        return {"base": self.base, **dict(self.settings), "seed": self.seed}

    def __str__(self) -> str:
        """The point as messages name it."""
        said = "".join(f", {key} = {value}" for key, value in self.settings)
        return f"{self.base}, seed {self.seed}{said}" if self.base else f"seed {self.seed}{said}"


@dataclass(frozen=True)
class Case:
    """A row of a table before it is measured.

    Attributes:
        section: Which table it belongs to.
        labels: Columns that tell it from the other rows, with their values.
        base: As of its points.
        settings: As of its points.
        weight: As of its points.
        name: How messages name it; by its settings unless given.
    """

    section: str
    labels: tuple[tuple[str, Any], ...]
    base: str
    settings: Settings
    weight: float = 0.0
    name: str = ""

    def __getitem__(self, label: str) -> Any:
        """The value of a label."""
        return dict(self.labels)[label]


@dataclass(frozen=True)
class Plan:
    """All runs of a study, checked.

    Attributes:
        bases: What runs start from, by name: experiments of one system, or of a cluster.
        trace: Replayed instead of what the bases name.
        traces: Replayed instead of what some bases name, by their names.
        cases: All rows of all tables.
        seeds: Roots of random numbers.
        axes: What the study sweeps, complete, as its file says it.
        watch: Whether the rests of devices that never park are counted.
        plugins: Plug-ins that may run, as of `Composed`; set by the frame.
        toml: The study as a file; set by the frame.
        measure: What a run is done with, where it is no run against one system; set by the frame.
        failed: Points without results, with what was wrong, of a study that concludes in spite of them
            (`Study.despite_failures`); set by the frame.
    """

    bases: Mapping[str, Any]
    trace: Trace | None
    cases: Sequence[Case]
    seeds: tuple[int, ...]
    axes: Mapping[str, Any]
    watch: bool = False
    plugins: tuple[str, ...] = ()
    toml: str = ""
    traces: Mapping[str, Trace] = field(default_factory=dict)
    measure: Callable[..., Any] | None = None
    failed: Mapping[Point, str] = field(default_factory=dict)

    def trace_of(self, point: Point) -> Trace | None:
        """What a run replays instead of what its experiment names."""
        return self.traces.get(point.base, self.trace)

    def of(self, section: str, **labels: Any) -> list[Case]:
        """The rows of a table, those that have some labels."""
        wanted = labels.items()
        return [
            case for case in self.cases if case.section == section and wanted <= dict(case.labels).items()
        ]

    def points_of(self, case: Case) -> list[Point]:
        """The runs of a row, one for each seed."""
        return [Point(case.base, case.settings, seed, case.weight) for seed in self.seeds]

    @cached_property
    def points(self) -> list[Point]:
        """All different runs, those that take longest first."""
        unique = dict.fromkeys(point for case in self.cases for point in self.points_of(case))
        return sorted(unique, key=lambda point: -point.weight)

    @cached_property
    def names(self) -> Mapping[Point, str]:
        """How messages name the runs."""
        return {
            point: f"{case.name}, seed {point.seed}" if case.name else str(point)
            for case in reversed(self.cases)
            for point in self.points_of(case)
        }

    def experiment(self, point: Point) -> Any:
        """The experiment of a run, not yet checked.

        Raises:
            Error: A setting cannot be made; the message names the run.
        """
        try:
            experiment = self.bases[point.base]
            for key, value in point.settings:
                experiment = experiment.with_setting(key, value)
            return experiment.with_setting("seed", str(point.seed))
        except Error as error:
            raise named(error, self.names[point]) from error

    @cached_property
    def texts(self) -> Mapping[Point, str]:
        """The complete experiment of every run, each resolved once.

        Raises:
            Error: One makes no sense; the message names the run.
        """
        return {point: self._text(point) for point in self.points}

    def _text(self, point: Point) -> str:
        try:
            text: str = self.experiment(point).to_toml()
            return text
        except Error as error:
            raise named_alone(error, self.names[point], self.bases[point.base]) from error

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """What all runs have in common, complete, as plain data: that of the last run."""
        return plain(self.texts[self.points[-1]])


@dataclass(frozen=True)
class Question:
    """What a study is asked.

    Attributes:
        base: The experiment that all runs share.
        trace: A trace in memory, replayed instead of what `base` names.
        axes: What was said of its axes, by keyword.
    """

    base: Any
    trace: Trace | None
    axes: Mapping[str, Any]

    def axis(self, name: str, default: Any = None) -> Any:
        """What was said of an axis, or the default."""
        found = self.axes.get(name)
        return default if found is None else found

    @property
    def device(self) -> str | None:
        """The preset or file that the shared experiment names as its device, if any."""
        found: str | None = _of_device(self.base).get("preset")
        return found

    def on(self, device: Device) -> Any:
        """The shared experiment on another device, with the parameters of devices that were set for all.

        Raises:
            Error: There is no such device.
        """
        return taking(self.base, worded("device", device))


def several(said: Any) -> list[Any]:
    """One thing, or several, or none, as a list."""
    if said is None:
        return []
    return [said] if isinstance(said, (str, Path, Chosen)) else list(said)


def worded(kind: str, said: Any) -> Chosen:
    """A model, or a word such as `mems-g2:sleds=4`."""
    name, *rest = said.split(":") if isinstance(said, str) else (said,)
    if rest and all("=" in each for each in rest):
        return Chosen(kind, str(name), dict(each.split("=", 1) for each in rest))
    return require(kind, said)


def taking(experiment: Any, what: Chosen | str) -> Any:
    """An experiment that takes another model, or trace file, and keeps what was set besides in its table.

    Parameters of the model that are words are read like settings.
    """
    table = what.kind if isinstance(what, Chosen) else "trace"
    said = said_of(experiment).get(table, {})
    kept = (
        {key: value for key, value in said.items() if key not in ("preset", "kind", "file")}
        if isinstance(said, dict)
        else {}
    )
    if isinstance(what, Chosen):
        experiment = apply(experiment, replace(what, parameters={}))
        kept = {**what.parameters, **kept}
    else:
        experiment = experiment.with_trace(what)
    for key, value in kept.items():
        experiment = experiment.with_setting(f"{table}.{key}", word(value))
    return experiment


def _of_device(experiment: Any) -> dict[str, Any]:
    """What has been said of the device; its name alone stands for its preset."""
    said = said_of(experiment).get("device", {})
    return {"preset": said} if isinstance(said, str) else said


def said_of(experiment: Any) -> dict[str, Any]:
    """What has been said of an experiment, as plain data."""
    return plain(experiment.said())


def plain(text: str) -> dict[str, Any]:
    """An experiment as plain data."""
    return tomllib.loads(text)


def named(error: Error, point: object) -> Error:
    """An error with the run that met it."""
    return Error(f"{point}: {error.message}", error.place, error.remedy)


def named_alone(error: Error, point: object, base: Any) -> Error:
    """An error with the run that met it, unless all runs that start from there meet the same."""
    try:
        base.to_toml()
    except Error as shared:
        if shared.message == error.message:
            return shared
    return named(error, point)


def check_source(experiment: Experiment, trace: Trace | None) -> None:
    """Opens the trace, to find now what every run would stumble over.

    Raises:
        Error: There is none, it cannot be opened, or can be read only once.
    """
    said = said_of(experiment)
    if trace is not None or "workload" in said:
        return
    if "trace" not in said:
        raise Error(
            "no trace and no workload was given", remedy="choose one with --trace FILE or --workload NAME"
        )
    if said["trace"]["file"] == "-":
        raise Error("standard input can be read only once", remedy="save the trace to a file first")
    read_trace(
        said["trace"]["file"],
        said["trace"].get("format") or None,
        sort_window=int(said["trace"].get("sort_window") or 0),
    )


def to_toml(kind: str, base: Any, axes: Mapping[str, Any], seed: int, without: Iterable[str] = ()) -> str:
    """A study as a file that gives the same bytes again.

    Args:
        kind: Which study.
        base: The experiment that all runs share.
        axes: What it sweeps, complete.
        seed: The first root of random numbers.
        without: Keys that axes stand for.
    """
    said = {name: values for name, values in said_of(base).items() if name != "seed"}
    for table, key in (each.split(".") for each in without):
        said[table] = {name: value for name, value in said.get(table, {}).items() if name != key}
    said = {name: values for name, values in said.items() if values != {}}
    kept = {name: value for name, value in axes.items() if value is not None}
    return document({"seed": seed, "study": {"kind": kind, **kept}, **said})

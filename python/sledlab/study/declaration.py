"""What a study is: declared without importing what plans, runs and concludes it (`sledlab.study.frame`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sledlab._native import ClusterExperiment, Experiment
from sledlab.lazy import later
from sledlab.runs.options import Clustered, Simulated, Studied, declared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.runs.compose import ComposedExperiment
    from sledlab.study.bench import Measure
    from sledlab.study.measure import FoundOf
    from sledlab.study.outcome import Outcome
    from sledlab.study.plan import Plan, Point, Question

Out = TypeVar("Out", bound="Outcome")


@dataclass(frozen=True)
class Subject:
    """What the runs of a study are.

    Attributes:
        said: All that can be said of a single run.
        compose: From source, device and what is said, over a `base`, to what all runs share.
        experiment: Reads the text of an experiment; its name stands in messages.
        measure: Measures a run, in this process or another; see `sledlab.study.measure.measure`.
        row: Makes a row of its results, by keyword.
        requests: Whether they take a trace or a workload.
    """

    said: type
    compose: Callable[..., ComposedExperiment]
    experiment: Callable[[str, str], Any]
    measure: Callable[..., FoundOf[Any]]
    row: Callable[..., Any]
    requests: bool = True


ONE_SYSTEM = Subject(
    Simulated,
    later("sledlab.runs.compose:compose"),
    Experiment,
    later("sledlab.study.measure:measure"),
    later("sledlab.study.measure:Measured"),
)
"""Runs of requests against one system."""

REPLAYS = Subject(
    Clustered,
    later("sledlab.study.replays:compose"),
    ClusterExperiment,
    later("sledlab.study.replays:measure"),
    later("sledlab.study.replays:ReplayFigures"),
    requests=False,
)
"""Replays of work records on clusters."""


@dataclass(frozen=True)
class Declaration(Generic[Out]):
    """A study as it is declared: what it sweeps, what it runs, and what it makes of it.

    Attributes:
        name: Its command, its function in Python, and `kind` in its file.
        meaning: One line.
        help: What `--help` says besides, examples included.
        options: Everything that can be said, a `TypedDict` of `Option`s; what neither a run nor every study
            knows are its axes.
        plan: From what is asked to the runs, checked.
        conclude: From the runs to the outcome.
        doing: What it does, for the progress bar.
        device: Whether it takes one device besides its axes; a name is the device unless one is said.
        covered: Keys of an experiment, `table.key`, that its axes stand for: a model that a file names there
            gives way, with its parameters.
        chosen_by: Keywords that choose it in the command of another study, which it is under.
        race: Where what is found decides what runs next: from the first plan to that of all runs.
        subject: What its runs are.
        despite_failures: Whether it concludes although points failed: `conclude` finds no results of these,
            but what was wrong, in `Plan.failed`. Otherwise the study ends with an error that names them.
            Either way all points run, and those that failed run again the next time.
        place: The keyword that the argument of its command is, where that is no file of a study.
    """

    name: str
    meaning: str
    help: str
    options: type
    plan: Callable[[Question], Plan]
    conclude: Callable[[Plan, Mapping[Point, FoundOf[Any]]], Out]
    doing: str = "studying"
    device: bool | str = True
    covered: tuple[str, ...] = ()
    chosen_by: tuple[str, ...] = ()
    race: Callable[[Plan, Measure], Plan] | None = None
    subject: Subject = ONE_SYSTEM
    despite_failures: bool = False
    place: str = ""

    @property
    def axes(self) -> tuple[str, ...]:
        """Keywords of what it sweeps."""
        shared = {*declared(self.subject.said), *declared(Studied)} - {"speedups"}
        return (*(name for name in declared(self.options) if name not in shared), "seeds")

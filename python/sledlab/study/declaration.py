"""Declarations of studies; the code that plans, executes and concludes them is imported on demand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sledlab._native import Experiment
from sledlab.lazy import later
from sledlab.runs.options import ExecutorOptions, SimulateOptions, declared_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.runs.compose import ComposedExperiment
    from sledlab.study.bench import Measure
    from sledlab.study.measure import MeasuredRun
    from sledlab.study.outcome import Outcome
    from sledlab.study.plan import Plan, Question, RunSpec

Out = TypeVar("Out", bound="Outcome")


@dataclass(frozen=True)
class Subject:
    """The kind of runs that a study makes.

    Attributes:
        run_options: The options of a single run.
        compose: Builds the experiment shared by all runs, from source, device and options, over a `base`.
        experiment: Reads the text of an experiment; messages cite its name.
        measure: Measures a run, in this process or another; see `sledlab.study.measure.measure`.
        row: Makes a row of results, from columns by keyword.
        takes_requests: Whether runs take a trace or a workload.
    """

    run_options: type
    compose: Callable[..., ComposedExperiment]
    experiment: Callable[[str, str], Any]
    measure: Callable[..., MeasuredRun[Any]]
    row: Callable[..., Any]
    takes_requests: bool = True


ONE_SYSTEM = Subject(
    SimulateOptions,
    later("sledlab.runs.compose:compose"),
    Experiment,
    later("sledlab.study.measure:measure"),
    later("sledlab.study.measure:RunFigures"),
)
"""Runs of requests against one system."""


@dataclass(frozen=True)
class Declaration(Generic[Out]):
    """The declaration of a study: its axes, its runs, and its outcome.

    Attributes:
        name: Name of its command and of its function in Python, and `kind` in its file.
        meaning: The meaning, in one line.
        help: Further text of `--help`, examples included.
        options: All its options, a `TypedDict` of `Option`s. Its axes are those without a key that it does
            not share with a single run or with the execution of every study.
        plan: Makes the plan, checked, of a question.
        conclude: Makes the outcome of the results of all runs.
        progress_caption: Caption of the progress bar.
        device: Whether it takes one device besides its axes; a name is the default device.
        replaced_keys: Keys of an experiment, `table.key`, that its axes replace: a model that a file names
            there is ignored, with its parameters.
        selecting_keywords: Keywords of another study whose command selects this study if one has several
            values.
        extend_plan: Makes the plan of all runs from the results of the first plan, where these decide what
            runs next.
        subject: The kind of its runs.
        despite_failures: Whether the study concludes despite failed runs; `Plan.failed` has their errors.
            Otherwise the study ends with an error that names them. All runs execute in both cases, and failed
            ones execute again the next time.
        place: The keyword of the argument of its command, if that is not a study file.
        has_sketch: Whether a terminal shows a plot in characters of its outcome.
    """

    name: str
    meaning: str
    help: str
    options: type
    plan: Callable[[Question], Plan]
    conclude: Callable[[Plan, Mapping[RunSpec, MeasuredRun[Any]]], Out]
    progress_caption: str = "studying"
    device: bool | str = True
    replaced_keys: tuple[str, ...] = ()
    selecting_keywords: tuple[str, ...] = ()
    extend_plan: Callable[[Plan, Measure], Plan] | None = None
    subject: Subject = ONE_SYSTEM
    despite_failures: bool = False
    place: str = ""
    has_sketch: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        """Keywords of its axes."""
        shared = {**declared_options(self.subject.run_options), **declared_options(ExecutorOptions)}
        options = declared_options(self.options)
        study_options = {name: option for name, option in options.items() if shared.get(name) != option}
        return tuple(name for name, option in study_options.items() if option.key is None)

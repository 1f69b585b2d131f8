"""Plans of studies: the runs behind each row of the tables, with device and settings, one for each seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sledlab._native import toml_tables
from sledlab.errors import Error
from sledlab.model.catalog import ModelChoice, with_settings
from sledlab.model.choices import distinct_models
from sledlab.model.settings import document
from sledlab.study.axes import seeds
from sledlab.traces.read import file_opener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from sledlab._native import Experiment
    from sledlab.traces.read import Trace

    Settings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RunSpec:
    """Specification of one run of a study.

    Attributes:
        base: Name of the experiment that it starts from, a key of `Plan.bases`.
        settings: Changes to that experiment, as keys and values.
        seed: Seed of all random numbers.
        weight: Estimate of its duration, in any unit; the longest runs execute first.
    """

    base: str
    settings: Settings
    seed: int
    weight: float = field(default=0.0, compare=False)

    def keys(self) -> dict[str, Any]:
        """Return base, settings and seed, for the result cache."""
        return {"base": self.base, **dict(self.settings), "seed": self.seed}

    def __str__(self) -> str:
        """Return the name of the run in messages."""
        settings_text = "".join(f", {key} = {value}" for key, value in self.settings)
        return (
            f"{self.base}, seed {self.seed}{settings_text}"
            if self.base
            else f"seed {self.seed}{settings_text}"
        )


@dataclass(frozen=True)
class Case:
    """A row of a table before it is measured.

    Attributes:
        section: Name of the table that the row belongs to.
        labels: Columns that identify the row in its table, with their values.
        base: The base of its runs.
        settings: The settings of its runs.
        weight: The weight of its runs.
        name: Its name in messages; by default made of its settings.
    """

    section: str
    labels: tuple[tuple[str, Any], ...]
    base: str
    settings: Settings
    weight: float = 0.0
    name: str = ""

    def __getitem__(self, label: str) -> Any:
        """Return the value of a label."""
        return dict(self.labels)[label]


@dataclass(frozen=True)
class Plan:
    """All runs of a study, checked.

    Attributes:
        bases: Experiments that runs start from, by name: of one system, or of a cluster.
        trace: The trace to replay instead of those that the bases name.
        traces: Traces to replay instead of those that some bases name, by names of these bases.
        cases: All rows of all tables.
        seeds: Roots of random numbers.
        axes: The values of all axes, as in the study file.
        counts_idle_periods: Whether the idle periods of devices that never park are counted.
        plugins: Plug-ins that may run, as of `allowed_plugins`; set by the frame.
        explicit: The experiment in the study's file, where the plan sets more than the user did.
        toml: The study as a file; set by the frame.
        measure: The function that measures a run; by default the one of the study's subject.
        failed: Runs without results, with their errors, of a study that concludes despite them
            (`Study.despite_failures`); set by the frame.
    """

    bases: Mapping[str, Any]
    trace: Trace | None
    cases: Sequence[Case]
    seeds: tuple[int, ...]
    axes: Mapping[str, Any]
    counts_idle_periods: bool = False
    plugins: tuple[str, ...] = ()
    explicit: Any = None
    toml: str = ""
    traces: Mapping[str, Trace] = field(default_factory=dict)
    measure: Callable[..., Any] | None = None
    failed: Mapping[RunSpec, str] = field(default_factory=dict)

    @classmethod
    def from_question(cls, question: Question, cases: Sequence[Case], axes: Mapping[str, Any]) -> Self:
        """Return the plan of runs on the shared experiment, with the seeds of the question.

        Raises:
            Error: The shared experiment is invalid.
        """
        check_source(question.base, question.trace)
        roots = question.seeds(plain(question.base.to_toml()))
        return cls({"": question.base}, question.trace, cases, roots, {**axes, "seed": roots})

    def annotate(self, **attributes: Any) -> Self:
        """Return the plan with other attributes that do not change its runs, each of which stays resolved."""
        plan = replace(self, **attributes)
        cached_names = ("specs", "names", "texts")
        vars(plan).update((name, vars(self)[name]) for name in cached_names if name in vars(self))
        return plan

    def adaptive_part(self, study: str) -> str:
        """Return the study, or the option, whose later runs depend on earlier results; empty if none do.

        Args:
            study: Name of the study, which has `extend_plan`.
        """
        return study

    def trace_of(self, spec: RunSpec) -> Trace | None:
        """Return the trace that a run replays instead of the one that its experiment names, if any."""
        return self.traces.get(spec.base, self.trace)

    def select_cases(self, section: str, **labels: Any) -> list[Case]:
        """Return the rows of a table that have these labels."""
        label_items = labels.items()
        return [
            case
            for case in self.cases
            if case.section == section and label_items <= dict(case.labels).items()
        ]

    def specs_of(self, case: Case) -> list[RunSpec]:
        """Return the runs of a row, one for each seed."""
        return [RunSpec(case.base, case.settings, seed, case.weight) for seed in self.seeds]

    @cached_property
    def specs(self) -> list[RunSpec]:
        """All different runs, the longest-running first."""
        unique = dict.fromkeys(spec for case in self.cases for spec in self.specs_of(case))
        return sorted(unique, key=lambda spec: -spec.weight)

    @cached_property
    def names(self) -> Mapping[RunSpec, str]:
        """The names of the runs in messages."""
        return {
            spec: f"{case.name}, seed {spec.seed}" if case.name else str(spec)
            for case in reversed(self.cases)
            for spec in self.specs_of(case)
        }

    def experiment(self, spec: RunSpec) -> Any:
        """Return the experiment of a run, not yet checked.

        Raises:
            Error: A setting is invalid; the message names the run.
        """
        try:
            experiment = self.bases[spec.base]
            for key, value in spec.settings:
                experiment = experiment.with_setting(key, value)
            return experiment.with_setting("seed", str(spec.seed))
        except Error as error:
            raise with_run_name(error, self.names[spec]) from error

    @cached_property
    def texts(self) -> Mapping[RunSpec, str]:
        """The complete experiment of every run, each resolved once.

        Raises:
            Error: An experiment is invalid; the message names the run.
        """
        return {spec: self._text(spec) for spec in self.specs}

    def check(self) -> None:
        """Resolve the experiment of every run.

        Raises:
            Error: An experiment is invalid; the message names the run.
        """
        _ = self.texts

    def _text(self, spec: RunSpec) -> str:
        try:
            text: str = self.experiment(spec).to_toml()
            return text
        except Error as error:
            raise name_failed_run(error, self.names[spec], self.bases[spec.base]) from error

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The complete experiment of the last run, as plain data: what all runs share is read from it."""
        return plain(self.texts[self.specs[-1]])


@dataclass(frozen=True)
class Question:
    """The request for a study: the shared experiment, the trace and the axes.

    Attributes:
        base: The experiment that all runs share.
        trace: A trace in memory, replayed instead of the one that `base` names.
        axes: Values of axes that were given, by keyword, as the parsers of their declarations return them.
        plugins: Plug-ins that may run, as of `allowed_plugins`.
    """

    base: Any
    trace: Trace | None
    axes: Mapping[str, Any]
    plugins: tuple[str, ...] = ()

    def axis(self, name: str, default: Any = None) -> Any:
        """Return the value given for an axis, or the default."""
        value = self.axes.get(name)
        return default if value is None else value

    def seeds(self, config: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the seeds given, or the one of an experiment, complete, that all runs share.

        Raises:
            Error: There are several seeds, and no result depends on the seed.
        """
        return seeds(config, self.axis("seed"))

    def models(self, kind: str, default: str | None = None) -> dict[str, ModelChoice]:
        """Return the models of an axis by label, or the one that the shared experiment names, or a default.

        Raises:
            Error: There is none of these.
        """
        given_models: dict[str, ModelChoice] | None = self.axes.get(kind)
        if given_models is not None:
            return given_models
        table = explicit_tables(self.base).get(kind, {})
        name = (table if isinstance(table, str) else table.get("preset")) or default
        return distinct_models(kind, name)


def with_model(experiment: Any, model: ModelChoice | str) -> Any:
    """Return the experiment with another model, or another trace file; other settings of that table are kept.

    Parameters of a model given as a word are parsed as settings are.
    """
    table = model.kind if isinstance(model, ModelChoice) else "trace"
    settings_table = explicit_tables(experiment).get(table, {})
    settings = (
        {key: value for key, value in settings_table.items() if key not in ("preset", "kind", "file")}
        if isinstance(settings_table, dict)
        else {}
    )
    if isinstance(model, ModelChoice):
        experiment = with_settings(experiment, {table: replace(model, parameters={})})
        settings = {**model.parameters, **settings}
    else:
        experiment = experiment.with_trace(model)
    return with_settings(experiment, {f"{table}.{key}": value for key, value in settings.items()})


def explicit_tables(experiment: Any) -> dict[str, Any]:
    """Return the settings that were made in an experiment, as plain data, without defaults."""
    return plain(experiment.explicit_toml())


def plain(text: str) -> dict[str, Any]:
    """Return an experiment as plain data."""
    return toml_tables(text)


def with_run_name(error: Error, spec: object) -> Error:
    """Return the error, with the name of the run that raised it."""
    return Error(f"{spec}: {error.message}", error.place, error.remedy)


def name_failed_run(error: Error, spec: object, base: Any) -> Error:
    """Return the error with the name of its run, unless every run from the same base raises it."""
    try:
        base.to_toml()
    except Error as shared:
        if shared.message == error.message:
            return shared
    return with_run_name(error, spec)


def check_source(experiment: Experiment, trace: Trace | None) -> None:
    """Open the trace, to report errors before the first run.

    Raises:
        Error: The trace does not exist, cannot be opened, or can be read only once.
    """
    tables = explicit_tables(experiment)
    if trace is not None or "workload" in tables:
        return
    if "trace" not in tables:
        raise Error(
            "no trace and no workload was given", remedy="choose one with --trace FILE or --workload NAME"
        )
    if tables["trace"]["file"] == "-":
        raise Error("standard input can be read only once", remedy="save the trace to a file first")
    file_opener(tables["trace"]).open()


def to_toml(
    kind: str, base: Any, axes: Mapping[str, Any], seed: int, replaced_keys: Iterable[str] = ()
) -> str:
    """Return a study file that reproduces the study.

    Args:
        kind: Name of the study.
        base: The experiment that all runs share.
        axes: The values of all axes.
        seed: The first seed.
        replaced_keys: Keys of the experiment that axes replace.
    """
    tables = {name: settings for name, settings in explicit_tables(base).items() if name != "seed"}
    for table, key in (each.split(".") for each in replaced_keys):
        tables[table] = {name: value for name, value in tables.get(table, {}).items() if name != key}
    tables = {name: settings for name, settings in tables.items() if settings != {}}
    given_axes = {name: value for name, value in axes.items() if value is not None}
    head: dict[str, Any] = {}
    if len(given_axes.get("seed", ())) < 2:
        given_axes.pop("seed", None)
        head = {"seed": seed}
    return document({**head, "study": {"kind": kind, **given_axes}, **tables})

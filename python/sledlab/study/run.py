"""The frame of every study: planned, measured as far as it is not kept, concluded and written."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sledlab._native import Experiment
from sledlab.errors import Error, unknown
from sledlab.model.catalogue import Chosen
from sledlab.model.choices import spelled
from sledlab.model.settings import document
from sledlab.results import leaves, results
from sledlab.runs.compose import compose, in_its_file
from sledlab.runs.options import Simulated, Studied, declared
from sledlab.runs.places import study_seen
from sledlab.study.bench import Bench, Measure
from sledlab.study.executor.where import Where
from sledlab.study.file import tables_of
from sledlab.study.inputs import plug_ins
from sledlab.study.kept import POINTS
from sledlab.study.measure import Measured, measure
from sledlab.study.outcome import Outcome
from sledlab.study.plan import Given, Plan, several, to_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sledlab.runs.compose import Composed, Device, Source
    from sledlab.study.measure import FoundOf
    from sledlab.study.plan import Point

Out = TypeVar("Out", bound=Outcome)


@dataclass(frozen=True)
class Subject:
    """What the runs of a study are.

    Attributes:
        said: All that can be said of a single run.
        compose: From source, device and what is said, over a `base`, to what all runs share.
        experiment: Reads the text of an experiment; its name stands in messages.
        measure: Measures a run, in this process or another; see `sledlab.study.measure.measure`.
        row: The class of its results.
        requests: Whether they take a trace or a workload.
    """

    said: type
    compose: Callable[..., Composed]
    experiment: Callable[[str, str], Any]
    measure: Callable[..., FoundOf[Any]]
    row: type
    requests: bool = True


ONE_SYSTEM = Subject(Simulated, compose, Experiment, measure, Measured)
"""Runs of requests against one system."""


@dataclass(frozen=True)
class Study(Generic[Out]):
    """A study: what it sweeps, what it runs, and what it makes of it.

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
    plan: Callable[[Given], Plan]
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

    def run(
        self,
        source: Source | None,
        device: Device | None,
        said: Mapping[str, Any],
        *,
        study: str | Path | None = None,
        out: str | Path | None = None,
        replace: bool = False,
    ) -> Out:
        """Runs the study.

        Args:
            source: A trace or a workload, as in `simulate`.
            device: A device, where it takes one.
            said: Values by keyword, as declared in `options`.
            study: A file such as `out` leaves behind, or the name of an experiment; all else wins over it.
            out: A directory for tables and report, in which a study that was stopped goes on.
            replace: Whether to remove first what sledlab left in that directory, even of another kind.

        Raises:
            Error: Something is wrong, or runs failed, named in the message; what was done is kept.
            Unfinished: Only a share was to run, and runs of others are missing.
            KeyboardInterrupt: The user stopped it; what was done is kept.
        """
        with in_its_file(study, device, said, self.options):
            return self._run(source, device, said, study, out, replace=replace)

    def _run(
        self,
        source: Source | None,
        device: Device | None,
        said: Mapping[str, Any],
        study: str | Path | None,
        out: str | Path | None,
        *,
        replace: bool,
    ) -> Out:
        """Runs it; errors do not know yet in which line of a file they are."""
        base, axes = self.read(study) if study is not None else (None, {})
        axes |= {name: said[name] for name in self.axes if said.get(name) is not None}
        if device is None and isinstance(self.device, str) and not _has_device(base):
            device = self.device
        composed = self.subject.compose(source, device, said, base=base)
        plan = self.plan(Given(composed.experiment, composed.trace, axes))
        axes = words_of(plan.axes)
        toml = to_toml(self.name, composed.experiment, axes, plan.seeds[0], self.covered)
        plan = dataclasses.replace(
            plan, axes=axes, toml=toml, plugins=composed.plugins, measure=self.subject.measure
        )
        check_plugins(plan)
        where = Where.said(said, lasting=out is not None)
        if where.share is not None and (self.race is not None or replace):
            raise _alone(self.name, race=self.race is not None)
        directory = results(out, self.name, replace=replace)  # once all runs make sense
        if directory is not None:
            leaves(directory, self.name, [POINTS])
        reuse = several(said.get("reuse"))
        bench = Bench(where, directory, self.subject.row, reuse=reuse, despite_failures=self.despite_failures)
        with bench:
            if self.race is not None:
                plan = self.race(plan, bench.measure)
            found = bench.measure(plan, self.doing)
            bench.tell_hosts()
        if bench.failed:
            plan = dataclasses.replace(plan, failed=bench.failed)
        outcome = self.conclude(plan, found)
        if directory is not None:
            leaves(directory, self.name, outcome.leaves)
            outcome.write(directory)
        return outcome

    def read(self, path: str | Path) -> tuple[Any, dict[str, Any]]:
        """A file of the study: the experiment in it, and what its table `[study]` says.

        Raises:
            Error: It cannot be read, is another study, or `[study]` has an unknown key.
        """
        tables = study_seen(tables_of(path), path)
        said = tables.pop("study", {})
        if not isinstance(said, dict):
            raise Error(f"study: expected a table, found `{said}`")
        kind = said.pop("kind", self.name)
        if kind != self.name:
            raise Error(
                f"`{path}` is a study of another kind, `{kind}`",
                remedy="run it with the command that left it",
            )
        for key in said:
            if key not in self.axes:
                raise unknown("key of [study]", key, list(self.axes))
        for table in (key.removesuffix(".kind") for key in self.covered if key.endswith(".kind")):
            named = tables.get(table, {})
            if isinstance(named, str) or (isinstance(named, dict) and "kind" in named):
                del tables[table]
        return self.subject.experiment(document(tables), Path(path).name), said


def _alone(name: str, *, race: bool) -> Error:
    """The error about what no share can do by itself."""
    if race:
        return Error(
            f"`--share` does not go with `{name}`: what runs next depends on all that ran before",
            remedy="leave --share out; to use many machines, say --cluster",
        )
    return Error(
        "`--share` does not go with `--replace`: each share would remove what others have kept",
        remedy="choose another --out for all shares",
    )


def check_plugins(plan: Plan) -> None:
    """Refuses plug-ins that only a file names.

    Raises:
        Error: There is one, and nobody allowed it.
    """
    for point, text in plan.texts.items():
        if "*" not in plan.plugins and not set(plug_ins(text)) <= set(plan.plugins):
            plan.experiment(point).with_plugins(plan.plugins).check()


def _has_device(base: Experiment | None) -> bool:
    """Whether an experiment says which device."""
    return base is not None and any(base.setting(f"device.{key}") is not None for key in ("preset", "kind"))


def words_of(axes: Mapping[str, Any]) -> dict[str, Any]:
    """Axes as a file says them: chosen models as words."""

    def plain(value: Any) -> Any:
        if isinstance(value, Chosen):
            return spelled(value)
        if isinstance(value, Path):
            return str(value)
        return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value

    return {name: plain(value) for name, value in axes.items()}

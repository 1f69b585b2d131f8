"""Running a figure or a claim again: its experiments, their tables, and the pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.files import atomic_write, write_errors
from sledlab.lazy import difflib, later, load_object, tomllib
from sledlab.model.experiment import experiment as experiments
from sledlab.model.experiment import study_kind
from sledlab.reproduction import summary
from sledlab.reproduction.assumption import DEFAULT
from sledlab.reproduction.changes import Changes
from sledlab.reproduction.figure import Figure, FigureRun, figures
from sledlab.reproduction.rows import Tables
from sledlab.reproduction.verdicts import Claim, claims, figure_claims
from sledlab.studies import find_study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure as Drawing

    from sledlab.reproduction.values import PanelValues
    from sledlab.study.run import Study

draw = later("sledlab.reproduction.draw:draw")
figure_values = later("sledlab.reproduction.values:figure_values")
to_file = later("sledlab.reproduction.save:to_file")
workload_model = later("sledlab.model.catalog:workload")

QUICK = {"limit": 5000, "warmup": 0, "seed": 1}
"""Options by which `quick` shortens the runs of a claim without a figure."""

PICTURES = ("svg", "png", "pdf")
REPORT = "reproduction.md"


@dataclass(frozen=True)
class Reproduction:
    """A figure or a claim, run again.

    Attributes:
        name: The figure or the claim.
        figures: The figures that were drawn.
        claims: The claims on them, with the verdicts on the whole run on the papers' devices.
        directory: Directory of the pictures, with a directory of tables for each experiment.
        changes: What was changed in the published experiments.
        shortened: How the runs were shortened, in words; empty for whole runs.

    Examples:
        >>> import tempfile
        >>> import sledlab as sl
        >>> reproduction = sl.reproduce("hong2006-figure-4", out=tempfile.mkdtemp())
        >>> [claim.id for claim in reproduction.claims], reproduction.plot().axes[0].get_ylabel()
        (['H-26', 'H-27'], 'y (bits from the center)')
    """

    name: str
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    directory: Path
    changes: Changes = field(default_factory=Changes)
    shortened: str = ""

    def plot(self, figure: str = "") -> Drawing:
        """Draw a figure: measured and published values.

        Args:
            figure: Name of the figure; by default the first.

        Raises:
            Error: The figure is none of this reproduction.
        """
        figures_by_name = {drawn.name: drawn for drawn in self.figures}
        figure_name = figure or next(iter(figures_by_name), "")
        if figure_name not in figures_by_name:
            raise unknown("figure", figure or self.name, list(figures_by_name))
        drawing: Drawing = draw(
            figures_by_name[figure_name], self.directory, changes=self.changes, shortened=self.shortened
        )
        return drawing

    def values(self) -> dict[str, list[PanelValues]]:
        """Return the values of this run that the figures show, by figure: one table for each panel.

        Raises:
            Error: A table is missing.
        """
        tables = Tables(self.directory)
        return {figure.name: figure_values(self.changes.figure(figure), tables) for figure in self.figures}

    def write(self) -> list[Path]:
        """Write the pictures and a page with the verdicts into the directory; return the files.

        Raises:
            Error: A file cannot be written.
        """
        pictures = []
        for figure in self.figures:
            for ending in PICTURES:
                pictures.append(self.directory / f"{figure.name}.{ending}")
                to_file(self.plot(figure.name), pictures[-1], figure.heading)
        page = self.directory / REPORT
        page_text = summary.page(
            self.name, self.figures, self.claims, self.values(), self.changes, self.shortened
        )
        with atomic_write(page) as draft:
            draft.write_text(page_text, encoding="utf-8")
        return [*pictures, page]


def reproduce(
    name: str,
    device: str | Path | None = None,
    *,
    out: str | Path | None = None,
    trace: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    scheduler: Sequence[str] | str = (),
    assumptions: str | Path = DEFAULT,
    quick: bool = False,
    limit: int | None = None,
    parallel: int | None = None,
    allow_plugins: bool = False,
) -> Reproduction:
    """Reproduce a figure or a claim of the papers, and draw measured and published values.

    Verdicts are those on the whole runs on the papers' devices: the runs made here give no new verdicts.

    Args:
        name: A figure, such as `hong2006-figure-9`, or a claim, such as `W-22`.
        device: A device of yours, its name or its file, instead of the paper's: the one that
            requests go to, the MEMS in front of a disk, or one more store of nodes.
        out: A directory for tables and pictures, by default one named after the figure; runs
            that it holds already are not run again.
        trace: The recorded trace, where a figure needs one that does not come with sledlab.
        settings: Values of the experiment to change, by key, such as `{"device.startup_ms": 0.2}`.
        scheduler: A scheduler or several to compare instead of those of the paper.
        assumptions: The set of assumptions: `default` for that of the paper, `old` for the values before
            there was one, or a file with a set of yours.
        quick: Whether to shorten the runs, so that there is a picture within a minute or two.
        limit: Most requests of a run.
        parallel: Runs at the same time; by default one for each processor.
        allow_plugins: Whether a plug-in that only the device file names may run. It runs arbitrary code.

    Returns:
        The reproduction, with its directory, the claims and their verdicts; `plot()` draws a figure.

    Raises:
        Error: There is no such figure or claim, an argument is wrong, or a run failed.
        KeyboardInterrupt: Ctrl-C; runs that were measured are kept in `out`.

    Examples:
        >>> import tempfile
        >>> import sledlab as sl
        >>> directory = tempfile.mkdtemp()
        >>> short_run = {"quick": True, "limit": 200, "parallel": 1}
        >>> reproduction = sl.reproduce("lee2009-figure-4", "mems-g3", out=directory, **short_run)
        >>> [claim.id for claim in reproduction.claims], reproduction.shortened
        (['L-15', 'L-16'], 'at most 200 requests a run, seed 1, warmup 0')
        >>> sorted(file.suffix for file in reproduction.write())
        ['.md', '.pdf', '.png', '.svg']
    """
    target = find_target(name)
    schedulers = tuple([scheduler] if isinstance(scheduler, str) else scheduler)
    changes = Changes(str(device or ""), settings or {}, schedulers, str(assumptions))
    request = ReproductionRequest(target, changes, trace, quick, limit, parallel, allow_plugins)
    shown_figures = tuple(_target_figures(target))
    for figure in shown_figures:
        changes.figure(figure)  # refuses what the figure cannot show before anything runs
    directory = Path(out if out is not None else name)
    with write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    for figure_run in request.runs:
        request.run(figure_run, directory / figure_run.place)
    shown_claims = dict.fromkeys(claim for figure in shown_figures for claim in figure_claims(figure))
    return Reproduction(
        name,
        shown_figures,
        (target,) if isinstance(target, Claim) else tuple(shown_claims),
        directory,
        changes,
        request.shortening_text,
    )


def find_target(name: str) -> Figure | Claim:
    """The figure or the claim with a name.

    Raises:
        Error: There is none; the remedy has the nearest name.
    """
    targets_by_name: dict[str, Figure | Claim] = {**figures(), **claims()}
    if name not in targets_by_name and name.upper() not in targets_by_name:
        raise _unknown_target_error(name, [*targets_by_name])
    return targets_by_name.get(name) or targets_by_name[name.upper()]


def _unknown_target_error(target_name: str, names: list[str]) -> Error:
    with_ending = [name for name in names if name.endswith(f"-{target_name.lower()}")]
    similar = with_ending or difflib.get_close_matches(target_name, names, n=1)
    suggestion = " or ".join(f"`{name}`" for name in similar)
    remedy = f"did you mean {suggestion}?" if similar else "`sledlab reproduce list` shows all"
    return Error(f"unknown figure or claim `{target_name}`", remedy=remedy)


def _target_figures(target: Figure | Claim) -> Sequence[Figure]:
    return [target] if isinstance(target, Figure) else target.figures


USER_DEVICE_ROLES = {"wang2005": "front", "chiu2004": "devices"}
"""Role of a user's device in claims without a figure, by paper; `device` in others."""


@dataclass(frozen=True)
class ReproductionRequest:
    """The arguments of `reproduce`.

    Attributes:
        target: The figure or the claim to run again.
        changes: What to change in the published experiments.
        trace: The user's recorded trace.
        quick: Whether runs are shortened.
        limit: Most requests of a run.
        parallel: Runs at the same time.
        allow_plugins: Whether plug-ins that the user's device file names may run.
    """

    target: Figure | Claim
    changes: Changes
    trace: str | Path | None
    quick: bool
    limit: int | None
    parallel: int | None
    allow_plugins: bool

    @property
    def runs(self) -> list[FigureRun]:
        """The runs of the figures; for a claim without figures, of the experiments that it is judged by.

        Raises:
            Error: The claim has no experiment: parameters, single runs or tests decide it.
        """
        runs_by_place = {
            figure_run.place: figure_run
            for figure in _target_figures(self.target)
            for figure_run in figure.runs
        }
        if not runs_by_place and isinstance(self.target, Claim):
            role = USER_DEVICE_ROLES.get(self.target.paper, "device")
            runs_by_place = {name: FigureRun(name, name, own=role) for name in self.target.experiments}
            if not runs_by_place:
                raise Error(
                    f"claim {self.target.id} has no experiment: parameters, single runs or tests decide it",
                    remedy=f"`sledlab reproduce show {self.target.id}` says what came of it",
                )
        return list(runs_by_place.values())

    def shortening_options(self, figure_run: FigureRun) -> dict[str, Any]:
        """The options that shorten a run; empty for a whole run."""
        quick_options = [
            figure.quick for figure in _target_figures(self.target) if figure_run in figure.runs
        ] or [QUICK]
        options = dict(quick_options[0]) if self.quick else {}
        return {**options, "limit": self.limit} if self.limit is not None else options

    @property
    def shortening_text(self) -> str:
        """How the runs are shortened, in words; empty for full runs."""
        first_run = self.runs[0]
        full_settings = (
            tomllib.loads(experiments.text(first_run.experiment)).get("study", {}).get("job_settings", ())
        )
        return summary.shortening_text(self.shortening_options(first_run), full_settings)

    def run(self, figure_run: FigureRun, out: Path) -> None:
        """Run an experiment, but for runs that `out` holds already.

        Raises:
            Error: An argument is wrong, or a run failed.
        """
        experiment_tables = tomllib.loads(experiments.text(figure_run.experiment))
        kind = study_kind(experiment_tables)
        listed_study = find_study(kind)
        if listed_study is None:  # a map of seek times is computed when it is drawn
            return
        if kind == "smart" and self.limit is not None:
            raise Error(
                f"`{self.target_name}` runs jobs, which have no limit of requests",
                remedy="use --quick instead",
            )
        options = {
            **figure_run.options,
            **self.shortening_options(figure_run),
            "parallel": self.parallel,
            "allow_plugins": self.allow_plugins,
        }
        options |= self.changes.options(figure_run, experiment_tables["study"])
        study: Study[Any] = load_object(f"sledlab.studies.{listed_study.folder}:STUDY")
        device = None if "device" in study.axes else options.pop("device", None)
        study.run(self.source(figure_run), device, options, study=experiments(figure_run.experiment), out=out)

    def source(self, figure_run: FigureRun) -> Any:
        """The trace or workload to replay instead of that of the experiment; `None` for its own.

        Raises:
            Error: The run needs a recorded trace, and none is given.
        """
        if figure_run.trace:
            if self.trace is None:
                raise Error(
                    f"{figure_run.experiment} replays a trace that does not come with sledlab: "
                    "the one that validated DiskSim's Seagate ST41601N",
                    remedy="use --trace FILE; the trace comes with DiskSim",
                )
            return self.trace
        return workload_model(figure_run.workload) if figure_run.workload else None

    @property
    def target_name(self) -> str:
        """The name of the figure or the id of the claim that is run again."""
        return self.target.name if isinstance(self.target, Figure) else self.target.id

"""Running a figure or a claim again: its experiments, their tables, and the pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sledlab.errors import Error, unknown
from sledlab.files import atomic_write, write_errors
from sledlab.lazy import difflib, later, load_object, tomllib
from sledlab.model.experiment import experiment as known
from sledlab.model.experiment import study_kind
from sledlab.reproduction import summary
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
        >>> found = sl.reproduce("hong2006-figure-4", out=tempfile.mkdtemp())
        >>> [claim.id for claim in found.claims], found.plot().axes[0].get_ylabel()
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
        by_name = {each.name: each for each in self.figures}
        required = figure or next(iter(by_name), "")
        if required not in by_name:
            raise unknown("figure", figure or self.name, list(by_name))
        drawing: Drawing = draw(
            by_name[required], self.directory, changes=self.changes, shortened=self.shortened
        )
        return drawing

    def values(self) -> dict[str, list[PanelValues]]:
        """Return the values of this run that the figures show, by figure: one table for each panel.

        Raises:
            Error: A table is missing.
        """
        tables = Tables(self.directory)
        return {each.name: figure_values(self.changes.figure(each), tables) for each in self.figures}

    def write(self) -> list[Path]:
        """Writes the pictures and a page with the verdicts into the directory; returns the files.

        Raises:
            Error: A file cannot be written.
        """
        made = []
        for each in self.figures:
            for ending in PICTURES:
                made.append(self.directory / f"{each.name}.{ending}")
                to_file(self.plot(each.name), made[-1], each.heading)
        page = self.directory / REPORT
        text = summary.page(self.name, self.figures, self.claims, self.values(), self.changes, self.shortened)
        with atomic_write(page) as draft:
            draft.write_text(text, encoding="utf-8")
        return [*made, page]


def reproduce(
    name: str,
    device: str | Path | None = None,
    *,
    out: str | Path | None = None,
    trace: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    scheduler: Sequence[str] | str = (),
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
        >>> place = tempfile.mkdtemp()
        >>> few = {"quick": True, "limit": 200, "parallel": 1}
        >>> found = sl.reproduce("lee2009-figure-4", "mems-g3", out=place, **few)
        >>> [claim.id for claim in found.claims], found.shortened
        (['L-15', 'L-16'], 'at most 200 requests a run, seed 1, warmup 0')
        >>> sorted(file.suffix for file in found.write())
        ['.md', '.pdf', '.png', '.svg']
    """
    result = find_target(name)
    changes = Changes(
        str(device or ""), settings or {}, tuple([scheduler] if isinstance(scheduler, str) else scheduler)
    )
    requested = ReproductionRequest(result, changes, trace, quick, limit, parallel, allow_plugins)
    shown = tuple(_target_figures(result))
    for each in shown:
        changes.figure(each)  # refuses what the figure cannot show before anything runs
    directory = Path(out if out is not None else name)
    with write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    for ran in requested.runs:
        requested.run(ran, directory / ran.place)
    about = dict.fromkeys(claim for each in shown for claim in figure_claims(each))
    return Reproduction(
        name,
        shown,
        (result,) if isinstance(result, Claim) else tuple(about),
        directory,
        changes,
        requested.shortening_text,
    )


def find_target(name: str) -> Figure | Claim:
    """The figure or the claim with a name.

    Raises:
        Error: There is none; the remedy has the nearest name.
    """
    known: dict[str, Figure | Claim] = {**figures(), **claims()}
    if name not in known and name.upper() not in known:
        raise _unknown_target_error(name, [*known])
    return known.get(name) or known[name.upper()]


def _unknown_target_error(name: str, known: list[str]) -> Error:
    endings = [each for each in known if each.endswith(f"-{name.lower()}")]
    near = endings or difflib.get_close_matches(name, known, n=1)
    meant = " or ".join(f"`{each}`" for each in near)
    remedy = f"did you mean {meant}?" if near else "`sledlab reproduce list` shows all"
    return Error(f"unknown figure or claim `{name}`", remedy=remedy)


def _target_figures(result: Figure | Claim) -> Sequence[Figure]:
    return [result] if isinstance(result, Figure) else result.figures


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
            Error: The claim follows from parameters or definitions, and has no experiment.
        """
        runs = {ran.place: ran for each in _target_figures(self.target) for ran in each.runs}
        if not runs and isinstance(self.target, Claim):
            role = USER_DEVICE_ROLES.get(self.target.paper, "device")
            runs = {name: FigureRun(name, name, own=role) for name in self.target.experiments}
            if not runs:
                raise Error(
                    f"claim {self.target.id} has no experiment: it follows from parameters, or tests hold it",
                    remedy=f"`sledlab reproduce show {self.target.id}` says what came of it",
                )
        return list(runs.values())

    def shortening_options(self, ran: FigureRun) -> dict[str, Any]:
        """The options that shorten a run; empty for a whole run."""
        quick = [each.quick for each in _target_figures(self.target) if ran in each.runs] or [QUICK]
        options = dict(quick[0]) if self.quick else {}
        return {**options, "limit": self.limit} if self.limit is not None else options

    @property
    def shortening_text(self) -> str:
        """How the runs are shortened, in words; empty for full runs."""
        ran = self.runs[0]
        full = tomllib.loads(known.text(ran.experiment)).get("study", {}).get("job_settings", ())
        return summary.shortening_text(self.shortening_options(ran), full)

    def run(self, ran: FigureRun, out: Path) -> None:
        """Runs an experiment, but for runs that `out` holds already.

        Raises:
            Error: An argument is wrong, or a run failed.
        """
        experiment = tomllib.loads(known.text(ran.experiment))
        kind = study_kind(experiment)
        listed = find_study(kind)
        if listed is None:  # a map of seek times is computed when it is drawn
            return
        if kind == "smart" and self.limit is not None:
            raise Error(
                f"`{self.target_name}` runs jobs, which have no limit of requests",
                remedy="say --quick instead",
            )
        options = {
            **ran.options,
            **self.shortening_options(ran),
            "parallel": self.parallel,
            "allow_plugins": self.allow_plugins,
        }
        options |= self.changes.options(ran, experiment["study"])
        study: Study[Any] = load_object(f"sledlab.studies.{listed.folder}:STUDY")
        device = None if "device" in study.axes else options.pop("device", None)
        study.run(self.source(ran), device, options, study=known(ran.experiment), out=out)

    def source(self, ran: FigureRun) -> Any:
        """The trace or workload to replay instead of that of the experiment; `None` for its own.

        Raises:
            Error: The run needs a recorded trace, and none is given.
        """
        if ran.trace:
            if self.trace is None:
                raise Error(
                    f"{ran.experiment} replays a trace that sledlab has not: that which validated DiskSim's "
                    "Seagate ST41601N",
                    remedy="say --trace FILE; it comes with DiskSim",
                )
            return self.trace
        return workload_model(ran.workload) if ran.workload else None

    @property
    def target_name(self) -> str:
        """The name of the figure or the id of the claim that is run again."""
        return self.target.name if isinstance(self.target, Figure) else self.target.id

"""The saved runs of a study that is not finished."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sledlab.display import DisplayedResult
from sledlab.errors import Error
from sledlab.files import atomic_write
from sledlab.lazy import polars
from sledlab.results import UNFINISHED_RUNS, read_errors, read_json, record_digests
from sledlab.show.document import Document, Grid, Heading, Text
from sledlab.show.model_names import model_label
from sledlab.show.presentation import DocumentPresentation
from sledlab.show.wording import figure
from sledlab.study.columns import columns, record
from sledlab.study.plan import RunSpec
from sledlab.study.result_cache import ResultCache, files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from sledlab.show.document import Part
    from sledlab.study.plan import Plan

SHOWN_COLUMNS = {
    "mean_ms": "mean (ms)",
    "p99_ms": "99 % (ms)",
    "throughput_iops": "requests/s",
    "elapsed_s": "time (s)",
    "energy_j": "energy (J)",
}
"""Results of a run that are shown, and their headings."""


def write_runs(directory: Path, plan: Plan, keys: Mapping[RunSpec, str]) -> None:
    """Write all runs of a plan, with their keys in the result cache, to `unfinished.json`.

    Raises:
        Error: The file cannot be written.
    """
    labels: dict[RunSpec, dict[str, Any]] = {}
    for case in plan.cases:
        for spec in plan.specs_of(case):
            labels.setdefault(spec, dict(case.labels))
    runs = [
        {
            "key": keys[spec],
            "name": plan.names[spec],
            "labels": labels[spec],
            "base": spec.base,
            "settings": spec.settings,
            "seed": spec.seed,
        }
        for spec in plan.specs
    ]
    with atomic_write(directory / UNFINISHED_RUNS) as draft:
        draft.write_text(json.dumps({"runs": runs}, allow_nan=False) + "\n", encoding="utf-8")
    record_digests(directory)


@dataclass(frozen=True, repr=False)
class PartialStudy(DisplayedResult):
    """The saved runs of a study that was interrupted, or of which a share was run.

    Displays itself as a table in a notebook, and prints as one.

    Attributes:
        kind: Name of the study, such as `compare`.
        total: Number of runs of the study; of its current step where a step depends on the one before.
        names: Names of the saved runs.
        rows: The saved runs as plain data: what identifies each, then its results.

    Examples:
        >>> import sledlab as sl, tempfile
        >>> out = tempfile.mkdtemp()
        >>> try:
        ...     _ = sl.compare(
        ...         sl.workload("uniform"), "mems-g2", scheduler=["fcfs", "sptf"], speedup=[1], limit=100,
        ...         out=out, share="1/2", parallel=1,
        ...     )
        ... except sl.IncompleteStudy:
        ...     pass
        >>> sl.open(out).answer.partition(";")[0]
        '1 of 2 runs of this study is saved'
    """

    kind: str
    total: int
    names: Sequence[str] = field(repr=False)
    rows: Sequence[Mapping[str, Any]] = field(repr=False)

    @property
    def saved_runs(self) -> int:
        """Number of runs that are saved."""
        return len(self.rows)

    @property
    def runs(self) -> polars.DataFrame:
        """The saved runs: what identifies each, then its results."""
        return polars.DataFrame(self.rows, infer_schema_length=None, strict=False)

    @property
    def answer(self) -> str:
        """Return how many runs are saved, and how to continue."""
        return answer(self)

    def plot(self, *_arguments: Any, **_options: Any) -> Figure:
        """Raise an error: there is no figure of an unfinished study.

        Raises:
            Error: Always.
        """
        raise Error(
            f"there is no figure of an unfinished study: {self.saved_runs:,} of {self.total:,} runs are "
            "saved",
            remedy="the command that started the study continues it",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the saved runs as plain data."""
        return {"answer": self.answer, "saved": self.saved_runs, "total": self.total, "runs": list(self.rows)}


def read_partial(directory: Path, kind: str, row_class: Callable[..., Any]) -> PartialStudy:
    """Read the saved runs of an unfinished study.

    Args:
        directory: The directory of the study.
        kind: Name of the study.
        row_class: The class of the results of a run.

    Raises:
        Error: `unfinished.json` is damaged.
    """
    path = directory / UNFINISHED_RUNS
    names, rows = [], []
    with ResultCache(None, row_class, [directory] if files(directory) else []) as cache, read_errors(path):
        runs = read_json(path)["runs"]
        for run in runs:
            spec = RunSpec(run["base"], tuple(map(tuple, run["settings"])), run["seed"])
            if cache.has_result(run["key"], spec):
                names.append(run["name"])
                rows.append(run["labels"] | {"seed": run["seed"]} | _record_run(cache.known[run["key"]].row))
    return PartialStudy(kind, len(runs), names, rows)


def _record_run(row: Any) -> dict[str, Any]:
    """Return the columns of the results of a run; the number of requests for a row without columns."""
    kind: Any = type(row)
    return record(row) if columns(kind) else {"requests": row.requests}


def answer(study: PartialStudy) -> str:
    """Return how many runs are saved, and how to continue."""
    verb = "is" if study.saved_runs == 1 else "are"
    return (
        f"{study.saved_runs:,} of {study.total:,} runs of this study {verb} saved; "
        "the command that started the study continues it."
    )


def brief(study: PartialStudy) -> Sequence[Part]:
    """Return the parts for a terminal and a notebook."""
    shown_columns = [name for name in SHOWN_COLUMNS if any(name in row for row in study.rows)]
    rows = [
        (name, *(figure(row.get(column)) for column in shown_columns))
        for name, row in zip(study.names, study.rows, strict=True)
    ]
    title = Heading(f"Unfinished study: {model_label(study.kind)}", 1)
    table = [Grid(("run", *(SHOWN_COLUMNS[name] for name in shown_columns)), rows)] if rows else []
    return [title, *table, Text(answer(study))]


def page(study: PartialStudy) -> Document:
    """Return the page."""
    heading, *parts = brief(study)
    assert isinstance(heading, Heading)
    return Document("unfinished study", heading.text, parts, "All times are simulated.")


def draw(study: PartialStudy) -> Figure:
    """Raise an error; see `PartialStudy.plot`."""
    return study.plot()


PRESENTATION = DocumentPresentation(answer=answer, brief=brief, whole=page, figure=draw)

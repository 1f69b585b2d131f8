"""The caching disk that tuning chose, and the runs that led to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from sledlab._native import Experiment
from sledlab.files import atomic_write
from sledlab.model import settings
from sledlab.model.device import describe
from sledlab.runs.file_names import relativize_study
from sledlab.runs.recording import EXPERIMENT
from sledlab.runs.systems import system_label
from sledlab.show.ranking import Ranking
from sledlab.studies.stores.configurations import DISK
from sledlab.studies.stores.plan import EQUAL_SHARE, StoresPlan
from sledlab.studies.stores.rows import StoreRow, describe_stores, mean_columns
from sledlab.studies.tune.plan import ALL_REQUESTS, SMALLER, budget_mb
from sledlab.study.columns import Column, record
from sledlab.study.outcome import Outcome
from sledlab.study.plan import plain
from sledlab.study.statistics import case_runs
from sledlab.traces.fitted_requests import FittedRequests

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import polars
    from matplotlib.figure import Figure

    from sledlab.study.columns import Row
    from sledlab.study.measure import SystemRun
    from sledlab.study.plan import Plan, RunSpec


@dataclass(frozen=True, kw_only=True)
class TriedDisk(StoreRow):
    """A caching disk that was tried."""

    stage: Annotated[str, Column("`all`, `smaller`, or which part of the requests")]
    mems_mb: Annotated[float, Column("MEMS of the caching disk", "2^20 bytes")]
    segment_kb: Annotated[int, Column("segment size of the caching disk", "1024 bytes")]
    policy: Annotated[str, Column("the replacement policy")]
    hit_ratio: Annotated[float, Column("share of the uses of segments found, by the requests alone")]


@dataclass(frozen=True, repr=False, kw_only=True)
class TunedHybrid(Outcome):
    """The caching disk that suits a workload and a budget best.

    Attributes:
        choice: The chosen run: `mems_mb` in 2^20 bytes, `segment_kb` in 1024 bytes, `policy`, and in `run`
            its results.
        runs: All runs, in order: `stage`, and the columns of `choice`.
        baselines: Responses of `disk` and `mems` alone to the same requests.
        budget_mb: Most MEMS allowed, in 2^20 bytes.
        price_per_mb: Price of a MiB of MEMS, where the user gave one.
        experiment: The choice as TOML, for `sledlab simulate`.

    Examples:
        >>> import sledlab as sl
        >>> tuned = sl.tune_hybrid(
        ...     sl.workload("cello"), budget=16, segment_kb=[64], replacement="lru", limit=1000, parallel=1
        ... )
        >>> tuned.choice.segment_kb, tuned.choice.policy, "[hybrid]" in tuned.experiment
        (64, 'lru', True)
    """

    kinds: ClassVar[Mapping[str, type]] = {"runs": TriedDisk, "baselines": StoreRow}

    choice: TriedDisk
    runs: Sequence[TriedDisk]
    baselines: Mapping[str, StoreRow]
    budget_mb: float
    price_per_mb: float | None
    experiment: str
    rows: Mapping[str, Sequence[Row]] = field(init=False)
    costs: Mapping[str, Sequence[Row]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Put the tables under their names."""
        object.__setattr__(self, "rows", {"runs": self.runs, "baselines": list(self.baselines.values())})

    def dump(self) -> dict[str, Any]:
        """Return the outcome as plain data, with the choice as its place among the runs."""
        return {**super().dump(), "choice": self.runs.index(self.choice)}

    @classmethod
    def from_tables(cls, rows: Mapping[str, Any], costs: Mapping[str, Any], **others: Any) -> Self:
        """Return the outcome of these runs and baselines."""
        baselines = {row.configuration: row for row in rows["baselines"]}
        choice = rows["runs"][others.pop("choice")]
        return cls(choice=choice, runs=rows["runs"], baselines=baselines, **others)

    @property
    def front(self) -> str:
        """The name of the front device."""
        return system_label(str(self.axes["front"]))

    @property
    def table(self) -> polars.DataFrame:
        """The runs as a frame."""
        return self.tables["runs"]

    def plot(self, section: str = "runs", *, width: str | None = None) -> Figure:
        """Draw the runs on all requests.

        Args:
            section: `runs`, the only one.
            width: `ieee`, `acm`, `slides`, or a width such as `3.5in`. Default: 5.4 inches.

        Raises:
            Error: There is no such section.
        """
        return self._draw(section, width=width)

    def extras(self) -> Mapping[str, Any]:
        """Return the choice, for `to_dict`."""
        names = ("budget_mb", "price_per_mb", "experiment")
        return {"choice": record(self.choice), **{name: getattr(self, name) for name in names}}

    @property
    def output_files(self) -> list[str]:
        """Names of the files that `write` writes: those of all outcomes, and the experiment."""
        return [*super().output_files, EXPERIMENT]

    def write(self, directory: str | Path) -> None:
        """Write the files of all outcomes, and the experiment."""
        path = Path(directory)
        with atomic_write(path / EXPERIMENT) as draft:
            draft.write_text(relativize_study(path, self.experiment), encoding="utf-8")
        super().write(directory)

    def closing_line(self, directory: Path | None) -> str:
        """Return the last line on the command line: the file of the experiment, or the experiment itself."""
        if directory is None:
            return f"\n{self.experiment}"
        return f"{super().closing_line(directory)}\nexperiment: {directory / EXPERIMENT}"


def conclude(plan: Plan, results: Mapping[RunSpec, SystemRun]) -> TunedHybrid:
    """Return the choice: the least MEMS of candidates within 2 % of the best mean response time."""
    assert isinstance(plan, StoresPlan)
    rows = {
        case: {**dict(case.labels), **mean_columns(runs)} for case, runs in case_runs(plan, results).items()
    }
    tried_disks = {case: TriedDisk(**rows[case]) for case in plan.select_cases("runs")}
    baselines = [StoreRow(**rows[case]) for case in plan.select_cases("baselines")]
    full_cases = [case for case, row in tried_disks.items() if row.stage in (ALL_REQUESTS, SMALLER)]
    ranking = Ranking.of(
        full_cases, lambda case: tried_disks[case].run.mean_ms, lambda case: tried_disks[case].run.saturated
    )
    level_cases = ranking.within(EQUAL_SHARE)
    chosen_case = Ranking.of(
        level_cases, lambda case: (tried_disks[case].mems_mb, tried_disks[case].run.mean_ms)
    ).first
    config, axes = describe_stores(plan)
    return TunedHybrid(
        choice=tried_disks[chosen_case],
        runs=list(tried_disks.values()),
        baselines={row.configuration: row for row in baselines},
        budget_mb=budget_mb(plan.axes),
        price_per_mb=plan.axes["price_per_mb"],
        experiment=_experiment(plan, plan.specs_of(chosen_case)[0]),
        config=config,
        axes=axes,
        toml=plan.toml,
    )


def _experiment(plan: StoresPlan, spec: RunSpec) -> str:
    """Return a run as a file for `sledlab simulate`: devices by presets, with parameters that differ."""
    config, stores = plain(plan.texts[spec]), plan.stores
    opener = stores.requests.opener
    assert isinstance(opener, FittedRequests)
    config["replay"]["outside"] = opener.outside
    if "trace" in config:
        config["trace"]["devices"] = opener.devices
    disk_preset = stores.bases[DISK].setting("device.preset")
    for table, preset in (("device", disk_preset), ("front", stores.mems_name)):
        if preset:
            defaults = describe(Experiment().with_device(preset).with_plugins(plan.plugins))
            changed = {key: value for key, value in config[table].items() if defaults[key] != value}
            config[table] = {"preset": preset, **changed}
    return settings.document(config)

"""Segments, replacement policy and size of a MEMS caching disk for a workload and a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from sledlab.lazy import later
from sledlab.runs.keywords import accept_options
from sledlab.studies.stores.configurations import DISK_PRESET
from sledlab.studies.tune.options import TuneOptions
from sledlab.study.run import Study

if TYPE_CHECKING:
    from pathlib import Path

    from sledlab.runs.compose import Device, Source
    from sledlab.studies.tune.tables import TunedHybrid

__all__ = ["STUDY", "tune_hybrid"]

STUDY: Study[TunedHybrid] = Study(
    name="tune",
    meaning="Choose a MEMS caching disk for a budget.",
    help="""Choose segments, replacement policy and size of a MEMS caching disk.

    Tries every segment size with the most promising replacement policies: all of them on a part of the
    requests, the better half on more, the last two on all. The best then gets less MEMS as long as that makes
    no difference. Every store has a 4 MiB write-back controller cache (--set cache.kind=none for none). STUDY
    is a study.toml of an earlier run.

    \b
    Examples:
      sledlab hybrid tune --trace app.csv --budget 256 --out tuned
      sledlab hybrid tune --workload cello --limit 1e5 --budget 100 --price-per-mb 0.5
    """,
    options=TuneOptions,
    plan=later("sledlab.studies.tune.plan:plan"),
    conclude=later("sledlab.studies.tune.tables:conclude"),
    extend_plan=later("sledlab.studies.tune.plan:extend_plan"),
    progress_caption="baselines",
    device=DISK_PRESET,
)


@accept_options(TuneOptions)
def tune_hybrid(
    source: Source | None = None,
    device: Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[TuneOptions],
) -> TunedHybrid:
    """Choose segments, replacement policy and size of a MEMS caching disk for a workload.

    Args:
        source: A trace or a workload, as in `simulate`.
        device: The disk; by default `atlas-10k-50mb`.
        study: A `study.toml` written by an earlier run; other arguments override it.
        out: Directory for tables, report and experiment; interrupted tuning resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below. Of `settings`, `front.*` are parameters of the MEMS
            device, `hybrid.*` of the caching disk.

    Returns:
        The choice, all runs of the search, and the experiment of the choice.

    Raises:
        Error: An argument or an option is invalid, or a run failed; the message names it.

    Examples:
        >>> import sledlab as sl
        >>> tuned = sl.tune_hybrid(
        ...     sl.workload("cello"), budget=16, segment_kb=[8, 64], replacement="lru", limit=2000, parallel=1
        ... )
        >>> tuned.choice.mems_mb <= 16
        True
    """
    return STUDY.run(source, device, options, study=study, out=out, replace=replace)

"""Jobs on storage nodes: devices, numbers of nodes, pages and networks, and the bottleneck (Chiu 2004)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from sledlab._native import ClusterExperiment
from sledlab.lazy import later
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import ClusterOptions
from sledlab.studies.smart.options import SmartArguments, SmartOptions
from sledlab.study.run import Study, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sledlab.runs.compose import Device
    from sledlab.studies.smart.tables import SmartStudy

__all__ = ["STUDY", "smart_study"]

REPLAYS = Subject(
    ClusterOptions,
    later("sledlab.studies.smart.replays:compose"),
    ClusterExperiment,
    later("sledlab.studies.smart.replays:measure"),
    later("sledlab.studies.smart.replays:ReplayFigures"),
    takes_requests=False,
)
"""Replays of work records on clusters."""

STUDY: Study[SmartStudy] = Study(
    name="smart",
    meaning="Study jobs on storage nodes with processors.",
    help="""Study jobs on storage nodes with processors.

    Runs jobs or queries on each number of nodes, or reads work records, and replays them on every device,
    page size and network. Finds whether processor, store or network limits a job. STUDY is a study.toml of an
    earlier run.

    \b
    Examples:
      sledlab smart --job sort --node-count 4,8,16 --device hp-c2490a,mems-g3
      sledlab smart --query q5 --node-count 64 --device mems-g3 --out study
      sledlab smart study/study.toml --network fast-ethernet,infiniband-1x
    """,
    options=SmartArguments,
    plan=later("sledlab.studies.smart.plan:plan_runs"),
    conclude=later("sledlab.studies.smart.tables:conclude"),
    progress_caption="replaying",
    replaced_keys=("cluster.at", "work.file"),
    subject=REPLAYS,
)


@accept_options(SmartOptions)
def smart_study(
    work: Sequence[str | Path] | str | Path | None = None,
    device: Sequence[Device] | Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[SmartOptions],
) -> SmartStudy:
    """Study jobs on storage nodes: replays their records on devices, page sizes and networks.

    Args:
        work: Work records, one for each number of nodes of a job; in addition to those of `job` and
            `query`.
        device: A device or several, as the stores of nodes.
        study: A `study.toml` written by an earlier run; other arguments override it.
        out: Directory for tables and report; an interrupted study resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: An argument or an option is invalid, or a replay failed; the message names it.

    Examples:
        >>> import sledlab as sl
        >>> study = sl.smart_study("sample:scan", ["mems-g2", "hp-c2490a"], parallel=1)
        >>> study.answer.split(",")[0]
        '`scan` on 4 nodes is fastest with mems-g2'
        >>> small = {"job_settings": ["scale_factor=0.001"], "parallel": 1}
        >>> sizes = sl.smart_study(device="mems-g2", job="sort", node_count=[2, 4], **small)
        >>> sizes.tables["runs"]["nodes"].to_list()
        [2, 4]
    """
    all_options: dict[str, Any] = {**options, "work": work, "device": device}
    return STUDY.run(None, None, all_options, study=study, out=out, replace=replace)

"""Jobs on storage nodes: devices, numbers of nodes, pages and networks, and the bottleneck (paper 004)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sledlab.lazy import later
from sledlab.runs.keywords import takes_options
from sledlab.studies.smart.options import SmartArguments, SmartOptions
from sledlab.study.run import REPLAYS, Study

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sledlab.runs.compose import Device
    from sledlab.studies.smart.tables import SmartStudy

__all__ = ["STUDY", "smart_study"]

STUDY: Study[SmartStudy] = Study(
    name="smart",
    meaning="Study jobs on storage nodes; replay and show work records.",
    help="""Study jobs on storage nodes; replay and show work records.

    Runs jobs or queries on each number of nodes, or takes work records of them, and replays these on every
    device, page size and network. Says how long a job takes and whether processor, store or network holds it
    up: each is replayed twice as fast, too. STUDY is a file such as --out leaves behind.

    \b
    Examples:
      sledlab smart --job sort --nodes 4,8,16,32 --devices hp-c2490a,mems-g1,mems-g2,mems-g3 --out study
      sledlab smart --job scan,join --job-set scale_factor=0.1 --device mems-g2
      sledlab smart --query q5 --nodes 64 --job-set scale_factor=1 --devices hp-c2490a,mems-g3
      sledlab smart --query my.sql --tables data --nodes 4,8 --device mems-g2
      sledlab smart --records sort-4.work,sort-8.work --device mems-g2 --page-kb 8,16,64
      sledlab smart study/study.toml --networks fast-ethernet,infiniband-1x
      sledlab smart replay sample:sort --device mems-g2
    """,
    options=SmartArguments,
    plan=later("sledlab.studies.smart.plan:planned"),
    conclude=later("sledlab.studies.smart.tables:conclude"),
    doing="replaying",
    covered=("cluster.at", "work.file"),
    subject=REPLAYS,
)


@takes_options(SmartOptions)
def smart_study(
    records: Sequence[str | Path] | str | Path | None = None,
    devices: Sequence[Device] | Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[SmartOptions],
) -> SmartStudy:
    """Studies jobs on storage nodes: replays their records on devices, page sizes and networks.

    Args:
        records: Work records, one for each number of nodes of a job; in addition to those of `job` and
            `query`.
        devices: A device or several, as the stores of nodes.
        study: A file `study.toml` that a study left; other arguments override it.
        out: A directory for tables and report, in which a study that was stopped goes on.
        replace: Whether to remove first the files that sledlab left in that directory, even of another kind.
        **options: Further options; see the table below.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: An argument or an option is invalid, or a replay failed; the message names it.

    Examples:
        >>> import sledlab as sl
        >>> study = sl.smart_study("sample:scan", ["mems-g2", "hp-c2490a"], jobs=1)
        >>> study.answer.split(",")[0]
        '`scan` on 4 nodes is fastest with mems-g2'
        >>> sizes = sl.smart_study(
        ...     devices="mems-g2", job="sort", nodes=[2, 4], job_settings=["scale_factor=0.001"], jobs=1
        ... )
        >>> sizes.tables["runs"]["nodes"].to_list()
        [2, 4]
    """
    files = [records] if isinstance(records, (str, Path)) else records
    asked: dict[str, Any] = {**options, "records": files, "devices": devices}
    return STUDY.run(None, None, asked, study=study, out=out, replace=replace)

"""MEMS in front of a disk: the best form and size, and the price at which it pays (paper 001)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from sledlab.lazy import later
from sledlab.runs.keywords import takes_options
from sledlab.runs.options import Numbers, Option, Several, Studied
from sledlab.study.configurations import DISK_PRESET, KNOWN, UNCACHED, Fronted, segments
from sledlab.study.run import Study

if TYPE_CHECKING:
    from pathlib import Path

    from sledlab.runs.compose import Device, Source
    from sledlab.studies.hybrid.tables import HybridStudy

OF_CACHING = [name.removeprefix("mcd-") for name in KNOWN if name.startswith("mcd-")]
"""Configurations of the caching disk, without the prefix `mcd-` of their names."""

OTHERS = [name for name in KNOWN if not name.startswith("mcd-") and name != UNCACHED]
"""Other configurations; the disk without controller cache runs wherever the disk does."""


class HybridOptions(Studied, Fronted, total=False):
    """The options of a hybrid study."""

    configurations: Annotated[
        Several,
        Option(
            f"{', '.join(OTHERS)}, mcd-{'|'.join(OF_CACHING)}", "A,B,C|all", "all but mirror", flag="configs"
        ),
    ]
    mems_mb: Annotated[
        Numbers, Option("Sizes of the MEMS of the caching disk to sweep", "MIB,MIB", "64,128,256,512,3072")
    ]
    segments_kb: Annotated[Numbers, segments("Segment sizes of the caching disk to sweep")]
    price_ratios: Annotated[
        Numbers, Option("Prices of non-volatile memory over the price of MEMS", "R,R|A..B", "1..10")
    ]
    replacement: Annotated[
        Several,
        Option("Replacement policies of the caching disk; all other runs take the first", "A,B|all", "lru"),
    ]
    at_mb: Annotated[float, Option("Size of the MEMS of all configurations", "MIB", "256")]
    at_segment_kb: Annotated[
        int, Option("Segment size of all configurations", "KB", "the power of two that holds a mean request")
    ]


__all__ = ["STUDY", "hybrid_study"]

STUDY: Study[HybridStudy] = Study(
    name="hybrid",
    meaning="Study what MEMS in front of a disk is worth.",
    help="""Study what MEMS in front of a disk is worth; list and show hybrids.

    Compares the disk, MEMS alone, a disk with as much non-volatile memory, and hybrids of disk and MEMS on
    the same requests; sweeps size and segments of a MEMS caching disk; and says from which price of memory
    on MEMS is the better buy. Every store has a write-back controller cache of 4 MiB, unless --set says
    otherwise (cache.kind=none); gains are given over the disk with and without this cache. Devices never
    park, unless --set changes power.kind.
    `--segment-kb none` and the like leave a section out. STUDY is a file such as --out leaves behind.

    \b
    Examples:
      sledlab hybrid --trace app.csv --out study
      sledlab hybrid --workload cello --limit 100000 --replacement lru,lfuda,arc --out study
      sledlab hybrid --trace app.csv --configs disk,mems,mcd-all --set hybrid.bypass_kb=1024
      sledlab hybrid study/study.toml --speedup 2 --out faster
      sledlab list hybrid
    """,
    options=HybridOptions,
    plan=later("sledlab.studies.hybrid.plan:plan"),
    conclude=later("sledlab.studies.hybrid.tables:conclude"),
    device=DISK_PRESET,
)


@takes_options(HybridOptions)
def hybrid_study(
    source: Source | None = None,
    device: Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[HybridOptions],
) -> HybridStudy:
    """Studies how much MEMS in front of a disk speeds up a workload, in which form, and at which price.

    Every store has the same requests, fitted to the disk, and a write-back controller cache of 4 MiB; the
    configuration `disk-uncached`, which runs wherever `disk` does, is the disk without it. Devices start
    ready and never park. `settings` change all this (`cache.kind`, `system.start`, `power.kind`).

    Args:
        source: A trace or a workload, as in `simulate`.
        device: The disk; by default `atlas-10k-50mb`.
        study: A file `study.toml` that a study left; other arguments override it.
        out: A directory for tables and report, in which a study that was stopped goes on.
        replace: Whether to remove first the files that sledlab left in that directory, even of another kind.
        **options: Further options; see the table below. An empty list leaves a section out. Sizes of MEMS are
            in 2^20 bytes, segments in 1024. Of `settings`, `front.*` are parameters of the MEMS device,
            `hybrid.*` of those hybrids that have them.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: An argument or an option is invalid, or a run failed; the message names it.

    Examples:
        >>> import sledlab as sl
        >>> few = {"mems_mb": [64], "segments_kb": [8], "price_ratios": [4], "limit": 300, "jobs": 1}
        >>> study = sl.hybrid_study(sl.workload("cello"), configurations=["disk", "mems"], **few)
        >>> study.tables["configurations"]["faster_than_disk"].max() > 1
        True
    """
    return STUDY.run(source, device, options, study=study, out=out, replace=replace)

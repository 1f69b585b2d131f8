"""MEMS in front of a disk: the best form and size, and the price at which it pays (Wang 2005)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from sledlab.lazy import later
from sledlab.model.choices import numbers, positive_number
from sledlab.runs.keywords import accept_options
from sledlab.runs.options import ModelList, Numbers, Option, PriceOptions, StudyOptions
from sledlab.runs.parsing import KIB, MIB, size, sizes, whole
from sledlab.studies.stores.configurations import (
    DISK_PRESET,
    FrontOptions,
    parse_configurations,
    replacement_policies,
    segment_sizes,
    segments,
)
from sledlab.study.run import Study

if TYPE_CHECKING:
    from pathlib import Path

    from sledlab.runs.compose import Device, Source
    from sledlab.studies.hybrid.tables import HybridStudy


def segment_size(word: str) -> int:
    """Return the size of a segment in KiB, given as `8` or `8KiB`."""
    return whole(f"{size(word, KIB):g}")


def parse_segment_size(value: Any) -> int:
    """Return the size of a segment in KiB.

    Raises:
        Error: The value is no whole number.
    """
    return segment_sizes(positive_number("segment size", value))[0]


class HybridOptions(StudyOptions, FrontOptions, PriceOptions, total=False):
    """The options of a hybrid study."""

    configuration: Annotated[
        ModelList,
        Option(
            "Configurations, such as disk,mems,mcd-all",
            "A,B|all",
            "not mirror",
            parse=parse_configurations,
        ),
    ]
    mems_mb: Annotated[
        Numbers,
        Option(
            "Sizes of the front device",
            "MIB,MIB",
            "64 to 3072",
            read=partial(sizes, unit=MIB),
            parse=partial(numbers, "size", above=True, may_be_empty=True),
        ),
    ]
    segment_kb: Annotated[Numbers, segments("Segment sizes")]
    price_ratio: Annotated[
        Numbers,
        Option(
            "Price of non-volatile memory over the front device",
            "R,R|A..B",
            "1..10",
            parse=partial(numbers, "price ratio", above=True, may_be_empty=True),
            advanced=True,
        ),
    ]
    replacement: Annotated[
        ModelList,
        Option("Replacement policies", "A,B|all", "lru", parse=replacement_policies),
    ]
    at_mb: Annotated[
        float,
        Option(
            "Size of the front device in all configurations",
            "MIB",
            "256",
            read=partial(size, unit=MIB),
            parse=partial(positive_number, "size"),
            advanced=True,
        ),
    ]
    at_segment_kb: Annotated[
        int,
        Option(
            "Segment size of all configurations",
            "KB",
            "holds a mean request",
            read=segment_size,
            parse=parse_segment_size,
            advanced=True,
        ),
    ]


__all__ = ["STUDY", "hybrid_study"]

STUDY: Study[HybridStudy] = Study(
    name="hybrid",
    meaning="Study MEMS or another fast device in front of a disk.",
    help="""Study MEMS or another fast device in front of a disk.

    Compares the disk, MEMS alone, a disk with non-volatile memory, and hybrids of several sizes. Each has a
    4 MiB write-back cache (--set cache.kind=none for none). STUDY is a study.toml of an earlier run.

    \b
    Examples:
      sledlab hybrid --trace app.csv --out study
      sledlab hybrid study/study.toml --speedup 2 --out faster
    """,
    options=HybridOptions,
    plan=later("sledlab.studies.hybrid.plan:plan"),
    conclude=later("sledlab.studies.hybrid.tables:conclude"),
    device=DISK_PRESET,
)


@accept_options(HybridOptions)
def hybrid_study(
    source: Source | None = None,
    device: Device | None = None,
    *,
    study: str | Path | None = None,
    out: str | Path | None = None,
    replace: bool = False,
    **options: Unpack[HybridOptions],
) -> HybridStudy:
    """Study how much MEMS in front of a disk speeds up a workload, in which form, and at which price.

    Every store has the same requests, fitted to the disk, and a write-back controller cache of 4 MiB; the
    configuration `disk-uncached`, which runs wherever `disk` does, is the disk without it. Devices start
    ready and never park. `settings` change all this (`cache.kind`, `system.start`, `power.kind`).

    Args:
        source: A trace or a workload, as in `simulate`.
        device: The disk; by default `atlas-10k-50mb`.
        study: A `study.toml` written by an earlier run; other arguments override it.
        out: Directory for tables and report; an interrupted study resumes there.
        replace: Whether to delete existing sledlab results in that directory first.
        **options: Further options; see the table below. An empty list omits a section. Sizes of MEMS are
            in 2^20 bytes, segments in 1024. Of `settings`, `front.*` are parameters of the MEMS device,
            `hybrid.*` of those hybrids that have them.

    Returns:
        The tables, which draw and explain themselves.

    Raises:
        Error: An argument or an option is invalid, or a run failed; the message names it.

    Examples:
        >>> import sledlab as sl
        >>> few = {"mems_mb": [64], "segment_kb": [8], "price_ratio": [4], "limit": 300, "parallel": 1}
        >>> study = sl.hybrid_study(sl.workload("cello"), configuration=["disk", "mems"], **few)
        >>> study.tables["configurations"]["faster_than_disk"].max() > 1
        True
    """
    return STUDY.run(source, device, options, study=study, out=out, replace=replace)

"""The options of tuning."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from sledlab.model.choices import positive_number
from sledlab.runs.options import ExecutorOptions, ModelList, Numbers, Option, PluginOptions, SourceOptions
from sledlab.runs.parsing import MIB, size
from sledlab.studies.stores.configurations import FrontOptions, replacement_policies, segments

POLICIES = ("lru", "slru", "arc", "lfuda")
"""Replacement policies that are tried, by default."""


class TuneOptions(SourceOptions, ExecutorOptions, FrontOptions, PluginOptions, total=False):
    """The options of tuning."""

    budget: Annotated[
        float,
        Option(
            "Maximum size of MEMS; with --price-per-mb, maximum price",
            "MIB",
            read=partial(size, unit=MIB),
            parse=partial(positive_number, "budget"),
        ),
    ]
    price_per_mb: Annotated[
        float,
        Option("Price of a MiB of MEMS, in any currency", "P", parse=partial(positive_number, "price")),
    ]
    segment_kb: Annotated[Numbers, segments("Segment sizes to try")]
    replacement: Annotated[
        ModelList,
        Option("Replacement policies to try", "A,B|all", ",".join(POLICIES), parse=replacement_policies),
    ]

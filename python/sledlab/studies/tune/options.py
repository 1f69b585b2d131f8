"""What can be said of tuning."""

from __future__ import annotations

from typing import Annotated

from sledlab.runs.options import Numbers, Option, Parallel, Replayed, Several
from sledlab.study.configurations import Fronted, segments

POLICIES = ("lru", "slru", "arc", "lfuda")
"""Tried unless others are named."""


class TuneOptions(Replayed, Parallel, Fronted, total=False):
    """What can be said of tuning."""

    budget: Annotated[float, Option("MEMS that is allowed; with --price-per-mb, money", "MIB")]
    price_per_mb: Annotated[float, Option("What a MiB of MEMS costs, in any currency", "P")]
    segments_kb: Annotated[Numbers, segments("Segments to try")]
    replacement: Annotated[Several, Option("Policies to try", "A,B|all", ",".join(POLICIES))]

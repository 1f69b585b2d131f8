"""The options of a comparison of devices."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003 - annotations are read at run time
from pathlib import Path  # noqa: TC003 - as above
from typing import Annotated

from sledlab.runs.options import Around, Devices, Numbers, Option, Scheduled, Several, Studied
from sledlab.runs.written import words


class SideBySideOptions(Scheduled, Around, Studied, total=False):
    """The options of a comparison of devices."""

    devices: Annotated[
        Devices, Option("Several devices, such as mems-g2,atlas-10k:buffer_kb=0.", "A,B,C", read=words)
    ]
    traces: Annotated[
        Sequence[str | Path], Option("Several traces, one after another.", "FILE,FILE", read=words)
    ]
    workloads: Annotated[Several, Option("Several generated workloads.", "A,B,C")]
    speedups: Annotated[Numbers, Option("Factors that divide the times between arrivals", "S,S,S", "1")]

"""What can be said of a hybrid study."""

from __future__ import annotations

from typing import Annotated

from sledlab.runs.options import Numbers, Option, Several, Studied
from sledlab.study.configurations import KNOWN, Fronted, segments


class HybridOptions(Studied, Fronted, total=False):
    """What can be said of a hybrid study."""

    configurations: Annotated[
        Several, Option(", ".join(KNOWN), "A,B,C|all", "all but mirror", flag="configs")
    ]
    mems_mb: Annotated[Numbers, Option("MEMS of the caching disk to sweep", "MIB,MIB", "64,128,256,512,3072")]
    segments_kb: Annotated[Numbers, segments("Its segments to sweep")]
    price_ratios: Annotated[
        Numbers, Option("Prices of non-volatile memory over those of MEMS", "R,R|A..B", "1..10")
    ]
    replacement: Annotated[
        Several, Option("Its replacement policies; the first is used throughout", "A,B|all", "lru")
    ]
    at_mb: Annotated[float, Option("MEMS of the configurations", "MIB", "256")]
    at_segment_kb: Annotated[
        int, Option("Segments of the configurations", "KB", "the power of two that holds a mean request")
    ]

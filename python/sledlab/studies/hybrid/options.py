"""The options of a hybrid study."""

from __future__ import annotations

from typing import Annotated

from sledlab.runs.options import Numbers, Option, Several, Studied
from sledlab.study.configurations import KNOWN, UNCACHED, Fronted, segments

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

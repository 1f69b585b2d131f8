"""Miss-ratio curves: misses of caches of many sizes, and what they cost on a device behind the cache."""

from __future__ import annotations

from sledlab.studies.miss_ratio.curves import miss_ratio_curves
from sledlab.studies.miss_ratio.result import MissRatioCurves

__all__ = ["MissRatioCurves", "miss_ratio_curves"]

"""The smallest cluster on which a component is the bottleneck, or that meets a deadline or a budget."""

from __future__ import annotations

from sledlab.studies.size.replays import smart_size
from sledlab.studies.size.result import SmartSize

__all__ = ["SmartSize", "smart_size"]

"""The smallest cluster that does it: until a component holds a job up, or a deadline is met."""

from __future__ import annotations

from sledlab.studies.size.found import SmartSize
from sledlab.studies.size.replaying import smart_size

__all__ = ["SmartSize", "smart_size"]

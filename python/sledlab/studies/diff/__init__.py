"""Two runs of the same requests, set against each other request by request."""

from __future__ import annotations

from sledlab.studies.diff.difference import Difference, diff
from sledlab.studies.diff.side import Side

__all__ = ["Difference", "Side", "diff"]

"""Two runs of the same requests, set against each other request by request."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.diff import figures, words
from sledlab.studies.diff.difference import Difference, batch_half_width, diff
from sledlab.studies.diff.side import Side

__all__ = ["FACE", "Difference", "Side", "batch_half_width", "diff"]

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.differences)

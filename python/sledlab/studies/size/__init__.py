"""The smallest cluster that does it: until a component holds a job up, or a deadline is met."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.size import figures, words
from sledlab.studies.size.found import SmartSize
from sledlab.studies.size.replaying import NODES, smart_size

__all__ = ["FACE", "NODES", "SmartSize", "smart_size"]

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.draw)

"""The face of the smallest cluster on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.size import figures, words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.draw)

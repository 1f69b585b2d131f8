"""The face of a difference of two runs on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.diff import figures, words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.differences)

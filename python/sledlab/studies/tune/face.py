"""The face of a tuned caching disk on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.tune import words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=words.runs)

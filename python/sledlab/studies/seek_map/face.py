"""The face of a seek-time map on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.seek_map import figures, words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.seek_map)

"""The face of a comparison of devices on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.side_by_side import figures, words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.draw)

"""The face of a study of jobs on storage nodes, on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.smart import figures, words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.draw)

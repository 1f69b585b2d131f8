"""The face of a study of MEMS in front of a disk on terminals, in notebooks and on pages."""

from __future__ import annotations

from functools import partial

from sledlab.show.face import DocumentFace
from sledlab.show.sections import drawn
from sledlab.studies.hybrid import words

FACE = DocumentFace(
    answer=words.answer, brief=words.brief, whole=words.page, figure=partial(drawn, words.SECTIONS)
)

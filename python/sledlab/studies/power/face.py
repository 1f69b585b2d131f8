"""The face of a power study on terminals, in notebooks and on pages."""

from __future__ import annotations

from functools import partial

from sledlab.show.face import DocumentFace
from sledlab.show.sections import drawn
from sledlab.studies.power import page, words

FACE = DocumentFace(
    answer=words.answer, brief=page.brief, whole=page.page, figure=partial(drawn, page.SECTIONS)
)

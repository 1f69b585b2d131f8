"""The face of a race of schedulers on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.compare import words
from sledlab.study import race_parts

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=race_parts.draw)

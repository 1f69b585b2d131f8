"""The face of a fleet on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.fleet.figures import draw
from sledlab.studies.fleet.words import answer, brief, page

FACE = DocumentFace(answer=answer, brief=brief, whole=page, figure=draw)

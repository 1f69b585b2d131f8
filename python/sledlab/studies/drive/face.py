"""The face of a disk model beside its drive on terminals, in notebooks and on pages."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.drive import words

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=words.service_times)

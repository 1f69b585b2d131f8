"""Disk models held to what was measured on real drives."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.drive import words
from sledlab.studies.drive.demerit import DriveValidation, demerit_ms, validate_drive

__all__ = ["FACE", "DriveValidation", "demerit_ms", "validate_drive"]

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=words.service_times)

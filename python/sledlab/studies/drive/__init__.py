"""Disk models compared with measurements of real drives."""

from __future__ import annotations

from sledlab.studies.drive.demerit import DriveValidation, demerit_ms, validate_drive

__all__ = ["DriveValidation", "demerit_ms", "validate_drive"]

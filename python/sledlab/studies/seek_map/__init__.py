"""Seek-time maps: how long the sled takes from one place to all others."""

from __future__ import annotations

from sledlab.show.face import DocumentFace
from sledlab.studies.seek_map import figures, words
from sledlab.studies.seek_map.times import Region, SeekMap, compute, seek_map, writer

__all__ = ["FACE", "Region", "SeekMap", "compute", "seek_map", "writer"]

FACE = DocumentFace(answer=words.answer, brief=words.brief, whole=words.page, figure=figures.seek_map)

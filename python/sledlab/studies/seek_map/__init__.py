"""Seek-time maps: times of the sled from one place to all others."""

from __future__ import annotations

from sledlab.studies.seek_map.times import Region, SeekMap, compute, seek_map, writer

__all__ = ["Region", "SeekMap", "compute", "seek_map", "writer"]

"""Figures and claims of the five papers: the verdicts on them, and running them again, on any device."""

from __future__ import annotations

from sledlab.reproduction.run import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]

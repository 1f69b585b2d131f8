"""Judges of the claims on MEMS in front of disks: parts that are met, and overload."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from sledlab.reproduction.verdicts import DIRECTION_ONLY, MET, NOT_MET

from sledlab_papers.hybrid import sizes, techniques
from sledlab_papers.hybrid.names import CELLO, HPLAJW, IREPORT, NONE, SHORTCUT, TPCC, TPCD
from sledlab_papers.hybrid.systems import SEGMENTS_KB, SIZES_MB


def _system(mean_ms: float, *, saturated: bool = False, measures: Mapping[str, float] | None = None) -> Any:
    values = {"mean_ms": mean_ms, "read_mean_ms": 2 * mean_ms, "write_mean_ms": 0.0, **(measures or {})}
    return SimpleNamespace(mean_ms=mean_ms, saturated=saturated, mean=values.__getitem__)


@pytest.mark.parametrize(
    ("small_ms", "large_ms", "outcome"), [(4.0, 2.0, MET), (6.0, 2.0, DIRECTION_ONLY), (6.0, 4.0, NOT_MET)]
)
def test_drop_without_plateau_is_direction_only(small_ms: float, large_ms: float, outcome: str) -> None:
    grid = {(mb, kb): _system(4.0) for mb in SIZES_MB for kb in SEGMENTS_KB}
    for kb in SEGMENTS_KB:
        grid[SIZES_MB[0], kb] = _system(small_ms)
        grid[sizes.LARGE_MB, kb] = _system(large_ms)
    runs: Any = SimpleNamespace(grid=lambda workload: grid)
    assert sizes.w_24(runs).outcome == outcome


@pytest.mark.parametrize(("hplajw_gain", "outcome"), [(0.2, MET), (0.05, DIRECTION_ONLY), (0.5, NOT_MET)])
def test_gain_of_shortcut_ranks_as_disk_reads(hplajw_gain: float, outcome: str) -> None:
    gains = {TPCD: 0.4, HPLAJW: hplajw_gain, TPCC: 0.1, CELLO: 0.08}
    reads = {TPCD: 0.7, HPLAJW: 0.3, TPCC: 0.2, CELLO: 0.1}

    def seed_means(name: str, workload: str) -> dict[str, Any]:
        counts = {"hybrid_back_reads": reads[workload], "requests": 1.0}
        return {NONE: _system(1.0, measures=counts), SHORTCUT: _system(1 - gains[workload], measures=counts)}

    runs: Any = SimpleNamespace(
        seed_means=seed_means, technique_change=lambda workload, technique: -gains[workload]
    )
    assert techniques.w_21(runs).outcome == outcome


@pytest.mark.parametrize(("cello_ms", "outcome"), [(0.9, MET), (0.75, NOT_MET)])
def test_overloaded_buffer_is_not_judged(cello_ms: float, outcome: str) -> None:
    def seed_means(name: str, workload: str) -> dict[str, Any]:
        rows = {f"{NONE}, {segments}": _system(1.0) for segments in (1, 256)}
        rows[f"{IREPORT}, 1"] = _system(cello_ms, saturated=workload == TPCC)
        return rows | {f"{IREPORT}, 256": _system(0.8)}

    runs: Any = SimpleNamespace(seed_means=seed_means)
    assert techniques.w_16(runs).outcome == outcome

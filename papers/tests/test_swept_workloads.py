"""Stand-ins with other reuse of data: requests touch as much data as the paper prints."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest

from sledlab_papers.hybrid.names import STAND_INS, WORKLOADS
from sledlab_papers.sensitivity import Value, choices
from sledlab_papers.simulator import calibration

MAX_DIFFERENCE = 0.02
PREFIX = "workload."
REUSE = {"host_cache_requests", "read_after_write_share"}


def workload_settings(value: Value) -> dict[str, float]:
    """Parameters of the workload that a value of a sweep sets."""
    settings = (word.split("=") for word in value.options if word.startswith(PREFIX))
    return {name.removeprefix(PREFIX): tomllib.loads(f"x = {number}")["x"] for name, number in settings}


SWEPT_SETTINGS = {
    f"{workload} {value.name}": (STAND_INS[workload], settings)
    for choice in choices("hybrid")
    for value in choice.values
    if REUSE & (settings := workload_settings(value)).keys()
    for workload in WORKLOADS
    if choice.reruns[0].endswith(workload)
}


def test_each_reuse_is_checked() -> None:
    assert len(SWEPT_SETTINGS) == 8


@pytest.mark.slow("generates a stand-in of up to 1.2 million requests")
@pytest.mark.parametrize("name", SWEPT_SETTINGS)
def test_other_reuse_touches_published_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in, settings = SWEPT_SETTINGS[name]
    swept_calibration = replace(
        calibration.CALIBRATIONS[stand_in],
        parameters={**calibration.CALIBRATIONS[stand_in].parameters, **settings},
    )
    monkeypatch.setitem(calibration.CALIBRATIONS, name, swept_calibration)
    row = next(row for row in calibration.calibrate(name).rows if row.statistic.name == "data touched")
    assert row.deviation is not None
    assert abs(row.deviation) <= MAX_DIFFERENCE

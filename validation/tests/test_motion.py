"""The motion as the study of defects rebuilds it."""

import numpy as np
import pytest

from validation import reference
from validation.sections.motion import Sled, passes

pytestmark = pytest.mark.skipif(not reference.is_present(), reason=reference.MISSING_MESSAGE)

TOLERANCE_MS = 1e-6


def reference_sled(device: str) -> Sled:
    return Sled.from_parameters(reference.runs()[f"mech_{device}_f0_r8_light"].parameters)


@pytest.mark.parametrize("device", ["G1", "G2", "G3"])
def test_seeks_are_those_of_the_tables(device: str) -> None:
    rebuilt = reference_sled(device)
    for axis, speed in (("x", 0.0), ("y", rebuilt.speed)):
        table = reference.table(reference.MEMS / "seek" / f"{device}_{axis}_seek.csv.gz")
        start, end = (table[f"{axis}{i}_bit"] * rebuilt.bit_m for i in (0, 1))
        seek_ms = getattr(rebuilt, axis).seek_s(start, end, speed) * 1e3
        assert np.abs(seek_ms - table["exact_k0.75_ms"]).max() < TOLERANCE_MS


@pytest.mark.parametrize("device", ["G1", "G2", "G3"])
def test_turnarounds_of_recorded_passes_can_be_rebuilt(device: str) -> None:
    run = reference.runs()[f"mech_{device}_f0_r8_light"]
    rebuilt_passes = passes(
        reference.table(reference.MEMS / "access" / f"{run.name}.csv.gz"),
        Sled.from_parameters(run.parameters),
    )
    assert rebuilt_passes.max_rebuild_error_ms < TOLERANCE_MS
    assert len(rebuilt_passes.recorded) > 2000

"""Disks against what was measured on real drives."""

from __future__ import annotations

import json

import pytest

from lab.simulator import command_line
from lab.validation import drives
from lab.validation.drives import DRIVES, Host

pytestmark = pytest.mark.skipif(not drives.is_present(), reason=drives.MISSING_MESSAGE)


@pytest.mark.parametrize("drive", DRIVES)
def test_no_worse_than_the_reference_simulator(drive: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["check", drive, "--measured", str(drives.stream(drive)), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    reference = drives.recorded_stream(drive)
    assert result["requests"] == len(reference.measured)
    assert result["demerit_ms"] < reference.demerit()


@pytest.mark.parametrize("drive", [drive for drive in DRIVES if drive not in ("atlas-10k", "dec-rz26")])
def test_published_drive_agrees_with_reference_simulator(drive: str) -> None:
    _, ours = drives.replay(drive, Host())
    theirs = drives.recorded_stream(drive).simulated
    # The simulator's platters drift by a part in a million; what just catches a sector here misses it there.
    near = sum(abs(a - b) < 1e6 for a, b in zip(ours, theirs, strict=True))
    assert near / len(theirs) > 0.95


def test_the_demerit_figure_is_that_of_the_reference() -> None:
    output = {"atlas-10k": 0.281723, "hp-c2247a": 0.126060, "cheetah-9lp": 0.103996, "dec-rz26": 0.339740}
    for drive, demerit_ms in output.items():
        assert drives.recorded_stream(drive).demerit() == pytest.approx(demerit_ms, abs=6e-4)

"""Arrays of four disks compared with a recorded run of the reference simulator.

Its disks share a bus. With a bus for each disk, requests alone on their array agree, except for RAID 5: the
shared bus can delay one of two accesses that start at once, so some writes of the reference are a turn later.
"""

import numpy as np
import pytest

from validation.sections import arrays
from validation.sections.arrays import ARRAYS, TURN_MS, replay_array

pytestmark = pytest.mark.skipif(not arrays.is_present(), reason=arrays.MISSING_MESSAGE)


@pytest.mark.parametrize("kind", ["stripe", "concatenation"])
def test_requests_alone_on_their_array_take_as_long(kind: str) -> None:
    pair = replay_array(kind, "own")
    for is_read in (True, False):
        differences_ms = pair.alone_differences_ms(reads=is_read)
        assert len(differences_ms) > 50
        assert np.mean(np.abs(differences_ms) < 0.1) > 0.97
    # Concurrent requests of the reference also wait for the bus.
    assert -0.05 < pair.ours_ms.mean() / pair.recorded_ms.mean() - 1 < 0


def test_raid_5_differs_by_turns_of_the_bus() -> None:
    pair = replay_array("raid5", "own")
    write_differences_ms, read_differences_ms = (
        pair.alone_differences_ms(reads=False),
        pair.alone_differences_ms(reads=True),
    )
    is_same, is_turn_earlier = (
        np.abs(write_differences_ms) < 0.1,
        np.abs(write_differences_ms + TURN_MS) < 0.1,
    )
    assert np.all(is_same | is_turn_earlier)
    assert is_same.sum() > is_turn_earlier.sum()
    assert np.mean(np.abs(read_differences_ms) < 0.1) > 0.9
    assert pair.ours_ms.mean() < pair.recorded_ms.mean()


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_on_a_shared_bus_agree(kind: str) -> None:
    pair = replay_array(kind, "shared")
    differences_ms = np.concatenate([pair.alone_differences_ms(reads=is_read) for is_read in (True, False)])
    assert np.mean(np.abs(differences_ms) < 0.1) > 0.97
    assert abs(pair.ours_ms.mean() / pair.recorded_ms.mean() - 1) < 0.01
